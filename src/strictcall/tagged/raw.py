"""Raw values: texts without quotes or marks of type, read as the tool's schema types them.

The wire schema is asked first, since the model was shown it, then the contract. Where text is legal it is never
touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.json_value import MAX_WIRE_DEPTH, LimitError, parse
from strictcall.shape.admit import follow, kind_of, kinds, rest_of
from strictcall.shape.model import Choice, Definitions, List, Record, Shape
from strictcall.wire.compiled import CompiledTool

_WORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None, "none": None}
_UNREAD: Final = object()


def typed(raw: str, compiled: CompiledTool, path: Sequence[str | int]) -> Any:
    """The value that a raw text stands for at a path of the arguments; the text itself where nothing else fits."""
    held: Any = None
    for shape, definitions in compiled.shapes:
        allowed = _kinds_at(shape, path, definitions)
        if "string" in allowed:
            return raw
        if allowed and held is None:
            held = (_parsed(raw.strip()),)
        if allowed and held[0] is not _UNREAD and kind_of(held[0]) in allowed:
            return held[0]
    return raw


def _parsed(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return parse(text, MAX_WIRE_DEPTH)
    except LimitError:
        return _UNREAD


def _kinds_at(shape: Shape, path: Sequence[str | int], definitions: Definitions) -> frozenset[str]:
    """The JSON types that a value at a path may have."""
    found = [shape]
    for token in path:
        found = [below for shape in found for below in _below(shape, token, definitions)]
    return frozenset().union(*(kinds(shape, definitions) for shape in found))


def _below(shape: Shape, token: str | int, definitions: Definitions) -> list[Shape]:
    shape = follow(shape, definitions)
    if type(shape) is Choice:
        return [inner for branch in shape.branches for inner in _below(branch, token, definitions)]
    if type(shape) is Record and type(token) is str:
        return [shape.fields[token].shape if token in shape.fields else rest_of(shape, token)]
    if type(shape) is List and type(token) is int:
        return [shape.prefix[token] if token < len(shape.prefix) else shape.rest]
    return []
