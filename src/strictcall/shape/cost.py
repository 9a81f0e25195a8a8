"""Guarding the local check against schemas that would take it exponential time."""

from __future__ import annotations

from typing import Any, Final

from strictcall.json_value import resolve_pointer

IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE: Final = ("not", "if", "then", "else")
MOST_EVALUATIONS: Final = 100_000
"""How many subschemas may be evaluated on one and the same value."""


FEW_REFERENCES: Final = 30
"""So few references cannot fan out that far, however they are arranged: at best three at each of ten levels."""


def evaluation_fans_out(document: Any) -> bool:
    """Whether some value would be checked against more subschemas than ``MOST_EVALUATIONS``, counted with repetition.

    Follows local JSON Pointer references, the only ones that can repeat a subschema many times; a reference cycle
    counts once. Works in time linear in the document.
    """
    if type(document) is not dict:
        return False
    objects = _objects(document)
    if sum("$ref" in node for node in objects) <= FEW_REFERENCES:
        return False
    costs: dict[int, int] = {}
    on_path: set[int] = set()
    for start in objects:
        stack: list[tuple[dict[str, Any], bool]] = [(start, False)]
        while stack:
            node, done = stack.pop()
            key = id(node)
            if done:
                on_path.discard(key)
                costs[key] = 1 + sum(costs.get(id(below), 1) for below in _in_place(node, document))
                if costs[key] > MOST_EVALUATIONS:
                    return True
            elif key not in costs and key not in on_path:
                on_path.add(key)
                stack.append((node, True))
                stack.extend((below, False) for below in _in_place(node, document))
    return False


def _objects(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    pending: list[Any] = [document]
    while pending:
        node = pending.pop()
        if type(node) is dict:
            found.append(node)
            pending.extend(node.values())
        elif type(node) is list:
            pending.extend(node)
    return found


def _in_place(node: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """The subschemas that are evaluated on the same value as this one."""
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
