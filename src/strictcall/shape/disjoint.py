"""Whether two shapes have no value in common; "no" also where that is not plain to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from strictcall.json_value import identity
from strictcall.shape.admit import admits, follow, kinds
from strictcall.shape.model import Choice, Definitions, List, Literal, Nothing, Number, Openness, Record, Shape, Text

MOST_DEPTH: Final = 6
MOST_PAIRS: Final = 4096


def disjoint(left: Shape, right: Shape, definitions: Definitions, depth: int = 0) -> bool:
    """Whether no value fits both shapes.

    A name whose shape admits null is not taken as a sign by its mere presence: in the wire form it may be left out.
    """
    left, right = follow(left, definitions), follow(right, definitions)
    if depth > MOST_DEPTH:
        return False
    if type(left) is Choice or type(right) is Choice:
        pairs = [(one, two) for one in _branches(left) for two in _branches(right)]
        return len(pairs) <= MOST_PAIRS and all(disjoint(one, two, definitions, depth + 1) for one, two in pairs)
    if kinds(left, definitions).isdisjoint(kinds(right, definitions)):
        return True
    if type(left) is Literal:
        return not any(admits(right, value, definitions) for value in left.values)
    if type(right) is Literal:
        return not any(admits(left, value, definitions) for value in right.values)
    match left, right:
        case Number(), Number():
            return _apart(
                left.bounds.get("minimum"),
                left.bounds.get("maximum"),
                right.bounds.get("minimum"),
                right.bounds.get("maximum"),
            )
        case Text(), Text():
            return _apart(left.min_length, left.max_length, right.min_length, right.max_length)
        case List(), List():
            return _lists(left, right, definitions, depth)
        case Record(), Record():
            return _records(left, right, definitions, depth) or _records(right, left, definitions, depth)
    return type(left) is Nothing or type(right) is Nothing


def told_apart_by_literal(branches: Sequence[Shape], definitions: Definitions) -> bool:
    """Whether every branch is an object with a required field of the same name whose literals no other branch has.

    The usual discriminator, found in time linear in the branches.
    """
    records = [follow(branch, definitions) for branch in branches]
    if not records or not all(type(record) is Record for record in records):
        return False
    return any(_distinct_literals(name, records, definitions) for name in cast("Record", records[0]).fields)


def _distinct_literals(name: str, records: Sequence[Shape], definitions: Definitions) -> bool:
    seen: set[Any] = set()
    for record in records:
        field = cast("Record", record).fields.get(name)
        if field is None or not field.required or field.conditional:
            return False
        literal = follow(field.shape, definitions)
        if type(literal) is not Literal:
            return False
        values = {identity(value) for value in literal.values}
        if not seen.isdisjoint(values):
            return False
        seen |= values
    return True


def _branches(shape: Shape) -> tuple[Shape, ...]:
    return shape.branches if type(shape) is Choice else (shape,)


def _apart(low: float | None, high: float | None, other_low: float | None, other_high: float | None) -> bool:
    if high is not None and other_low is not None and high < other_low:
        return True
    return other_high is not None and low is not None and other_high < low


def _lists(left: List, right: List, definitions: Definitions, depth: int) -> bool:
    if _apart(left.min_items, left.max_items, right.min_items, right.max_items):
        return True
    one, two = (shape.prefix[0] if shape.prefix else shape.rest for shape in (left, right))
    return max(left.min_items, right.min_items) > 0 and disjoint(one, two, definitions, depth + 1)


def _records(left: Record, right: Record, definitions: Definitions, depth: int) -> bool:
    """Whether some name that ``left`` demands keeps every value of it out of ``right``."""
    for name, field in left.fields.items():
        if not field.required:
            continue
        other = right.fields.get(name)
        if other is None:
            shut = right.openness is Openness.CLOSED and not right.patterns
            if shut and "null" not in kinds(field.shape, definitions):
                return True
        elif not other.conditional and disjoint(field.shape, other.shape, definitions, depth + 1):
            return True
    return False
