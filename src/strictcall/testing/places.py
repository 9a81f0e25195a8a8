"""Which subschemas of a contract speak about a place in its arguments, and whether a loss there was announced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from strictcall.change import Change, Effect
from strictcall.json_value import escape, unescape

IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("not", "if", "then", "else")
FOLDS = frozenset({"null-folded", "null-lost"})
UNSAYABLE = frozenset({Effect.CLOSED, Effect.NARROWED})


def resolve(root: Any, pointer: str) -> Any:
    """The subschema at a JSON Pointer; ``None`` where there is none."""
    node = root
    for step in pointer.split("/")[1:]:
        name = unescape(step)
        if isinstance(node, dict) and name in node:
            node = node[name]
        elif isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return None
    return node


def speaking(root: Any, pointer: str) -> set[str]:
    """Pointers of the subschemas that apply to the arguments' place ``pointer``."""
    here = _closure(root, [""])
    for step in pointer.split("/")[1:]:
        name = unescape(step)
        here = _closure(root, (child for place in here for child in _children(root, place, name)))
    return here


def _closure(root: Any, places: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(places)
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += _beside(root, place, resolve(root, place))
    return found


def _beside(root: Any, place: str, schema: Any) -> Iterator[str]:
    """Subschemas that apply to the same place as ``schema``."""
    if not isinstance(schema, dict):
        return
    for keyword in IN_PLACE_LISTS:
        if isinstance(schema.get(keyword), list):
            yield from (f"{place}/{keyword}/{index}" for index in range(len(schema[keyword])))
    yield from (f"{place}/{keyword}" for keyword in IN_PLACE if keyword in schema)
    for keyword in ("dependentSchemas", "dependencies"):
        if isinstance(schema.get(keyword), dict):
            yield from (f"{place}/{keyword}/{escape(name)}" for name in schema[keyword])
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield from _targets(root, unquote(reference[1:]))


def _targets(root: Any, fragment: str) -> Iterator[str]:
    if not fragment or fragment.startswith("/"):
        yield fragment
        return
    for holder in ("$defs", "definitions"):
        for name, schema in _mapping(_mapping(root).get(holder)).items():
            if isinstance(schema, dict) and schema.get("$anchor") == fragment:
                yield f"/{holder}/{escape(name)}"


def _children(root: Any, place: str, name: str) -> Iterator[str]:
    """Subschemas of one schema that may apply to its member ``name``."""
    schema = resolve(root, place)
    if not isinstance(schema, dict):
        return
    if name in _mapping(schema.get("properties")):
        yield f"{place}/properties/{escape(name)}"
    for pattern in _mapping(schema.get("patternProperties")):
        if _may_match(pattern, name):
            yield f"{place}/patternProperties/{escape(pattern)}"
    for keyword in ("additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "contains"):
        if keyword in schema:
            yield f"{place}/{keyword}"
    if name.isdecimal():
        for keyword in ("items", "prefixItems"):
            members = schema.get(keyword)
            if isinstance(members, list):
                yield f"{place}/{keyword}/{name}"
            elif members is not None:
                yield f"{place}/{keyword}"


def _may_match(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True  # a pattern of JavaScript's that Python cannot read


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _ancestors(pointer: str) -> Iterator[str]:
    steps = pointer.split("/")
    return ("/".join(steps[:length]) for length in range(len(steps), 0, -1))


def announced(root: Any, changes: Iterable[Change], pointer: str, *, folds: bool = False) -> bool:
    """Whether a change says that the arguments' place ``pointer`` may be lost.

    With ``folds``, only a change that names the loss of a null counts: the value is sent and comes back without it.
    Without, only an effect by which things cannot be said.
    """
    names = {change.pointer for change in changes if (change.code in FOLDS if folds else change.effect in UNSAYABLE)}
    if not names:
        return False
    return any(_touched(names, place) for above in _ancestors(pointer) for place in speaking(root, above))


def _touched(names: set[str], place: str) -> bool:
    """Whether a change's pointer is this subschema or one of its own keywords."""
    return any(name == place or name.rpartition("/")[0] == place for name in names)
