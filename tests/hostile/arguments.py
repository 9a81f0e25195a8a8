"""Hostile arguments for a few tools: text and values. ``REFUSED`` marks those that are outside the limits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MIB = 1024 * 1024

TOOLS: dict[str, Any] = {
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
    """One hostile argument; ``refused`` says that no tool may take it."""

    make: Callable[[], Any]
    refused: bool = True


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
    "16 MiB of digits": Hostile(lambda: '{"a":' + "7" * (16 * MIB - 10) + "}"),
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
    "over 16 MiB as text": Hostile(lambda: '{"a":"' + "x" * (16 * MIB) + '"}'),
    "over 16 MiB as bytes": Hostile(lambda: b'{"a":"' + b"x" * (16 * MIB) + b'"}'),
    "over 16 MiB of blanks": Hostile(lambda: " " * (16 * MIB + 1)),
    "just under 16 MiB": Hostile(lambda: '{"a":"' + "x" * (16 * MIB - 20) + '"}', refused=False),
    "just under 16 MiB of quotes": Hostile(lambda: '{"a":"' + '\\"' * (8 * MIB - 20) + '"}', refused=False),
    "a million items": Hostile(lambda: '{"a":[' + ",".join(["1"] * 1_000_000) + "]}", refused=False),
    "a million wrong items": Hostile(lambda: {"a": ["z"] * 1_000_000}, refused=False),
    "200,000 invented names": Hostile(lambda: {f"nam_{number}": 1 for number in range(200_000)}, refused=False),
    "200,000 entries": Hostile(
        lambda: {"a": [{"key": str(number), "value": number} for number in range(200_000)]}, refused=False
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
