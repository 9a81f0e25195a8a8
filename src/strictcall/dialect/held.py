"""The part of a schema that a dialect's decoder holds, in the standard's own words."""

from __future__ import annotations

from typing import Any

from strictcall.dialect.model import Dialect, State

_ONE_SCHEMA = frozenset(
    {
        "items",
        "additionalProperties",
        "additionalItems",
        "propertyNames",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
)
_MANY_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_HELD = frozenset({State.ENFORCED, State.NARROWER})


def held(schema: Any, dialect: Dialect, *, formats: bool = False) -> Any:
    """What is left of a schema that the dialect takes when the keywords that its decoder does not hold are taken out.

    What the dialect reads otherwise than draft 2020-12 is written out: ``nullable``, types in capitals, patterns that
    stand for the whole text, objects that are closed where nothing is said. ``format`` is an annotation and taken out,
    unless ``formats`` is true: then the names that the dialect knows are kept. The schema is not changed.
    """
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if not _stays(keyword, value, dialect, formats=formats):
            continue
        if keyword in _ONE_SCHEMA:
            kept[keyword] = held(value, dialect, formats=formats)
        elif keyword in _MANY_SCHEMAS and isinstance(value, list):
            kept[keyword] = [held(item, dialect, formats=formats) for item in value]
        elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            kept[keyword] = {name: held(item, dialect, formats=formats) for name, item in value.items()}
        else:
            kept[keyword] = value
    return _in_standard_words(schema, kept, dialect)


def _stays(keyword: str, value: Any, dialect: Dialect, *, formats: bool) -> bool:
    if keyword == "$schema" or dialect.state(keyword, value) not in _HELD:
        return False
    if keyword == "format":
        return formats and (dialect.formats is None or value in dialect.formats)
    return True


def _in_standard_words(schema: dict[str, Any], kept: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect.pattern_anchoring == "whole" and "pattern" in kept:
        kept["pattern"] = f"^(?:{kept['pattern']})$"
    if dialect.additional_default == "closed" and "properties" in kept:
        kept.setdefault("additionalProperties", False)
    if dialect.type_case == "any" and isinstance(kept.get("type"), str):
        kept["type"] = kept["type"].lower()
    if schema.get("nullable") is True and "nullable" in dialect.keywords:
        kept.pop("nullable", None)
        return {"anyOf": [kept, {"type": "null"}]}
    return kept
