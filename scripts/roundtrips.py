"""Round trips of schemas with instances: the JSON Schema Test Suite, and SchemaStore's schemas with their own tests.

Each schema, unedited, is a contract; each of its instances is a call. A valid one must be written, admitted by the wire
schema and read back equal; an invalid one must never pass. What says so is not the compiler: the wire is validated by
the ``jsonschema`` library, and whether a row is valid is the suite's word.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import referencing.exceptions

from strictcall import ArgumentsError, CompiledTool, Dialect, Policy, Verdict, compile_schema, dialects, judge
from strictcall.wire.codec import Run
from strictcall.wire.compiled import Form

DRAFTS = {"draft4": "4", "draft6": "6", "draft7": "7", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}
DIALECTS = ("openai", "json_schema")
CAPS = {"openai": 3.0, "json_schema": 1.0}
"""At most this share of the valid instances may be excused, in percent."""
LETTER = Policy(implied_types=False, open_objects="carry")
"""The suite means its schemas to the letter: nothing is implied, and what is open stays open."""
EXCUSES = {
    "null-folded": "an explicit null reads as absent, where the schema's own default is null",
    "condition-name": "a name that only a condition declares has another type where the condition does not apply",
    "object-closed": "a name that the schema neither declares nor opens (only with open_objects=close)",
}
"""The only codes that may excuse a loss, and what is lost."""
FORMS: tuple[Form, ...] = ("wire", "either")
NEVER_RAISES = (Verdict.EXACT, Verdict.CLOSED)
"""Verdicts that say: whatever the wire admits, decodes."""
REMOTE = "localhost:1234"
EXTERNAL = "outside the schema"
MOVABLE_NOT = re.compile(r'"(?:\$?ref|\$?id|\$schema|\$anchor|\$(?:dynamic|recursive)(?:Ref|Anchor))":')
"""Keywords that mean another thing when a schema is moved below a property."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One value and whether the contract admits it, by the word of whoever made the row."""

    name: str
    value: Any
    valid: bool


@dataclass(frozen=True, slots=True)
class Group:
    """One schema with its instances; ``source`` is the draft's folder or the data file."""

    source: str
    name: str
    schema: Any
    draft: str
    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """A valid instance that did not come back; ``code`` and ``pointer`` are of the change that says so, if one does."""

    group: str
    instance: str
    what: str
    code: str = ""
    pointer: str = ""


@dataclass
class Tally:
    """What came of some groups under one dialect."""

    schemas: int = 0
    strict: int = 0
    valid: int = 0
    round_trips: int = 0
    invalid: int = 0
    refused: int = 0
    external: int = 0
    external_instances: int = 0
    loose: Counter[str] = field(default_factory=Counter)
    excused: list[Loss] = field(default_factory=list)
    misses: list[Loss] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The excused share of the valid instances, in percent."""
        return 100 * len(self.excused) / max(1, self.valid)

    def add(self, other: Tally) -> None:
        """Take another tally into this one."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)


# --- rows -----------------------------------------------------------------------------------------------------------


def suite(folder: Path) -> tuple[list[Group], int]:
    """The required tests of every draft, and how many schemas were left out for remote references."""
    groups, remote = [], 0
    for source, draft in DRAFTS.items():
        for file in sorted((folder / "tests" / source).glob("*.json")):
            for row in json.loads(file.read_text(encoding="utf-8")):
                if REMOTE in json.dumps(row["schema"]):
                    remote += 1
                    continue
                instances = tuple(Instance(t["description"], t["data"], t["valid"]) for t in row["tests"])
                groups.append(Group(source, f"{file.stem}: {row['description']}", row["schema"], draft, instances))
    return groups, remote


def general(file: Path) -> list[Group]:
    """SchemaStore's schemas with the instances that its own tests have for them."""
    groups = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        instances = [Instance(f"valid {i}", value, True) for i, value in enumerate(row["valid"])]
        instances += [Instance(f"invalid {i}", value, False) for i, value in enumerate(row["invalid"])]
        groups.append(Group(file.stem, row["name"], row["schema"], "2020-12", tuple(instances)))
    return groups


def nested(groups: Iterable[Group]) -> Iterator[Group]:
    """The same schemas as an optional property of an object, where that leaves their meaning as it is."""
    for group in groups:
        inner, outer = group.schema, {}
        if isinstance(inner, dict) and "$schema" in inner:
            outer = {"$schema": inner["$schema"]}
            inner = {name: value for name, value in inner.items() if name != "$schema"}
        if MOVABLE_NOT.search(json.dumps(inner)):
            continue
        schema = {**outer, "type": "object", "properties": {"p": inner}, "additionalProperties": False}
        instances = [replace(instance, value={"p": instance.value}) for instance in group.instances]
        yield replace(group, schema=schema, instances=(*instances, Instance("left out", {}, True)))


# --- one schema -----------------------------------------------------------------------------------------------------


def examine(group: Group, compiled: CompiledTool) -> Tally:
    """Every instance of a group through its compiled contract."""
    found = Tally(schemas=1, strict=int(compiled.strict))
    if not compiled.strict:
        if compiled.reason and EXTERNAL in compiled.reason:
            return Tally(external=1, external_instances=len(group.instances), outside=[group.name])
        found.loose[general_reason(compiled.reason or "no reason given")] += 1
    else:
        for violation in judge(compiled.parameters, compiled.dialect):
            found.misses.append(Loss(group.name, "", f"wire schema: {violation.rule} at {violation.pointer!r}"))
    admits = validator("2020-12", compiled.parameters) if compiled.strict else lambda value: True
    for instance in group.instances:
        one(found, group, compiled, admits, instance)
    return found


def one(found: Tally, group: Group, compiled: CompiledTool, admits: Callable[[Any], bool], instance: Instance) -> None:
    """One instance: counted, and noted where it did not fare as it should."""
    try:
        loss = (
            lost(compiled, admits, instance.value)
            if instance.valid
            else passed(group, compiled, admits, instance.value)
        )
    except Exception as error:  # noqa: BLE001 - an exception of any kind is what is looked for
        found.misses.append(Loss(group.name, instance.name, f"{type(error).__name__}: {error}"))
        return
    if loss is not None and wrong_label(group, instance):
        said = "valid" if instance.valid else "invalid"
        found.doubtful.append(f"{group.name}: instance {instance.name.split()[-1]} of those said to be {said}")
        return
    found.valid += instance.valid
    found.invalid += not instance.valid
    if loss is None:
        found.round_trips += instance.valid
        found.refused += not instance.valid
        return
    (found.excused if loss.code else found.misses).append(replace(loss, group=group.name, instance=instance.name))


def lost(compiled: CompiledTool, admits: Callable[[Any], bool], value: Any) -> Loss | None:
    """What happened to a valid value on its way to the wire and back, if it did not come back."""
    try:
        wire = compiled.encode(value)
    except ArgumentsError as error:
        return excused(compiled, f"cannot be said: {error}", [fault.pointer for fault in error.faults])
    if not admits(wire):
        return Loss("", "", f"the wire schema does not admit {json.dumps(wire)[:200]}")
    try:
        back = compiled.decode(json.dumps(wire))
    except ArgumentsError as error:
        return Loss("", "", f"its own wire form is refused: {error}")
    if same(value, back):
        return None
    return excused(compiled, f"came back as {json.dumps(back)[:200]}", dropped_nulls(value, back))


def excused(compiled: CompiledTool, what: str, places: list[str] | None) -> Loss:
    """A loss, with the change that announced it: one of the fixed codes, about each name that was lost."""
    first = None
    for place in places or [""]:
        name = place.rpartition("/")[2]
        announced = (
            change
            for change in compiled.changes
            if change.code in EXCUSES and (change.code == "object-closed" or change.pointer.rpartition("/")[2] == name)
        )
        change = next(announced, None) if places else None
        if change is None:
            return Loss("", "", what)
        first = first or change
    assert first is not None  # noqa: S101 - ``places`` is not empty here
    return Loss("", "", what, first.code, first.pointer)


def dropped_nulls(left: Any, right: Any, pointer: str = "") -> list[str] | None:
    """Where nulls of ``left`` are absent in ``right``; ``None`` if the two differ in anything else."""
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = [(str(index), *pair) for index, pair in enumerate(zip(left, right, strict=True))]
    elif isinstance(left, dict) and isinstance(right, dict) and left.keys() >= right.keys():
        if any(left[name] is not None for name in left.keys() - right.keys()):
            return None
        pairs = [(name, left[name], right[name]) for name in right]
    else:
        return [] if same(left, right) else None
    found = [f"{pointer}/{name}" for name in left if name not in right] if isinstance(left, dict) else []
    for name, mine, other in pairs:
        below = dropped_nulls(mine, other, f"{pointer}/{name}")
        if below is None:
            return None
        found += below
    return found


def passed(group: Group, compiled: CompiledTool, admits: Callable[[Any], bool], value: Any) -> Loss | None:
    """How an invalid value got through, if it did."""
    if not compiled.check(value):
        return Loss("", "", "check has nothing against it")
    try:
        compiled.encode(value)
    except ArgumentsError:
        pass
    else:
        return Loss("", "", "encode takes it")
    sayings = [(value, False), *((wire, True) for wire in forced(compiled, value))]
    for (said, as_wire), form in itertools.product(sayings, FORMS):
        try:
            read = compiled.decode(json.dumps(said), form=form)
        except ArgumentsError:
            if as_wire and form == "wire" and compiled.verdict in NEVER_RAISES and admits(said):
                return Loss("", "", f"the wire schema, {compiled.verdict}, admits {json.dumps(said)[:200]}")
            continue
        # A value may happen to be the wire form of another one that is valid.
        if same(read, value) or not validator(group.draft, group.schema)(read):
            return Loss("", "", f"decode({form}) gives {json.dumps(read)[:200]}")
    return None


def forced(compiled: CompiledTool, value: Any) -> list[Any]:
    """The wire form that an invalid value would have, if it has one: ``encode`` without its check."""
    if not compiled.strict:
        return []
    if compiled._made.codec is None:
        return [value]
    run = Run()
    wire = compiled._made.codec.encode(value, None, run)
    return [] if run.faults else [wire]


# --- independent words ----------------------------------------------------------------------------------------------


def validator(draft: str, schema: Any) -> Callable[[Any], bool]:
    """Whether a schema admits a value, by the ``jsonschema`` library; formats are annotations.

    Its patterns are Python's: where it cannot read one, ``jsonschema_rs`` answers.
    """
    name = f"Draft{draft.replace('-', '')}Validator"
    if isinstance(schema, dict) and isinstance(schema.get("$schema"), str):
        kind = jsonschema.validators.validator_for(schema, default=getattr(jsonschema, name))
    else:
        kind = getattr(jsonschema, name)
    ours = kind(schema)

    def admits(value: Any) -> bool:
        try:
            return bool(ours.is_valid(value))
        except re.error:
            other = getattr(jsonschema_rs, kind.__name__)
            return bool(other(schema, retriever=never, validate_formats=False).is_valid(value))

    return admits


def wrong_label(group: Group, instance: Instance) -> bool:
    """Whether two validators agree that a row of the general schemas is not what it is said to be."""
    if group.source in DRAFTS:
        return False
    try:
        rust = jsonschema_rs.validator_for(group.schema, retriever=never, validate_formats=False)
        answers = {validator(group.draft, group.schema)(instance.value), bool(rust.is_valid(instance.value))}
    except (ValueError, referencing.exceptions.Unresolvable, jsonschema_rs.ReferencingError):
        return False
    return answers == {not instance.valid}


def never(uri: str) -> Any:
    """A retriever that fetches nothing."""
    raise ValueError(f"{uri} is outside the schema")


def same(left: Any, right: Any) -> bool:
    """JSON equality: booleans are not numbers, 1 equals 1.0, the order of keys is free."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(item, right[name]) for name, item in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return type(left) not in (dict, list) and type(right) not in (dict, list) and bool(left == right)


def general_reason(reason: str) -> str:
    """A reason without the numbers of one schema."""
    return re.sub(r"^[\d,]+ ", "", reason).split(": ")[0]


# --- all of it ------------------------------------------------------------------------------------------------------


def run(groups: Iterable[Group], dialect: str | Dialect, policy: Policy = LETTER) -> dict[str, Tally]:
    """Tallies by source."""
    found: dict[str, Tally] = {}
    for group in groups:
        tally = found.setdefault(group.source, Tally())
        try:
            compiled = compile_schema(group.schema, dialect, policy, draft=group.draft)
        except Exception as error:  # noqa: BLE001 - an exception of any kind is what is looked for
            tally.misses.append(Loss(group.name, "", f"compile: {type(error).__name__}: {error}"))
            continue
        tally.add(examine(group, compiled))
    return found


def unlimited(name: str) -> Dialect:
    """A dialect without its limits on size, so that large schemas are compiled too."""
    return replace(next(dialect for dialect in dialects() if dialect.name == name), limits=())


def summed(tallies: Iterable[Tally]) -> Tally:
    """All tallies as one."""
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total
