"""Optional fields: really absent where the dialect has that, else required and null, with null meaning absent."""

from __future__ import annotations

from typing import Any, Final

from strictcall.json_value import equal, json_type
from strictcall.shape.admit import kinds
from strictcall.shape.model import (
    NO_NOTES,
    Boolean,
    Choice,
    Field,
    List,
    Literal,
    Nothing,
    Null,
    Number,
    Openness,
    Record,
    Ref,
    Shape,
    Text,
)
from strictcall.shape.simplify import bare, union, with_notes
from strictcall.value import replace, value
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder
from strictcall.wire.context import Context, without_values

EXPLICIT: Final = "explicit_null"
VALUE: Final = "value"


_ATOMS: Final = frozenset({Boolean, Number, Text, Literal, List, Record, Ref})
"""Shapes that a union does not take apart."""


@value
class Part:
    """A field on the wire. ``null_is_absent``: null there means that the contract's field is left out.

    ``drops_null``: the wire has no null for the field, and the contract's null is left out.
    """

    field: Field
    codec: Codec | None
    null_is_absent: bool
    drops_null: bool = False


def optional(field: Field, context: Context, *, may_fold: bool = True, by_null: bool = False) -> Part:
    """Lower a field's shape and its optionality.

    ``may_fold``: an explicit null may be read as absent. ``by_null``: null means absent, whatever the dialect says.
    """
    wire, codec = context.lower(field.shape, context)
    if not field.required and field.shape.pointer in context.plan.folded and _can_shed_null(wire):
        context.change("null-folded", field.shape.pointer, "an explicit null is the same as the default, and left out")
        shed = with_notes(_without_null(wire), wire.notes, wire.residue)
        return Part(Field(shed, False), codec, False, drops_null=True)
    if field.required or (context.dialect.optional == "absent" and not by_null):
        return Part(Field(wire, field.required), codec, False)
    if "null" not in kinds(wire, context.known):
        context.change("optional-null", field.shape.pointer, "an optional property is required, and null means absent")
        return Part(Field(_or_null(wire), True), codec, True)
    folded = _default_is_null(field.shape, context)
    if may_fold and (context.policy.nulls == "fold" or (context.policy.nulls == "auto" and folded)):
        _report_fold(field.shape.pointer, folded, context)
        return Part(Field(wire, True), codec, True)
    context.change("null-distinguished", field.shape.pointer, "null means absent; an explicit null is written apart")
    if "object" in kinds(wire, context.known) or not _can_shed_null(wire):
        return Part(Field(_or_null(_wrapped(wire)), True), _unwrap(codec), True)
    mark = True if "boolean" in context.dialect.literals else "null"
    explicit = Record(
        wire.pointer,
        fields={EXPLICIT: Field(Literal(values=(mark,), declared=json_type(mark), const=True), True)},
        rest=Nothing(),
        openness=Openness.CLOSED,
    )
    branches = [branch for branch in (_without_null(wire), explicit) if type(branch) is not Nothing]
    apart = union(branches, pointer=wire.pointer, notes=without_values(wire.notes), residue=wire.residue)
    return Part(Field(_or_null(apart), True), _explicit(codec, mark), True)


def _report_fold(pointer: str, default_is_null: bool, context: Context) -> None:
    if default_is_null:
        context.change("null-folded", pointer, "an explicit null is the same as the default, and is read as absent")
    else:
        context.change("null-lost", pointer, "an explicit null cannot be told from absent, and is read as absent")


def _default_is_null(shape: Shape, context: Context) -> bool:
    notes = shape.notes
    if "default" not in notes and type(shape) is Ref and shape.name in context.definitions:
        notes = context.definitions[shape.name].notes
    return "default" in notes and notes["default"] is None


def _or_null(shape: Shape) -> Shape:
    """A shape or null, with the annotations and hints on the whole."""
    inner, null = bare(shape), Null(shape.pointer)
    if type(shape) in _ATOMS:
        return Choice(shape.pointer, shape.notes, shape.residue, (inner, null))
    return union([inner, null], pointer=shape.pointer, notes=shape.notes, residue=shape.residue)


def _can_shed_null(shape: Shape) -> bool:
    return type(shape) in (Choice, Literal, Null)


def _without_null(shape: Shape) -> Shape:
    if type(shape) is Choice:
        branches = [_without_null(branch) if type(branch) in (Choice, Literal) else branch for branch in shape.branches]
        return union([branch for branch in branches if type(branch) is not Null], pointer=shape.pointer)
    if type(shape) is Literal:
        values = tuple(value for value in shape.values if value is not None)
        return replace(shape, values=values, notes=NO_NOTES, residue=()) if values else Nothing(shape.pointer)
    return Nothing(shape.pointer)


def _wrapped(shape: Shape) -> Shape:
    record: Shape = Record(
        shape.pointer,
        fields={VALUE: Field(bare(shape), True)},
        rest=Nothing(),
        openness=Openness.CLOSED,
    )
    return with_notes(record, without_values(shape.notes), shape.residue)


def _unwrap(codec: Codec | None) -> Codec:
    read, write = apply(codec), encoder(codec)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and len(value) == 1 and VALUE in value:
            return read(value[VALUE], trail, run)
        if run.either:
            return read(value, trail, run)
        return run.misfit(value, trail, f"must be an object of {VALUE!r}, or null to leave it out")

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return {VALUE: write(value, trail, run)}

    return Codec(decode, encode)


def _explicit(codec: Codec | None, mark: bool | str) -> Codec:
    read, write = apply(codec), encoder(codec)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and len(value) == 1 and equal(value.get(EXPLICIT), mark):
            return None
        return read(value, trail, run)

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return {EXPLICIT: mark} if value is None else write(value, trail, run)

    return Codec(decode, encode)
