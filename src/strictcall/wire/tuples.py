"""Lowering tuples where the dialect has none: an object with a field a position, and one for the items after them."""

from __future__ import annotations

from typing import Any, Final

from strictcall.shape.model import Field, List, Nothing, Openness, Record
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder
from strictcall.wire.context import Context, Lowered, without_values
from strictcall.wire.optional import optional
from strictcall.wire.unheld import not_unique

MORE: Final = "more_items"
"""The field of a tuple that holds the items after the positions that the contract names."""
_GAP: Final = "is filled although a position before it is not"


def lower_tuple(shape: List, context: Context) -> Lowered:
    """A tuple where the dialect has none: an object with a field a position, and one for the items that follow them."""
    width = len(shape.prefix) if shape.max_items is None else min(len(shape.prefix), shape.max_items)
    fields: dict[str, Field] = {}
    steps: list[Codec | None] = []
    open_ended = shape.max_items is None or shape.max_items > width
    demands_none = context.dialect.some_required and not open_ended and not shape.min_items
    for index, item in enumerate(shape.prefix[:width]):
        part = optional(Field(item, index < shape.min_items), context, may_fold=False, by_null=demands_none)
        fields[f"item_{index}"] = part.field
        steps.append(part.codec)
    more: Codec | None = None
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
    wire = Record(
        shape.pointer,
        without_values(shape.notes),
        shape.residue,
        fields,
        rest=Nothing(),
        openness=Openness.CLOSED,
    )
    if shape.min_items < width:
        message = "that no position before a filled one is left out is not held on the wire"
        wire = context.unheld(wire, "tuple-gap", shape.pointer, message, "positions are filled from the first on")
    if shape.unique:
        wire = not_unique(wire, context)
    nulls = demands_none or context.dialect.optional == "null"
    tuple_codec = _TupleCodec(steps, more, shape.min_items, open_ended, nulls)
    return wire, Codec(tuple_codec.decode, tuple_codec.encode)


class _TupleCodec:
    """Between an array and the object of its positions. ``nulls``: a position that is left out is null."""

    def __init__(
        self, steps: list[Codec | None], more: Codec | None, demanded: int, open_ended: bool, nulls: bool
    ) -> None:
        self._names = [f"item_{index}" for index in range(len(steps))]
        self._readers = [apply(codec) for codec in steps]
        self._writers = [encoder(codec) for codec in steps]
        self._read_more, self._write_more = apply(more), encoder(more)
        self._demanded = demanded
        self._open_ended = open_ended
        self._nulls = nulls

    def decode(self, value: Any, trail: Trail, run: Run) -> Any:
        """The array that an object of positions stands for."""
        if run.either and type(value) is list:
            return self._from_array(value, trail, run)
        known = {*self._names, MORE} if self._open_ended else set(self._names)
        if type(value) is not dict or not known.issuperset(value):
            return run.misfit(value, trail, f"must be an object of {', '.join(self._names)}")
        found: list[Any] = []
        gap = False
        for index, name in enumerate(self._names):
            item = value.get(name)
            if name not in value or (item is None and self._nulls and index >= self._demanded):
                gap = True
                continue
            if gap:
                run.misfit(item, (trail, index), _GAP)
            found.append(self._readers[index](item, (trail, index), run))
        return found + self._tail(value.get(MORE), gap, trail, run)

    def _tail(self, value: Any, gap: bool, trail: Trail, run: Run) -> list[Any]:
        if not value:
            return []
        if gap:
            run.misfit(value, (trail, len(self._names)), _GAP)
        items = self._read_more(value, trail, run)
        return items if type(items) is list else [items]

    def _from_array(self, value: list[Any], trail: Trail, run: Run) -> Any:
        """Contract form, whose items may still be in either."""
        width = len(self._names)
        head = [step(item, (trail, i), run) for i, (step, item) in enumerate(zip(self._readers, value, strict=False))]
        return head + self._tail(value[width:], False, trail, run)

    def encode(self, value: Any, trail: Trail, run: Run) -> Any:
        """The object of positions for an array."""
        if type(value) is not list:
            return run.misfit(value, trail, "must be an array")
        written: dict[str, Any] = {}
        for index, name in enumerate(self._names):
            if index < len(value):
                written[name] = self._writers[index](value[index], (trail, index), run)
            elif self._nulls:
                written[name] = None
        if self._open_ended:
            written[MORE] = self._write_more(value[len(self._names) :], trail, run)
        elif len(value) > len(self._names):
            run.misfit(value, trail, f"has more than {len(self._names)} items")
        return written
