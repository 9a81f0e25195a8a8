"""Which declared properties of a contract are on the wire with their type, every member of their enum and their
description. A walker that follows the encodings of the design and imports nothing of the compiler.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

DEEPEST = 14


class Walker:
    """Walks a contract and its wire schema together and lists the declared properties that lost something."""

    def __init__(self, contract: Any, wire: Any) -> None:
        self.contract = contract
        self.wire = wire
        self.nodes = 0
        self.lost: list[str] = []
        self._seen: set[tuple[int, tuple[int, ...]]] = set()
        self._kept_alive: list[Any] = []

    def run(self) -> None:
        """Walk from the root."""
        self.walk(self.contract, [self.wire], "", DEEPEST)

    def walk(self, schema: Any, wires: list[Any], place: str, depth: int) -> None:
        """One subschema of the contract against the wire nodes that may stand for it."""
        if not isinstance(schema, dict) or depth < 0:
            return
        wires = distinct(self.expand(wires))
        visit = (id(schema), tuple(sorted(map(id, wires))))
        if visit in self._seen:
            return
        self._seen.add(visit)
        self._kept_alive += [schema, wires]
        self.walk(self.resolve(self.contract, schema.get("$ref")), wires, place, depth - 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, branch in enumerate(as_list(schema.get(keyword))):
                self.walk(branch, wires, f"{place}/{keyword}/{index}", depth - 1)
        for name, child in as_dict(schema.get("properties")).items():
            self.property(name, child, wires, f"{place}/properties/{name}", depth)
        items = schema.get("items")
        for index, member in enumerate(as_list(schema.get("prefixItems")) or as_list(items)):
            self.walk(member, list(members(wires, index)), f"{place}/{index}", depth - 1)
        if isinstance(items, dict):
            self.walk(items, list(elements(wires)), f"{place}/items", depth - 1)
        if isinstance(schema.get("additionalProperties"), dict):
            values = list(map_values(wires, self.expand))
            self.walk(schema["additionalProperties"], values, f"{place}/additionalProperties", depth - 1)

    def property(self, name: str, child: Any, wires: list[Any], place: str, depth: int) -> None:
        """One declared property."""
        self.nodes += 1
        found = [
            node["properties"][written]
            for node in wires
            for written in spellings(name)
            if written in as_dict(node.get("properties"))
        ]
        missing = "is not on the wire" if not found else self.missing(child, found)
        if missing and child is not False:
            self.lost.append(f"{place} {missing}")
        self.walk(child, found, place, depth - 1)

    def missing(self, schema: Any, wires: list[Any]) -> str:
        """What a property lost: nothing, its description, its type or its enum."""
        if not isinstance(schema, dict):
            return ""
        nodes = distinct(self.expand(wires))
        text = schema.get("description")
        if isinstance(text, str) and text.strip():
            written = [node["description"] for node in nodes if isinstance(node.get("description"), str)]
            if not any(text.strip() in other for other in written):
                return "lost its description"
        types = as_list(schema.get("type")) or [schema.get("type")]
        for kind in types:
            if kind in KEPT_AS and not any(KEPT_AS[kind] & kinds(node) for node in nodes):
                return f"lost its type {kind}"
        values = as_list(schema.get("enum"))
        written_values = {plain(value) for node in nodes for value in literals(node)}
        if any(plain(value) not in written_values for value in values if allowed_by(value, types)):
            return "lost its enum"
        return ""

    def expand(self, wires: list[Any]) -> list[dict[str, Any]]:
        """Wire nodes with all that stands for the same value: references, branches, and what wraps one field."""
        found: list[dict[str, Any]] = []
        waiting = [(node, 0) for node in wires]
        while waiting and len(found) < 400:
            node, hops = waiting.pop(0)
            if not isinstance(node, dict) or hops > 6 or any(node is other for other in found):
                continue
            found.append(node)
            inner = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in as_list(node.get(keyword))]
            inner.append(self.resolve(self.wire, node.get("$ref")))
            properties = as_dict(node.get("properties"))
            if len(properties) == 1:
                inner += properties.values()
            waiting += [(other, hops + 1) for other in inner]
        return found

    @staticmethod
    def resolve(root: Any, reference: Any) -> Any:
        """What a local pointer reference points at."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        node = root
        for step in reference[1:].split("/")[1:]:
            node = as_dict(node).get(step.replace("~1", "/").replace("~0", "~"))
        return node


KEPT_AS: dict[Any, set[str]] = {
    "string": {"string"},
    "integer": {"integer", "number"},
    "number": {"number", "integer"},
    "boolean": {"boolean"},
    "object": {"object", "entries"},
    "array": {"array", "tuple"},
}


def kinds(node: dict[str, Any]) -> set[str]:
    """The JSON types of a wire node; ``entries`` for an array that spells a map, ``tuple`` for an object of items."""
    found = {kind for kind in as_list(node.get("type")) or [node.get("type")] if isinstance(kind, str)}
    found |= {json_kind(value) for value in literals(node)}
    if "array" in found and {"key", "value"} <= as_dict(as_dict(node.get("items")).get("properties")).keys():
        found.add("entries")
    if "object" in found and any(name.startswith("item") for name in as_dict(node.get("properties"))):
        found.add("tuple")
    return found


def json_kind(value: Any) -> str:
    """The JSON type of a literal."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def allowed_by(value: Any, types: list[Any]) -> bool:
    """Whether the ``type`` beside an enum leaves this value possible."""
    named = [kind for kind in types if kind in KEPT_AS]
    return not named or value is None or any(json_kind(value) in KEPT_AS[kind] for kind in named)


def literals(node: dict[str, Any]) -> list[Any]:
    """The literals of a wire node."""
    return [*as_list(node.get("enum")), *([node["const"]] if "const" in node else [])]


def plain(value: Any) -> str:
    """A literal as the text that may stand for it on the wire."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def spellings(name: str) -> Iterator[str]:
    """How a property's name may be written on the wire: as it is, or as a stem with a hash."""
    yield name
    digest = base64.b32encode(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()).decode()[:8].lower()
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
    yield from (f"{cut}_{digest}" for cut in {stem, stem[:55], stem.strip("_"), stem.strip("_")[:55]})


def elements(wires: list[Any]) -> Iterator[Any]:
    """What stands for the items of a list."""
    yield from (node["items"] for node in wires if isinstance(node.get("items"), dict))


def members(wires: list[Any], index: int) -> Iterator[Any]:
    """What stands for one member of a tuple."""
    for node in wires:
        yield from as_list(node.get("prefixItems"))[index : index + 1]
        properties = as_dict(node.get("properties"))
        if f"item_{index}" in properties:
            yield properties[f"item_{index}"]


def map_values(wires: list[Any], expand: Any) -> Iterator[Any]:
    """What stands for the values of a map: a schema for free names, or the ``value`` of entries."""
    for node in wires:
        yield node.get("additionalProperties")
        fields = [node, *as_dict(node.get("properties")).values()]
        for entries in expand(fields):
            entry = as_dict(as_dict(entries.get("items")).get("properties"))
            if "key" in entry and "value" in entry:
                yield entry["value"]


def distinct(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nodes, each object once."""
    return list({id(node): node for node in nodes}.values())


def as_list(value: Any) -> list[Any]:
    """A list, or an empty one where something else stands."""
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any]:
    """An object, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}
