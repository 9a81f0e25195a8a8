"""Schemas, as far as natural values need them understood: references followed, ``allOf`` joined, types told."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote

MOST_FOLLOWED: Final = 30
"""How many references in a row are followed."""
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})
_IMPLIED: Final = (
    ("object", ("properties", "additionalProperties", "required", "patternProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")),
)
_HINT: Final = re.compile(
    r"(?:^|; )(minLength|maxLength|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minItems|maxItems)"
    r" (-?\d+(?:\.\d+)?)(?=;|$)"
)
_HINTS: Final = re.compile(r"\[constraints: ([^\n]*)\]\Z")


class Schema:
    """A schema's document, in which references lead somewhere."""

    def __init__(self, root: Any) -> None:
        self.root = root

    def plain(self, node: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A schema without references and ``allOf``, its type a lower-case name where it has one; and the references
        that were followed for it.
        """
        followed: list[str] = []
        merged = self._merged(node, followed)
        for keyword, text in _HINT.findall(hints_of(merged.get("description"))):
            merged.setdefault(keyword, float(text) if "." in text else int(text))
        kind = merged.get("type")
        if isinstance(kind, str):
            merged["type"] = kind.lower()
        elif isinstance(kind, list) and len(kind) == 1 and isinstance(kind[0], str):
            merged["type"] = kind[0].lower()
        elif kind is None:
            implied = next((name for name, keywords in _IMPLIED if any(key in merged for key in keywords)), None)
            if implied and not any(key in merged for key in ("anyOf", "oneOf", "enum", "const")):
                merged["type"] = implied
        return merged, tuple(reference for reference in followed if reference)

    def _merged(self, node: Any, followed: list[str]) -> dict[str, Any]:
        if not isinstance(node, dict) or len(followed) > MOST_FOLLOWED:
            return {}
        merged = dict(node)
        reference = merged.pop("$ref", None)
        if isinstance(reference, str):
            followed.append(reference)
            merged = _joined(self._merged(self._target(reference), followed), merged)
        parts = merged.pop("allOf", None)
        for part in parts[:20] if isinstance(parts, list) else ():
            # An `allOf` in itself would be met again and again: what is followed counts over all of them.
            followed.append("")
            merged = _joined(self._merged(part, followed), merged)
        return merged

    def _target(self, reference: str) -> Any:
        """What a reference within the document leads to; a schema that says nothing where it leads elsewhere."""
        if not reference.startswith("#"):
            return {}
        node = self.root
        for part in unquote(reference[1:]).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                node = node.get(key)
            elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                return {}
        return node

    def branches(self, node: dict[str, Any]) -> list[Any]:
        """The alternatives of a plain schema: its union's, its list of types', or itself and null; else none."""
        common = {key: value for key, value in node.items() if key not in ("anyOf", "oneOf", "nullable", "type")}
        for keyword in ("anyOf", "oneOf"):
            union = node.get(keyword)
            if isinstance(union, list) and union:
                if "type" in node and not isinstance(node["type"], list):
                    common["type"] = node["type"]
                found = [_beside(common, branch) for branch in union]
                return [*found, {"type": "null"}] if node.get("nullable") is True else found
        kinds = node.get("type")
        if isinstance(kinds, list):
            return [{**common, "type": kind.lower()} for kind in kinds if isinstance(kind, str)]
        if node.get("nullable") is True:
            return [{**common, **({"type": kinds} if kinds else {})}, {"type": "null"}]
        return []

    def is_null(self, branch: Any) -> bool:
        """Whether a schema admits null alone."""
        plain, _ = self.plain(branch)
        return plain.get("type") == "null" or plain.get("enum") == [None] or plain.get("const", 0) is None


def hints_of(description: Any) -> str:
    """The constraints that a description ends in: what the wire could not hold."""
    match = _HINTS.search(description[-400:]) if isinstance(description, str) else None
    return match[1] if match else ""


def is_json_text(node: dict[str, Any]) -> bool:
    """Whether a text must hold JSON, as its constraints say."""
    return "JSON text" in hints_of(node.get("description"))


def _beside(common: dict[str, Any], branch: Any) -> Any:
    """A branch of a union together with what stands beside the union."""
    if not isinstance(branch, dict):
        return branch
    return {"allOf": [branch], **common} if common.keys() & _SHARED else branch


_SHARED: Final = frozenset({"properties", "required", "additionalProperties", "description", "type", "items"})


def _joined(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Two schemas that hold together; what the right one says goes before, but for names, which are joined."""
    joined = {**left, **right}
    both = [side["description"] for side in (right, left) if isinstance(side.get("description"), str)]
    if both:
        joined["description"] = " ".join(both)
    for keyword in ("properties", "$defs"):
        if isinstance(left.get(keyword), dict) and isinstance(right.get(keyword), dict):
            joined[keyword] = {**left[keyword], **right[keyword]}
    if isinstance(left.get("required"), list) and isinstance(right.get("required"), list):
        joined["required"] = [*left["required"], *right["required"]]
    return joined


def properties_of(node: dict[str, Any]) -> dict[str, Any]:
    """The properties that an object schema declares."""
    properties = node.get("properties")
    return properties if isinstance(properties, dict) else {}


def required_of(node: dict[str, Any]) -> dict[str, None]:
    """The names that must be there, in order."""
    required = node.get("required")
    return dict.fromkeys(name for name in required if isinstance(name, str)) if isinstance(required, list) else {}


def items_of(node: dict[str, Any]) -> Any:
    """The schema of an array's further items."""
    items = node.get("items", {})
    return items if isinstance(items, dict | bool) else {}


def may_be_null(schema: Schema, node: Any) -> bool:
    """Whether a property may be null."""
    plain, _ = schema.plain(node)
    enum = plain.get("enum")
    if isinstance(enum, list):
        return None in enum
    return any(schema.is_null(branch) for branch in schema.branches(plain))
