"""Lowering objects: closing what is open by omission, carrying what is open expressly, and filling in what is
optional.
"""

from __future__ import annotations

from strictcall.dialect.model import State
from strictcall.shape.admit import matches
from strictcall.shape.model import (
    Anything,
    Literal,
    Nothing,
    Openness,
    Record,
)
from strictcall.shape.simplify import impossible
from strictcall.value import replace
from strictcall.wire.context import Context, Lowered, Refusal, lowered_notes
from strictcall.wire.fields import FreeNames, Parts
from strictcall.wire.maps import lower_map
from strictcall.wire.record_codec import record_codec
from strictcall.wire.scalars import pattern_holds
from strictcall.wire.unheld import constraint_dropped


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
    sayable = any(type(field.shape) is not Nothing for field in shape.fields.values())
    if not carries and not sayable and _must_have_fields(shape, context):
        return _empty_as_text(shape, context)
    if carries and not shape.fields and not native:
        return lower_map(shape, context)
    parts = Parts.lower(shape, context)
    free = _free_names(shape, context) if carries and native else None
    if carries and not native:
        parts.carry(shape, context)
    codec = record_codec(parts, free, closes=by_omission and shape.openness is Openness.CLOSED)
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


def _free_names(shape: Record, context: Context) -> FreeNames:
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
        return FreeNames({}, {}, rest, codec, Openness.OPEN, patterns_held=False)
    lowered = {pattern: context.lower(item, context) for pattern, item in shape.patterns.items()}
    shapes = {pattern: wire for pattern, (wire, _) in lowered.items()}
    codecs = {pattern: inner for pattern, (_, inner) in lowered.items()}
    if shape.openness is Openness.CLOSED:
        return FreeNames(shapes, codecs, shape.rest, None, Openness.CLOSED)
    rest, codec = context.lower(shape.rest, context)
    return FreeNames(shapes, codecs, rest, codec, shape.openness)


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
