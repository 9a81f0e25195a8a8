"""Argument values for a contract: built from its structure, so most of them fit, and then bent a little.

Nothing here promises that a value fits: callers ask the tool's own check. What matters is that many do, and that they
use what the contract allows: optional names left out or null, free names, every branch.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from laws.contracts import LITERALS, NAMES, NUMBERS, WORDS
from laws.picking import Picker, chance

DEPTH = 5
NESTED: list[Any] = [{"a": None}, [None], {"__proto__": {"x": [1]}}, [[], {}], {"value": {"key": "k"}}]
ANY: list[Any] = [*LITERALS, *NUMBERS, *NESTED]
STRINGS = [*WORDS, "ab", "abc", "x-1", "a1", "12", "2024-01-02", "1b"]
TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")


class Instances:
    """Makes values for one contract."""

    def __init__(self, root: Any, pick: Picker) -> None:
        self.root = root
        self.pick = pick

    def value(self) -> Any:
        """One value, bent in one of three cases."""
        value = self.fit([self.root], DEPTH)
        return self.bend(value) if chance(self.pick, 30) else value

    def fit(self, schemas: list[Any], depth: int) -> Any:
        """A value that tries to fit all of some schemas."""
        flat = self.flatten(schemas)
        if depth < -3:
            return None
        for schema in flat:
            if "const" in schema:
                return schema["const"]
        listed = [schema["enum"] for schema in flat if isinstance(schema.get("enum"), list) and schema["enum"]]
        if listed:
            common = [item for item in listed[0] if all(item in other for other in listed[1:])]
            return self.pick.one(common or listed[0])
        kind = self.kind(flat, depth)
        if kind is None:
            return self.pick.one(ANY)
        if kind == "object":
            return self.object(flat, depth)
        return self.array(flat, depth) if kind == "array" else self.scalar(flat, kind)

    def flatten(self, schemas: list[Any]) -> list[dict[str, Any]]:
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
                waiting.append(self.resolve(schema["$ref"]))
            if "if" in schema and chance(self.pick, 50):
                waiting += [schema["if"], schema.get("then", True)]
            elif "else" in schema:
                waiting.append(schema["else"])
        return found

    def resolve(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return True
        if reference == "#spot":
            return next((item for item in self._definitions() if item.get("$anchor") == "spot"), True)
        node = self.root
        for step in unquote(reference[1:]).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            node = node.get(name, True) if isinstance(node, dict) else True
        return node

    def _definitions(self) -> list[dict[str, Any]]:
        found = self.root.get("$defs", {}) if isinstance(self.root, dict) else {}
        return [item for item in found.values() if isinstance(item, dict)]

    def kind(self, flat: list[dict[str, Any]], depth: int) -> str | None:
        allowed = set(TYPES)
        told = False
        for schema in flat:
            types = schema.get("type")
            names = [types] if isinstance(types, str) else types if isinstance(types, list) else None
            if names is not None and names != ["any"]:
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

    def scalar(self, flat: list[dict[str, Any]], kind: str) -> Any:
        if kind == "string":
            return self.pick.one(STRINGS)
        if kind == "boolean":
            return self.pick.one([False, True])
        if kind == "null":
            return None
        bounds = [
            schema[keyword]
            for schema in flat
            for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
            if isinstance(schema.get(keyword), (int, float)) and not isinstance(schema[keyword], bool)
        ]
        near = [bound + step for bound in bounds for step in (0, 1, -1)]
        number = self.pick.one(near + NUMBERS)
        return int(number) if kind == "integer" and chance(self.pick, 90) else number

    def object(self, flat: list[dict[str, Any]], depth: int) -> Any:
        declared: dict[str, list[Any]] = {}
        for schema in flat:
            for name, child in _dict(schema.get("properties")).items():
                declared.setdefault(name, []).append(child)
        required = {name for schema in flat for name in _list(schema.get("required")) if isinstance(name, str)}
        wanted = [name for name in declared if name in required or (depth > 0 and chance(self.pick, 50))]
        wanted += sorted(required - declared.keys())
        value = {name: self.fit(declared.get(name) or [self.free(flat)], depth - 1) for name in wanted}
        if depth > 0 and self.opened(flat):
            for _ in range(self.pick.number(0, 2)):
                value.setdefault(self.pick.one([*NAMES, "x-1", "b1"]), self.fit([self.free(flat)], depth - 1))
        return value

    def opened(self, flat: list[dict[str, Any]]) -> bool:
        opened = any(
            schema.get("additionalProperties", False) is not False or "patternProperties" in schema for schema in flat
        )
        return opened or chance(self.pick, 15)

    def free(self, flat: list[dict[str, Any]]) -> Any:
        for schema in flat:
            patterns = _dict(schema.get("patternProperties"))
            if patterns and chance(self.pick, 50):
                return next(iter(patterns.values()))
            if isinstance(schema.get("additionalProperties"), dict):
                return schema["additionalProperties"]
        return True

    def array(self, flat: list[dict[str, Any]], depth: int) -> Any:
        members: list[Any] = []
        rest: list[Any] = []
        for schema in flat:
            items = schema.get("items")
            members = _list(schema.get("prefixItems")) or (items if isinstance(items, list) else members)
            if isinstance(items, dict):
                rest.append(items)
            if "contains" in schema:
                members = members or [schema["contains"]]
        least = max([schema["minItems"] for schema in flat if isinstance(schema.get("minItems"), int)], default=0)
        length = max(least, self.pick.number(0, 3 if depth > 0 else 0), len(members) if chance(self.pick, 60) else 0)
        return [
            self.fit([members[index]] if index < len(members) else rest, depth - 1) for index in range(min(length, 6))
        ]

    def bend(self, value: Any) -> Any:
        """The value with one place changed."""
        if isinstance(value, dict) and value and chance(self.pick, 80):
            name = self.pick.one(list(value))
            act = self.pick.number(0, 3)
            rest = {key: item for key, item in value.items() if key != name}
            if act == 0:
                return rest
            if act == 1:
                return {**rest, self.pick.one(NAMES): value[name]}
            return {**rest, name: None if act == 2 else self.bend(value[name])}
        if isinstance(value, list) and value and chance(self.pick, 80):
            index = self.pick.number(0, len(value) - 1)
            return [*value[:index], self.bend(value[index]), *value[index:]]
        return self.pick.one(ANY)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
