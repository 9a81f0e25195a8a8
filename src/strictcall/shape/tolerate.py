"""Tolerated spellings: what authors write that is not quite JSON Schema, rewritten so that a validator takes it.

Each rewrite is a change with the effect ``encoded``: the contract is the schema *as read*. Nothing is copied unless
something in it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.change import Change, Effect
from strictcall.json_value import escape
from strictcall.shape.draft import (
    ANNOTATION_TYPES,
    IN_ARRAY,
    IN_MAP,
    IN_VALUE,
    TYPE_NAMES,
    Draft,
    boolean_bounds,
    split_dependencies,
)

ALIASES: Final[Mapping[str, str]] = {
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "decimal": "number",
    "hash": "object",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "none": "null",
    "set": "array",
    "str": "string",
    "text": "string",
    "tuple": "array",
    "undefined": "null",
}
"""Type names of programming languages, and the JSON type that each means."""

UNTYPED_NAMES: Final = frozenset({"any", "mixed", "unknown"})

IMPLIED: Final[Mapping[str, tuple[str, ...]]] = {
    "object": (
        "properties",
        "patternProperties",
        "additionalProperties",
        "required",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "unevaluatedProperties",
    ),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"),
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Which keywords speak of which JSON type, so that a schema without ``type`` is read as that type."""

_SAYS_TYPE: Final = frozenset({"type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef"})
MAY_BE_NULL: Final = frozenset({"const", "default", "enum", "examples", "example"})


class Tolerance:
    """One pass over a schema that rewrites tolerated spellings; ``changes`` lists what it did."""

    def __init__(self, draft: Draft, declared: bool, implied_types: bool) -> None:
        self.draft = draft
        # Without a word about the draft, what an older one allowed is taken for what it was there.
        self.old_tuples = not declared and draft.name == "2020-12"
        self.old_dependencies = not declared and draft.name in ("2019-09", "2020-12")
        self.implied_types = implied_types
        self.changes: list[Change] = []

    def root(self, schema: Any) -> Any:
        """The schema as read, the very object where nothing had to change."""
        return self._schema(schema, "", typed=False)

    def _note(self, code: str, pointer: str, message: str) -> None:
        self.changes.append(Change(code, pointer, Effect.ENCODED, message))

    def _schema(self, node: Any, pointer: str, *, typed: bool) -> Any:
        """One schema. ``typed``: its type is said by the schema that it stands in, or must not be implied."""
        if type(node) is not dict:
            return node
        new = dict(node)
        self._spellings(new, pointer)
        typed = typed or "type" in new
        if self.implied_types and not typed and _SAYS_TYPE.isdisjoint(new):
            typed = self._imply(new, pointer)
        for keyword, value in list(new.items()):
            if keyword in IN_MAP:
                new[keyword] = self._map(value, keyword, pointer)
            elif keyword in IN_ARRAY and type(value) is list:
                # Branches speak of the same value, so a type said here holds for them too; positions do not.
                inside = typed and keyword in ("allOf", "anyOf", "oneOf")
                new[keyword] = self._list(value, f"{pointer}/{keyword}", typed=inside)
            elif keyword in IN_VALUE:
                inside = keyword in ("not", "if") or (typed and keyword in ("then", "else"))
                new[keyword] = self._schema(value, f"{pointer}/{keyword}", typed=inside)
        self._required_flags(node, new, pointer)
        if node.get("nullable") is True:
            self._nullable(new, pointer)
        return node if _same(new, node) else new

    def _map(self, value: Any, keyword: str, pointer: str) -> Any:
        if type(value) is not dict:
            return value
        place = f"{pointer}/{keyword}/"
        typed = keyword in ("dependencies", "dependentSchemas")
        new = {name: self._schema(item, place + escape(name), typed=typed) for name, item in value.items()}
        return value if _same(new, value) else new

    def _list(self, value: list[Any], place: str, *, typed: bool) -> list[Any]:
        new = [self._schema(item, f"{place}/{index}", typed=typed) for index, item in enumerate(value)]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new

    def _spellings(self, node: dict[str, Any], pointer: str) -> None:
        for keyword, value in list(node.items()):
            expected = ANNOTATION_TYPES.get(keyword)
            if value is None and keyword not in MAY_BE_NULL:
                del node[keyword]
                self._note("read-null-keyword", pointer, f"{keyword!r} is null, which says nothing; it is left out")
            elif expected is not None and type(value) is not expected:
                del node[keyword]
                self._note("read-annotation", pointer, f"{keyword!r} has a value that is no annotation; it is left out")
        if pointer and "$schema" in node:
            del node["$schema"]
        self._type(node, pointer)
        self._sets(node, pointer)
        if self.draft.name != "4" and _has_boolean_bound(node):
            boolean_bounds(node)
            self._note("read-boolean-bound", pointer, "a boolean exclusive bound (draft 4) is read as a number")
        if self.old_tuples and type(node.get("items")) is list:
            node["prefixItems"] = node.pop("items")
            if "additionalItems" in node:
                node["items"] = node.pop("additionalItems")
            self._note("read-tuple-items", pointer, "'items' as a list (before 2020-12) is read as 'prefixItems'")
        if self.old_dependencies and type(node.get("dependencies")) is dict:
            split_dependencies(node)
            self._note("read-dependencies", pointer, "'dependencies' (before 2019-09) is read as its two successors")

    def _type(self, node: dict[str, Any], pointer: str) -> None:
        kind = node.get("type")
        names = kind if type(kind) is list else [kind]
        if kind is None or all(type(name) is str and name in TYPE_NAMES for name in names):
            return
        lowered = [name.lower() for name in names if type(name) is str]
        if not names or len(lowered) < len(names):
            return
        if not UNTYPED_NAMES.isdisjoint(lowered):
            del node["type"]
        else:
            read = list(dict.fromkeys(ALIASES.get(name, name) for name in lowered))
            if not TYPE_NAMES.issuperset(read):
                return
            node["type"] = read if type(kind) is list else read[0]
        self._note(
            "read-type-name", pointer, f"type {kind!r} is not a JSON type; it is read as {node.get('type', 'any')!r}"
        )

    def _sets(self, node: dict[str, Any], pointer: str) -> None:
        if type(node.get("properties")) is list:
            node["properties"] = {}
            self._note("read-list-properties", pointer, "'properties' is a list; it is read as an empty map")
        if type(node.get("enum")) is dict:
            node["enum"] = list(node["enum"])
            self._note("read-enum-map", pointer, "'enum' is a map; its keys are read as the values")
        required = node.get("required")
        if type(required) is list and not all(type(name) is str for name in required):
            required = node["required"] = [name for name in required if type(name) is str]
            self._note(
                "read-required-entries", pointer, "'required' lists something that is not a name; it is left out"
            )
        if type(required) is list and all(type(name) is str for name in required):
            unique = list(dict.fromkeys(required))
            if len(unique) != len(required):
                node["required"] = unique
                self._note("read-required-twice", pointer, "'required' names a property twice")

    def _required_flags(self, node: Mapping[str, Any], new: dict[str, Any], pointer: str) -> None:
        """``required: true`` inside a property belongs into the ``required`` list of the object around it."""
        if type(new.get("required")) is bool:
            del new["required"]
            self._note("read-required-flag", pointer, "'required' as a flag is read as an entry of the object's list")
        properties = node.get("properties")
        if type(properties) is not dict:
            return
        flagged = [name for name, item in properties.items() if type(item) is dict and item.get("required") is True]
        if flagged:
            listed = new.get("required", [])
            new["required"] = [*listed, *(name for name in flagged if name not in listed)]

    def _nullable(self, node: dict[str, Any], pointer: str) -> None:
        """OpenAPI 3.0's ``nullable: true``."""
        del node["nullable"]
        self._note("read-nullable", pointer, "'nullable: true' (OpenAPI 3.0) is read as a null branch")
        kind = node.get("type")
        if kind is not None and {"const", "allOf", "anyOf", "oneOf", "$ref", "not"}.isdisjoint(node):
            names = kind if type(kind) is list else [kind]
            node["type"] = names if "null" in names else [*names, "null"]
            if type(node.get("enum")) is list and None not in node["enum"]:
                node["enum"] = [*node["enum"], None]
            return
        if _SAYS_TYPE.isdisjoint(node) and {"allOf", "anyOf", "oneOf", "not"}.isdisjoint(node):
            return
        outside = {name: node.pop(name) for name in list(node) if name in _STAYS_OUTSIDE}
        inside = dict(node)
        node.clear()
        node.update(outside)
        node["anyOf"] = [inside, {"type": "null"}]

    def _imply(self, node: dict[str, Any], pointer: str) -> bool:
        kinds = [kind for kind, keywords in IMPLIED.items() if not node.keys().isdisjoint(keywords)]
        if type(node.get("required")) is bool and node.keys().isdisjoint(IMPLIED["object"][:3]):
            kinds = [kind for kind in kinds if kind != "object"]
        if not kinds:
            return False
        node["type"] = kinds[0] if len(kinds) == 1 else kinds
        self._note("read-implied-type", pointer, f"without 'type', the keywords here speak of {' or '.join(kinds)}")
        return True


_STAYS_OUTSIDE: Final = frozenset(
    {"title", "description", "default", "examples", "$defs", "definitions", "$id", "$anchor"}
)


def _has_boolean_bound(node: Mapping[str, Any]) -> bool:
    return type(node.get("exclusiveMinimum")) is bool or type(node.get("exclusiveMaximum")) is bool


def _same(new: dict[str, Any], old: dict[str, Any]) -> bool:
    return len(new) == len(old) and all(name in old and old[name] is value for name, value in new.items())
