"""Lowering: a contract's shape becomes a wire shape with its codec, one rule a kind of shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.change import Change
from strictcall.dialect.model import Dialect
from strictcall.policy import Policy
from strictcall.shape.admit import follow
from strictcall.shape.contract import Contract
from strictcall.shape.graph import components, reachable, references
from strictcall.shape.model import (
    NO_NOTES,
    ROOT,
    Anything,
    Boolean,
    Choice,
    Definitions,
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
from strictcall.shape.simplify import impossible, with_notes
from strictcall.value import value
from strictcall.wire.choices import lower_choice
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder, level
from strictcall.wire.context import Context, Lowered, Refusal, Rule, lowered_notes
from strictcall.wire.free_form import json_text, lower_anything, lower_nothing
from strictcall.wire.lists import lower_list
from strictcall.wire.literals import lower_literal
from strictcall.wire.plan import AS_USUAL, Plan
from strictcall.wire.records import lower_object, lower_record
from strictcall.wire.references import cycle_cuts, lower_definitions, lower_reference, settled
from strictcall.wire.scalars import lower_boolean, lower_null, lower_number, lower_text

MOST_ROUNDS: Final = 8
WRAPPER: Final = "value"
"""The field that holds arguments which are not an object, or are one of several."""

_RULES: Final[Mapping[type[Shape], Rule]] = {
    Anything: lower_anything,
    Nothing: lower_nothing,
    Null: lower_null,
    Boolean: lower_boolean,
    Number: lower_number,
    Text: lower_text,
    Literal: lower_literal,
    List: lower_list,
    Record: lower_record,
    Choice: lower_choice,
    Ref: lower_reference,
}


def lower(shape: Shape, context: Context) -> Lowered:
    """Lower one shape. What reading could not hold is reported here, where the wire would need it."""
    for residue in shape.residue:
        context.change(residue.code, residue.pointer, f"left to the local check: {residue.text}")
    if shape.pointer in context.plan.texts and type(shape) in _PARTS:
        return json_text(shape, context, "part-text", "written as text that holds JSON, to keep within a limit")
    return _RULES[type(shape)](shape, context)


_PARTS: Final = frozenset({Anything, List, Record, Choice, Ref})
"""Shapes that may be written as text to keep within a limit."""


@value
class Wire:
    """A lowered contract. ``root`` is a record; ``definitions`` are the wire's, under the names its references use.

    ``takes_object``: the contract's arguments are an object too, field for field.
    """

    root: Shape
    definitions: Definitions
    codec: Codec | None
    changes: tuple[Change, ...]
    takes_object: bool


def lower_contract(
    contract: Contract, dialect: Dialect, policy: Policy, *, arguments: bool, plan: Plan = AS_USUAL
) -> Wire:
    """Lower a contract. Raises ``Refusal`` where the dialect and policy leave no way.

    ``arguments``: the values are a tool's arguments, so always objects. A definition that refers to itself is lowered
    on an assumption about its own codec; when that proves wrong, all is done again with what was learnt.
    """
    root = _arguments(contract) if arguments else contract.shape
    definitions = {**contract.definitions, ROOT: root}
    cuts = _cuts(definitions, dialect)
    ordered = _in_order(definitions) if len(definitions) > 1 else []
    estimates: Definitions = definitions
    levels: dict[str, int] = {}
    for _ in range(MOST_ROUNDS):
        context = Context(dialect, policy, definitions, lower, estimates, levels=levels, cuts=cuts, plan=plan)
        lower_definitions(ordered, context)
        shape, codec = _root(root, context)
        if (settled(context) and estimates is not definitions) or not context.leaned_on:
            plain = shape is context.wire[ROOT] and type(follow(root, definitions)) is Record
            return Wire(shape, context.wire, codec, context.changes, plain)
        estimates = {**definitions, **context.wire}
        levels = {name: level(codec) for name, codec in context.codecs.items()}
    raise Refusal("its definitions refer to one another in a way that cannot be encoded")


def _in_order(definitions: Definitions) -> list[str]:
    """What the root refers to, each after what it refers to in turn, circles aside."""
    edges = {name: references(shape) for name, shape in definitions.items()}
    return [name for group in components(reachable(ROOT, edges)) for name in group if name != ROOT]


def _cuts(definitions: Definitions, dialect: Dialect) -> frozenset[tuple[str, str]]:
    """The references that must not be kept, as target and pointer."""
    if dialect.recursion is True:
        return frozenset()
    # Where an optional property is written as a required one, there is none that a circle could pass.
    through_optional = dialect.recursion == "optional" and dialect.optional == "absent"
    return cycle_cuts(ROOT, definitions, through_optional=through_optional)


def _arguments(contract: Contract) -> Shape:
    """The contract's shape for an object: a call's arguments are one, whatever else the schema would take."""
    shape = contract.shape
    if type(shape) is Anything and not shape.residue:
        return Record(shape.pointer, shape.notes, fields={})
    if type(shape) is Choice:
        objects = [b for b in shape.branches if type(follow(b, contract.definitions)) in (Record, Choice)]
        if len(objects) == 1 and type(follow(objects[0], contract.definitions)) is Record:
            return with_notes(objects[0], shape.notes, shape.residue)
    return shape


def _root(shape: Shape, context: Context) -> Lowered:
    """The root: an object with declared fields stands as it is; anything else is wrapped in one field."""
    target = follow(shape, context.definitions)
    if type(target) is Record:
        for residue in shape.residue if type(shape) is Ref else ():
            context.change(residue.code, residue.pointer, f"left to the local check: {residue.text}")
        for residue in target.residue:
            context.change(residue.code, residue.pointer, f"left to the local check: {residue.text}")
        wire, codec = lower_object(target, context)
        if type(shape) is Ref:
            wire = with_notes(wire, lowered_notes(shape.notes, codec), shape.residue)
    elif impossible(target):
        raise Refusal("the root allows no value: its bounds exclude one another")
    else:
        wire, codec = lower(shape, context)
    context.wire[ROOT], context.codecs[ROOT] = wire, codec
    if type(wire) is Record or not context.dialect.root.object_only:
        return wire, codec
    return _wrapped(wire, codec, context)


def _wrapped(wire: Shape, codec: Codec | None, context: Context) -> Lowered:
    context.change("root-wrapped", "", f"the arguments are written inside one field, {WRAPPER!r}")
    inner: Shape = wire
    if ROOT in context.leaned_on:
        # The contract's own root is referred to from inside, so it needs a name now that it is not the wire's root.
        inner = Ref(name=ROOT)
    read, write = apply(codec), encoder(codec)
    outer = Record(fields={WRAPPER: Field(inner, True)}, rest=Nothing(), openness=Openness.CLOSED, notes=NO_NOTES)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and len(value) == 1 and WRAPPER in value:
            return read(value[WRAPPER], trail, run)
        if run.either:
            return read(value, trail, run)
        return run.misfit(value, trail, f"must be an object of {WRAPPER!r}")

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return {WRAPPER: write(value, trail, run)}

    return outer, Codec(decode, encode)
