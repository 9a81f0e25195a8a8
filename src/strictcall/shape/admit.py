"""Whether a shape admits a value: the structural test that picks branches and filters literals.

It is exact for everything that a shape holds and ignores its residue, so it errs only to "yes".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from strictcall.json_value import identity
from strictcall.shape.model import (
    Anything,
    Boolean,
    Choice,
    Definitions,
    List,
    Literal,
    Nothing,
    Null,
    Number,
    Record,
    Ref,
    Shape,
    Text,
)


@lru_cache(maxsize=1024)
def _searcher(pattern: str) -> Callable[[str], bool]:
    """The local check's own reading of a regular expression, so that both always agree."""
    import jsonschema_rs  # noqa: PLC0415 - most shapes have no pattern

    try:
        found: Callable[[str], bool] = jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True).is_valid
    except ValueError:
        return lambda text: True
    return found


def matches(pattern: str, text: str) -> bool:
    """Whether a JSON Schema ``pattern`` is found in a text."""
    return _searcher(pattern)(text)


def follow(shape: Shape, definitions: Definitions) -> Shape:
    """The shape that a reference stands for; a chain that only leads back to itself stands for anything."""
    if type(shape) is not Ref:
        return shape
    seen = set()
    while type(shape) is Ref:
        if shape.name in seen or shape.name not in definitions:
            return Anything(shape.pointer)
        seen.add(shape.name)
        shape = definitions[shape.name]
    return shape


Memo = dict[tuple[int, int], bool]
"""Answers by the identities of shape and value, for one walk; without them recursive unions ask again and again."""


def admits(
    shape: Shape, value: Any, definitions: Definitions, *, lenient: bool = False, memo: Memo | None = None
) -> bool:
    """Whether a value fits a shape, residue aside; ``lenient``: a required field that may be null may be left out."""
    shape = follow(shape, definitions)
    rule = _SCALARS.get(type(shape))
    if rule is not None:
        return rule(shape, value)
    memo = {} if memo is None else memo
    key = (id(shape), id(value))
    if key not in memo:
        memo[key] = _CONTAINERS[type(shape)](shape, value, definitions, lenient, memo)
    return memo[key]


def _choice(shape: Choice, value: Any, definitions: Definitions, lenient: bool, memo: Memo) -> bool:
    return any(admits(branch, value, definitions, lenient=lenient, memo=memo) for branch in shape.branches)


def _number(shape: Number, value: Any) -> bool:
    if type(value) is not int and type(value) is not float:
        return False
    if shape.integer and type(value) is float and not value.is_integer():
        return False
    return all(_BOUNDS[keyword](value, bound) for keyword, bound in shape.bounds.items())


def _is_multiple(value: Any, step: Any) -> bool:
    if type(value) is int and type(step) is int:
        return value % step == 0
    if not math.isfinite(value):
        return False
    from fractions import Fraction  # noqa: PLC0415 - few steps are fractions

    # Decimal text, not binary floats: 1.13 is a multiple of 0.01.
    return (Fraction(str(value)) / Fraction(str(step))).denominator == 1


_BOUNDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "multipleOf": _is_multiple,
}


def _text(shape: Text, value: Any) -> bool:
    if type(value) is not str or len(value) < shape.min_length:
        return False
    if shape.max_length is not None and len(value) > shape.max_length:
        return False
    return all(matches(pattern, value) for pattern in shape.patterns)


def _literal(shape: Literal, value: Any) -> bool:
    wanted = identity(value)
    return any(identity(item) == wanted for item in shape.values)


def _list(shape: List, value: Any, definitions: Definitions, lenient: bool, memo: Memo) -> bool:
    if type(value) is not list or len(value) < shape.min_items:
        return False
    if shape.max_items is not None and len(value) > shape.max_items:
        return False
    if shape.unique and len({identity(item) for item in value}) < len(value):
        return False
    for position, item in enumerate(value):
        expected = shape.prefix[position] if position < len(shape.prefix) else shape.rest
        if not admits(expected, item, definitions, lenient=lenient, memo=memo):
            return False
    return True


def _record(shape: Record, value: Any, definitions: Definitions, lenient: bool, memo: Memo) -> bool:
    if type(value) is not dict or len(value) < shape.min_properties:
        return False
    if shape.max_properties is not None and len(value) > shape.max_properties:
        return False
    for name, field in shape.fields.items():
        if name not in value:
            if field.required and not (lenient and "null" in kinds(field.shape, definitions)):
                return False
        elif not field.conditional and not admits(field.shape, value[name], definitions, lenient=lenient, memo=memo):
            return False
    for name, item in value.items():
        if name not in shape.fields and not admits(rest_of(shape, name), item, definitions, lenient=lenient, memo=memo):
            return False
        if shape.names is not None and not admits(shape.names, name, definitions):
            return False
    return True


def rest_of(shape: Record, name: str) -> Shape:
    """What a record says of a name that it does not declare: a matching pattern's shape, else its rest."""
    for pattern, expected in shape.patterns.items():
        if matches(pattern, name):
            return expected
    return shape.rest


_SCALARS: Final[Mapping[type[Shape], Callable[[Any, Any], bool]]] = {
    Anything: lambda shape, value: True,
    Nothing: lambda shape, value: False,
    Null: lambda shape, value: value is None,
    Boolean: lambda shape, value: type(value) is bool,
    Number: _number,
    Text: _text,
    Literal: _literal,
}


_CONTAINERS: Final[Mapping[type[Shape], Callable[[Any, Any, Definitions, bool, Memo], bool]]] = {
    Choice: _choice,
    List: _list,
    Record: _record,
}


def kinds(shape: Shape, definitions: Definitions) -> frozenset[str]:
    """The JSON types that a shape admits: string, number (integers are numbers), boolean, null, array, object."""
    if type(shape) in _KIND:
        return _KIND[type(shape)]
    shape = follow(shape, definitions)
    if type(shape) is Choice:
        found: frozenset[str] = frozenset().union(*(_branch_kinds(branch) for branch in _flat(shape, definitions)))
        return found
    return _branch_kinds(shape)


def _flat(shape: Choice, definitions: Definitions) -> list[Shape]:
    """Every branch below a choice, nested choices and references followed once each."""
    pending: list[Shape] = list(shape.branches)
    found: list[Shape] = []
    seen: set[int] = set()
    while pending:
        branch = follow(pending.pop(), definitions)
        if id(branch) in seen:
            continue
        seen.add(id(branch))
        if type(branch) is Choice:
            pending.extend(branch.branches)
        else:
            found.append(branch)
    return found


EVERY_KIND: Final = frozenset({"string", "number", "boolean", "null", "array", "object"})
_KIND: Final[Mapping[type[Shape], frozenset[str]]] = {
    Anything: EVERY_KIND,
    Nothing: frozenset(),
    Null: frozenset({"null"}),
    Boolean: frozenset({"boolean"}),
    Number: frozenset({"number"}),
    Text: frozenset({"string"}),
    List: frozenset({"array"}),
    Record: frozenset({"object"}),
}


def kind_of(value: Any) -> str:
    """The JSON type of a value as ``kinds`` names them."""
    return _KIND_OF_TYPE[type(value)]


def kinds_of(values: Iterable[Any]) -> frozenset[str]:
    """The JSON types of some values, as ``kinds`` names them."""
    return frozenset(_KIND_OF_TYPE[kind] for kind in set(map(type, values)))


_KIND_OF_TYPE: Final[Mapping[type, str]] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    list: "array",
    dict: "object",
}


def _branch_kinds(shape: Shape) -> frozenset[str]:
    if type(shape) is Literal:
        return kinds_of(shape.values)
    return _KIND[type(shape)]
