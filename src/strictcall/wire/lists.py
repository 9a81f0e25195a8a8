"""Lowering arrays: by one kind of item, or by position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from strictcall.dialect.model import State
from strictcall.shape.model import NO_NOTES, Field, List, Nothing, Openness, Record, Shape
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder, level
from strictcall.wire.context import Context, Lowered, lowered_notes
from strictcall.wire.optional import optional
from strictcall.wire.scalars import constraint_dropped

MORE: Final = "more_items"
"""The field of a tuple that holds the items after the positions that the contract names."""


def lower_list(shape: List, context: Context) -> Lowered:
    """An array."""
    if shape.prefix and not context.holds("prefixItems"):
        return _tuple(shape, context)
    prefix = [context.lower(item, context) for item in shape.prefix]
    rest, codec = context.lower(shape.rest, context)
    codecs = [item_codec for _, item_codec in prefix]
    whole = _list_codec(codecs, codec)
    wire = replace(
        shape,
        notes=lowered_notes(shape.notes, whole),
        prefix=tuple(item for item, _ in prefix),
        rest=rest,
    )
    return bounded(wire, context), whole


def bounded(shape: List, context: Context) -> Shape:
    """An array with the length bounds that the decoder holds, or the nearest weaker ones; the others are checked."""
    wire, dropped = shape, list[tuple[str, int]]()
    if shape.min_items and not context.holds("minItems", shape.min_items):
        weaker = 1 if context.holds("minItems", 1) else 0
        wire = replace(wire, min_items=weaker)
        dropped.append(("minItems", shape.min_items))
    if shape.max_items is not None and not context.holds("maxItems", shape.max_items):
        wire = replace(wire, max_items=None)
        dropped.append(("maxItems", shape.max_items))
    unique_held = not shape.unique or context.holds("uniqueItems", True)
    if not unique_held and context.dialect.state("uniqueItems", True) is State.REJECTED:
        wire = replace(wire, unique=False)
    lowered: Shape = wire
    for keyword, value in dropped:
        lowered = constraint_dropped(lowered, context, keyword, value)
    return lowered if unique_held else _not_unique(lowered, context)


def _not_unique(shape: Shape, context: Context) -> Shape:
    message = "that items are unique is not held on the wire"
    return context.unheld(shape, "unique-items", shape.pointer, message, "uniqueItems")


def _list_codec(prefix: list[Codec | None], rest: Codec | None) -> Codec | None:
    """The codec of an array from its items' codecs."""
    highest = max(map(level, [*prefix, rest]))
    if not highest:
        return None
    readers, read = [apply(codec) for codec in prefix], apply(rest)
    writers, write = [encoder(codec) for codec in prefix], encoder(rest)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not list:
            return value
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(readers, value, strict=False))]
        start = len(readers)
        return head + [read(item, (trail, start + i), run) for i, item in enumerate(value[start:])]

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not list:
            return value
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(writers, value, strict=False))]
        start = len(writers)
        return head + [write(item, (trail, start + i), run) for i, item in enumerate(value[start:])]

    return Codec(decode, encode, highest == 2)


def _tuple(shape: List, context: Context) -> Lowered:
    """A tuple where the dialect has none: an object with a field a position, and one for the items that follow them."""
    width = len(shape.prefix) if shape.max_items is None else min(len(shape.prefix), shape.max_items)
    fields: dict[str, Field] = {}
    steps: list[Codec | None] = []
    for index, item in enumerate(shape.prefix[:width]):
        part = optional(Field(item, index < shape.min_items), context)
        fields[f"item_{index}"] = part.field
        steps.append(part.codec)
    more: Codec | None = None
    open_ended = shape.max_items is None or shape.max_items > width
    if open_ended:
        tail = List(
            shape.pointer,
            rest=shape.rest,
            min_items=max(0, shape.min_items - width),
            max_items=None if shape.max_items is None else shape.max_items - width,
        )
        wire_tail, more = context.lower(tail, context)
        fields[MORE] = Field(wire_tail, True)
    context.change("tuple-object", shape.pointer, f"a tuple is written as an object of {width} fields")
    wire: Shape = Record(
        shape.pointer,
        {k: v for k, v in shape.notes.items() if k not in ("default", "examples", "example")} or NO_NOTES,
        shape.residue,
        fields,
        rest=Nothing(),
        openness=Openness.CLOSED,
    )
    if shape.min_items < width:
        message = "that no position before a filled one is left out is not held on the wire"
        wire = context.unheld(wire, "tuple-gap", shape.pointer, message, "positions are filled from the first on")
    if shape.unique:
        wire = _not_unique(wire, context)
    return wire, _tuple_codec(steps, more, shape.min_items, open_ended, context.dialect.optional == "null")


def _tuple_codec(steps: list[Codec | None], more: Codec | None, demanded: int, open_ended: bool, nulls: bool) -> Codec:
    names = [f"item_{index}" for index in range(len(steps))]
    readers, writers = [apply(codec) for codec in steps], [encoder(codec) for codec in steps]
    read_more, write_more = apply(more), encoder(more)
    known = {*names, MORE} if open_ended else set(names)

    def from_list(value: list[Any], trail: Trail, run: Run) -> Any:
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(readers, value, strict=False))]
        return head + list(value[len(readers) :])

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if run.either and type(value) is list:
            return from_list(value, trail, run)
        if type(value) is not dict or not known.issuperset(value):
            return run.misfit(value, trail, f"must be an object of {', '.join(names)}")
        found: list[Any] = []
        gap = False
        for index, name in enumerate(names):
            item = value.get(name)
            if name not in value or (item is None and index >= demanded and nulls):
                gap = True
                continue
            if gap:
                run.misfit(item, (trail, index), "is filled although a position before it is not")
            found.append(readers[index](item, (trail, index), run))
        tail = value.get(MORE)
        if tail:
            if gap:
                run.misfit(tail, (trail, len(names)), "is filled although a position before it is not")
            tail = read_more(tail, trail, run)
            found.extend(tail if type(tail) is list else [tail])
        return found

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not list:
            return run.misfit(value, trail, "must be an array")
        written: dict[str, Any] = {}
        for index, name in enumerate(names):
            if index < len(value):
                written[name] = writers[index](value[index], (trail, index), run)
            elif nulls:
                written[name] = None
        if open_ended:
            written[MORE] = write_more(value[len(names) :], trail, run)
        elif len(value) > len(names):
            run.misfit(value, trail, f"has more than {len(names)} items")
        return written

    return Codec(decode, encode)
