"""Maps: objects of free names, written as a list of entries where the dialect has no open objects."""

from __future__ import annotations

from typing import Any

from strictcall.shape.admit import matches
from strictcall.shape.model import NO_NOTES, Field, List, Nothing, Openness, Record, Shape, Text
from strictcall.shape.simplify import union
from strictcall.value import replace
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder
from strictcall.wire.context import Context, Lowered, lowered_notes
from strictcall.wire.free_form import decode_entries
from strictcall.wire.lists import bounded


def lower_map(shape: Record, context: Context) -> Lowered:
    """A record without declared names: an array of ``{key, value}``, as long as the record may have properties."""
    entry, codec = entries(shape, context)
    context.change("map-entries", shape.pointer, "a map is written as a list of entries; a key could be written twice")
    array = List(
        shape.pointer,
        lowered_notes(shape.notes, codec),
        shape.residue,
        rest=entry,
        min_items=shape.min_properties,
        max_items=shape.max_properties,
    )
    return bounded(array, context), codec


def entries(shape: Record, context: Context) -> tuple[Shape, Codec]:
    """The shape of one entry of a record's free names, and the codec between the list of entries and the object."""
    value, codec = context.lower(_value(shape, context), context)
    key, _ = context.lower(_key(shape), context)
    entry = Record(
        shape.pointer,
        fields={"key": Field(key, True), "value": Field(value, True)},
        rest=Nothing(),
        openness=Openness.CLOSED,
    )
    read, write = apply(codec), encoder(codec)
    only = tuple(shape.patterns) if shape.openness is Openness.CLOSED else ()

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is list:
            return decode_entries(value, trail, run, read)
        if run.either and type(value) is dict:
            return {name: read(item, (trail, name), run) for name, item in value.items()}
        return run.misfit(value, trail, "must be a list of entries, each an object of 'key' and 'value'")

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not dict:
            return run.misfit(value, trail, "must be an object")
        written = []
        for name, item in value.items():
            if only and not any(matches(pattern, name) for pattern in only):
                run.unknown(name, trail, [])
            written.append({"key": name, "value": write(item, (trail, name), run)})
        return written

    return entry, Codec(decode, encode)


def _value(shape: Record, context: Context) -> Shape:
    """What a free name's value may be: the rest, or what a pattern says; which of them goes with which name is
    checked.
    """
    options = list(shape.patterns.values())
    if shape.openness is not Openness.CLOSED:
        options.append(shape.rest)
    if len(options) == 1:
        return options[0]
    value = union(options, pointer=shape.pointer)
    message = "which names take which values is not held on the wire"
    return context.unheld(value, "pattern-names", shape.pointer, message, " | ".join(map(repr, shape.patterns)))


def _key(shape: Record) -> Shape:
    """What a free name may be."""
    if shape.openness is Openness.CLOSED and len(shape.patterns) == 1 and shape.names is None:
        return Text(shape.pointer, patterns=tuple(shape.patterns))
    if type(shape.names) is Text:
        own = tuple(shape.patterns) if shape.openness is Openness.CLOSED and len(shape.patterns) == 1 else ()
        return replace(shape.names, notes=NO_NOTES, patterns=tuple(dict.fromkeys(shape.names.patterns + own)))
    return shape.names if shape.names is not None else Text(shape.pointer)
