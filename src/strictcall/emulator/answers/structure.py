"""Values built from what a schema says, where no grammar can be made of it. Most fit; nothing promises it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from strictcall.emulator.answers.interesting import is_number

_DEEPEST: Final = 6
_MOST_SCHEMAS: Final = 40
_WORDS: Final = ("a", "x1", "main", "two words", "été", "2024-02-29", "", "https://example.com", "42")
_FORMATS: Final = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:00Z",
    "time": "12:30:00Z",
    "email": "user@example.com",
    "uri": "https://example.com/a",
    "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
}
_OF_KEYWORDS: Final = {
    "properties": "object", "required": "object", "additionalProperties": "object", "items": "array",
    "prefixItems": "array", "minLength": "string", "maxLength": "string", "pattern": "string", "format": "string",
    "minimum": "number", "maximum": "number",
}  # fmt: skip
"""The type that a keyword speaks of, where none is said."""


class Structure:
    """Builds values for one schema."""

    def __init__(self, root: Any, rng: random.Random) -> None:
        self._root = root
        self._rng = rng

    def value(self) -> Any:
        """One value."""
        return self._fit([self._root], 0)

    def _fit(self, schemas: list[Any], depth: int) -> Any:
        said = list(self._all_said(schemas))
        for schema in said:
            if "const" in schema:
                return schema["const"]
        listed = [schema["enum"] for schema in said if isinstance(schema.get("enum"), list) and schema["enum"]]
        if listed:
            common = [item for item in listed[0] if all(item in other for other in listed[1:])]
            return self._rng.choice(common or listed[0])
        kind = self._kind(said, depth)
        if kind == "object":
            return self._object(said, depth)
        return self._array(said, depth) if kind == "array" else self._scalar(said, kind)

    def _all_said(self, schemas: list[Any]) -> Iterator[dict[str, Any]]:
        """All schemas that hold at one place, one branch of each union chosen."""
        waiting = list(schemas)
        for _ in range(_MOST_SCHEMAS):
            if not waiting:
                return
            schema = waiting.pop()
            if not isinstance(schema, dict):
                continue
            yield schema
            waiting += _items(schema.get("allOf"))
            for keyword in ("anyOf", "oneOf"):
                branches = _items(schema.get(keyword))
                if branches:
                    waiting.append(self._rng.choice(branches))
            if isinstance(schema.get("$ref"), str):
                waiting.append(self._referred(schema["$ref"]))

    def _referred(self, reference: str) -> Any:
        """What a local reference means; anything, where it leads out of the schema."""
        path, _, fragment = reference.partition("#")
        node = True if path else self._root
        for step in unquote(fragment).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            node = node.get(name, True) if isinstance(node, dict) else True
        return node

    def _kind(self, said: list[dict[str, Any]], depth: int) -> str:
        kinds = next((_names(schema["type"]) for schema in said if "type" in schema), [])
        if not kinds:
            kinds = [kind for keyword, kind in _OF_KEYWORDS.items() if any(keyword in schema for schema in said)][:1]
        if not kinds:
            kinds = ["string", "integer", "boolean", "null", "object"]
        if depth >= _DEEPEST:
            kinds = [kind for kind in kinds if kind not in ("object", "array")] or kinds
        return self._rng.choice(kinds)

    def _scalar(self, said: list[dict[str, Any]], kind: str) -> Any:
        if kind == "null":
            return None
        if kind == "boolean":
            return self._rng.random() < 0.5
        if kind in ("integer", "number"):
            return self._number(said, kind)
        known = next((_FORMATS[text] for text in _told(said, "format") if text in _FORMATS), None)
        text = known or self._rng.choice(_WORDS)
        least = max(_whole(said, "minLength"), default=0)
        most = min(_whole(said, "maxLength"), default=1_000)
        return (text + "x" * (min(least, 1_000) - len(text)))[:most]

    def _number(self, said: list[dict[str, Any]], kind: str) -> Any:
        lower = [bound for keyword in ("minimum", "exclusiveMinimum") for bound in _told(said, keyword)]
        upper = [bound for keyword in ("maximum", "exclusiveMaximum") for bound in _told(said, keyword)]
        lowest = max(filter(is_number, lower), default=None)
        highest = min(filter(is_number, upper), default=None)
        step = next((step for step in _told(said, "multipleOf") if is_number(step) and step > 0), 1)
        if lowest is None:
            lowest = (highest - 100) if highest is not None else -5
        number = (lowest // step + self._rng.choice((1, 1, 2, 10))) * step
        if highest is not None and number > highest:
            number = highest // step * step
        return int(number) if kind == "integer" else number

    def _object(self, said: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        declared: dict[str, list[Any]] = {}
        for properties in _told(said, "properties"):
            for name, schema in properties.items() if isinstance(properties, dict) else ():
                declared.setdefault(name, []).append(schema)
        required = {name for names in _told(said, "required") for name in _items(names) if isinstance(name, str)}
        some = 0.0 if depth >= _DEEPEST else 0.5
        wanted = [name for name in declared if name in required or self._rng.random() < some]
        wanted += sorted(required - declared.keys())
        return {name: self._fit(declared.get(name, [True]), depth + 1) for name in wanted if depth < 3 * _DEEPEST}

    def _array(self, said: list[dict[str, Any]], depth: int) -> list[Any]:
        members: list[Any] = next(
            (item for key in ("prefixItems", "items") for item in _told(said, key) if _items(item)), []
        )
        rest: list[Any] = [item for item in _told(said, "items") if isinstance(item, dict)] or [True]
        least = max(_whole(said, "minItems"), default=0)
        most = min(_whole(said, "maxItems"), default=20)
        length = len(members) or self._rng.choice((0, 1, 2) if depth < _DEEPEST else (0,))
        length = min(max(length, min(least, 20)), most)
        return [
            self._fit([members[index]] if index < len(members) else rest, depth + 1)
            for index in range(length if depth < 3 * _DEEPEST else 0)
        ]


def _told(said: list[dict[str, Any]], keyword: str) -> list[Any]:
    return [schema[keyword] for schema in said if keyword in schema]


def _whole(said: list[dict[str, Any]], keyword: str) -> list[int]:
    return [item for item in _told(said, keyword) if isinstance(item, int) and not isinstance(item, bool)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(kind: Any) -> list[str]:
    names = [kind] if isinstance(kind, str) else _items(kind)
    return [name.lower() for name in names if isinstance(name, str)]
