"""Gemini's own schema spelling to JSON Schema: upper-case types, and counts written as text.

``Schema`` in https://ai.google.dev/api/caching#Schema: ``type`` is an enum of upper-case names, and the int64 fields
are written as text, as protocol buffers in JSON have it (https://protobuf.dev/programming-guides/json/).
"""

from __future__ import annotations

from typing import Any

_TYPES = {
    "STRING": "string",
    "NUMBER": "number",
    "INTEGER": "integer",
    "BOOLEAN": "boolean",
    "ARRAY": "array",
    "OBJECT": "object",
    "NULL": "null",
}
_COUNTS = frozenset({"minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"})
_ONE = frozenset({"items", "additionalProperties", "not"})
_MANY = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "defs", "$defs", "definitions"})
_DEEPEST = 500


def to_json_schema(schema: Any, depth: int = 0) -> Any:
    """The schema with Gemini's spellings rewritten; the very object that came in where there are none.

    Only places that hold schemas are looked at: an ``enum`` or ``default`` that says ``"STRING"`` stays. What nests
    deeper than any tool does is left as it is.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    changed = {}
    for key, value in schema.items():
        rewritten = _rewritten(key, value, depth)
        if rewritten is not value:
            changed[key] = rewritten
    if schema.get("type") == "TYPE_UNSPECIFIED":
        return {key: item for key, item in (schema | changed).items() if key != "type"}
    return schema | changed if changed else schema


def _rewritten(key: str, value: Any, depth: int) -> Any:
    if key == "type":
        return _type(value)
    if key in _COUNTS:
        return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 20 else value
    if key in _ONE:
        return to_json_schema(value, depth + 1)
    if key in _MANY and isinstance(value, list):
        items = [to_json_schema(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if key in _NAMED and isinstance(value, dict):
        named = {name: to_json_schema(item, depth + 1) for name, item in value.items()}
        return named if any(named[name] is not value[name] for name in value) else value
    return value


def _type(value: Any) -> Any:
    if isinstance(value, str):
        return _TYPES.get(value, value)
    if isinstance(value, list) and any(isinstance(item, str) and item in _TYPES for item in value):
        return [_type(item) for item in value]
    return value
