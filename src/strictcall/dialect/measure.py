"""How large a schema is, by the measures that providers put ceilings on."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from strictcall.dialect.document import Document, Node
from strictcall.dialect.model import Dialect, State
from strictcall.dialect.readable import MOST_BITS
from strictcall.dialect.vocabulary import DEFINITIONS

COUNTED = frozenset({"$defs", "anyOf", "const", "definitions", "enum", "maxItems", "oneOf", "properties"})
"""A schema that has none of these counts nothing by itself."""
OBJECTS = frozenset({"object", "properties", "additionalProperties"})
"""Types and keywords that make a level of an object; and those that make one of either kind."""
BOTH = OBJECTS | {"array", "items", "prefixItems"}
MOST_LEVELS = 100_000
"""Deeper than this is not counted."""


def measure(schema: Any, dialect: Dialect) -> dict[str, int]:
    """What a schema counts, under a dialect: only keywords that the dialect accepts are looked into.

    Every schema is counted once, where it lies, whatever refers to it. For a schema larger than the judge reads, the
    numbers are those of the part that was read. What takes a walk of its own (``object_depth``, ``characters``,
    ``bytes``) is measured only where the dialect has a ceiling on it.

    - ``properties``: the entries of every ``properties``.
    - ``optional``: those of them that ``required`` beside does not name.
    - ``unions``: those whose schema, or the one that its ``$ref`` leads to, has ``anyOf`` or ``oneOf``, or a ``type``
      of several.
    - ``depth``: object and array levels on the longest way through the schema, the root object being the first.
      Providers do not say whether an array is a level, nor whether a definition counts where it is used: both are
      counted, which is the safe reading. A reference that leads back into its own circle ends the way.
    - ``object_depth``: the same, arrays not counted.
    - ``json_depth``: levels of the schema's own JSON text, at most 100,000.
    - ``enum_values``: the values of every ``enum``.
    - ``name_characters``: the characters of property names, definition names, and ``enum`` and ``const`` values.
    - ``longest_enum_characters``: the characters of the values of that ``enum`` of more than ``Dialect.long_enum``
      values which has most.
    - ``item_bounds``: the sum of every ``maxItems``.
    - ``longest_enum``: the values of the longest ``enum``. ``union_branches``: the branches of the widest ``anyOf`` or
      ``oneOf``.
    - ``characters`` and ``bytes``: the length of the schema's own JSON text without spaces, in UTF-8 for the latter.
    """
    document = Document(schema, lambda keyword: dialect.state(keyword) is not State.REJECTED)
    wanted = {"depth", "json_depth"} | {limit.name for limit in dialect.limits}
    return measure_document(schema, document, wanted, dialect.long_enum)


def measure_document(schema: Any, document: Document, wanted: Container[str], long_enum: int) -> dict[str, int]:
    """Those measures of a schema that are ``wanted``, and others that cost nothing beside them."""
    counts = {"properties": 0, "optional": 0, "unions": 0}
    counts |= {"enum_values": 0, "name_characters": 0, "longest_enum_characters": 0}
    counts |= {"longest_enum": 0, "union_branches": 0, "item_bounds": 0}
    unions = _Unions(document)
    for node in document.nodes:
        if type(node.value) is dict and not COUNTED.isdisjoint(node.value):
            _count_properties(node.value, unions, counts)
            _count_literals(node.value, counts, long_enum)
    if "depth" in wanted:
        counts["depth"] = _depth(document, BOTH)
    if "object_depth" in wanted:
        counts["object_depth"] = _depth(document, OBJECTS)
    if "json_depth" in wanted:
        counts["json_depth"] = _json_depth(schema)
    if "characters" in wanted or "bytes" in wanted:
        counts["characters"], counts["bytes"] = _text_size(schema)
    return counts


class _Unions:
    """Whether a schema, or the one that its reference leads to, is a union."""

    def __init__(self, document: Document) -> None:
        self._targets = {id(link.node.value): link.target for link in document.links}
        self._known: dict[int, bool] = {}

    def has(self, schema: Any) -> bool:
        """Whether this property's schema counts."""
        if type(schema) is not dict:
            return False
        if "$ref" not in schema:
            return _is_union(schema)
        passed: dict[int, None] = {}
        answer = False
        while type(schema) is dict and id(schema) not in passed:
            answer = self._known.get(id(schema), False) or _is_union(schema)
            if answer or id(schema) in self._known or id(schema) not in self._targets:
                break
            passed[id(schema)] = None
            schema = self._targets[id(schema)]
        self._known.update(dict.fromkeys(passed, answer))
        return answer


def _is_union(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type")
    return "anyOf" in schema or "oneOf" in schema or (type(kinds) is list and len(kinds) > 1)


def _count_properties(schema: dict[str, Any], unions: _Unions, counts: dict[str, int]) -> None:
    for keyword in DEFINITIONS:
        if type(schema.get(keyword)) is dict:
            counts["name_characters"] += sum(map(_characters, schema[keyword]))
    properties = schema.get("properties")
    if type(properties) is not dict:
        return
    required = schema.get("required")
    needed = {name for name in required if type(name) is str} if type(required) is list else set()
    counts["properties"] += len(properties)
    for name, value in properties.items():
        counts["optional"] += name not in needed
        counts["unions"] += unions.has(value)
        counts["name_characters"] += len(name) if type(name) is str else 0


def _count_literals(schema: dict[str, Any], counts: dict[str, int], long_enum: int) -> None:
    for union in ("anyOf", "oneOf"):
        if type(schema.get(union)) is list:
            counts["union_branches"] = max(counts["union_branches"], len(schema[union]))
    most = schema.get("maxItems")
    if isinstance(most, int) and not isinstance(most, bool):
        counts["item_bounds"] += max(most, 0)
    if "const" in schema:
        counts["name_characters"] += _characters(schema["const"])
    values = schema.get("enum")
    if type(values) is not list:
        return
    characters = sum(map(_characters, values))
    counts["enum_values"] += len(values)
    counts["name_characters"] += characters
    counts["longest_enum"] = max(counts["longest_enum"], len(values))
    if len(values) > long_enum:
        counts["longest_enum_characters"] = max(counts["longest_enum_characters"], characters)


def _characters(value: Any) -> int:
    """The characters of a scalar as JSON writes it, without quotes; a container counts nothing."""
    if type(value) is str:
        return len(value)
    if isinstance(value, bool) or value is None:
        return 5 if value is False else 4
    if isinstance(value, int):
        return len(str(value)) if value.bit_length() <= MOST_BITS else value.bit_length() * 3 // 10
    return len(repr(value)) if isinstance(value, float) else 0


def _depth(document: Document, kinds: frozenset[str]) -> int:
    """The most levels of these kinds on a way through the document that no circle lengthens."""
    if not document.links:
        return _plain_depth(document, kinds)
    below: dict[int, list[Any]] = {}
    for node in document.nodes:
        if node.parent is not None and node.keyword not in DEFINITIONS and type(node.value) is dict:
            below.setdefault(id(node.parent.value), []).append(node.value)
    component = document.components()
    for link in document.links:
        here = id(link.node.value)
        if type(link.target) is dict and component.get(here) != component.get(id(link.target)):
            below.setdefault(here, []).append(link.target)
    levels: dict[int, int] = {}
    for node in document.nodes:
        if type(node.value) is dict:
            _measure_levels(node, below, levels, kinds)
    return max(levels.values(), default=0)


def _plain_depth(document: Document, kinds: frozenset[str]) -> int:
    """The same where nothing refers to anything: a schema comes after the one that holds it."""
    levels: dict[Node, int] = {}
    for node in document.nodes:
        above = 0 if node.parent is None or node.keyword in DEFINITIONS else levels[node.parent]
        levels[node] = above + (type(node.value) is dict and _is_level(node.value, kinds))
    return max(levels.values(), default=0)


def _measure_levels(start: Node, below: dict[int, list[Any]], levels: dict[int, int], kinds: frozenset[str]) -> None:
    """Fill in the levels of a schema and of all below it, the deepest first."""
    entered: set[int] = set()
    stack = [start.value]
    while stack:
        schema = stack[-1]
        here = id(schema)
        if here in levels:
            stack.pop()
        elif here in entered:
            under = (levels.get(id(item), 0) for item in below.get(here, ()))
            levels[here] = max(under, default=0) + _is_level(schema, kinds)
            stack.pop()
        else:
            entered.add(here)
            stack.extend(item for item in below.get(here, ()) if id(item) not in entered)


def _is_level(schema: dict[str, Any], kinds: frozenset[str]) -> bool:
    said = schema.get("type")
    if type(said) is str:
        return said in ("object", "array") and said in kinds
    if type(said) is list:
        return any(kind in said for kind in ("object", "array") if kind in kinds)
    return not kinds.isdisjoint(schema.keys() - {"object", "array"})


def _text_size(value: Any) -> tuple[int, int]:
    """The characters and bytes of a value as compact JSON text; a part that is met twice is written twice."""
    if type(value) not in (dict, list):
        return _scalar_size(value)
    sizes: dict[int, tuple[int, int]] = {}
    entered: set[int] = set()
    stack = [value]
    while stack:
        here = stack[-1]
        if id(here) in entered:
            stack.pop()
            sizes[id(here)] = _container_size(here, sizes)
        else:
            entered.add(id(here))
            held = here.values() if type(here) is dict else here
            stack.extend(item for item in held if type(item) in (dict, list) and id(item) not in entered)
    return sizes[id(value)]


def _container_size(container: Any, sizes: dict[int, tuple[int, int]]) -> tuple[int, int]:
    punctuation = 2 + max(len(container) - 1, 0)
    characters = octets = punctuation
    items = container.values() if type(container) is dict else container
    for item in items:
        more = sizes.get(id(item), (0, 0)) if type(item) in (dict, list) else _scalar_size(item)
        characters, octets = characters + more[0], octets + more[1]
    for name in container if type(container) is dict else ():
        more = _scalar_size(name)
        characters, octets = characters + more[0] + 1, octets + more[1] + 1
    return characters, octets


def _scalar_size(value: Any) -> tuple[int, int]:
    if type(value) is not str:
        return _characters(value), _characters(value)
    text = json.dumps(value, ensure_ascii=False)
    return len(text), len(text) if text.isascii() else len(text.encode(errors="replace"))


def _json_depth(value: Any) -> int:
    depth = 0
    level = [value] if type(value) in (dict, list) else []
    while level and depth < MOST_LEVELS:
        depth += 1
        held = [
            item
            for container in level
            for item in (container.values() if type(container) is dict else container)
            if type(item) in (dict, list)
        ]
        level = list({id(item): item for item in held}.values())
    return depth
