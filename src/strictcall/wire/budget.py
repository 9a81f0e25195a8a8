"""Budgets: what a wire schema counts against a dialect's ceilings, counted while it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.dialect.model import Dialect, Limit
from strictcall.json_value import compact, depth_of
from strictcall.shape.admit import follow
from strictcall.shape.graph import components
from strictcall.shape.model import Choice, Definitions, Record, Ref, Shape

LONG_ENUM: Final = 250

NAMES: Final[Mapping[str, str]] = {
    "bytes": "bytes of JSON",
    "characters": "characters of JSON",
    "depth": "levels of objects and arrays",
    "enum_values": "enum values",
    "item_bounds": "items in all arrays together, as far as they are bounded",
    "json_depth": "levels of JSON",
    "longest_enum": "values in one enum",
    "longest_enum_characters": "characters in one enum",
    "name_characters": "characters of names and enum values",
    "optional": "optional properties",
    "properties": "properties",
    "strict_tools": "strict tools",
    "tools": "tools",
    "union_branches": "forms in one union",
    "unions": "properties with a union",
}
"""Each measure in words, as a reason gives it."""


class Counter:
    """Counts a wire schema while it is written. Levels are kept by definition, with the references on the way."""

    def __init__(self, long_enum: int = LONG_ENUM) -> None:
        self._long_enum = long_enum
        self.union_branches = 0
        self.longest_enum = 0
        self.item_bounds = 0
        self.properties = 0
        self.optional = 0
        self.unions = 0
        self.enum_values = 0
        self.longest_enum_characters = 0
        self.name_characters = 0
        self._level = 0
        self._deepest: dict[str, int] = {}
        self._leads: dict[str, list[tuple[str, int]]] = {}
        self._here = ""

    def begin(self, name: str) -> None:
        """Begin a definition, or the root under an empty name."""
        self._here, self._level = name, 0
        self._deepest[name] = 0
        self._leads[name] = []
        self.name_characters += len(name)

    def enter(self) -> None:
        """Go one object or array down."""
        self._level += 1
        self._deepest[self._here] = max(self._deepest[self._here], self._level)

    def leave(self) -> None:
        """Come back up."""
        self._level -= 1

    def refer(self, name: str) -> None:
        """Refer to a definition from here; the root has an empty name."""
        self._leads[self._here].append((name, self._level))

    def fields(self, record: Record, definitions: Definitions) -> None:
        """Count an object's fields."""
        self.properties += len(record.fields)
        for name, field in record.fields.items():
            self.name_characters += len(name)
            self.optional += not field.required
            self.unions += _is_union(field.shape, definitions)

    def literals(self, values: tuple[Any, ...]) -> None:
        """Count the values of an enum."""
        characters = sum(len(value) if type(value) is str else len(str(value)) for value in values)
        self.name_characters += characters
        self.enum_values += len(values)
        self.longest_enum = max(self.longest_enum, len(values))
        if len(values) > self._long_enum:
            self.longest_enum_characters = max(self.longest_enum_characters, characters)

    def union(self, branches: int) -> None:
        """Count the forms of a union."""
        self.union_branches = max(self.union_branches, branches)

    def depth(self) -> int:
        """The longest way through objects and arrays; a reference that leads back into its own circle ends it."""
        if not any(self._leads.values()):
            return max(self._deepest.values())
        edges = {name: [target for target, _ in leads] for name, leads in self._leads.items()}
        longest: dict[str, int] = {}
        for group in components(edges):
            for name in group:
                ways = [level + longest.get(target, 0) for target, level in self._leads[name] if target not in group]
                longest[name] = max(self._deepest[name], *ways, 0)
        return max(longest.values())


def counted(counter: Counter, schema: Any, dialect: Dialect) -> dict[str, int]:
    """The measures that the dialect has a ceiling for."""
    counts = {}
    for name in {limit.name for limit in dialect.limits}:
        if name in _WHOLE:
            counts[name] = _WHOLE[name](schema)
        elif name == "depth":
            counts[name] = counter.depth()
        elif name in _PER_TOOL:
            counts[name] = 1
        else:
            counts[name] = getattr(counter, name)
    return counts


def _bytes(schema: Any) -> int:
    return len(compact(schema).encode())


_WHOLE: Final[Mapping[str, Callable[[Any], int]]] = {
    "json_depth": depth_of,
    "characters": lambda schema: len(compact(schema)),
    "bytes": _bytes,
}
"""Measures of the written schema as a whole."""
_PER_TOOL: Final = frozenset({"strict_tools", "tools"})


def exceeded(counts: Mapping[str, int], dialect: Dialect) -> Limit | None:
    """The first ceiling for one tool that these counts exceed."""
    return next((limit for limit in dialect.limits if limit.per == "tool" and counts[limit.name] > limit.most), None)


def _is_union(shape: Shape, definitions: Definitions) -> bool:
    if type(shape) is not Ref:
        return type(shape) is Choice
    # A reference with annotations may have to be written as a union of one.
    return type(follow(shape, definitions)) is Choice or bool(shape.notes or shape.residue)
