"""Constraints that the wire does not hold, reported in the same words by whichever rule meets them."""

from __future__ import annotations

from strictcall.json_value import excerpt
from strictcall.wire.context import AnyShape, Context


def constraint_dropped(shape: AnyShape, context: Context, keyword: str, value: object) -> AnyShape:
    """Report a bound that the decoder does not hold."""
    text = f"{keyword} {excerpt(value, 80)}"
    return context.unheld(shape, "constraint-dropped", shape.pointer, f"{text} is not held on the wire", text)


def not_unique(shape: AnyShape, context: Context) -> AnyShape:
    """Report that items must be unique, which the wire does not hold."""
    message = "that items are unique is not held on the wire"
    return context.unheld(shape, "unique-items", shape.pointer, message, "uniqueItems")
