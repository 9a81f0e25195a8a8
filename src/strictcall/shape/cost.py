"""Guarding the local check against schemas that would take it exponential time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from strictcall.json_value import objects_in, resolve_pointer

IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE: Final = ("not", "if", "then", "else")
_IN_PLACE: Final = frozenset({*IN_PLACE_LISTS, *IN_PLACE, "dependentSchemas", "$ref"})
MOST_EVALUATIONS: Final = 100_000
"""How many subschemas may be evaluated on one and the same value."""


MOST_LEVELS: Final = 60
"""How many subschemas deep one and the same value may be checked: the validator recurses on the native stack, this many
times for each level of the arguments.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What checking may take: ``levels`` of recursion for each level of the value, and why it is too much, if it is."""

    levels: int = 1
    reason: str | None = None


def cost_of(document: Any) -> Cost:
    """How costly a schema may be to check against.

    Too much is a value that would be checked against more subschemas than ``MOST_EVALUATIONS``, repetitions counted,
    or through more levels than ``MOST_LEVELS``. Follows local JSON Pointer references, the only ones that can repeat a
    subschema many times; a circle counts once. Works in time linear in the document.
    """
    if type(document) is not dict:
        return Cost()
    objects = list(objects_in(document))
    if not any("$ref" in node for node in objects):
        return Cost()
    costs: dict[int, tuple[int, int]] = {}
    on_path: set[int] = set()
    for start in objects:
        stack: list[tuple[dict[str, Any], list[dict[str, Any]] | None]] = [(start, None)]
        while stack:
            node, parts = stack.pop()
            key = id(node)
            if parts is not None:
                on_path.discard(key)
                below = [costs.get(id(part), (1, 1)) for part in parts]
                costs[key] = (1 + sum(cost for cost, _ in below), 1 + max((level for _, level in below), default=0))
                if costs[key][0] > MOST_EVALUATIONS:
                    return Cost(reason="checking arguments against the schema could take exponential time")
                if costs[key][1] > MOST_LEVELS:
                    reason = f"the schema refers more than {MOST_LEVELS} levels deep without a step into the value"
                    return Cost(reason=reason)
            elif key not in costs and key not in on_path:
                parts = _in_place(node, document)
                if not parts:
                    costs[key] = (1, 1)
                    continue
                on_path.add(key)
                stack.append((node, parts))
                stack.extend((part, None) for part in parts)
    return Cost(max(level for _, level in costs.values()))


def _in_place(node: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """The subschemas that are evaluated on the same value as this one."""
    if _IN_PLACE.isdisjoint(node):
        return []
    found: list[Any] = []
    for keyword in IN_PLACE_LISTS:
        value = node.get(keyword)
        if type(value) is list:
            found.extend(value)
    found.extend(node.get(keyword) for keyword in IN_PLACE)
    dependent = node.get("dependentSchemas")
    if type(dependent) is dict:
        found.extend(dependent.values())
    reference = node.get("$ref")
    if type(reference) is str and reference.startswith("#"):
        found.append(resolve_pointer(document, reference[1:]))
    return [below for below in found if type(below) is dict]
