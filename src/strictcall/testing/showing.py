"""JSON values and policies as text for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from strictcall.policy import Policy

NARROW: Final = 100
"""What fits into so many characters stands on one line."""
MOST_SHOWN: Final = 20_000
"""Longer texts are cut: no reader gets that far."""


def shown(name: str, found: Any) -> list[str]:
    """A name with what was found: a JSON value, an exception with its type, anything else by its own text."""
    if isinstance(found, BaseException):
        told = f"{type(found).__name__}: {found}"
    else:
        try:
            told = "\n".join(_lines(found, NARROW - len(name) - 2))
        except (TypeError, ValueError, RecursionError):
            told = repr(found)
    if len(told) > MOST_SHOWN:
        told = f"{told[:MOST_SHOWN]}… ({len(told):,} characters)"
    first, *rest = told.encode("utf-8", "backslashreplace").decode().split("\n")
    return [f"{name}: {first}", *rest]


def shown_policy(policy: Policy) -> str:
    """The fields of a policy that are not what they usually are."""
    usual = Policy()
    fields = {name: getattr(policy, name) for name in policy.__dataclass_fields__}
    told = [f"{name}={value!r}" for name, value in fields.items() if value != getattr(usual, name)]
    return ", ".join(told) or "the default"


def _lines(value: Any, room: int) -> Iterator[str]:
    """A JSON value, each part of it on one line if it fits there."""
    told = json.dumps(value, ensure_ascii=False)
    if len(told) <= room or not value or not isinstance(value, (dict, list)):
        yield told
        return
    named = isinstance(value, dict)
    yield "{" if named else "["
    last = len(value) - 1
    for index, key in enumerate(value):
        name = f"{json.dumps(key, ensure_ascii=False)}: " if named else ""
        lines = [f"  {line}" for line in _lines(value[key] if named else key, NARROW - len(name) - 4)]
        lines[0] = f"  {name}{lines[0][2:]}"
        lines[-1] += "," if index < last else ""
        yield from lines
    yield "}" if named else "]"
