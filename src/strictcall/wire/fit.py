"""Fitting: the cheapest rewrites that bring one tool under a provider's limits, in a fixed order.

For each limit the rewrites are tried from the one that costs the model least: parts shared as definitions; a null that
only repeats the default left out; real optionals written as nullable ones; optionals gathered in one field; a big enum
as checked text; an array's greatest length only checked; a part of the arguments as JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from strictcall.dialect.model import Limit
from strictcall.shape.admit import follow, kinds
from strictcall.shape.graph import parts
from strictcall.shape.model import ROOT, Choice, Definitions, Field, List, Literal, Null, Record, Ref, Shape
from strictcall.value import replace
from strictcall.wire.budget import exceeded
from strictcall.wire.compiled import Compilation
from strictcall.wire.lower import Wire
from strictcall.wire.plan import AS_USUAL, Plan

MOST_ROUNDS: Final = 32
"""How many rewrites are tried before the tool is given up."""

Rewrite = Callable[[Compilation, Wire, Plan, int], Plan | None]
"""Given what a plan made and by how much it exceeds a limit, a further plan; ``None`` where this rewrite has no more to
give.
"""


def fitted(make: Callable[[Plan], Compilation]) -> Compilation:
    """What ``make`` gives under the cheapest plan that fits; where none does, what it gives without one."""
    usual = made = make(AS_USUAL)
    plan = AS_USUAL
    for _ in range(MOST_ROUNDS):
        limit = exceeded(made.counts, made.dialect)
        if limit is None:
            return made
        further = _further(made, plan, limit)
        if further is None:
            break
        plan = further
        made = make(plan)
    return usual


def _further(made: Compilation, plan: Plan, limit: Limit) -> Plan | None:
    if made.wire is None:
        return None
    excess = made.counts[limit.name] - limit.most
    for rewrite in _REWRITES.get(limit.name, ()):
        further = rewrite(made, made.wire, plan, excess)
        if further is not None and further != plan:
            return further
    return None


def _share(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    return replace(plan, shared=True) if made.dialect.references else None


def _fold(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """Optional properties whose default is null, that would be no union without null."""
    if made.contract is None or made.policy.nulls == "distinguish" or made.dialect.optional != "absent":
        return None
    contract = made.contract
    found = [
        field.shape.pointer
        for record in _records(contract.shape, contract.definitions)
        for field in record.fields.values()
        if not field.required and _is_null_by_default(field.shape) and field.shape.pointer not in plan.folded
    ]
    return replace(plan, folded=plan.folded.union(found[:excess])) if found else None


def _is_null_by_default(shape: Shape) -> bool:
    """Whether a shape is a union of null with one other form, and null is its default."""
    if "default" not in shape.notes or shape.notes["default"] is not None or type(shape) is not Choice:
        return False
    return len(shape.branches) == 2 and any(type(branch) is Null for branch in shape.branches)


def _optionals_as_null(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """Optional properties as nullable ones: first those that are unions already, then as many as unions may be."""
    room = _room(made, "unions")
    known = wire.definitions
    unions: list[str] = []
    others: list[str] = []
    for _, field in _optionals(wire, plan):
        if "null" not in kinds(field.shape, known):
            (unions if type(follow(field.shape, known)) is Choice else others).append(field.shape.pointer)
    chosen = unions[:excess]
    chosen += others[: max(0, min(room, excess - len(chosen)))]
    return replace(plan, nullable=plan.nullable.union(chosen)) if chosen else None


def _room(made: Compilation, name: str) -> int:
    """By how much a measure may grow."""
    limits = [limit.most for limit in made.dialect.limits if limit.name == name]
    return min(limits) - made.counts[name] if limits else 1_000_000


def _gather(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """The optional properties that come last in the object that has most of them."""
    by_record: dict[int, list[str]] = {}
    for record, field in _optionals(wire, plan):
        by_record.setdefault(id(record), []).append(field.shape.pointer)
    most = max(by_record.values(), key=len, default=[])
    return replace(plan, gathered=plan.gathered.union(most[-excess:])) if len(most) > 1 else None


def _optionals(wire: Wire, plan: Plan) -> Iterator[tuple[Record, Field]]:
    """The wire's optional fields with their records, those left out that a plan has already spoken of."""
    for record in _records(wire.root, wire.definitions):
        for field in record.fields.values():
            if not field.required and field.shape.pointer not in plan.gathered | plan.nullable:
                yield record, field


def _unlist(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """The largest enums of text, until enough values are gone."""
    if made.policy.fidelity == "exact":
        return None
    enums = [part for part, _ in _walk(wire.root, wire.definitions) if type(part) is Literal and len(part.values) > 1]
    enums = [e for e in enums if e.pointer not in plan.unlisted and set(map(type, e.values)) == {str}]
    enums.sort(key=lambda enum: -len(enum.values))
    return replace(plan, unlisted=plan.unlisted | {enums[0].pointer}) if enums else None


def _unbound(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """The arrays with the greatest lengths, until enough is gone."""
    if made.policy.fidelity == "exact":
        return None
    lists = [part for part, _ in _walk(wire.root, wire.definitions) if type(part) is List and part.max_items]
    if not lists:
        return None
    longest = max(lists, key=lambda part: part.max_items or 0)
    return replace(plan, unbounded=plan.unbounded | {longest.pointer})


def _deepest_as_text(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """Every part that begins one level below the last that the provider takes."""
    most = min(limit.most for limit in made.dialect.limits if limit.name == "depth")
    found = _too_deep(wire, most) - plan.texts - {""}
    return replace(plan, texts=plan.texts | found) if found else None


def _too_deep(wire: Wire, most: int) -> set[str]:
    """The pointers of what begins below a level.

    What has no pointer of its own, being part of an encoding, counts as the part of the contract that it encodes. A
    reference that leads back into its own circle ends the way.
    """
    found: set[str] = set()
    seen: set[tuple[str, int]] = set()
    pending: list[tuple[Shape, int, str, frozenset[str]]] = [(wire.root, 0, "", frozenset({ROOT}))]
    while pending:
        shape, level, place, path = pending.pop()
        place = shape.pointer or place
        level += type(shape) in (Record, List)
        if level > most:
            found.add(place)
        elif type(shape) is not Ref:
            pending.extend((part, level, place, path) for part in parts(shape))
        elif shape.name not in path and shape.name in wire.definitions and (shape.name, level) not in seen:
            seen.add((shape.name, level))
            pending.append((wire.definitions[shape.name], level, place, path | {shape.name}))
    return found


def _unions_as_text(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """The last properties that are unions."""
    found = [
        field.shape.pointer
        for record in _records(wire.root, wire.definitions)
        for field in record.fields.values()
        if type(follow(field.shape, wire.definitions)) is Choice and _may_be_text(field.shape, plan)
    ]
    return replace(plan, texts=plan.texts.union(found[-excess:])) if found else None


def _part_as_text(made: Compilation, wire: Wire, plan: Plan, excess: int) -> Plan | None:
    """The smallest part whose loss is enough by the measure of names and values, else the largest there is."""
    sizes: dict[str, int] = {}
    for part, level in _walk(wire.root, wire.definitions):
        if level > 1 and type(part) in (Record, List) and _may_be_text(part, plan):
            sizes.setdefault(part.pointer, _size(part))
    if not sizes:
        return None
    enough = [pointer for pointer, size in sizes.items() if size >= excess]
    chosen = min(enough, key=sizes.__getitem__) if enough else max(sizes, key=sizes.__getitem__)
    return replace(plan, texts=plan.texts | {chosen})


def _size(shape: Shape) -> int:
    """About how many characters a shape takes, references not followed."""
    total = 0
    pending = [shape]
    while pending:
        part = pending.pop()
        total += 20 + sum(len(str(value)) for value in part.notes.values())
        if type(part) is Record:
            total += sum(map(len, part.fields))
        elif type(part) is Literal:
            total += sum(len(str(value)) for value in part.values)
        pending.extend(parts(part))
    return total


def _may_be_text(shape: Shape, plan: Plan) -> bool:
    return bool(shape.pointer) and shape.pointer not in plan.texts


def _records(root: Shape, definitions: Definitions) -> list[Record]:
    return [part for part, _ in _walk(root, definitions) if type(part) is Record]


def _walk(root: Shape, definitions: Definitions) -> Iterator[tuple[Shape, int]]:
    """Every part of a wire shape, in document order, with the level of the object or array that it is or stands in.

    Each definition is walked once, at the deepest level that a first way through the others leads to it.
    """
    seen = {ROOT}
    pending: list[tuple[Shape, int]] = [(root, 0)]
    while pending:
        shape, level = pending.pop()
        level += type(shape) in (Record, List)
        yield shape, level
        if type(shape) is Ref:
            if shape.name not in seen and shape.name in definitions:
                seen.add(shape.name)
                pending.append((definitions[shape.name], level))
        else:
            pending.extend((part, level) for part in reversed(parts(shape)))


_REWRITES: Final[Mapping[str, tuple[Rewrite, ...]]] = {
    "optional": (_share, _optionals_as_null, _gather, _part_as_text),
    "unions": (_share, _fold, _unions_as_text),
    "depth": (_deepest_as_text,),
    "properties": (_share, _part_as_text),
    "enum_values": (_share, _unlist, _part_as_text),
    "longest_enum": (_unlist,),
    "longest_enum_characters": (_unlist,),
    "name_characters": (_share, _unlist, _part_as_text),
    "characters": (_share, _unlist, _part_as_text),
    "bytes": (_share, _unlist, _part_as_text),
    "item_bounds": (_unbound,),
}
"""For each limit the rewrites that help, in the order in which they are tried."""
