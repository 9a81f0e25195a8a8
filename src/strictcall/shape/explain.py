"""Explaining by shape what is wrong with arguments, in time linear in them.

A validator's own account of a failed union holds the account of every branch, which for recursive unions grows with the
power of the depth. Here one branch is followed at each union: the one that the value resembles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.errors import Fault
from strictcall.json_value import excerpt, pointer
from strictcall.shape.admit import admits, follow, kind_of, kinds, matches, rest_of
from strictcall.shape.check import MOST_FAULTS, MOST_SOUGHT, TYPE_WORDS, unknown_name
from strictcall.shape.model import (
    Choice,
    Definitions,
    List,
    Literal,
    Nothing,
    Number,
    Openness,
    Record,
    Shape,
    Text,
)

Path = tuple[str | int, ...]


def explain(value: Any, shape: Shape, definitions: Definitions) -> list[Fault]:
    """What the shape says is wrong with a value; empty where it finds nothing, which residue may be the cause of."""
    found: list[Fault] = []
    _explain(value, shape, definitions, (), found)
    return found


def _explain(value: Any, shape: Shape, definitions: Definitions, path: Path, found: list[Fault]) -> None:
    if len(found) >= MOST_FAULTS:
        return
    shape = follow(shape, definitions)
    if type(shape) is Choice:
        branch = _likeliest(value, shape, definitions)
        if branch is None:
            found.append(Fault(pointer(path), "fits none of the forms that are allowed here", excerpt(value)))
        else:
            _explain(value, branch, definitions, path, found)
    elif kind_of(value) not in kinds(shape, definitions):
        found.append(Fault(pointer(path), _wanted(shape), excerpt(value)))
    elif type(shape) is Record:
        _record(value, shape, definitions, path, found)
    elif type(shape) is List:
        _list(value, shape, definitions, path, found)
    elif not admits(shape, value, definitions):
        found.append(Fault(pointer(path), _unkept(shape, value), excerpt(value)))


def _likeliest(value: Any, shape: Choice, definitions: Definitions) -> Shape | None:
    """The branch that a value was meant for: of its JSON type, and with the most of its names and literals."""
    kind = kind_of(value)
    alike = [branch for branch in shape.branches if kind in kinds(branch, definitions)]
    if len(alike) < 2:
        return alike[0] if alike else None
    return max(alike, key=lambda branch: _likeness(value, follow(branch, definitions), definitions))


def _likeness(value: Any, shape: Shape, definitions: Definitions) -> int:
    """How well a value's names and literals, one level down, suit a shape."""
    if type(shape) is Literal or type(shape) is Text or type(shape) is Number:
        return int(admits(shape, value, definitions))
    if type(shape) is not Record:
        return 0
    score = 0
    for name, field in shape.fields.items():
        if name in value:
            target = follow(field.shape, definitions)
            fits = kind_of(value[name]) in kinds(target, definitions)
            if type(target) is Literal:
                score += 4 if admits(target, value[name], definitions) else -4
            score += 2 if fits else -1
        elif field.required:
            score -= 2
    return score - sum(name not in shape.fields for name in value)


def _record(value: Any, shape: Record, definitions: Definitions, path: Path, found: list[Fault]) -> None:
    for name, field in shape.fields.items():
        if name in value:
            if not field.conditional:
                _explain(value[name], field.shape, definitions, (*path, name), found)
        elif field.required:
            found.append(Fault(pointer((*path, name)), "is required and missing"))
    for name, item in value.items():
        if name in shape.fields:
            continue
        known = any(matches(pattern, name) for pattern in shape.patterns)
        if shape.openness is Openness.CLOSED and not known:
            seek = len(found) < MOST_SOUGHT
            found.append(unknown_name(name, pointer(path), shape.fields, seek=seek))
        else:
            _explain(item, rest_of(shape, name), definitions, (*path, name), found)
        if len(found) >= MOST_FAULTS:
            return


def _list(value: Any, shape: List, definitions: Definitions, path: Path, found: list[Fault]) -> None:
    if len(value) < shape.min_items or (shape.max_items is not None and len(value) > shape.max_items):
        most = "" if shape.max_items is None else f" and at most {shape.max_items}"
        found.append(Fault(pointer(path), f"must have at least {shape.min_items}{most} items", excerpt(value)))
    for index, item in enumerate(value):
        expected = shape.prefix[index] if index < len(shape.prefix) else shape.rest
        _explain(item, expected, definitions, (*path, index), found)
        if len(found) >= MOST_FAULTS:
            return


def _wanted(shape: Shape) -> str:
    if type(shape) is Nothing:
        return "is not allowed here"
    if type(shape) is Literal:
        return f"must be one of {excerpt(list(shape.values), 120)}"
    if type(shape) is Number and shape.integer:
        return "must be an integer"
    return "must be " + TYPE_WORDS.get(_NAMES.get(type(shape), ""), "null")


_NAMES: Final[Mapping[type[Shape], str]] = {Number: "number", Text: "string", List: "array", Record: "object"}


def _unkept(shape: Shape, value: Any) -> str:
    """Which bound of a scalar's shape a value of the right type does not keep."""
    if type(shape) is Number and shape.integer and type(value) is float and not value.is_integer():
        return "must be an integer"
    rule = _BOUNDS.get(type(shape))
    return rule(shape) if rule else _wanted(shape)


def _number(shape: Number) -> str:
    return "must keep " + ", ".join(f"{keyword} {excerpt(bound)}" for keyword, bound in shape.bounds.items())


def _text(shape: Text) -> str:
    told = [f"minLength {shape.min_length}"] if shape.min_length else []
    told += [] if shape.max_length is None else [f"maxLength {shape.max_length}"]
    told += [f"pattern {excerpt(pattern, 120)}" for pattern in shape.patterns]
    return "must keep " + ", ".join(told)


_BOUNDS: Final[Mapping[type[Shape], Callable[[Any], str]]] = {Number: _number, Text: _text}
