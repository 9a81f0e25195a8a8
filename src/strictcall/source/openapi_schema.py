"""The schemas of an OpenAPI document, made to stand on their own: what they refer to comes along under ``$defs``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from strictcall.json_value import escape, resolve_pointer, unescape
from strictcall.source.flaws import FlawedObject

_ONE = frozenset(
    """
    additionalProperties additionalItems items contains not if then else propertyNames unevaluatedItems
    unevaluatedProperties contentSchema
    """.split()
)
_MANY = frozenset("allOf anyOf oneOf prefixItems items".split())
_NAMED = frozenset("properties patternProperties dependentSchemas $defs definitions".split())
BESIDE_REFERENCE = frozenset({"$ref", "description", "title", "summary"})
"""What may stand beside a reference without saying more than it."""
_COMPONENTS = "/components/schemas/"
_BASE_DIALECT = "https://spec.openapis.org/oas/"
_DEEPEST = 100


class Schemas:
    """Schemas of one document as they are written in a tool, and the definitions that they need.

    ``old`` says that the document is of OpenAPI 3.0, where what stands beside ``$ref`` means nothing and a ``readOnly``
    property is not part of a request (Schema Object, Fixed Fields). What a reference leads to is written once for all
    tools of the document.
    """

    def __init__(self, document: dict[str, Any], *, old: bool) -> None:
        self._document = document
        self.old = old
        self._names: dict[str, str] = {}
        self._definitions: dict[str, tuple[Any, set[str]]] = {}
        dialect = document.get("jsonSchemaDialect")
        known = isinstance(dialect, str) and not dialect.startswith(_BASE_DIALECT)
        self.dialect: dict[str, Any] = {"$schema": dialect} if known else {}

    def written(self, schema: Any) -> Any:
        """A schema of the document as it stands in a tool: its references lead to ``$defs``."""
        return self._written(schema, set(), 0)

    def definitions(self, used: Iterable[Any]) -> dict[str, Any]:
        """The definitions that these schemas of the document need, directly or through others, by name in order."""
        pending: set[str] = set()
        for schema in used:
            self._written(schema, pending, 0)
        found: dict[str, Any] = {}
        while pending:
            pointer = pending.pop()
            name = self._name(pointer)
            if name not in found:
                found[name], further = self._definition(pointer)
                pending |= further
        return dict(sorted(found.items()))

    def _definition(self, pointer: str) -> tuple[Any, set[str]]:
        if pointer not in self._definitions:
            needed: set[str] = set()
            self._definitions[pointer] = (self._written(resolve_pointer(self._document, pointer), needed, 0), needed)
        return self._definitions[pointer]

    def _name(self, pointer: str) -> str:
        """The name of a definition: that of the component, made distinct where another has it."""
        if pointer not in self._names:
            wanted = unescape(unquote(pointer.rpartition("/")[2])) or "document"
            taken = set(self._names.values())
            name, number = wanted, 2
            while name in taken:
                name = f"{wanted}_{number}"
                number += 1
            self._names[pointer] = name
        return self._names[pointer]

    def _written(self, schema: Any, needed: set[str], depth: int) -> Any:
        if not isinstance(schema, dict) or isinstance(schema, FlawedObject) or depth > _DEEPEST:
            return schema
        if isinstance(schema.get("$id"), str):  # its references are its own
            return schema
        if self.old and isinstance(schema.get("$ref"), str):
            schema = {key: value for key, value in schema.items() if key in BESIDE_REFERENCE}
        found = {key: self._keyword(key, value, needed, depth + 1) for key, value in schema.items()}
        return self._without_read_only(found) if self.old else found

    def _keyword(self, key: str, value: Any, needed: set[str], depth: int) -> Any:
        if key == "$ref" and isinstance(value, str):
            return self._reference(value, needed)
        if key in _MANY and isinstance(value, list):
            return [self._written(item, needed, depth) for item in value]
        if key in _NAMED and isinstance(value, dict):
            return {name: self._written(item, needed, depth) for name, item in value.items()}
        return self._written(value, needed, depth) if key in _ONE else value

    def _reference(self, reference: str, needed: set[str]) -> str:
        """A reference into the document, led to ``$defs``; one that leads out of it, or nowhere, stays as it is."""
        if not reference.startswith("#/") or resolve_pointer(self._document, reference[1:]) is None:
            return reference
        pointer, rest = reference[1:], ""
        if pointer.startswith(_COMPONENTS):
            name, slash, below = pointer.removeprefix(_COMPONENTS).partition("/")
            pointer, rest = _COMPONENTS + name, slash + below
        needed.add(pointer)
        return f"#/$defs/{quote(escape(self._name(pointer)), safe='~!$&()*+,;=:@')}{rest}"

    def _without_read_only(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return schema
        read = {name for name, item in properties.items() if isinstance(item, dict) and item.get("readOnly") is True}
        if not read:
            return schema
        changed = {**schema, "properties": {name: item for name, item in properties.items() if name not in read}}
        if isinstance(schema.get("required"), list):
            changed["required"] = [name for name in schema["required"] if name not in read]
        return changed
