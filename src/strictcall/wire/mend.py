"""Mending: text where the contract takes no text, but whose content is what it takes.

Models that are not held to a schema write ``"3"`` for 3 and ``"[1]"`` for [1]. Where text is legal it is never touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strictcall.json_value import MAX_DEPTH, LimitError, parse
from strictcall.shape.admit import follow, kind_of, kinds, rest_of
from strictcall.shape.model import Choice, Definitions, List, Record, Shape
from strictcall.value import value
from strictcall.wire.choices import resembles
from strictcall.wire.codec import Trail, place


@value
class Repair:
    """Something that was read other than it stood: its JSON Pointer in the contract's arguments, and what was done."""

    pointer: str
    message: str


def mend(value: Any, shape: Shape, definitions: Definitions) -> tuple[Any, tuple[Repair, ...]]:
    """Arguments in contract form with over-encoded text read as what it holds; nothing is changed in place."""
    repairs: list[Repair] = []
    return _mend(value, shape, definitions, None, repairs), tuple(repairs)


def _mend(value: Any, shape: Shape, definitions: Definitions, trail: Trail, repairs: list[Repair]) -> Any:
    shape = follow(shape, definitions)
    allowed = kinds(shape, definitions)
    if type(value) is str and "string" not in allowed:
        try:
            held = parse(value, MAX_DEPTH)
        except LimitError:
            return value
        if kind_of(held) not in allowed:
            return value
        repairs.append(Repair(place(trail), f"text was read as the {kind_of(held)} that it holds"))
        value = held
    if type(shape) is Choice:
        alike = [b for b in shape.branches if kind_of(value) in kinds(b, definitions)]
        close = [b for b in alike if resembles(b, value, definitions, lenient=False)] or alike
        return _mend(value, close[0], definitions, trail, repairs) if close else value
    below = _below(value, shape)
    if below is None:
        return value
    if type(value) is list:
        return [_mend(item, below(i), definitions, (trail, i), repairs) for i, item in enumerate(value)]
    return {name: _mend(item, below(name), definitions, (trail, name), repairs) for name, item in value.items()}


def _below(value: Any, shape: Shape) -> Callable[[Any], Shape] | None:
    """What a container's shape says of the item at a key, for a value of that kind."""
    if type(shape) is List and type(value) is list:
        prefix, rest = shape.prefix, shape.rest
        return lambda index: prefix[index] if index < len(prefix) else rest
    if type(shape) is Record and type(value) is dict:
        fields = shape.fields
        return lambda name: fields[name].shape if name in fields else rest_of(shape, name)
    return None
