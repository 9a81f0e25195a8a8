"""Making a JSON value smaller step by step, while it stays of interest: large parts are tried before small ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

Path = tuple[str | int, ...]
Candidates = Callable[[Any, Path], Iterator[Any]]

_SCALARS: Final[tuple[Any, ...]] = (0, 1, "", "a")
_ONE_SCHEMA: Final = frozenset(
    {"items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties"}
    | {"propertyNames", "not", "if", "then", "else", "contentSchema"}
)
_LISTS_OF_SCHEMAS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_MAPS_OF_SCHEMAS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def reduce(document: Any, interesting: Callable[[Any], bool], candidates: Candidates) -> Any:
    """The smallest value found that is still ``interesting``, from one that is.

    At each place, outer ones first, what ``candidates`` proposes is put there. The document is not changed.
    """
    pending: deque[Path] = deque([()])
    while pending:
        path = pending.popleft()
        shrinking = True
        while shrinking:
            shrinking = False
            for candidate in candidates(_at(document, path), path):
                changed = _put(document, path, candidate)
                if interesting(changed):
                    document, shrinking = changed, True
                    break
        pending.extend((*path, key) for key in _keys(_at(document, path)))
    return document


def smaller_values(node: Any, _path: Path) -> Iterator[Any]:
    """Simpler values of any kind: without members, one of its own parts, shorter texts, smaller numbers."""
    if isinstance(node, (dict, list)):
        if node:
            yield type(node)()
            yield from _fewer(node)
            yield from (part for part in _members(node) if type(part) is type(node))
        yield from _SCALARS
    elif isinstance(node, str):
        yield from ("", "a")[: len(node)]
        if len(node) > 1:
            yield from (node[: len(node) // 2], node[len(node) // 2 :], node[1:], node[:-1])
    elif isinstance(node, (int, float)) and not isinstance(node, bool):
        yield from _smaller_numbers(node)


def smaller_schemas(node: Any, path: Path) -> Iterator[Any]:
    """Simpler JSON Schemas: without some keywords, properties or branches, or one of a schema's own parts in its
    place.
    """
    if not isinstance(node, (dict, list)) or not node:
        return
    kind = _position(path)
    if kind == "schema" and isinstance(node, dict):
        yield from _subschemas(node)
        yield from _fewer_properties(node)
    yield from _fewer(node)
    if isinstance(node, dict) and kind in ("schema", "map"):
        yield {}


def _position(path: Path) -> str:
    """What a path of keywords and names within a schema leads to: a ``schema``, a ``map`` or a ``list`` of them, or
    ``data``.
    """
    kind = "schema"
    for key in path:
        if kind in ("map", "list") or (kind == "either" and isinstance(key, int)):
            kind = "schema"
        elif kind == "data":
            return kind
        elif key in _MAPS_OF_SCHEMAS:
            kind = "map"
        elif key in _ONE_SCHEMA:
            kind = "either" if key in _LISTS_OF_SCHEMAS else "schema"
        else:
            kind = "list" if key in _LISTS_OF_SCHEMAS else "data"
    return "schema" if kind == "either" else kind


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for keyword, value in schema.items():
        found: Iterable[Any] = ()
        if keyword in _MAPS_OF_SCHEMAS and isinstance(value, dict):
            found = value.values()
        elif keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
            found = value
        elif keyword in _ONE_SCHEMA:
            found = (value,)
        yield from (part for part in found if isinstance(part, dict))


def _fewer_properties(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema without some properties, which are then not required either."""
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        for kept in _fewer(properties):
            left = [name for name in required if name in kept or name not in properties]
            yield {**schema, "properties": kept, "required": left}


def _smaller_numbers(node: float) -> Iterator[Any]:
    yield from () if node in (0, 1) else (0, 1)
    if type(node) is float and abs(node) < 2**53:
        yield int(node)  # a whole number is simpler, even one that is no smaller
    if abs(node) > 1:
        yield int(node) // 2


def _fewer(node: dict[str, Any] | list[Any]) -> Iterator[Any]:
    """The container without some of its members: half of them, a quarter, and so on to one."""
    keys = _keys(node)
    size = len(keys) // 2
    while size:
        for start in range(0, len(keys), size):
            gone = set(keys[start : start + size])
            if isinstance(node, dict):
                yield {key: item for key, item in node.items() if key not in gone}
            else:
                yield [item for index, item in enumerate(node) if index not in gone]
        size //= 2


def _members(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _keys(node: Any) -> list[str | int]:
    if isinstance(node, dict):
        return list(node)
    return list(range(len(node))) if isinstance(node, list) else []


def _at(document: Any, path: Path) -> Any:
    """What stands at a path of names and indexes."""
    for key in path:
        document = document[key]
    return document


def _put(document: Any, path: Path, value: Any) -> Any:
    """The document with another value at a path; what is not on the path is shared."""
    if not path:
        return value
    copy: Any = document.copy()
    copy[path[0]] = _put(document[path[0]], path[1:], value)
    return copy
