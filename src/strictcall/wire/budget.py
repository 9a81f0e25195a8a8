"""Budgets: what a wire schema counts against a dialect's ceilings, counted on shapes before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from strictcall.dialect.model import Dialect, Limit
from strictcall.json_value import compact
from strictcall.shape.admit import follow
from strictcall.shape.model import Choice, Definitions, List, Literal, Record, Ref, Shape

LONG_ENUM: Final = 250
_MOST_STEPS: Final = 200_000

NAMES: Final[Mapping[str, str]] = {
    "depth": "levels of objects and arrays",
    "enum_values": "enum values",
    "json_depth": "levels of JSON",
    "longest_enum_characters": "characters in one enum",
    "name_characters": "characters of names and enum values",
    "optional": "optional properties",
    "properties": "properties",
    "strict_tools": "strict tools",
    "unions": "properties with a union",
}
"""Each measure in words, as a reason gives it."""


def count(root: Shape, definitions: Definitions, schema: Any) -> dict[str, int]:
    """The measures of a wire schema: its shape for what it says, its JSON for how deep that nests."""
    used = _used(root, definitions)
    counts = dict.fromkeys(("properties", "optional", "unions", "enum_values", "longest_enum_characters"), 0)
    counts["name_characters"] = sum(len(name) for name in used)
    for shape in _walk([root, *(definitions[name] for name in used)]):
        if type(shape) is Record:
            counts["properties"] += len(shape.fields)
            counts["optional"] += sum(not field.required for field in shape.fields.values())
            counts["unions"] += sum(_is_union(field.shape, definitions) for field in shape.fields.values())
            counts["name_characters"] += sum(map(len, shape.fields))
        elif type(shape) is Literal:
            characters = sum(len(v) if type(v) is str else len(compact(v)) for v in shape.values)
            counts["name_characters"] += characters
            counts["enum_values"] += len(shape.values)
            if len(shape.values) > LONG_ENUM:
                counts["longest_enum_characters"] = max(counts["longest_enum_characters"], characters)
    counts["depth"] = _Depth(definitions).of(root)
    counts["json_depth"] = _json_depth(schema)
    return counts


def exceeded(counts: Mapping[str, int], dialect: Dialect) -> Limit | None:
    """The first ceiling for one tool that these counts exceed."""
    return next((limit for limit in dialect.limits if limit.per == "tool" and counts[limit.name] > limit.most), None)


def _walk(roots: list[Shape]) -> Iterator[Shape]:
    pending = list(roots)
    while pending:
        shape = pending.pop()
        yield shape
        pending.extend(_below(shape))


def _below(shape: Shape) -> list[Shape]:
    match shape:
        case Record():
            return [*(field.shape for field in shape.fields.values()), *shape.patterns.values(), shape.rest]
        case List():
            return [*shape.prefix, shape.rest]
        case Choice():
            return list(shape.branches)
    return []


def _used(root: Shape, definitions: Definitions) -> list[str]:
    """The definitions that a wire schema carries, by following references from the root."""
    found: dict[str, None] = {}
    pending = [root]
    while pending:
        for shape in _walk([pending.pop()]):
            if type(shape) is Ref and shape.name not in found and definitions[shape.name] is not root:
                found[shape.name] = None
                pending.append(definitions[shape.name])
    return list(found)


def _is_union(shape: Shape, definitions: Definitions) -> bool:
    # A reference with annotations may have to be written as a union of one.
    return type(follow(shape, definitions)) is Choice or (type(shape) is Ref and bool(shape.notes or shape.residue))


class _Depth:
    """The longest way through objects and arrays; a reference that leads back to its own circle ends it."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._known: dict[str, int] = {}
        self._path: set[str] = set()
        self._steps = 0

    def of(self, shape: Shape) -> int:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return _MOST_STEPS
        if type(shape) is Ref:
            return self._of_reference(shape.name)
        own = 1 if type(shape) in (Record, List) else 0
        return own + max(map(self.of, _below(shape)), default=0)

    def _of_reference(self, name: str) -> int:
        if name in self._known:
            return self._known[name]
        if name in self._path:
            return 0
        self._path.add(name)
        depth = self.of(self._definitions[name])
        self._path.discard(name)
        if not self._path:
            self._known[name] = depth
        return depth


def _json_depth(schema: Any) -> int:
    level, depth = [schema], 0
    while level:
        depth += 1
        level = [
            item
            for node in level
            for item in (node.values() if type(node) is dict else node if type(node) is list else ())
            if type(item) is dict or type(item) is list
        ]
    return depth
