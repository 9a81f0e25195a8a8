"""The vocabulary of JSON Schema 2020-12 as the judge reads it: where schemas sit, and what a keyword's value must be.

A keyword that is not listed holds data, which is never read as a schema (``enum``, ``const``, ``default`` …).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})

ONE_SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is one schema."""
SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SCHEMA_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value maps names to schemas."""
HOLDS_SCHEMAS = ONE_SCHEMA | SCHEMA_LISTS | SCHEMA_MAPS
DEFINITIONS = frozenset({"$defs", "definitions"})
"""Keywords whose schemas count only where a reference leads to them."""
REST = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords that say what else is admitted: there a boolean is as good as a schema."""


def subschemas(keyword: str, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schemas that a keyword's value holds, each with its pointer tokens from the keyword's schema."""
    if keyword in ONE_SCHEMA:
        if type(value) is not list:
            yield (keyword,), value
    elif keyword in SCHEMA_LISTS:
        if type(value) is list:
            for index, item in enumerate(value):
                yield (keyword, str(index)), item
    elif keyword in SCHEMA_MAPS and type(value) is dict:
        for name, item in value.items():
            if not (keyword == "dependencies" and type(item) is list):
                yield (keyword, name), item


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _is_map(value: Any) -> bool:
    return type(value) is dict


def _is_schema(value: Any) -> bool:
    return type(value) in (dict, bool)


def _is_filled_list(value: Any) -> bool:
    return type(value) is list and bool(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_above_zero(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_names(value: Any) -> bool:
    if type(value) is not list or not all(type(name) is str for name in value):
        return False
    return len(set(value)) == len(value)


def _is_names_map(value: Any) -> bool:
    return type(value) is dict and all(_is_names(names) for names in value.values())


def _is_type(value: Any) -> bool:
    if type(value) is str:
        return value in JSON_TYPES
    return _is_names(value) and bool(value) and JSON_TYPES.issuperset(value)


Shape = tuple[str, Callable[[Any], bool]]
_TEXT: Shape = ("a text", _is_text)
_BOOLEAN: Shape = ("a boolean", _is_boolean)
_NUMBER: Shape = ("a number", _is_number)
_COUNT: Shape = ("a whole number of at least 0", _is_count)
_MAP: Shape = ("an object", _is_map)
_SCHEMA: Shape = ("a schema", _is_schema)
_SCHEMAS: Shape = ("a list of one schema or more", _is_filled_list)

SHAPES: Mapping[str, Shape] = {
    **dict.fromkeys(ONE_SCHEMA, _SCHEMA),
    **dict.fromkeys(SCHEMA_LISTS, _SCHEMAS),
    **dict.fromkeys(SCHEMA_MAPS, _MAP),
    **dict.fromkeys(("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema"), _TEXT),
    **dict.fromkeys(("contentEncoding", "contentMediaType", "description", "format", "pattern", "title"), _TEXT),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly"), _BOOLEAN),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"), _NUMBER),
    **dict.fromkeys(("maxContains", "maxItems", "maxLength", "maxProperties"), _COUNT),
    **dict.fromkeys(("minContains", "minItems", "minLength", "minProperties"), _COUNT),
    "$vocabulary": _MAP,
    "dependentRequired": ("an object of lists of names, none twice", _is_names_map),
    "enum": ("a list", _is_list),
    "examples": ("a list", _is_list),
    "multipleOf": ("a number above 0", _is_above_zero),
    "required": ("a list of names, none twice", _is_names),
    "type": ("a JSON type, or a list of some, none twice", _is_type),
}
"""What the value of a keyword must be, in words and as a test. A keyword that is not here may have any value."""


_OBJECT = frozenset({"object"})
_ARRAY = frozenset({"array"})
_NUMBERS = frozenset({"number", "integer"})
ABOUT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("additionalProperties", "maxProperties", "minProperties", "patternProperties"), _OBJECT),
    **dict.fromkeys(("dependentRequired", "properties", "propertyNames", "required"), _OBJECT),
    **dict.fromkeys(("contains", "items", "maxItems", "minItems", "prefixItems", "uniqueItems"), _ARRAY),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"), _NUMBERS),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), frozenset({"string"})),
}
"""The types that a keyword says something about, for those that are about some only."""


def in_lower_case(kinds: Any) -> Any:
    """The value of ``type`` with its names in lower case, where a dialect takes them in any."""
    if type(kinds) is list:
        return [in_lower_case(kind) for kind in kinds if type(kind) is not list]
    return kinds.lower() if type(kinds) is str else kinds


def literal_types(value: Any) -> frozenset[str]:
    """The JSON types that a value has; a whole number has two."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        whole = isinstance(value, int) or value.is_integer()
        return frozenset({"number", "integer"}) if whole else frozenset({"number"})
    if type(value) is str:
        return frozenset({"string"})
    if value is None:
        return frozenset({"null"})
    return frozenset({"array"} if type(value) is list else {"object"})
