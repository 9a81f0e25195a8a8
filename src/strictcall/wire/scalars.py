"""Lowering null, booleans, numbers and strings: only bounds, patterns and formats can be in the way."""

from __future__ import annotations

import re
from functools import lru_cache

from strictcall.dialect.model import Dialect, State
from strictcall.shape.model import Boolean, Literal, Null, Number, Text
from strictcall.value import replace
from strictcall.wire.context import Context, Lowered
from strictcall.wire.unheld import constraint_dropped


def lower_null(shape: Null, context: Context) -> Lowered:
    """null is null, except where there is no such type."""
    if context.dialect.null == "nullable":
        return context.lower(Literal(shape.pointer, shape.notes, shape.residue, (None,)), context)
    return shape, None


def lower_boolean(shape: Boolean, context: Context) -> Lowered:
    """true and false are so everywhere."""
    return shape, None


def lower_number(shape: Number, context: Context) -> Lowered:
    """A number keeps the bounds that the decoder holds; the others are checked afterwards."""
    if not shape.bounds and shape.format is None:
        return shape, None
    wire: Number = shape
    dropped = {keyword: value for keyword, value in shape.bounds.items() if not context.holds(keyword, value)}
    if dropped:
        kept = {keyword: value for keyword, value in shape.bounds.items() if keyword not in dropped}
        wire = replace(wire, bounds=kept)
    if shape.format is not None:
        wire = replace(wire, format=None)
    for keyword, value in dropped.items():
        wire = constraint_dropped(wire, context, keyword, value)
    return wire, None


def lower_text(shape: Text, context: Context) -> Lowered:
    """A string keeps its lengths, pattern and format where the decoder holds them."""
    if not (shape.min_length or shape.patterns) and shape.max_length is None and shape.format is None:
        return shape, None
    wire: Text = shape
    dropped: list[tuple[str, object]] = []
    if shape.min_length and not context.holds("minLength", shape.min_length):
        wire = replace(wire, min_length=0)
        dropped.append(("minLength", shape.min_length))
    if shape.max_length is not None and not context.holds("maxLength", shape.max_length):
        wire = replace(wire, max_length=None)
        dropped.append(("maxLength", shape.max_length))
    if shape.patterns:
        held = [pattern for pattern in shape.patterns if pattern_holds(pattern, context.dialect)][:1]
        wire = replace(wire, patterns=tuple(held))
        dropped.extend(("pattern", pattern) for pattern in shape.patterns if pattern not in held)
    if shape.format is not None:
        wire = _format(wire, shape.format, context)
    if context.dialect.conflicts:
        wire = _without_conflicts(wire, context.dialect, dropped)
    for keyword, value in dropped:
        wire = constraint_dropped(wire, context, keyword, value)
    return wire, None


def _without_conflicts(wire: Text, dialect: Dialect, dropped: list[tuple[str, object]]) -> Text:
    """A string whose keywords may stand together: of two groups that may not, the second yields."""
    said = {
        "minLength": wire.min_length or None,
        "maxLength": wire.max_length,
        "pattern": wire.patterns[0] if wire.patterns else None,
        "format": wire.format,
    }
    used = {keyword for keyword, value in said.items() if value is not None}
    for first, second in dialect.conflicts:
        if used & first and used & second:
            yielding = used & second
            dropped.extend((keyword, said[keyword]) for keyword in sorted(yielding))
            used -= yielding
    return replace(
        wire,
        min_length=wire.min_length if "minLength" in used else 0,
        max_length=wire.max_length if "maxLength" in used else None,
        patterns=wire.patterns if "pattern" in used else (),
        format=wire.format if "format" in used else None,
    )


def _format(wire: Text, name: str, context: Context) -> Text:
    known = context.dialect.formats is None or name in context.dialect.formats
    kept = (known or context.dialect.other_formats == "ignored") and context.keeps("format")
    lowered = wire if kept else replace(wire, format=None)
    if context.policy.formats == "assert":
        message = f"format {name!r} is only an annotation on the wire"
        return context.unheld(lowered, "format-checked", wire.pointer, message, "" if kept else f"format {name}")
    if not kept:
        return context.unheld(
            lowered, "format-dropped", wire.pointer, f"format {name!r} is not known", f"format {name}"
        )
    return lowered


def pattern_holds(pattern: str, dialect: Dialect) -> bool:
    """Whether the decoder holds a pattern as the standard means it.

    JSON Schema searches a pattern anywhere in the text (core, 6.4). A decoder that takes it as a match of the whole
    text means the same only where the pattern is anchored at both ends.
    """
    state = dialect.state("pattern", pattern)
    if dialect.pattern_anchoring == "search":
        held = state is State.ENFORCED
    else:
        held = state in (State.ENFORCED, State.NARROWER) and _ANCHORED.fullmatch(pattern) is not None
    return held and not any(finder.search(pattern) for finder in _forbidden(dialect))


_ANCHORED = re.compile(r"\^(?:\\.|\[\^?(?:\\.|[^\]\\])*\]|[^\\\[|^$])*\$", re.DOTALL)
"""A pattern between anchors, with neither another anchor nor an alternative between them."""


def _forbidden(dialect: Dialect) -> tuple[re.Pattern[str], ...]:
    return tuple(_compiled(source) for source in dialect.regex_forbidden.values())


@lru_cache(maxsize=256)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)
