"""Calls for a tool, made from its schema: one with the required arguments only and one with all of them."""

from __future__ import annotations

from typing import Any

DEEPEST = 12
FORMATS = {
    "date": "2026-11-30",
    "date-time": "2026-11-30T12:00:00Z",
    "email": "someone@example.com",
    "time": "12:00:00Z",
    "uri": "https://example.com/some/path",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
WORDS = "the quick brown fox jumps over the lazy dog "


def calls(schema: Any) -> list[Any]:
    """The two calls; they may not be valid, where a schema is more than this reads."""
    return [sample(schema, schema, full, DEEPEST) for full in (False, True)]


def sample(schema: Any, root: Any, full: bool, depth: int) -> Any:
    """A value for a subschema; ``full`` fills in what is optional."""
    if not isinstance(schema, dict) or depth < 0:
        return "text"
    if isinstance(schema.get("$ref"), str):
        return sample(_target(root, schema["$ref"]), root, full, depth - 1)
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None:
            return schema[keyword]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches and "properties" not in schema:
            return sample(branches[0], root, full, depth - 1)
    kind = schema.get("type")
    kind = next((name for name in kind if name != "null"), None) if isinstance(kind, list) else kind
    if kind == "object" or (kind is None and "properties" in schema):
        return _object(schema, root, full, depth)
    if kind == "array":
        number = max(int(schema.get("minItems") or 0), 3 if full else 0)
        return [sample(schema.get("items"), root, full, depth - 1) for _ in range(number)]
    return _scalar(schema, kind)


def _object(schema: dict[str, Any], root: Any, full: bool, depth: int) -> dict[str, Any]:
    declared = schema.get("properties")
    declared = declared if isinstance(declared, dict) else {}
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    names = declared if full and depth > DEEPEST - 5 else [name for name in declared if name in required]
    made = {name: sample(declared[name], root, full, depth - 1) for name in names}
    more = schema.get("additionalProperties")
    if full and isinstance(more, dict):
        made.update({f"name_{index}": sample(more, root, full, depth - 1) for index in range(3)})
    return made


def _scalar(schema: dict[str, Any], kind: Any) -> Any:
    if kind in ("integer", "number"):
        least, most = schema.get("minimum"), schema.get("maximum")
        return least if least is not None else (min(1, most) if most is not None else 1)
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    length = min(max(20, schema.get("minLength") or 0), schema.get("maxLength") or 200)
    return (WORDS * (1 + length // len(WORDS)))[:length]


def _target(root: Any, reference: str) -> Any:
    node = root
    for step in reference.partition("#")[2].split("/")[1:]:
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
