"""Whether two schemas accept the same values, as far as two readings of one schema can be told apart by form.

``canonical`` writes a schema so that every step keeps what it accepts: two schemas with one canonical form accept the
same values. The reverse does not hold, so a difference is a question to look at, never passed over. Standard library
only: it runs in the environment of a referee.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
KINDS = {
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Keywords that say something about values of one JSON type only; those of numbers hold for integers too."""
KIND_OF = {keyword: kind for kind, keywords in KINDS.items() for keyword in keywords}
NAMED = ("properties", "patternProperties", "$defs", "definitions")
SINGLE = ("items", "additionalProperties", "contains", "not", "propertyNames")
MANY = ("anyOf", "allOf", "oneOf", "prefixItems")


def canonical(schema: Any, without: frozenset[str] = frozenset()) -> Any:
    """A schema without annotations, with literals as ``enum``, type lists as ``anyOf``, sets in order.

    The keywords in ``without`` are left out: two schemas may be alike but for those.
    """
    if not isinstance(schema, dict):
        return schema
    kept = schema.keys() - ANNOTATIONS - without
    node = {
        keyword: _each(keyword, value, lambda child: canonical(child, without))
        for keyword, value in schema.items()
        if keyword in kept
    }
    if "const" in node:
        node["enum"] = [value for value in node.get("enum", [node["const"]]) if _same(value, node["const"])]
        del node["const"]
    kinds = node.get("type")
    if "enum" in node:
        values = [value for value in node["enum"] if kinds is None or _is_of(value, kinds)]
        node["enum"] = _in_order(values)
        node.pop("type", None)
    elif isinstance(kinds, list) and "anyOf" not in node:
        node = _split(node, kinds)
    elif isinstance(kinds, str):
        node = _of_kind(node, kinds)
    if not node.get("required", True):
        del node["required"]
    if node.get("minItems") == 0:
        del node["minItems"]
    if isinstance(node.get("required"), list):
        node["required"] = sorted(set(node["required"]))
    return _flat(node)


def spelled_out(schema: Any) -> Any:
    """The same schema with each list of types written as ``anyOf`` of one type each; all else as it was.

    Annotations stay on the node itself. A node with literals keeps its list: the literals say more.
    """
    if not isinstance(schema, dict):
        return schema
    node = {keyword: _each(keyword, value, spelled_out) for keyword, value in schema.items()}
    kinds = node.get("type")
    if not isinstance(kinds, list) or node.keys() & {"enum", "const", "anyOf"}:
        return node
    told = {keyword: value for keyword, value in node.items() if keyword in ANNOTATIONS}
    rest = {keyword: value for keyword, value in node.items() if keyword not in told}
    return {**told, **_split(rest, kinds)}


def difference(left: Any, right: Any, pointer: str = "") -> tuple[str, str] | None:
    """The first place where two canonical forms differ: its pointer, and the keywords that one of them lacks."""
    if _text(left) == _text(right):
        return None
    if isinstance(left, dict) and isinstance(right, dict):
        odd = sorted(left.keys() ^ right.keys())
        if odd:
            return pointer, " ".join(odd)
        for keyword in sorted(left):
            found = difference(left[keyword], right[keyword], f"{pointer}/{keyword}")
            if found:
                return found
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right, strict=True)):
            found = difference(*pair, f"{pointer}/{index}")
            if found:
                return found
    return pointer, pointer.rpartition("/")[2]


def _each(keyword: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if keyword in NAMED and isinstance(value, dict):
        return {name: change(child) for name, child in value.items()}
    if keyword in SINGLE:
        return change(value)
    if keyword in MANY and isinstance(value, list):
        return [change(child) for child in value]
    return value


def _split(node: dict[str, Any], kinds: list[str]) -> dict[str, Any]:
    shared = {key: node[key] for key in node if key in ("$defs", "definitions")}
    rest = {key: value for key, value in node.items() if key not in shared}
    return {**shared, "anyOf": [_of_kind({**rest, "type": kind}, kind) for kind in kinds]}


def _of_kind(node: dict[str, Any], kind: str) -> dict[str, Any]:
    """A node of one type without the keywords that say nothing about that type."""
    name = "number" if kind == "integer" else kind
    return {key: value for key, value in node.items() if KIND_OF.get(key, name) == name}


def _flat(node: dict[str, Any]) -> dict[str, Any]:
    """A node whose union has no union for a branch, each branch once, in order; a union of one is that one."""
    branches = node.get("anyOf")
    if not isinstance(branches, list):
        return node
    found: list[Any] = []
    for branch in branches:
        inner = isinstance(branch, dict) and branch.keys() == {"anyOf"}
        found += branch["anyOf"] if inner else [branch]
    found = _in_order(found)
    if len(found) == 1 and node.keys() == {"anyOf"} and isinstance(found[0], dict):
        return found[0]
    return {**node, "anyOf": found}


def _in_order(values: list[Any]) -> list[Any]:
    return [value for _, value in sorted({_text(value): value for value in values}.items())]


def _is_of(value: Any, kinds: Any) -> bool:
    names = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, (int, float)):
        return "number" in names or ("integer" in names and value == int(value))
    kinds_of: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return kinds_of.get(type(value), "null") in names


def _same(left: Any, right: Any) -> bool:
    return _text(left) == _text(right)


def _text(value: Any) -> str:
    """A JSON value as text in which equal values are equal: 1.0 is written as 1."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
