"""Lowering literals: enum and const, as the dialect can write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strictcall.json_value import compact, excerpt, identity
from strictcall.shape.admit import kind_of, kinds_of
from strictcall.shape.model import Literal, Null, Shape, Text
from strictcall.shape.simplify import bare, union
from strictcall.value import replace
from strictcall.wire.codec import Codec, Run, Trail
from strictcall.wire.context import Context, Lowered, without_values


def lower_literal(shape: Literal, context: Context) -> Lowered:
    """Literals of a kind that the dialect's ``enum`` takes stay; the others are written as text, one text for each."""
    if shape.pointer in context.plan.unlisted and set(map(type, shape.values)) == {str}:
        return _unlisted(shape, context), None
    nulls = context.dialect.null != "nullable"
    if nulls and all(value is None for value in shape.values):
        return Null(shape.pointer, shape.notes, shape.residue), None
    if None in shape.values and len(shape.values) > 1 and not context.dialect.enum_null:
        return _beside_null(shape, context)
    types = set(map(type, shape.values))
    if types in ({str}, {int}):
        values = tuple(dict.fromkeys(shape.values))
    else:
        values = tuple({identity(value): value for value in shape.values}.values())
    if kinds_of(values) <= context.dialect.literals and (context.dialect.empty_literals or "" not in values):
        return _by_kind(replace(shape, values=values), context), None
    return _as_text(shape, values, context)


def _unlisted(shape: Literal, context: Context) -> Text:
    """An enum as plain text, to keep within a limit."""
    message = f"that it is one of {len(shape.values):,} values is not held on the wire, to keep within a limit"
    text = Text(shape.pointer, shape.notes, shape.residue)
    return context.unheld(text, "enum-unlisted", shape.pointer, message, f"one of {excerpt(list(shape.values), 120)}")


def _beside_null(shape: Literal, context: Context) -> Lowered:
    """Values with null among them, where an ``enum`` cannot hold it: a choice of the others or null."""
    others = tuple(value for value in shape.values if value is not None)
    context.change("enum-split", shape.pointer, "null is written beside the enum of the other values")
    branches: list[Shape] = [replace(bare(shape), values=others, declared=None, const=False), Null(shape.pointer)]
    choice = union(branches, pointer=shape.pointer, notes=shape.notes, residue=shape.residue)
    return context.lower(choice, context)


def _by_kind(shape: Literal, context: Context) -> Any:
    """Values of several kinds, where one ``enum`` may not mix them, become a choice of one ``enum`` a kind."""
    if len(kinds_of(shape.values)) == 1:
        return shape
    kinds = list(dict.fromkeys(kind_of(value) for value in shape.values))
    if len(kinds) == 1 or context.dialect.mixed_literals:
        return shape
    context.change("enum-split", shape.pointer, f"values of {len(kinds)} types are written as one enum each")
    branches: list[Shape] = []
    for kind in kinds:
        values = tuple(value for value in shape.values if kind_of(value) == kind)
        branches.append(Null(shape.pointer) if kind == "null" else Literal(shape.pointer, values=values))
    return union(branches, pointer=shape.pointer, notes=shape.notes, residue=shape.residue)


def _as_text(shape: Literal, values: tuple[Any, ...], context: Context) -> Lowered:
    texts = [value if type(value) is str and value else compact(value) for value in values]
    if len(set(texts)) < len(texts):
        # A string that looks like another value's text: then all are written as JSON, strings in their quotes.
        texts = [compact(value) for value in values]
    context.change("literal-text", shape.pointer, "values that an enum cannot hold here are written as text")
    by_text = dict(zip(texts, values, strict=True))
    by_value = {identity(value): text for text, value in by_text.items()}
    wire = replace(shape, notes=without_values(shape.notes), values=tuple(texts), declared="string")
    return wire, Codec(_reader(by_text, by_value), _writer(by_value))


def _reader(by_text: dict[str, Any], by_value: dict[Any, str]) -> Callable[[Any, Trail, Run], Any]:
    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is str and value in by_text:
            return by_text[value]
        if run.either and identity(value) in by_value:
            return value
        return run.misfit(value, trail, "must be one of the listed texts")

    return decode


def _writer(by_value: dict[Any, str]) -> Callable[[Any, Trail, Run], Any]:
    def encode(value: Any, trail: Trail, run: Run) -> Any:
        text = by_value.get(identity(value))
        return run.misfit(value, trail, "is none of the listed values") if text is None else text

    return encode
