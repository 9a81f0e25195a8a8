"""Recognising a schema that was compiled before, by its content: dicts change and are rebuilt.

A schema is compared with a frozen copy of the one that was compiled, which costs a fraction of reading it. Python's own
comparison of dicts does the work; where Python's equality is not JSON's, the copy holds stand-ins that know better.
"""

from __future__ import annotations

import sys
from typing import Any, Final, cast

from strictcall.dialect.model import Dialect
from strictcall.policy import Policy

MOST_BYTES: Final = 256 * 1024
"""Schemas larger than this, written out, are not kept."""
_USUAL_RECURSION: Final = 3_000
"""Copying recurses on the native stack, up to Python's own limit: where a program raised that, nothing is kept."""


Given = tuple[str, Dialect, Policy, bool, str]
"""The tool's name, the dialect, the policy, whether the values are a tool's arguments, and the draft assumed."""


class Unkept(Exception):
    """A schema that is not kept, so never recognised: too large, or something other than plain JSON."""


class Content:
    """A schema with everything else that its compilation depends on. Equal contents compile to the same.

    Made for every compilation, so it does as little as it can. ``keep`` must be called before the caller's own dict
    can change.
    """

    __slots__ = ("_frozen", "_hash", "given", "schema")
    _frozen: Any

    def __init__(self, schema: dict[str, Any], given: Given) -> None:
        self.schema = schema
        self.given = given
        properties = schema.get("properties")
        names = tuple(properties) if type(properties) is dict else len(schema)
        self._hash = hash((names, given[0], given[1].name))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Content or self._hash != other._hash or self.given != other.given:
            return False
        # One of the two was kept: which, depends on the direction in which a table compares its keys.
        kept, new = (self, other) if hasattr(self, "_frozen") else (other, self)
        try:
            return bool(new.schema == kept._frozen)
        except Exception:  # noqa: BLE001
            # Objects that are not JSON may raise anything when they are compared.
            return False

    def keep(self) -> None:
        """Take a private copy in place of the caller's dict. Raises ``Unkept``."""
        if sys.getrecursionlimit() > _USUAL_RECURSION:
            raise Unkept
        from strictcall.wire.private_copy import private_copy  # noqa: PLC0415 - loads pickle, and only for compiling

        try:
            copied = private_copy(self.schema, MOST_BYTES)
        except Exception as error:
            # Objects that are not JSON may raise anything when they are copied.
            raise Unkept from error
        if copied is None:
            raise Unkept
        self.schema = copied

    def freeze(self) -> None:
        """Make ready to be compared with; for a schema that is known to be within the budgets."""
        self._frozen = _frozen_root(self.schema)


class _Same:
    """Stands for a boolean: Python takes ``True``, ``1`` and ``1.0`` for the same."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: bool) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return other is self._value


class _Exact:
    """Stands for a number, for the same reason."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self._value) and bool(other == self._value)


class _InOrder:
    """Stands for a map of properties: their order is the order in which a model writes them."""

    __slots__ = ("_frozen", "_names")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, properties: dict[str, Any]) -> None:
        self._names = list(properties)
        self._frozen = {name: _frozen(item) for name, item in properties.items()}

    def __eq__(self, other: object) -> bool:
        return type(other) is dict and self._names == list(other) and bool(other == self._frozen)


def _frozen_root(schema: dict[str, Any]) -> dict[str, Any]:
    """As ``_frozen``; the hash has spoken for the order of the root's own properties."""
    properties = schema.get("properties")
    if type(properties) is not dict:
        return cast("dict[str, Any]", _frozen(schema))
    return {**_frozen({**schema, "properties": None}), "properties": {k: _frozen(v) for k, v in properties.items()}}


def _frozen(value: Any) -> Any:
    """A copy of a JSON value to compare others with. The value is known to be within the budgets."""
    kind = type(value)
    if kind is dict:
        return {
            name: _InOrder(item) if name == "properties" and type(item) is dict else _frozen(item)
            for name, item in value.items()
        }
    if kind is list:
        return [_frozen(item) for item in value]
    if kind is str or value is None:
        return value
    return _Same(value) if kind is bool else _Exact(value)
