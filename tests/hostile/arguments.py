"""Hostile arguments for a few tools: text and values. ``REFUSED`` marks those that are outside the limits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MIB = 1024 * 1024


def thick(keyword: str, layers: int = 30) -> Any:
    """A recursive schema with many layers that all look at the same value."""
    schema: Any = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}
    for _ in range(layers):
        schema = {"not": {"not": schema}} if keyword == "not" else {keyword: [schema, {"type": "object", "title": "t"}]}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": schema}}


A = {"$ref": "#/$defs/A"}


def recursive(definition: Any) -> Any:
    """A tool whose argument ``a`` is a definition that refers to itself as ``A``."""
    return {"type": "object", "properties": {"a": A}, "$defs": {"A": definition}}


def operation(name: str) -> Any:
    properties = {"op": {"const": name}, "left": A, "right": A}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


NUMBER = {
    "type": "object",
    "properties": {"op": {"const": "number"}, "value": {"type": "number"}},
    "required": ["op", "value"],
}
ALIKE = {
    "alike anyOf": {
        "anyOf": [
            {"type": "object", "properties": {"a": A, "x": {"type": "string"}}},
            {"type": "object", "properties": {"a": A, "y": {"type": "string"}}},
            {"type": "string"},
        ]
    },
    "alike oneOf": {
        "oneOf": [
            {"type": "object", "properties": {"a": A, "x": {"const": 1}}},
            {"type": "object", "properties": {"a": A, "x": {"const": 2}}},
        ]
    },
    "alike allOf": {"type": "object", "allOf": [{"properties": {"a": A}}, {"properties": {"a": A}}]},
    "alike maps": {
        "anyOf": [
            {"type": "object", "additionalProperties": A},
            {"type": "object", "additionalProperties": A, "minProperties": 1},
            {"type": "integer"},
        ]
    },
}

TOOLS: dict[str, Any] = {
    "expressions": recursive({"anyOf": [*map(operation, ["add", "sub", "mul", "div"]), NUMBER]}),
    **{name: recursive(definition) for name, definition in ALIKE.items()},
    **{f"thick {keyword}": thick(keyword) for keyword in ("allOf", "anyOf", "oneOf", "not")},
    "plain": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}},
    "free": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    "open": {"type": "object", "additionalProperties": True},
    "map": {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "integer"}}}},
    "recursive": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    },
    "union": {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "object"}, {"type": "integer"}]}
        },
    },
    "pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    "root list": {"type": "array", "items": {"type": "integer"}},
    "list of enums": {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ["x", "y"]}}}},
    "names": {"type": "object", "properties": {f"name_{number}": {"type": "string"} for number in range(2_000)}},
}


@dataclass(frozen=True)
class Hostile:
    """One hostile argument.

    ``refused`` says that no tool may take it, ``tools`` which are tried (all), ``large`` that it takes its time.
    """

    make: Callable[[], Any]
    refused: bool = True
    tools: tuple[str, ...] = tuple(TOOLS)
    large: bool = False


def deep_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return {"a": value}


def deep_dict(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def expression(levels: int, leaf: Any) -> Any:
    if not levels:
        return {"op": "number", "value": leaf}
    return {"op": "div", "left": expression(levels - 1, 1), "right": expression(levels - 1, leaf)}


def deep_wrong(levels: int) -> Any:
    value: Any = 1.5
    for _ in range(levels):
        value = {"a": value}
    return value


def own_list() -> Any:
    value: list[Any] = []
    value.append(value)
    return {"a": value}


def json_in_json() -> str:
    text = "1"
    for _ in range(12):
        text = json.dumps({"a": text})
    return text


CASES: dict[str, Hostile] = {
    "an expression with a wrong leaf": Hostile(lambda: {"a": expression(7, "x")}, tools=("expressions",)),
    "a deep expression": Hostile(lambda: {"a": expression(10, 1)}, refused=False, tools=("expressions",)),
    "a wrong value 20 deep": Hostile(lambda: deep_wrong(20), refused=False, tools=tuple(ALIKE)),
    "a wrong value 150 deep": Hostile(lambda: deep_wrong(150), refused=False, tools=tuple(ALIKE)),
    "190 objects as text": Hostile(lambda: '{"a":' * 190 + "{}" + "}" * 190, refused=False),
    "190 objects as a value": Hostile(lambda: deep_dict(190), refused=False),
    "190 lists as a value": Hostile(lambda: deep_list(190), refused=False),
    "100,000 lists as text": Hostile(lambda: '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "100,000 objects as text": Hostile(lambda: '{"a":' * 100_000 + "1" + "}" * 100_000),
    "100,000 lists unclosed": Hostile(lambda: '{"a":' + "[" * 100_000),
    "100,000 lists as a value": Hostile(lambda: deep_list(100_000)),
    "100,000 objects as a value": Hostile(lambda: deep_dict(100_000)),
    "1,000 lists as text": Hostile(lambda: '{"a":' + "[" * 1_000 + "]" * 1_000 + "}"),
    "1,000 objects as a value": Hostile(lambda: deep_dict(1_000)),
    "5,000 digits as text": Hostile(lambda: '{"a":' + "7" * 5_000 + "}"),
    "5,000 digits below as text": Hostile(lambda: '{"a":[{"b":-' + "7" * 5_000 + "}]}"),
    "5,000 digits as a value": Hostile(lambda: {"a": 10**5_000}),
    "16 MiB of digits": Hostile(lambda: '{"a":' + "7" * (16 * MIB - 10) + "}", tools=("plain", "free")),
    "4,000 digits": Hostile(lambda: '{"a":' + "7" * 4_000 + "}", refused=False),
    "duplicate names": Hostile(lambda: '{"a":"x","a":"x"}'),
    "duplicate names below": Hostile(lambda: '{"a":[{"b":1,"b":1}]}'),
    "duplicate names, one escaped": Hostile(lambda: '{"a":"x","\\u0061":"y"}'),
    "lone surrogate as text": Hostile(lambda: '{"a":"\\ud800"}'),
    "lone surrogate as a name": Hostile(lambda: '{"\\udfff":"x"}'),
    "lone surrogate as a value": Hostile(lambda: {"a": "\ud800"}),
    "lone surrogate name as a value": Hostile(lambda: {"\ud800": 1}),
    "lone surrogate in the text itself": Hostile(lambda: '{"a":"\ud800"}'),
    "bytes that are not UTF-8": Hostile(lambda: b'{"a":"\xff\xfe"}'),
    "over 16 MiB as text": Hostile(lambda: '{"a":"' + "x" * (16 * MIB) + '"}', tools=("plain", "free")),
    "over 16 MiB as bytes": Hostile(lambda: b'{"a":"' + b"x" * (16 * MIB) + b'"}', tools=("plain",)),
    "over 16 MiB of blanks": Hostile(lambda: " " * (16 * MIB + 1), tools=("plain",)),
    "just under 16 MiB": Hostile(
        lambda: '{"a":"' + "x" * (16 * MIB - 20) + '"}', refused=False, tools=("free", "union"), large=True
    ),
    "just under 16 MiB of quotes": Hostile(
        lambda: '{"a":"' + '\\"' * (8 * MIB - 20) + '"}', refused=False, tools=("free", "plain"), large=True
    ),
    "a million items": Hostile(
        lambda: '{"a":[' + ",".join(["1"] * 1_000_000) + "]}",
        refused=False,
        tools=("recursive", "free"),
        large=True,
    ),
    "a million wrong items": Hostile(
        lambda: {"a": ["z"] * 1_000_000}, refused=False, tools=("list of enums",), large=True
    ),
    "200,000 invented names": Hostile(
        lambda: {f"nam_{number}": 1 for number in range(200_000)},
        refused=False,
        tools=("names", "open"),
        large=True,
    ),
    "200,000 entries": Hostile(
        lambda: {"a": [{"key": str(number), "value": number} for number in range(200_000)]},
        refused=False,
        tools=("map",),
        large=True,
    ),
    "a long invented name": Hostile(lambda: {"n" * 1_000_000: 1}, refused=False),
    "NaN as text": Hostile(lambda: '{"a":NaN}'),
    "infinity as text": Hostile(lambda: '{"a":-Infinity}'),
    "too large for a float": Hostile(lambda: '{"a":1e999}'),
    "NaN as a value": Hostile(lambda: {"a": math.nan}),
    "infinity as a value": Hostile(lambda: {"a": [math.inf]}),
    "a list in itself": Hostile(own_list),
    "Python objects": Hostile(lambda: {"a": object()}),
    "a tuple": Hostile(lambda: {"a": (1, 2)}, refused=False),
    "bytes as a value": Hostile(lambda: {"a": b"x"}),
    "a set": Hostile(lambda: {"a": {1}}),
    "names that are no text": Hostile(lambda: {1: "x", None: "y"}),
    "cut off": Hostile(lambda: '{"a":"x'),
    "more than one": Hostile(lambda: '{"a":"x"}{"a":"x"}'),
    "a byte order mark": Hostile(lambda: '\ufeff{"a":"x"}', refused=False),
    "zero bytes": Hostile(lambda: '{"a":"x"}\x00'),
    "control characters": Hostile(lambda: '{"a":"\x01"}'),
    "backtracking": Hostile(lambda: {"a": "a" * 5_000 + "b"}, refused=False),
    "JSON in JSON in JSON": Hostile(json_in_json, refused=False),
    "deep JSON text": Hostile(lambda: {"a": "[" * 100_000 + "]" * 100_000}, refused=False),
    "deep JSON text of objects": Hostile(lambda: {"a": '{"a":' * 5_000 + "1" + "}" * 5_000}, refused=False),
    "a huge number in JSON text": Hostile(lambda: {"a": "7" * 1_000_000}, refused=False),
}
