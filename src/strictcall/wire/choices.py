"""Lowering unions: a branch is picked by what its values look like, never by trying validators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from strictcall.dialect.model import State
from strictcall.shape.admit import admits, follow, kind_of, kinds
from strictcall.shape.disjoint import disjoint, told_apart_by_literal
from strictcall.shape.model import (
    Choice,
    Definitions,
    Field,
    Literal,
    Nothing,
    Null,
    Openness,
    Record,
    Ref,
    Shape,
)
from strictcall.shape.simplify import bare, union
from strictcall.value import replace, value
from strictcall.wire.codec import Codec, Run, Step, Trail, apply, encoder, level
from strictcall.wire.context import Context, Lowered, lowered_notes
from strictcall.wire.hints import said

MOST_COMPARED: Final = 64
"""Up to how many branches each is compared with each other; beyond that only a literal tells them apart."""


def lower_choice(shape: Choice, context: Context) -> Lowered:
    """A union of branches, each lowered; branches whose wire forms could be taken for one another are told apart."""
    if shape.exclusive:
        shape = _exclusive(shape, context)
    branches = [_null_or(branch, context) for branch in shape.branches]
    codec: Codec | None = None
    if max(level(inner) for _, inner in branches):
        branches = _told_apart(shape, branches, context)
    if context.dialect.first_keys == "distinct":
        branches = _with_distinct_first_keys(branches, context)
    if max(level(inner) for _, inner in branches):
        codec = _choice_codec(shape, branches, context)
    wire = union(
        [_unfoldable(branch, context) for branch, _ in branches],
        pointer=shape.pointer,
        notes=lowered_notes(shape.notes, codec),
        residue=shape.residue,
    )
    return wire, codec


def _null_or(branch: Shape, context: Context) -> Lowered:
    """A branch, lowered. Beside other forms null can be said everywhere, if only by ``nullable``."""
    if type(branch) is Null or (type(branch) is Literal and branch.values == (None,)):
        return Null(branch.pointer, branch.notes, branch.residue), None
    return context.lower(branch, context)


def _unfoldable(branch: Shape, context: Context) -> Shape:
    """A union among the branches without annotations that the dialect refuses, so that it can be unfolded."""
    if type(branch) is not Choice or said(branch.residue, hints=context.policy.hints):
        return branch
    kept = any(context.dialect.state(keyword) is not State.REJECTED for keyword in branch.notes)
    return branch if kept else bare(branch)


def _exclusive(shape: Choice, context: Context) -> Choice:
    """``oneOf``: on the wire a plain union, which is the same only where no value fits two branches."""
    closes = context.policy.open_objects == "close"
    definitions = context.definitions

    def apart(one: Shape, two: Shape) -> bool:
        return disjoint(_shut(one, definitions) if closes else one, two, definitions)

    plain = replace(shape, exclusive=False)
    branches = shape.branches
    if told_apart_by_literal(branches, definitions) or (
        len(branches) <= MOST_COMPARED
        and all(apart(one, two) for one in branches for two in branches if one is not two)
    ):
        return plain
    message = "that only one of the forms fits is not held on the wire"
    return context.unheld(plain, "one-of-overlap", shape.pointer, message, "exactly one form")


def _shut(shape: Shape, definitions: Definitions) -> Shape:
    """A record as it will be lowered when what is open by omission is closed."""
    shape = follow(shape, definitions)
    if type(shape) is Record and shape.openness is Openness.OMITTED and not shape.is_map:
        return replace(shape, rest=Nothing(), openness=Openness.CLOSED)
    return shape


def _told_apart(shape: Choice, branches: list[Lowered], context: Context) -> list[Lowered]:
    """Wrap, in a closed object of one field, each branch that transforms and could be taken for another branch."""
    overlapping = _overlapping(branches, context)
    if not overlapping:
        return branches
    found: list[Lowered] = []
    for i, (branch, codec) in enumerate(branches):
        found.append(_wrapped(branch, codec, i, context) if i in overlapping else (branch, codec))
    return found


def _wrapped(branch: Shape, codec: Codec | None, position: int, context: Context) -> Lowered:
    """A branch in a closed object of one field, whose name no other branch of the union has."""
    name = f"option_{position + 1}"
    context.change("branch-wrapped", branch.pointer, f"a form that looks like another is written inside {name!r}")
    fields = {name: Field(branch, True)}
    return Record(branch.pointer, fields=fields, rest=Nothing(), openness=Openness.CLOSED), _wrapper_codec(name, codec)


def _with_distinct_first_keys(branches: list[Lowered], context: Context) -> list[Lowered]:
    """Branches whose objects begin with different names. The order of fields is free, where it is the union's own to
    choose; a branch for which no name is left is wrapped.
    """
    taken: set[str] = set()
    found = dict(enumerate(branches))
    targets = [follow(branch, context.known) for branch, _ in branches]

    def freedom(position: int) -> tuple[bool, int]:
        """A definition's order of fields is not this union's to change; few names leave little choice."""
        target = targets[position]
        return type(branches[position][0]) is not Ref, len(target.fields) if type(target) is Record else 0

    for position in sorted(found, key=freedom):
        (branch, codec), target = branches[position], targets[position]
        if type(target) is not Record or not target.fields:
            continue
        names = list(target.fields)
        first = next((name for name in names if name not in taken), None)
        if first is None or (first != names[0] and type(branch) is not Record):
            found[position] = _wrapped(branch, codec, position, context)
            continue
        taken.add(first)
        if first != names[0]:
            found[position] = replace(target, fields={first: target.fields[first], **target.fields}), codec
    return [found[position] for position in range(len(branches))]


def _overlapping(branches: list[Lowered], context: Context) -> set[int]:
    """The positions of branches that must be told apart from another by what they are wrapped in."""
    known = context.known
    if told_apart_by_literal([shape for shape, _ in branches], known):
        return set()
    if len(branches) > MOST_COMPARED:
        return set(range(len(branches)))
    found: set[int] = set()
    for i, (one, codec) in enumerate(branches):
        for j in range(i + 1, len(branches)):
            two, other = branches[j]
            if max(level(codec), level(other)) == 2 and not disjoint(one, two, known):
                found |= {i, j}
    return found


def _wrapper_codec(name: str, codec: Codec | None) -> Codec:
    read, write = apply(codec), encoder(codec)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and len(value) == 1 and name in value:
            return read(value[name], trail, run)
        if run.either:
            return read(value, trail, run)
        return run.misfit(value, trail, f"must be an object of {name!r}")

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return {name: write(value, trail, run)}

    return Codec(decode, encode)


@value
class _Option:
    """One branch of a choice, seen from one side: the shape its values have there, and what to do with them."""

    shape: Shape
    step: Step


def _choice_codec(shape: Choice, branches: list[Lowered], context: Context) -> Codec:
    closes = context.policy.open_objects == "close"
    sayable = [_shut(branch, context.definitions) if closes else branch for branch in shape.branches]
    wire_side = [_Option(wire, apply(codec)) for wire, codec in branches]
    contract_side = [_Option(branch, encoder(codec)) for branch, (_, codec) in zip(sayable, branches, strict=True)]
    contract_reading = [
        _Option(branch, apply(codec)) for branch, (_, codec) in zip(shape.branches, branches, strict=True)
    ]
    pick_wire = _picker(wire_side, context.wire, lenient=True)
    pick_contract = _picker(contract_side, context.definitions, lenient=False)
    pick_contract_reading = _picker(contract_reading, context.definitions, lenient=False)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        option = pick_wire(value)
        if option is None and run.either:
            option = pick_contract_reading(value)
        if option is None:
            return run.misfit(value, trail, "fits none of the forms that are allowed here")
        return option.step(value, trail, run)

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        option = pick_contract(value)
        if option is None:
            return run.misfit(value, trail, "fits none of the forms that are allowed here")
        return option.step(value, trail, run)

    return Codec(decode, encode, any(level(codec) == 2 for _, codec in branches))


def _picker(options: Sequence[_Option], definitions: Definitions, *, lenient: bool) -> Callable[[Any], _Option | None]:
    """Picks the branch of a value: by its JSON type, then by its names and literals, and only if need be by all of it.

    The table is made at the first use, when every definition is there. ``lenient``: a field that may be null may be
    absent.
    """
    table: dict[str, list[_Option]] | None = None

    def pick(value: Any) -> _Option | None:
        nonlocal table
        if table is None:
            # Made whole before it is shared: another thread may be decoding too.
            table = _by_kind(options, definitions)
        found = table.get(kind_of(value), [])
        if len(found) > 1:
            alike = [option for option in found if resembles(option.shape, value, definitions, lenient=lenient)]
            if len(alike) == 1 and lenient:
                return alike[0]
            fitting = [option for option in alike if admits(option.shape, value, definitions, lenient=lenient)]
            # What no decoder held to the wire is still worth reading: the local check then says what is wrong with it.
            found = fitting or (alike if lenient else [])
        return found[0] if found else None

    return pick


def _by_kind(options: Sequence[_Option], definitions: Definitions) -> dict[str, list[_Option]]:
    table: dict[str, list[_Option]] = {}
    for option in options:
        for kind in kinds(option.shape, definitions):
            table.setdefault(kind, []).append(option)
    return table


def resembles(shape: Shape, value: Any, definitions: Definitions, *, lenient: bool) -> bool:
    """Whether a value could be of a shape, judged by its type, its names, and the types and literals one level down."""
    shape = follow(shape, definitions)
    if type(shape) is Choice:
        return any(resembles(branch, value, definitions, lenient=lenient) for branch in shape.branches)
    if type(shape) is Literal:
        return admits(shape, value, definitions)
    if kind_of(value) not in kinds(shape, definitions):
        return False
    if type(shape) is not Record:
        return True
    for name, field in shape.fields.items():
        if name in value:
            target = follow(field.shape, definitions)
            if kind_of(value[name]) not in kinds(target, definitions):
                return False
            if type(target) is Literal and not admits(target, value[name], definitions):
                return False
        elif field.required and not (lenient and "null" in kinds(field.shape, definitions)):
            return False
    shut = shape.openness is Openness.CLOSED and not shape.patterns
    return not shut or value.keys() <= shape.fields.keys()
