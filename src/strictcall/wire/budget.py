"""Budgets: what a wire schema counts against a dialect's ceilings, counted on shapes before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.dialect.model import Dialect, Limit
from strictcall.json_value import compact
from strictcall.shape.admit import follow
from strictcall.shape.graph import components, parts, references, walk
from strictcall.shape.model import Choice, Definitions, List, Literal, Record, Ref, Shape

LONG_ENUM: Final = 250

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


def count(root: Shape, definitions: Definitions, schema: Any, dialect: Dialect) -> dict[str, int]:
    """The measures of a wire schema that the dialect has a ceiling for: on its shape, and on its JSON for how deep
    that nests.
    """
    wanted = {limit.name for limit in dialect.limits}
    if wanted == {"json_depth"}:
        return {"json_depth": _json_depth(schema)}
    used = _used(root, definitions)
    counts = dict.fromkeys(("properties", "optional", "unions", "enum_values", "longest_enum_characters"), 0)
    counts["name_characters"] = sum(len(name) for name in used)
    for shape in walk([root, *(definitions[name] for name in used)]):
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
    if "depth" in wanted:
        counts["depth"] = _depth(root, definitions, used)
    if "json_depth" in wanted:
        counts["json_depth"] = _json_depth(schema)
    return counts


def exceeded(counts: Mapping[str, int], dialect: Dialect) -> Limit | None:
    """The first ceiling for one tool that these counts exceed."""
    return next((limit for limit in dialect.limits if limit.per == "tool" and counts[limit.name] > limit.most), None)


def _used(root: Shape, definitions: Definitions) -> list[str]:
    """The definitions that a wire schema carries, by following references from the root."""
    found: dict[str, None] = {}
    pending = [root]
    while pending:
        for shape in walk([pending.pop()]):
            if type(shape) is Ref and shape.name not in found and definitions[shape.name] is not root:
                found[shape.name] = None
                pending.append(definitions[shape.name])
    return list(found)


def _is_union(shape: Shape, definitions: Definitions) -> bool:
    # A reference with annotations may have to be written as a union of one.
    return type(follow(shape, definitions)) is Choice or (type(shape) is Ref and bool(shape.notes or shape.residue))


def _depth(root: Shape, definitions: Definitions, used: list[str]) -> int:
    """The longest way through objects and arrays; a reference that leads back into its own circle ends it."""
    edges = {name: references(definitions[name]) for name in used}
    circle = {name: number for number, group in enumerate(components(edges)) for name in group}
    levels: dict[str, int] = {}

    def below(shape: Shape, own: int | None) -> int:
        if type(shape) is Ref:
            return 0 if circle.get(shape.name) == own else levels.get(shape.name, 0)
        here = 1 if type(shape) in (Record, List) else 0
        return here + max((below(part, own) for part in parts(shape)), default=0)

    for group in components(edges):
        # Within a circle every way out of any member counts for all of them.
        deepest = {name: below(definitions[name], circle[name]) for name in group}
        levels.update(deepest)
    return max(below(root, None), *levels.values(), 0)


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
