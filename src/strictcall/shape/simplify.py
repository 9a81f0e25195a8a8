"""Shapes put together so that they come out simple: no impossible branch, no choice of one, no needless nesting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from strictcall.shape.model import (
    NO_NOTES,
    Anything,
    Choice,
    List,
    Nothing,
    Null,
    Number,
    Openness,
    Record,
    Residue,
    Shape,
    Text,
)
from strictcall.value import replace

AnyShape = TypeVar("AnyShape", bound=Shape)


def with_notes(shape: AnyShape, notes: Mapping[str, Any], residue: tuple[Residue, ...] = ()) -> AnyShape:
    """A shape with annotations that win over its own, and further residue."""
    if not notes and not residue:
        return shape
    merged = {**shape.notes, **notes} if shape.notes else notes
    return replace(shape, notes=merged, residue=shape.residue + residue)


def bare(shape: AnyShape) -> AnyShape:
    """A shape without its annotations and residue, for where those stand on a shape around it."""
    return replace(shape, notes=NO_NOTES, residue=()) if shape.notes or shape.residue else shape


def union(
    branches: list[Shape],
    *,
    pointer: str = "",
    notes: Mapping[str, Any] = NO_NOTES,
    residue: tuple[Residue, ...] = (),
    exclusive: bool = False,
) -> Shape:
    """A choice, simplified: impossible branches left out, nested choices without annotations unfolded."""
    flat: list[Shape] = []
    pending = list(reversed(branches))
    while pending:
        branch = pending.pop()
        if type(branch) is Nothing:
            continue
        if type(branch) is Choice and not branch.notes and not branch.residue and not (branch.exclusive or exclusive):
            pending.extend(reversed(branch.branches))
        else:
            flat.append(branch)
    nulls: list[Shape] = [branch for branch in flat if type(branch) is Null]
    if len(nulls) > 1 and not exclusive:
        flat = [branch for branch in flat if type(branch) is not Null] + nulls[:1]
    if any(type(branch) is Anything for branch in flat):
        unheld = [r for branch in flat for r in branch.residue]
        if exclusive and len(flat) > 1:
            unheld.append(Residue("one-of-overlap", pointer, "exactly one form"))
        return Anything(pointer, notes or NO_NOTES, residue + tuple(unheld))
    if not flat:
        return Nothing(pointer)
    if len(flat) == 1:
        return with_notes(flat[0], notes, residue)
    return Choice(pointer, notes or NO_NOTES, residue, tuple(flat), exclusive)


def possible(shape: Shape) -> Shape:
    """A shape, or nothing where its own bounds leave no value. The root stays a shape, so that a reason can be told."""
    return Nothing(shape.pointer) if shape.pointer and impossible(shape) else shape


def impossible(shape: Shape) -> bool:
    """Whether a shape's own bounds, or a name that it demands and no value is allowed for, leave no value."""
    rule = _IMPOSSIBLE.get(type(shape))
    return rule is not None and rule(shape)


def _no_list(shape: List) -> bool:
    return shape.max_items is not None and shape.min_items > shape.max_items


def _no_text(shape: Text) -> bool:
    return shape.max_length is not None and shape.min_length > shape.max_length


def _no_record(shape: Record) -> bool:
    demanded = [field for field in shape.fields.values() if field.required]
    if any(type(field.shape) is Nothing for field in demanded):
        return True
    if shape.max_properties is not None and shape.max_properties < max(shape.min_properties, len(demanded)):
        return True
    shut = shape.openness is Openness.CLOSED and not shape.patterns
    return shut and shape.min_properties > sum(type(field.shape) is not Nothing for field in shape.fields.values())


def _no_number(shape: Number) -> bool:
    """Whether a number's bounds cross, or hold no integer between them."""
    bounds = shape.bounds
    if not bounds:
        return False
    lows = [bounds[keyword] for keyword in ("minimum", "exclusiveMinimum") if keyword in bounds]
    highs = [bounds[keyword] for keyword in ("maximum", "exclusiveMaximum") if keyword in bounds]
    if not lows or not highs:
        return False
    if not shape.integer:
        shut = bounds.get("exclusiveMinimum") == max(lows) or bounds.get("exclusiveMaximum") == min(highs)
        return bool(max(lows) > min(highs) or (max(lows) == min(highs) and shut))
    low = max(math.ceil(n) + (k.startswith("ex") and n == math.ceil(n)) for k, n in bounds.items() if k in _LOW)
    high = min(math.floor(n) - (k.startswith("ex") and n == math.floor(n)) for k, n in bounds.items() if k in _HIGH)
    step = bounds.get("multipleOf", 1)
    return bool(low > high or (type(step) is int and step > 0 and high // step < -(-low // step)))


_IMPOSSIBLE: Final[Mapping[type[Shape], Callable[[Any], bool]]] = {
    Nothing: lambda shape: True,
    Number: _no_number,
    Text: _no_text,
    List: _no_list,
    Record: _no_record,
}
_LOW = frozenset({"minimum", "exclusiveMinimum"})
_HIGH = frozenset({"maximum", "exclusiveMaximum"})


def bounded(shape: List) -> List:
    """An array that may have no further items says so by its maximum length only."""
    stop = next((index for index, item in enumerate(shape.prefix) if type(item) is Nothing), len(shape.prefix))
    if stop == len(shape.prefix) and type(shape.rest) is not Nothing:
        return shape
    maximum = stop if shape.max_items is None else min(shape.max_items, stop)
    return replace(shape, prefix=shape.prefix[:stop], rest=Null(shape.pointer), max_items=maximum)
