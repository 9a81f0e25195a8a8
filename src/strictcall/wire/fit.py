"""Fitting: the cheapest rewrites that bring one tool under a provider's limits, in a fixed order.

For each limit the rewrites are tried from the one that costs the model least: parts shared as definitions; a null that
only repeats the default left out; real optionals written as nullable ones; optionals gathered in one field; a big enum
as checked text; an array's greatest length only checked; a part of the arguments as JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from strictcall.dialect.model import Limit
from strictcall.shape.admit import follow, kinds
from strictcall.shape.graph import parts, walk
from strictcall.shape.model import ROOT, Choice, Definitions, Field, List, Literal, Null, Record, Ref, Shape
from strictcall.value import replace, value
from strictcall.wire.budget import exceeded
from strictcall.wire.compiled import Compilation
from strictcall.wire.lower import Wire
from strictcall.wire.plan import AS_USUAL, Plan

MOST_ROUNDS: Final = 32
"""How many rewrites are tried before the tool is given up."""


@value
class Need:
    """What a plan made, and by how much it exceeds a limit."""

    made: Compilation
    wire: Wire
    plan: Plan
    limit: str
    excess: int

    def parts(self) -> Iterator[Shape]:
        """Every part of the wire shape."""
        return _walk(self.wire.root, self.wire.definitions)

    def records(self) -> Iterator[Record]:
        """Every object of the wire shape."""
        return (part for part in self.parts() if type(part) is Record)


Rewrite = Callable[[Need], Plan | None]
"""A further plan; ``None`` where this rewrite has no more to give."""


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
    need = Need(made, made.wire, plan, limit.name, made.counts[limit.name] - limit.most)
    for rewrite in _REWRITES.get(limit.name, ()):
        further = rewrite(need)
        if further is not None and further != plan:
            return further
    return None


def _share(need: Need) -> Plan | None:
    return replace(need.plan, shared=True) if need.made.dialect.references else None


def _fold(need: Need) -> Plan | None:
    """Optional properties whose default is null, that would be no union without null."""
    if need.made.contract is None or need.made.policy.nulls == "distinguish" or need.made.dialect.optional != "absent":
        return None
    contract = need.made.contract
    found = [
        field.shape.pointer
        for record in _walk(contract.shape, contract.definitions)
        if type(record) is Record
        for field in record.fields.values()
        if not field.required and _is_null_by_default(field.shape) and field.shape.pointer not in need.plan.folded
    ]
    return replace(need.plan, folded=need.plan.folded.union(found[: need.excess])) if found else None


def _is_null_by_default(shape: Shape) -> bool:
    """Whether a shape is a union of null with one other form, and null is its default."""
    if "default" not in shape.notes or shape.notes["default"] is not None or type(shape) is not Choice:
        return False
    return len(shape.branches) == 2 and any(type(branch) is Null for branch in shape.branches)


def _optionals_as_null(need: Need) -> Plan | None:
    """Optional properties as nullable ones: first those that are unions already, then as many as unions may be."""
    room = _room(need.made, "unions")
    known = need.wire.definitions
    unions: list[str] = []
    others: list[str] = []
    for _, field in _optionals(need):
        if "null" not in kinds(field.shape, known):
            (unions if type(follow(field.shape, known)) is Choice else others).append(field.shape.pointer)
    chosen = unions[: need.excess]
    chosen += others[: max(0, min(room, need.excess - len(chosen)))]
    return replace(need.plan, nullable=need.plan.nullable.union(chosen)) if chosen else None


def _room(made: Compilation, name: str) -> int:
    """By how much a measure may grow."""
    limits = [limit.most for limit in made.dialect.limits if limit.name == name]
    return min(limits) - made.counts[name] if limits else 1_000_000


def _gather(need: Need) -> Plan | None:
    """The optional properties that come last, from the objects that have most of them."""
    by_record: dict[int, list[str]] = {}
    for record, field in _optionals(need):
        by_record.setdefault(id(record), []).append(field.shape.pointer)
    # The same schema may be written in several places, so pointers are counted once.
    chosen: set[str] = set()
    for pointers in sorted(by_record.values(), key=len, reverse=True):
        missing = need.excess - len(chosen)
        if len(pointers) > 1 and missing > 0:
            chosen.update(pointers[-missing:])
    return replace(need.plan, gathered=need.plan.gathered.union(chosen)) if chosen else None


def _optionals(need: Need) -> Iterator[tuple[Record, Field]]:
    """The wire's optional fields with their records, those left out that a plan has already spoken of."""
    spoken_of = need.plan.gathered | need.plan.nullable
    for record in need.records():
        for field in record.fields.values():
            if not field.required and field.shape.pointer not in spoken_of:
                yield record, field


def _unlist(need: Need) -> Plan | None:
    """The largest enums of text, until enough values are gone."""
    if need.made.policy.fidelity == "exact":
        return None
    enums = [part for part in need.parts() if type(part) is Literal and len(part.values) > 1]
    enums = [e for e in enums if e.pointer not in need.plan.unlisted and set(map(type, e.values)) == {str}]
    enums.sort(key=lambda enum: -len(enum.values))
    return replace(need.plan, unlisted=need.plan.unlisted | {enums[0].pointer}) if enums else None


def _unbound(need: Need) -> Plan | None:
    """The arrays with the greatest lengths, until enough is gone."""
    if need.made.policy.fidelity == "exact":
        return None
    lists = [part for part in need.parts() if type(part) is List and part.max_items]
    if not lists:
        return None
    longest = max(lists, key=lambda part: part.max_items or 0)
    return replace(need.plan, unbounded=need.plan.unbounded | {longest.pointer})


def _deepest_as_text(need: Need) -> Plan | None:
    """Every part that begins one level below the last that the provider takes."""
    most = min(limit.most for limit in need.made.dialect.limits if limit.name == "depth")
    found = _too_deep(need.wire, most) - need.plan.texts - {""}
    return replace(need.plan, texts=need.plan.texts | found) if found else None


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


def _unions_as_text(need: Need) -> Plan | None:
    """The last properties that are unions."""
    found = {
        field.shape.pointer: None
        for record in need.records()
        for field in record.fields.values()
        if type(follow(field.shape, need.wire.definitions)) is Choice and _may_be_text(field.shape, need.plan)
    }
    return replace(need.plan, texts=need.plan.texts.union(list(found)[-need.excess :])) if found else None


def _part_as_text(need: Need) -> Plan | None:
    """The smallest part whose loss is enough, else the largest there is, by what the limit counts."""
    weigh = _WEIGHTS.get(need.limit, _characters)
    sizes: dict[str, int] = {}
    for part in need.parts():
        if part is not need.wire.root and type(part) in (Record, List) and _may_be_text(part, need.plan):
            sizes[part.pointer] = sizes.get(part.pointer, 0) + sum(weigh(below) for below in walk([part]))
    sizes = {pointer: size for pointer, size in sizes.items() if size}
    if not sizes:
        return None
    enough = [pointer for pointer, size in sizes.items() if size >= need.excess]
    chosen = min(enough, key=sizes.__getitem__) if enough else max(sizes, key=sizes.__getitem__)
    return replace(need.plan, texts=need.plan.texts | {chosen})


def _characters(shape: Shape) -> int:
    """About how many characters a shape takes by itself."""
    total = 20 + sum(len(str(item)) for item in shape.notes.values())
    if type(shape) is Record:
        total += sum(map(len, shape.fields))
    elif type(shape) is Literal:
        total += sum(len(str(item)) for item in shape.values)
    return total


_WEIGHTS: Final[Mapping[str, Callable[[Any], int]]] = {
    "optional": lambda shape: sum(not f.required for f in shape.fields.values()) if type(shape) is Record else 0,
    "properties": lambda shape: len(shape.fields) if type(shape) is Record else 0,
    "enum_values": lambda shape: len(shape.values) if type(shape) is Literal else 0,
}
"""For each limit what a shape counts by itself; for others, its characters."""


def _may_be_text(shape: Shape, plan: Plan) -> bool:
    return bool(shape.pointer) and shape.pointer not in plan.texts


def _walk(root: Shape, definitions: Definitions) -> Iterator[Shape]:
    """Every part of a shape in document order, each definition once, where it is first referred to."""
    seen = {ROOT}
    pending = [root]
    while pending:
        shape = pending.pop()
        yield shape
        if type(shape) is not Ref:
            pending.extend(reversed(parts(shape)))
        elif shape.name not in seen and shape.name in definitions:
            seen.add(shape.name)
            pending.append(definitions[shape.name])


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
