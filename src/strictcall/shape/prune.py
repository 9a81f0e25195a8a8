"""Pruning: definitions that go round in a circle.

A definition that leads back to itself without taking a step into the value says nothing that a shape could hold; one that
every value of it must contain again has no finite value at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

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
from strictcall.shape.simplify import bounded, possible, union

_CIRCLE: Final = "a reference that leads back to itself"


def pruned(definitions: Definitions) -> dict[str, Shape]:
    """The definitions with circles resolved: in place ones to anything, endless ones to nothing."""
    found = dict(definitions)
    circular = {name for name in found if _reaches_itself(name, found)}
    for name in circular:
        pointer = found[name].pointer
        found[name] = Anything(pointer, NO_NOTES, (Residue("reference-unread", pointer, _CIRCLE),))
    endless = found.keys() - _finite(found)
    if not endless:
        return found
    # The root stays a record, so that the reason can name the place that nothing can fill.
    hollow = endless - {ROOT}
    return {
        name: Nothing(shape.pointer) if name in hollow else _without(shape, endless) for name, shape in found.items()
    }


def _reaches_itself(name: str, definitions: Mapping[str, Shape]) -> bool:
    pending: list[Shape] = [definitions[name]]
    seen: set[str] = set()
    while pending:
        shape = pending.pop()
        if type(shape) is Choice:
            pending.extend(shape.branches)
        elif type(shape) is Ref and shape.name not in seen:
            if shape.name == name:
                return True
            seen.add(shape.name)
            pending.append(definitions.get(shape.name, shape))
    return False


def _finite(definitions: Mapping[str, Shape]) -> set[str]:
    """The definitions that have a value of finite size: the least fixed point, from none on."""
    finite: set[str] = set()
    users: dict[str, set[str]] = {}
    pending = list(definitions)
    for name, shape in definitions.items():
        for target in _references(shape):
            users.setdefault(target, set()).add(name)
    while pending:
        name = pending.pop()
        if name not in finite and _has_value(definitions[name], finite):
            finite.add(name)
            pending.extend(users.get(name, ()))
    return finite


def _references(shape: Shape) -> set[str]:
    found: set[str] = set()
    pending = [shape]
    while pending:
        part = pending.pop()
        match part:
            case Ref():
                found.add(part.name)
            case Record():
                pending.extend(field.shape for field in part.fields.values())
            case List():
                pending.extend((*part.prefix, part.rest))
            case Choice():
                pending.extend(part.branches)
    return found


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
