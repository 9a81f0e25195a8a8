"""Lowering arrays: by one kind of item, or by position."""

from __future__ import annotations

from typing import Any

from strictcall.shape.model import List, Null
from strictcall.value import replace
from strictcall.wire.codec import Codec, Rewrite, Run, Trail, apply, below, encoder, level
from strictcall.wire.context import Context, Lowered, lowered_notes
from strictcall.wire.tuples import lower_tuple
from strictcall.wire.unheld import constraint_dropped, not_unique


def lower_list(shape: List, context: Context) -> Lowered:
    """An array."""
    if shape.prefix and not context.holds("prefixItems"):
        return lower_tuple(shape, context)
    prefix = [context.lower(item, context) for item in shape.prefix[: shape.max_items]]
    ended = bool(prefix) and shape.max_items is not None and shape.max_items <= len(shape.prefix)
    rest, codec = (Null(shape.pointer), None) if ended else context.lower(shape.rest, context)
    codecs = [item_codec for _, item_codec in prefix]
    whole = _list_codec(codecs, codec)
    wire = replace(
        shape,
        notes=lowered_notes(shape.notes, whole),
        prefix=tuple(item for item, _ in prefix),
        rest=rest,
    )
    return bounded(wire, context), whole


def bounded(shape: List, context: Context) -> List:
    """An array with the length bounds that the decoder holds, or the nearest weaker ones; the others are checked."""
    wire, dropped = shape, list[tuple[str, int]]()
    if shape.min_items and not context.holds("minItems", shape.min_items):
        weaker = 1 if context.holds("minItems", 1) else 0
        wire = replace(wire, min_items=weaker)
        dropped.append(("minItems", shape.min_items))
    bounded_here = shape.pointer not in context.plan.unbounded
    if shape.max_items is not None and not (bounded_here and context.holds("maxItems", shape.max_items)):
        wire = replace(wire, max_items=None)
        dropped.append(("maxItems", shape.max_items))
    unique_held = not shape.unique or context.holds("uniqueItems", True)
    if not unique_held:
        wire = replace(wire, unique=False)
    for keyword, value in dropped:
        wire = constraint_dropped(wire, context, keyword, value)
    return wire if unique_held else not_unique(wire, context)


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
        if not readers:
            return [read(item, (trail, i), run) for i, item in enumerate(value)]
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(readers, value, strict=False))]
        start = len(readers)
        return head + [read(item, (trail, start + i), run) for i, item in enumerate(value[start:])]

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not list:
            return value
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(writers, value, strict=False))]
        start = len(writers)
        return head + [write(item, (trail, start + i), run) for i, item in enumerate(value[start:])]

    return Codec(decode, encode, highest == 2, lambda: Rewrite(items=below(rest)) if not prefix else None)
