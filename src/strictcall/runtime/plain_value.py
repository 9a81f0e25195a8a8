"""Any Python value as a JSON value and as text: for what tools return, and for events."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time
from enum import Enum
from typing import Any, Final

from strictcall.json_value import sound

_DEEPEST: Final = 200
_MOST_VALUES: Final = 300_000
"""How many containers are looked into."""
_SMALL: Final = 2**63
"""Integers below it, of either sign, need no further look."""
_WIDEST_INTEGER: Final = 14_000
"""Bits of the largest integer that Python writes in decimal without being told to."""
_ADDRESS: Final = re.compile(r" at 0x[0-9A-Fa-f]+>")
ELIDED: Final = "…"
"""What stands for a value that holds itself, or nests deeper than anyone reads."""


def jsonable(value: Any) -> Any:
    """A JSON value that says what a Python value holds.

    JSON values are themselves, tuples and sets arrays (sets in the order of their items' text), mappings objects;
    pydantic models are dumped by alias, dataclasses and named tuples by field, enumerations by value, dates and times
    in ISO 8601, bytes as the UTF-8 text that they hold or else in base64. Anything else, and NaN and infinity, is what
    ``str`` makes of it. Never raises for what a value's own methods do.
    """
    return _Walk().converted(value)


def text_of(value: Any) -> str:
    """A value as text: what is text in JSON is itself, anything else compact JSON."""
    converted = jsonable(value)
    if isinstance(converted, str):
        return converted
    return json.dumps(converted, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    """What ``str`` makes of a value, or its type where that fails. Where in memory it is says nothing to anyone, and
    would make each time another text of it.
    """
    kind: Any = type(value)
    try:
        text = str(value)
        return _ADDRESS.sub(">", text) if kind.__str__ is object.__str__ else text
    except Exception:  # noqa: BLE001  the value is the user's and may raise anything
        return f"({type(value).__name__})"


class _Walk:
    """One conversion. It ends after so many values, however often they are shared among each other."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def converted(self, value: Any, within: tuple[int, ...] = ()) -> Any:
        """A value as a JSON value; ``within`` are the containers around it."""
        kind = type(value)
        if value is None or kind is bool or (kind is int and -_SMALL < value < _SMALL):
            return value
        for kinds, convert in _SCALARS:
            if isinstance(value, kinds):
                return convert(value)
        self._left -= 1
        if len(within) >= _DEEPEST or id(value) in within or self._left < 0:
            return ELIDED
        try:
            return self._container(value, (*within, id(value)))
        except Exception:  # noqa: BLE001  models and mappings are the user's and may raise anything
            return shown(value)

    def _container(self, value: Any, within: tuple[int, ...]) -> Any:
        if not isinstance(value, type):
            for method, options in _DUMPS:
                dump = getattr(value, method, None)
                if callable(dump):
                    return self.converted(dump(**options), within)
            if dataclasses.is_dataclass(value):
                value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            return {_key(key): self.converted(item, within) for key, item in value.items()}
        if isinstance(value, AbstractSet):
            items = [self.converted(item, within) for item in value]
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        if isinstance(value, list | tuple) or _is_sequence(value):
            return [self.converted(item, within) for item in value]
        return shown(value)


def _is_sequence(value: Any) -> bool:
    """Whether a value is an array in all but name, and looking at its items uses nothing up."""
    return not isinstance(value, Iterator) and hasattr(value, "__len__") and hasattr(value, "__getitem__")


def _key(key: Any) -> str:
    return key if type(key) is str else text_of(key)


def _integer(value: int) -> Any:
    return int(value) if value.bit_length() < _WIDEST_INTEGER else hex(value)


def _bytes(value: bytes | bytearray | memoryview) -> str:
    held = bytes(value)
    try:
        return held.decode()
    except UnicodeDecodeError:
        return base64.b64encode(held).decode()


_SCALARS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (Enum, lambda value: jsonable(value.value)),
    (str, lambda value: sound(str.__str__(value))),
    (int, _integer),
    (float, lambda value: float(value) if math.isfinite(value) else str(float(value))),
    ((bytes, bytearray, memoryview), _bytes),
    ((date, time), lambda value: value.isoformat()),
    (BaseException, lambda value: f"{type(value).__name__}: {shown(value)}"),
)
_DUMPS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("model_dump", {"mode": "json", "by_alias": True}),  # pydantic
    ("_asdict", {}),  # named tuples
    ("tolist", {}),  # arrays and scalars of numpy
)
