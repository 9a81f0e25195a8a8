"""The first look at a schema: whether it is JSON within the budgets, and whether reading it needs special care.

Nearly every schema is plain: it needs no tolerated spelling rewritten, and nothing in it could keep a validator from
being built. Knowing that by one cheap walk spares the work of finding out by doing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.json_value import LimitError, walk
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

    def look(self, node: Mapping[str, Any]) -> None:
        """Look at one object of the schema: a schema, a map of names to schemas, or data."""
        self.objects += 1
        required = node.get("required")
        if type(required) is list:
            self.demanded += len(required)
        if max(self.objects, self.demanded) > MAX_SCHEMA_OBJECTS:
            what = "objects" if self.objects > MAX_SCHEMA_OBJECTS else "required names"
            raise LimitError(f"it has more than {MAX_SCHEMA_OBJECTS:,} {what}")
        if "type" not in node and not _IMPLIERS.isdisjoint(node):
            self.spelling = True
        if not _DOUBTFUL.isdisjoint(node):
            self.doubt = True
            _measure_patterns(node)
        if not _SPELLINGS.isdisjoint(node) or ("$schema" in node and self.objects > 1):
            self.spelling = True
        for keyword, value in node.items():
            if value is None:
                self.spelling = self.spelling or keyword not in MAY_BE_NULL
                self.doubt = self.doubt or keyword in _WELL_FORMED
            elif keyword in _WELL_FORMED and not _WELL_FORMED[keyword](value):
                self.doubt = True
                # A map of names may have one that is spelt like a keyword; its value is then a schema.
                self.spelling = self.spelling or type(value) is not dict or keyword in _MAP_FOR_LIST


def survey(schema: Any) -> Survey:
    """Look at a schema once. Raises ``LimitError`` where it is not JSON or beyond a budget."""
    found = Survey()
    walk(schema, found.look, MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES)
    return found


def _measure_patterns(node: Mapping[str, Any]) -> None:
    found = [node["pattern"]] if type(node.get("pattern")) is str else []
    if type(node.get("patternProperties")) is dict:
        found.extend(node["patternProperties"])
    if any(len(pattern) > MAX_PATTERN for pattern in found if type(pattern) is str):
        raise LimitError(f"a pattern is longer than {MAX_PATTERN:,} characters")


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _schemas(value: Any) -> bool:
    return type(value) is list and len(value) > 0 and all(type(item) in (dict, bool) for item in value)


def _map(value: Any) -> bool:
    return type(value) is dict and all(type(item) in (dict, bool) for item in value.values())


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value) and len(set(value)) == len(value)


def _type(value: Any) -> bool:
    if type(value) is str:
        return value in TYPE_NAMES
    return _texts(value) and len(value) > 0 and TYPE_NAMES.issuperset(value)


_number = _is(int, float)
_schema = _is(dict, bool)

_WELL_FORMED: Final[Mapping[str, Callable[[Any], bool]]] = {
    **{keyword: _is(kind) for keyword, kind in ANNOTATION_TYPES.items()},
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("items", "additionalProperties", "not", "contains", "propertyNames"), _schema),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _schemas),
    **dict.fromkeys(("properties", "$defs", "definitions"), _map),
    "enum": lambda value: _texts(value) and len(value) > 0,
    "multipleOf": lambda value: _number(value) and value > 0,
    "required": _texts,
    "type": _type,
    "uniqueItems": _is(bool),
}
"""For each common keyword, whether a value is surely one that every draft from 6 on allows."""

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
_SPELLINGS: Final = frozenset({"nullable", "dependencies", "additionalItems"})
_MAP_FOR_LIST: Final = frozenset({"enum", "examples"})
_IMPLIERS: Final = frozenset(keyword for keywords in IMPLIED.values() for keyword in keywords)
