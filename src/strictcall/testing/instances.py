"""Argument values for a contract: built from its structure, so most of them fit, and then bent a little.

Nothing here promises that a value fits: callers ask the tool's own check. What matters is that many do, and that they
use what the contract allows: optional names left out or null, free names, every branch.
"""

from __future__ import annotations

import math
from typing import Any, Final
from urllib.parse import unquote

from strictcall.json_value import unescape
from strictcall.testing.mutations import bent
from strictcall.testing.odd import ANY, NAMES, NUMBERS, STRINGS
from strictcall.testing.picking import Picker, chance

DEPTH: Final = 5
MOST_NODES: Final = 2_000
LONGEST: Final = 3_000
TYPES: Final = ("string", "integer", "number", "boolean", "null", "object", "array")
BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class Instances:
    """Makes values for one contract, which may be any JSON value."""

    def __init__(self, root: Any, pick: Picker) -> None:
        self.root = root
        self.pick = pick
        self._left = 0

    def value(self) -> Any:
        """One value, bent in one of three cases."""
        self._left = MOST_NODES
        value = self._fit([self.root], DEPTH)
        return bent(value, self.pick) if chance(self.pick, 30) else value

    def _fit(self, schemas: list[Any], depth: int) -> Any:
        """A value that tries to fit all of some schemas."""
        flat = self._flatten(schemas)
        self._left -= 1
        if depth < -3 or self._left < 0:
            return None
        for schema in flat:
            if "const" in schema:
                return schema["const"]
        listed = [schema["enum"] for schema in flat if isinstance(schema.get("enum"), list) and schema["enum"]]
        if listed:
            common = [item for item in listed[0] if all(item in other for other in listed[1:])]
            return self.pick.one(common or listed[0])
        kind = self._kind(flat, depth)
        if kind is None:
            return self.pick.one(ANY)
        if kind == "object":
            return self._object(flat, depth)
        return self._array(flat, depth) if kind == "array" else self._scalar(flat, kind)

    def _flatten(self, schemas: list[Any]) -> list[dict[str, Any]]:
        """All schemas that stand on one place, one branch of each union picked."""
        found: list[dict[str, Any]] = []
        waiting = list(schemas)
        budget = 40
        while waiting and budget:
            budget -= 1
            schema = waiting.pop()
            if not isinstance(schema, dict):
                continue
            found.append(schema)
            waiting += _list(schema.get("allOf"))
            for keyword in ("anyOf", "oneOf"):
                branches = _list(schema.get(keyword))
                if branches:
                    waiting.append(self.pick.one(branches))
            if isinstance(schema.get("$ref"), str):
                waiting.append(self._resolve(schema["$ref"]))
            if "if" in schema and chance(self.pick, 50):
                waiting += [schema["if"], schema.get("then", True)]
            elif "else" in schema:
                waiting.append(schema["else"])
        return found

    def _resolve(self, reference: str) -> Any:
        """What a reference within the schema leads to; one that leads out of it says nothing."""
        if not reference.startswith("#"):
            return True
        if len(reference) > 1 and not reference.startswith("#/"):
            return next((item for item in self._definitions() if item.get("$anchor") == reference[1:]), True)
        node = self.root
        for step in unquote(reference[1:]).split("/")[1:]:
            name = unescape(step)
            node = node.get(name, True) if isinstance(node, dict) else True
        return node

    def _definitions(self) -> list[dict[str, Any]]:
        root = _dict(self.root)
        holders = (_dict(root.get("$defs")), _dict(root.get("definitions")))
        return [item for holder in holders for item in holder.values() if isinstance(item, dict)]

    def _kind(self, flat: list[dict[str, Any]], depth: int) -> str | None:
        allowed = set(TYPES)
        told = False
        for schema in flat:
            types = schema.get("type")
            names = [types] if isinstance(types, str) else [name for name in _list(types) if isinstance(name, str)]
            if names and names != ["any"]:
                told = True
                allowed &= set(names) | ({"integer"} if "number" in names else set())
        if not told:
            if any({"properties", "additionalProperties", "required"} & schema.keys() for schema in flat):
                return "object"
            return "array" if any({"items", "prefixItems"} & schema.keys() for schema in flat) else None
        order = [kind for kind in TYPES if kind in allowed]
        if depth <= 0:
            order = [kind for kind in order if kind not in ("object", "array")] or order
        return self.pick.one(order) if order else None

    def _scalar(self, flat: list[dict[str, Any]], kind: str) -> Any:
        if kind == "string":
            return self._string(flat)
        if kind == "boolean":
            return self.pick.one([False, True])
        if kind == "null":
            return None
        bounds = [schema[keyword] for schema in flat for keyword in BOUNDS if _is_number(schema.get(keyword))]
        near = [bound + step for bound in bounds for step in (0, 1, -1)]
        number = self.pick.one([*near, *NUMBERS])
        return int(number) if kind == "integer" and chance(self.pick, 90) else number

    def _string(self, flat: list[dict[str, Any]]) -> str:
        text = self.pick.one(STRINGS)
        least = max([schema["minLength"] for schema in flat if type(schema.get("minLength")) is int], default=0)
        most = min([schema["maxLength"] for schema in flat if type(schema.get("maxLength")) is int], default=LONGEST)
        return text.ljust(min(least, LONGEST), "x")[: max(most, 0)]

    def _object(self, flat: list[dict[str, Any]], depth: int) -> Any:
        declared: dict[str, list[Any]] = {}
        for schema in flat:
            for name, child in _dict(schema.get("properties")).items():
                declared.setdefault(name, []).append(child)
        required = {name for schema in flat for name in _list(schema.get("required")) if isinstance(name, str)}
        wanted = [name for name in declared if name in required or (depth > 0 and chance(self.pick, 50))]
        wanted += sorted(required - declared.keys())
        value = {name: self._fit(declared.get(name) or [self._free(flat)], depth - 1) for name in wanted}
        if depth > 0 and self._opened(flat):
            for _ in range(self.pick.number(0, 2)):
                value.setdefault(self.pick.one([*NAMES, "x-1", "b1"]), self._fit([self._free(flat)], depth - 1))
        return value

    def _opened(self, flat: list[dict[str, Any]]) -> bool:
        opened = any(
            schema.get("additionalProperties", False) is not False or "patternProperties" in schema for schema in flat
        )
        return opened or chance(self.pick, 15)

    def _free(self, flat: list[dict[str, Any]]) -> Any:
        for schema in flat:
            patterns = _dict(schema.get("patternProperties"))
            if patterns and chance(self.pick, 50):
                return next(iter(patterns.values()))
            if isinstance(schema.get("additionalProperties"), dict):
                return schema["additionalProperties"]
        return True

    def _array(self, flat: list[dict[str, Any]], depth: int) -> Any:
        members: list[Any] = []
        rest: list[Any] = []
        for schema in flat:
            items = schema.get("items")
            members = _list(schema.get("prefixItems")) or (items if isinstance(items, list) else members)
            if isinstance(items, dict):
                rest.append(items)
            if "contains" in schema:
                members = members or [schema["contains"]]
        least = max([schema["minItems"] for schema in flat if type(schema.get("minItems")) is int], default=0)
        length = max(least, self.pick.number(0, 3 if depth > 0 else 0), len(members) if chance(self.pick, 60) else 0)
        return [
            self._fit([members[index]] if index < len(members) else rest, depth - 1) for index in range(min(length, 6))
        ]


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
