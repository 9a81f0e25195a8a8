"""Lowering objects: closing what is open by omission, carrying what is open expressly, and filling in what is
optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.dialect.model import State
from strictcall.shape.admit import admits, matches
from strictcall.shape.model import (
    NO_NOTES,
    Anything,
    Definitions,
    Field,
    List,
    Literal,
    Nothing,
    Openness,
    Record,
    Shape,
)
from strictcall.shape.simplify import impossible
from strictcall.value import replace, value
from strictcall.wire.codec import Codec, Run, Step, Trail, apply, encoder, level
from strictcall.wire.context import Context, Lowered, Refusal, lowered_notes
from strictcall.wire.maps import entries, lower_map
from strictcall.wire.names import legal_name
from strictcall.wire.optional import Part, optional
from strictcall.wire.scalars import pattern_holds
from strictcall.wire.unheld import constraint_dropped

EXTRA: Final = "additional_properties"
"""The field that holds a record's free names as entries, beside its declared ones."""


def lower_record(shape: Record, context: Context) -> Lowered:
    """An object below the root."""
    if shape.is_map and shape.openness is Openness.OMITTED:
        # Nothing but "an object": no author means the empty one by that.
        shape = replace(shape, openness=Openness.OPEN)
    return lower_object(shape, context)


def lower_object(shape: Record, context: Context) -> Lowered:
    """An object, the root included, where one that declares nothing takes nothing."""
    by_omission = shape.openness is Openness.OMITTED
    shape = _closed(shape, context)
    if impossible(shape):
        raise Refusal(_why_impossible(shape))
    carries = shape.openness is not Openness.CLOSED or bool(shape.patterns)
    if carries and shape.openness is Openness.OPEN and context.policy.open_objects == "refuse":
        raise Refusal(f"{shape.pointer or 'the root'} is an open object, and the policy refuses those")
    native = context.dialect.open_objects
    if not carries and not shape.fields and _must_have_fields(shape, context):
        return _empty_as_text(shape, context)
    if carries and not shape.fields and not native:
        return lower_map(shape, context)
    parts = _Parts.lower(shape, context)
    free = _free_names(shape, context) if carries and native else None
    if carries and not native:
        parts.carry(shape, context)
    codec = parts.codec(free, closes=by_omission and shape.openness is Openness.CLOSED)
    wire = Record(
        shape.pointer,
        lowered_notes(shape.notes, codec),
        shape.residue,
        parts.fields,
        free.shapes if free else {},
        free.rest if free else Nothing(shape.pointer),
        free.openness if free else Openness.CLOSED,
        None,
        shape.min_properties,
        shape.max_properties,
    )
    if free and not free.patterns_held:
        message = "which names take which values is not held on the wire"
        hint = "names " + " | ".join(map(repr, shape.patterns))
        wire = context.unheld(wire, "pattern-names", shape.pointer, message, hint)
    return _counted(shape, wire, context, carries and not native), codec


def _must_have_fields(shape: Record, context: Context) -> bool:
    """Whether an object may not be without properties at this place."""
    return context.dialect.empty_objects == "nowhere" or (
        context.dialect.empty_objects == "root" and bool(shape.pointer)
    )


def _empty_as_text(shape: Record, context: Context) -> Lowered:
    """The object without properties, where the dialect has none: it has one value only."""
    return context.lower(Literal(shape.pointer, shape.notes, shape.residue, ({},)), context)


def _why_impossible(shape: Record) -> str:
    where = shape.pointer or "the root"
    for name, field in shape.fields.items():
        if field.required and type(field.shape) is Nothing:
            return f"{where} demands {name!r}, for which no value is allowed"
    return f"{where} allows no value: it demands more properties than it allows"


def _closed(shape: Record, context: Context) -> Record:
    """An object that is open only by omission, as the policy has it."""
    if shape.openness is not Openness.OMITTED:
        return shape
    policy = context.policy.open_objects
    if shape.min_properties > len(shape.fields):
        # More names are demanded than are declared, so undeclared ones are meant.
        return replace(shape, openness=Openness.OPEN)
    if policy == "refuse":
        raise Refusal(
            f"{shape.pointer or 'the root'} does not say whether it takes further names, and the policy refuses that"
        )
    if policy == "carry":
        return shape
    context.change("object-closed", shape.pointer, "names that the schema does not declare cannot be said")
    return replace(shape, rest=Nothing(shape.pointer), openness=Openness.CLOSED)


def _free_names(shape: Record, context: Context) -> _Free:
    """The free names of a record whose dialect has open objects."""
    allowed = context.dialect.patterns
    held = (
        context.holds("patternProperties")
        and (allowed is None or len(shape.patterns) <= allowed)
        and all(pattern_holds(pattern, context.dialect) for pattern in shape.patterns)
        and not any(matches(pattern, name) for pattern in shape.patterns for name in shape.fields)
    )
    if shape.patterns and not held:
        if context.policy.open_objects == "refuse":
            raise Refusal(
                f"{shape.pointer or 'the root'} would have to be open on the wire, and the policy refuses that"
            )
        rest, codec = context.lower(Anything(shape.pointer), context)
        return _Free({}, {}, rest, codec, Openness.OPEN, patterns_held=False)
    lowered = {pattern: context.lower(item, context) for pattern, item in shape.patterns.items()}
    shapes = {pattern: wire for pattern, (wire, _) in lowered.items()}
    codecs = {pattern: inner for pattern, (_, inner) in lowered.items()}
    if shape.openness is Openness.CLOSED:
        return _Free(shapes, codecs, shape.rest, None, Openness.CLOSED)
    rest, codec = context.lower(shape.rest, context)
    return _Free(shapes, codecs, rest, codec, shape.openness)


def _counted(shape: Record, wire: Record, context: Context, encoded: bool) -> Record:
    """How many properties there may be, where the wire counts them as the contract does."""
    counted = wire
    for keyword, bound in (("minProperties", shape.min_properties or None), ("maxProperties", shape.max_properties)):
        if bound is None:
            continue
        same_count = context.dialect.optional == "absent" and not encoded
        every = context.dialect.counts_with_optional or all(field.required for field in wire.fields.values())
        if same_count and every and context.dialect.state(keyword, bound) is State.ENFORCED:
            continue
        counted = (
            replace(counted, min_properties=0) if keyword == "minProperties" else replace(counted, max_properties=None)
        )
        counted = constraint_dropped(counted, context, keyword, bound)
    if shape.names is not None and not encoded:
        message = "what a name may be is not held on the wire"
        counted = context.unheld(counted, "property-names", shape.pointer, message, "propertyNames")
    return counted


def _written_as_null(shape: Record, context: Context) -> frozenset[str]:
    """The optional fields that are required and null in a dialect that has real optionals.

    One of them, where the dialect asks that an object with properties require at least one.
    """
    if not context.dialect.some_required or any(field.required for field in shape.fields.values()):
        return frozenset()
    return frozenset([name for name, field in shape.fields.items() if type(field.shape) is not Nothing][:1])


@value
class _Free:
    """A record's free names on the wire: shapes and codecs by name pattern, and those of every other name."""

    shapes: Mapping[str, Shape]
    codecs: Mapping[str, Codec | None]
    rest: Shape
    rest_codec: Codec | None
    openness: Openness
    patterns_held: bool = True

    def takes(self, name: str) -> bool:
        """Whether a free name can be said at all."""
        return self.openness is not Openness.CLOSED or any(matches(pattern, name) for pattern in self.codecs)

    def of(self, name: str) -> Codec | None:
        """The codec of one free name."""
        for pattern, codec in self.codecs.items():
            if matches(pattern, name):
                return codec
        return self.rest_codec

    @property
    def level(self) -> int:
        """How much these codecs do at most."""
        return max(level(self.rest_codec), *map(level, self.codecs.values()), 0)


@dataclass(slots=True)
class _Parts:
    """A record's declared fields on their way to the wire, by contract name.

    ``only``: for fields that conditions alone speak of, the shape to which that narrows them.
    """

    names: dict[str, str]
    parts: dict[str, Part]
    only: dict[str, Shape]
    definitions: Definitions
    extra: tuple[str, Codec] | None = None
    extra_field: Field | None = None

    @classmethod
    def lower(cls, shape: Record, context: Context) -> _Parts:
        taken: set[str] = set()
        parts = cls({}, {}, {}, context.definitions)
        # Where something depends on which names are there, an absent one is not the same as a null.
        may_fold = context.policy.nulls == "fold" or not (shape.residue or shape.min_properties)
        by_null = _written_as_null(shape, context)
        for name, field in shape.fields.items():
            if type(field.shape) is Nothing:
                if shape.openness is not Openness.CLOSED:
                    message = f"that {name!r} is not allowed is not held on the wire"
                    context.change("name-forbidden", field.shape.pointer, message)
                continue
            if field.conditional and shape.openness is not Openness.CLOSED:
                field = replace(field, shape=Anything(field.shape.pointer, field.shape.notes))
            elif field.conditional:
                message = f"{name!r} has the type that the conditions speaking of it say; other values cannot be said"
                context.change("condition-name", field.shape.pointer, message)
            wire_name = legal_name(name, context.dialect.property_name)
            while wire_name in taken:
                wire_name += "_"
            if wire_name != name:
                context.change("property-renamed", field.shape.pointer, f"{name!r} is called {wire_name!r} on the wire")
            if field.conditional and shape.openness is Openness.CLOSED:
                parts.only[name] = field.shape
            taken.add(wire_name)
            parts.names[name] = wire_name
            parts.parts[name] = optional(field, context, may_fold=may_fold, by_null=name in by_null)
        return parts

    @property
    def fields(self) -> Mapping[str, Field]:
        """The wire's fields."""
        found = {self.names[name]: part.field for name, part in self.parts.items()}
        if self.extra is not None and self.extra_field is not None:
            found[self.extra[0]] = self.extra_field
        return found

    def carry(self, shape: Record, context: Context) -> None:
        """Add the field that holds free names as entries."""
        entry, codec = entries(replace(shape, notes=NO_NOTES, residue=()), context)
        message = "further names are written as a list of entries; a key could be written twice"
        context.change("extra-entries", shape.pointer, message)
        name = EXTRA
        while name in self.names.values():
            name += "_"
        self.extra = (name, codec)
        self.extra_field = Field(List(shape.pointer, rest=entry), True)

    def codec(self, free: _Free | None, *, closes: bool) -> Codec | None:
        """The record's codec; ``None`` where it would do nothing that the local check does not do."""
        renamed = any(name != wire for name, wire in self.names.items())
        nulls = any(part.null_is_absent for part in self.parts.values())
        inner = max((level(part.codec) for part in self.parts.values()), default=0)
        highest = max(inner, free.level if free else 0, 2 if renamed or nulls or self.extra else 0)
        if not highest and not closes and not self.only:
            return None
        if not inner and not free and highest < 2:
            return _closing_codec(self)
        return _record_codec(self, free, highest == 2)


def _closing_codec(parts: _Parts) -> Codec:
    """The codec of a record that only refuses undeclared names."""
    declared = list(parts.names)
    names = frozenset(declared)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and not names.issuperset(value):
            for name in value:
                if name not in names:
                    run.unknown(name, trail, declared)
        return value

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return _encode(value, trail, run, parts, None)

    return Codec(decode, encode, False)


def _record_codec(parts: _Parts, free: _Free | None, transforms: bool) -> Codec:
    readers: dict[str, tuple[str, Step | None, bool]] = {}
    for name, wire in parts.names.items():
        part = parts.parts[name]
        readers[wire] = (name, None if part.codec is None else part.codec.decode, part.null_is_absent)
    by_name = {name: readers[wire] for name, wire in parts.names.items()}
    declared = list(parts.names)
    extra, extra_codec = parts.extra or ("", None)
    read_extra = apply(extra_codec)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        for wire, item in value.items():
            reader = readers.get(wire) or (by_name.get(wire) if run.either else None)
            if reader is not None:
                name, read, null_is_absent = reader
                if item is not None or not null_is_absent:
                    found[name] = item if read is None else read(item, (trail, name), run)
            elif extra_codec is not None and wire == extra and item is not None:
                _add(found, read_extra(item, trail, run), declared, trail, run)
            elif free is not None and free.takes(wire):
                found[wire] = apply(free.of(wire))(item, (trail, wire), run)
            elif run.either and extra_codec is not None and wire != extra:
                _add(found, read_extra({wire: item}, trail, run), declared, trail, run)
            elif extra_codec is None or wire != extra:
                run.unknown(wire, trail, declared)
        return found if transforms else value

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return _encode(value, trail, run, parts, free)

    return Codec(decode, encode, transforms)


def _add(found: dict[str, Any], more: Any, declared: list[str], trail: Trail, run: Run) -> None:
    """Put an object's free names beside its declared ones, which they may not repeat."""
    if type(more) is not dict:
        return
    for name, item in more.items():
        if name in found or name in declared:
            run.misfit(name, (trail, name), "is declared by name, so it cannot also be an entry")
        else:
            found[name] = item


def _encode(value: Any, trail: Trail, run: Run, parts: _Parts, free: _Free | None) -> Any:
    if type(value) is not dict:
        return run.misfit(value, trail, "must be an object")
    written: dict[str, Any] = {}
    for name, part in parts.parts.items():
        if name in value:
            if name in parts.only and not admits(parts.only[name], value[name], parts.definitions):
                run.misfit(value[name], (trail, name), "cannot be said: the conditions give it another type")
            written[parts.names[name]] = encoder(part.codec)(value[name], (trail, name), run)
        elif part.null_is_absent:
            written[parts.names[name]] = None
    more = {name: item for name, item in value.items() if name not in parts.parts}
    if parts.extra is not None:
        name, codec = parts.extra
        written[name] = codec.encode(more, trail, run)
    elif free is not None:
        for name, item in more.items():
            if free.takes(name):
                written[name] = encoder(free.of(name))(item, (trail, name), run)
            else:
                run.unknown(name, trail, list(parts.parts))
    else:
        for name in more:
            run.unknown(name, trail, list(parts.parts))
    return written
