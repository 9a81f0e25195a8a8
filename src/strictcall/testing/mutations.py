"""A value with one place changed the way models get arguments wrong, or a client does: a mutation may still fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from strictcall.testing.odd import ANY, NAMES
from strictcall.testing.picking import Picker, chance

_EXTREMES: Final[tuple[Any, ...]] = (0, -1, 2**31, 2**63, -(2**63) - 1, 10**30, 0.1, -1.5, 1e300)
_TEXTS: Final = ("", " ", "null", "é😀", "x" * 300, "a\u0000b", "0", '{"a": 1}')


def bent(value: Any, pick: Picker) -> Any:
    """The value with one place, at any depth, dropped, renamed, made null, bent, wrapped or given another type."""
    if isinstance(value, dict) and value and chance(pick, 80):
        return _bent_object(value, pick)
    if isinstance(value, list) and value and chance(pick, 80):
        return _bent_array(value, pick)
    return pick.one(_ACTS)(value, pick)


def _bent_object(value: dict[str, Any], pick: Picker) -> dict[str, Any]:
    name = pick.one(list(value))
    rest = {key: item for key, item in value.items() if key != name}
    act = pick.number(0, 4)
    if act == 0:
        return rest
    if act == 1:
        return {**rest, pick.one(NAMES): value[name]}
    return {**rest, name: None if act == 2 else bent(value[name], pick)}


def _bent_array(value: list[Any], pick: Picker) -> list[Any]:
    index = pick.number(0, len(value) - 1)
    before, item, after = value[:index], value[index], value[index + 1 :]
    act = pick.number(0, 3)
    if act == 0:
        return before + after
    if act == 1:
        return [*before, item, item, *after]
    return [*before, bent(item, pick), *after]


def _other(_value: Any, pick: Picker) -> Any:
    return pick.one(ANY)


def _moved(value: Any, pick: Picker) -> Any:
    """A little or far beside the value, of its own type."""
    if isinstance(value, bool) or value is None:
        return value is not True
    if isinstance(value, (int, float)):
        return pick.one((value + 1, value - 1, -value, value + 0.5 if abs(value) < 2**50 else value, *_EXTREMES))
    if isinstance(value, str):
        return pick.one((value[:-1], value + "x", value * 2, *_TEXTS))
    return [*value, None] if isinstance(value, list) else {**value, pick.one(NAMES): None}


def _wrapped(value: Any, pick: Picker) -> Any:
    return pick.one(([value], {"value": value}, {pick.one(NAMES): value}))


def _retyped(value: Any, pick: Picker) -> Any:
    """The value as a client writes it that mistakes types: text for a number, a number for text, JSON in text."""
    if isinstance(value, str) and chance(pick, 50):
        try:
            return json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return json.dumps(value, ensure_ascii=False)


_ACTS: Final[tuple[Callable[[Any, Picker], Any], ...]] = (_other, _moved, _wrapped, _retyped)
