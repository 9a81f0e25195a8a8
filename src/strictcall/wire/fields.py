"""The fields of a record on their way to the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Final

from strictcall.shape.admit import matches
from strictcall.shape.model import NO_NOTES, Anything, Definitions, Field, List, Nothing, Openness, Record, Shape
from strictcall.value import replace, value
from strictcall.wire.codec import Codec, level
from strictcall.wire.context import Context
from strictcall.wire.gather import FIELD as GATHERED
from strictcall.wire.gather import gathered_codec, gathered_field
from strictcall.wire.maps import entries
from strictcall.wire.names import legal_name, unused
from strictcall.wire.optional import Part, optional

EXTRA: Final = "additional_properties"
"""The field that holds a record's free names as entries, beside its declared ones."""


@value
class FreeNames:
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
class Parts:
    """A record's declared fields on their way to the wire, by contract name.

    ``only``: for fields that conditions alone speak of, the shape to which that narrows them. ``extra`` is the name and
    codec of the field that holds free names; ``gathered`` are the fields, with their wire names, that the field
    ``options`` holds.
    """

    names: dict[str, str]
    parts: dict[str, Part]
    only: dict[str, Shape]
    definitions: Definitions
    extra: tuple[str, Codec] | None = None
    extra_field: Field | None = None
    gathered: dict[str, tuple[str, Shape, Codec | None]] = dataclass_field(default_factory=dict)
    options: tuple[str, Codec, Field] | None = None

    @classmethod
    def lower(cls, shape: Record, context: Context) -> Parts:
        """Lower a record's declared fields, each under a name that the dialect takes."""
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
            wire_name = unused(legal_name(name, context.dialect.property_name), taken)
            if wire_name != name:
                context.change("property-renamed", field.shape.pointer, f"{name!r} is called {wire_name!r} on the wire")
            if field.conditional and shape.openness is Openness.CLOSED:
                parts.only[name] = field.shape
            taken.add(wire_name)
            if field.shape.pointer in context.plan.gathered and not (field.required or field.conditional):
                parts.gathered[name] = (wire_name, *context.lower(field.shape, context))
                continue
            parts.names[name] = wire_name
            parts.parts[name] = optional(field, context, may_fold=may_fold, by_null=name in by_null)
        if parts.gathered:
            parts.gather(shape.pointer, taken, context)
        return parts

    def gather(self, pointer: str, taken: set[str], context: Context) -> None:
        """Add the field that holds the optional fields which the plan gathers."""
        message = f"{len(self.gathered)} optional properties are written as entries; a name could be written twice"
        context.change("optional-gathered", pointer, message)
        name = unused(GATHERED, taken)
        codec = gathered_codec(
            {name: wire for name, (wire, _, _) in self.gathered.items()},
            {name: codec for name, (_, _, codec) in self.gathered.items()},
        )
        shapes = {wire: shape for wire, shape, _ in self.gathered.values()}
        self.options = (name, codec, gathered_field(pointer, shapes))

    @property
    def fields(self) -> Mapping[str, Field]:
        """The wire's fields."""
        found = {self.names[name]: part.field for name, part in self.parts.items()}
        if self.options is not None:
            found[self.options[0]] = self.options[2]
        if self.extra is not None and self.extra_field is not None:
            found[self.extra[0]] = self.extra_field
        return found

    def carry(self, shape: Record, context: Context) -> None:
        """Add the field that holds free names as entries."""
        entry, codec = entries(replace(shape, notes=NO_NOTES, residue=()), context)
        message = "further names are written as a list of entries; a key could be written twice"
        context.change("extra-entries", shape.pointer, message)
        name = unused(EXTRA, self.fields)
        self.extra = (name, codec)
        self.extra_field = Field(List(shape.pointer, rest=entry), True)


def _written_as_null(shape: Record, context: Context) -> frozenset[str]:
    """The optional fields that are required and null in a dialect that has real optionals: those that the plan says,
    and one where the dialect asks that an object with properties require at least one.
    """
    planned = context.plan.nullable
    by_plan = [name for name, field in shape.fields.items() if planned and field.shape.pointer in planned]
    if not context.dialect.some_required or any(field.required for field in shape.fields.values()):
        return frozenset(by_plan)
    possible = [name for name, field in shape.fields.items() if type(field.shape) is not Nothing]
    return frozenset([*by_plan, *possible[:1]])
