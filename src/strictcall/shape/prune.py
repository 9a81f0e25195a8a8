"""Pruning: definitions that go round in a circle.

A definition that leads back to itself without taking a step into the value says nothing that a shape could hold; one
that every value of it must contain again has no finite value at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strictcall.shape.graph import circular, components, references, references_in_place
from strictcall.shape.model import (
    NO_NOTES,
    ROOT,
    Anything,
    Choice,
    Definitions,
    Field,
    List,
    Nothing,
    Openness,
    Record,
    Ref,
    Residue,
    Shape,
)
from strictcall.shape.simplify import bounded, possible, union, with_notes
from strictcall.value import replace

_CIRCLE: Final = "a reference that leads back to itself"


def pruned(definitions: Definitions) -> dict[str, Shape]:
    """The definitions with circles resolved: in place ones to anything, endless ones to nothing."""
    found = dict(definitions)
    in_place = {name: references_in_place(shape) for name, shape in found.items()}
    for name in circular(in_place):
        pointer = found[name].pointer
        found[name] = Anything(pointer, NO_NOTES, (Residue("reference-unread", pointer, _CIRCLE),))
    _shorten(found)
    endless = found.keys() - _finite(found)
    if not endless:
        return found
    # The root stays a record, so that the reason can name the place that nothing can fill.
    hollow = endless - {ROOT}
    return {
        name: Nothing(shape.pointer) if name in hollow else _without(shape, endless) for name, shape in found.items()
    }


def _shorten(definitions: dict[str, Shape]) -> None:
    """Let definitions that only lead on to another lead to the last one at once, with all annotations on the way."""
    edges = {name: [shape.name] if type(shape) is Ref else [] for name, shape in definitions.items()}
    for (name,) in components(edges):
        shape = definitions[name]
        target = definitions.get(shape.name) if type(shape) is Ref else None
        if type(target) is Ref:
            definitions[name] = with_notes(target, shape.notes, shape.residue)


def _finite(definitions: Mapping[str, Shape]) -> set[str]:
    """The definitions that have a value of finite size: the least fixed point, from none on."""
    finite: set[str] = set()
    users: dict[str, set[str]] = {}
    pending = list(definitions)
    for name, shape in definitions.items():
        for target in references(shape):
            users.setdefault(target, set()).add(name)
    while pending:
        name = pending.pop()
        if name not in finite and _has_value(definitions[name], finite):
            finite.add(name)
            pending.extend(users.get(name, ()))
    return finite


def _has_value(shape: Shape, finite: set[str]) -> bool:
    match shape:
        case Nothing():
            return False
        case Ref():
            return shape.name in finite
        case Choice():
            return any(_has_value(branch, finite) for branch in shape.branches)
        case Record():
            return all(_has_value(field.shape, finite) for field in shape.fields.values() if field.required)
        case List():
            needed = [*shape.prefix, *([shape.rest] * (shape.min_items > len(shape.prefix)))][: shape.min_items]
            return all(_has_value(item, finite) for item in needed)
    return True


def _without(shape: Shape, endless: set[str]) -> Shape:
    """A shape in which references to endless definitions are nothing."""
    match shape:
        case Ref():
            return Nothing(shape.pointer) if shape.name in endless else shape
        case Choice():
            branches = [_without(branch, endless) for branch in shape.branches]
            return union(
                branches,
                pointer=shape.pointer,
                notes=shape.notes,
                residue=shape.residue,
                exclusive=shape.exclusive,
            )
        case Record():
            return _record_without(shape, endless)
        case List():
            items = tuple(_without(item, endless) for item in shape.prefix)
            return possible(bounded(replace(shape, prefix=items, rest=_without(shape.rest, endless))))
    return shape


def _record_without(shape: Record, endless: set[str]) -> Shape:
    fields: dict[str, Field] = {
        name: replace(field, shape=_without(field.shape, endless)) for name, field in shape.fields.items()
    }
    rest = _without(shape.rest, endless)
    return possible(
        replace(
            shape,
            fields=fields,
            patterns={pattern: _without(item, endless) for pattern, item in shape.patterns.items()},
            rest=rest,
            openness=Openness.CLOSED if type(rest) is Nothing else shape.openness,
        )
    )
