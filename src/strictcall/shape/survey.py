"""The first look at a schema: whether it is JSON within the budgets, and whether reading it needs special care.

Nearly every schema is plain: it needs no tolerated spelling rewritten, and nothing in it could keep a validator from
being built. Knowing that by one cheap walk spares the work of finding out by doing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.json_value import LimitError, check_limits
from strictcall.shape.draft import ANNOTATION_TYPES, TYPE_NAMES
from strictcall.shape.tolerate import IMPLIED, MAY_BE_NULL

MAX_SCHEMA_DEPTH: Final = 80
"""How deep the JSON of a schema may nest: about forty nested objects. The validator recurses on the native stack, which
may be as small as 256 KiB in a thread.
"""
MAX_SCHEMA_NODES: Final = 1_000_000
"""How many JSON values a schema may hold, enum values included."""
MAX_PATTERN: Final = 10_000
"""How long a regular expression may be, in characters: building a matcher takes memory many times that."""
MAX_SCHEMA_OBJECTS: Final = 20_000
"""How many objects, so how many subschemas, a schema may hold, and how many names it may demand; the largest real tool
has under two thousand.
"""


@dataclass(slots=True)
class Survey:
    """What the first look found.

    ``spelling``: something may be a tolerated spelling. ``doubt``: something might keep a validator from being built,
    or is a reference. Both may err to "yes", never to "no".
    """

    spelling: bool = False
    doubt: bool = False
    objects: int = 0
    demanded: int = 0

    def walk(self, schema: Any) -> None:
        """Look at every object but the maps of names to schemas, whose names mean nothing."""
        pending: list[Any] = [schema]
        maps: list[Any] = []
        while pending or maps:
            if maps:
                self.objects += 1
                pending += maps.pop().values()
                continue
            node = pending.pop()
            if type(node) is dict:
                self._look(node, pending, maps)
            elif type(node) is list:
                pending += node
            if self.objects > MAX_SCHEMA_OBJECTS or self.demanded > MAX_SCHEMA_OBJECTS:
                what = "objects" if self.objects > MAX_SCHEMA_OBJECTS else "required names"
                raise LimitError(f"it has more than {MAX_SCHEMA_OBJECTS:,} {what}")

    def _look(self, node: Mapping[str, Any], pending: list[Any], maps: list[Any]) -> None:
        """Look at one object: a schema, or data that is looked at as if it were one. What is below it waits."""
        self.objects += 1
        if "type" not in node and not _IMPLIERS.isdisjoint(node):
            self.spelling = True
        if not _REMARKABLE.isdisjoint(node):
            self._look_closer(node)
        for keyword, value in node.items():
            kind = type(value)
            if kind is list:
                pending.append(value)
                if keyword == "required":
                    self.demanded += len(value)
            elif kind is dict:
                (maps if keyword in _MAPS else pending).append(value)
            elif value is None:
                self.spelling = self.spelling or keyword not in MAY_BE_NULL
                self.doubt = self.doubt or keyword in _TYPES or keyword in _WELL_FORMED
                continue
            if keyword in _TYPES:
                if kind not in _TYPES[keyword]:
                    self._misshapen(keyword, value)
            elif keyword in _WELL_FORMED and not _WELL_FORMED[keyword](value):
                self._misshapen(keyword, value)

    def _look_closer(self, node: Mapping[str, Any]) -> None:
        if not _DOUBTFUL.isdisjoint(node):
            self.doubt = True
            _measure_patterns(node)
        if not _SPELLINGS.isdisjoint(node) or ("$schema" in node and self.objects > 1):
            self.spelling = True

    def _misshapen(self, keyword: str, value: Any) -> None:
        self.doubt = True
        # A map of names may have one that is spelt like a keyword; its value is then a schema.
        self.spelling = self.spelling or type(value) is not dict or keyword in _MAP_FOR_LIST


def survey(schema: Any) -> Survey:
    """Look at a schema once. Raises ``LimitError`` where it is not JSON or beyond a budget."""
    found = Survey()
    check_limits(schema, MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES)
    found.walk(schema)
    return found


_SCHEMA_TYPES: Final = frozenset({dict, bool})
_TEXT: Final = frozenset({str})


def _measure_patterns(node: Mapping[str, Any]) -> None:
    found = [node["pattern"]] if type(node.get("pattern")) is str else []
    if type(node.get("patternProperties")) is dict:
        found.extend(node["patternProperties"])
    if any(len(pattern) > MAX_PATTERN for pattern in found if type(pattern) is str):
        raise LimitError(f"a pattern is longer than {MAX_PATTERN:,} characters")


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _schemas(value: Any) -> bool:
    return type(value) is list and len(value) > 0 and _SCHEMA_TYPES.issuperset(map(type, value))


def _map(value: Any) -> bool:
    return type(value) is dict and _SCHEMA_TYPES.issuperset(map(type, value.values()))


def _texts(value: Any) -> bool:
    return type(value) is list and _TEXT.issuperset(map(type, value)) and len(set(value)) == len(value)


def _type(value: Any) -> bool:
    if type(value) is str:
        return value in TYPE_NAMES
    return _texts(value) and len(value) > 0 and TYPE_NAMES.issuperset(value)


def _step(value: Any) -> bool:
    return type(value) in (int, float) and value > 0


_TYPES: Final[Mapping[str, frozenset[type]]] = {
    **{keyword: frozenset({kind}) for keyword, kind in ANNOTATION_TYPES.items()},
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), frozenset({int, float})),
    **dict.fromkeys(("items", "additionalProperties", "not", "contains", "propertyNames"), frozenset({dict, bool})),
    "uniqueItems": frozenset({bool}),
}
"""For each common keyword that any value of certain types suits, in every draft from 6 on, those types."""

_WELL_FORMED: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _schemas),
    **dict.fromkeys(("properties", "$defs", "definitions"), _map),
    "enum": lambda value: _texts(value) and len(value) > 0,
    "multipleOf": _step,
    "required": _texts,
    "type": _type,
}
"""For each other common keyword, whether a value is surely one that every draft from 6 on allows."""

_DOUBTFUL: Final = frozenset(
    {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$ref",
        "$vocabulary",
        "contentSchema",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "id",
        "if",
        "maxContains",
        "minContains",
        "pattern",
        "patternProperties",
        "prefixItems",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords that a validator may refuse, or read with others: where one occurs it is asked at once."""
_MAPS: Final = frozenset({"properties", "$defs", "definitions"})
_SPELLINGS: Final = frozenset({"nullable", "dependencies", "additionalItems"})
_REMARKABLE: Final = _DOUBTFUL | _SPELLINGS | {"$schema"}
_MAP_FOR_LIST: Final = frozenset({"enum", "examples"})
_IMPLIERS: Final = frozenset(keyword for keywords in IMPLIED.values() for keyword in keywords)
