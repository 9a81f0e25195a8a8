"""The quick way to read a call gives what the long way gives, or leaves the call to it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Policy, Tool, compile_schema, compile_tool
from strictcall.json_value import MAX_DEPTH

TEXT = {"type": "string"}


def record(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)[:1], **more}


CLOSED: dict[str, Any] = {"additionalProperties": False}
CONTRACTS: dict[str, dict[str, Any]] = {
    "scalars": record({"a": TEXT, "n": {"type": "number"}, "b": {"type": ["boolean", "null"]}}, **CLOSED),
    "all required": {**record({"a": TEXT, "n": {"type": "integer"}}, **CLOSED), "required": ["a", "n"]},
    "no arguments": {"type": "object", "properties": {}},
    "lists": record({"a": {"type": "array", "items": {"type": "number"}}, "n": TEXT}),
    "objects within": record({"a": record({"x": {"type": "number"}, "y": TEXT}), "n": TEXT}, **CLOSED),
    "open within": record({"a": {"type": "object"}, "n": TEXT}),
    "expressly open": record({"a": TEXT, "n": TEXT}, additionalProperties=True),
    "a map": record({"a": {"type": "object", "additionalProperties": {"type": "number"}}, "n": TEXT}),
    "any value": record({"a": {}, "n": TEXT}),
    "any items": record({"a": {"type": "array"}, "n": TEXT}),
    "types left open": record({"a": {"maximum": 1}, "n": TEXT}),
    "scalars left open": record(
        {"a": {"maximum": 1, "minItems": 2, "maxItems": 1, "minProperties": 2, "maxProperties": 1}, "n": TEXT}
    ),
    "conditional": {
        **record({"a": {"enum": ["x", "y"]}}, **CLOSED),
        "properties": {"a": {"enum": ["x", "y"]}, "n": {}},
        "if": {"properties": {"a": {"const": "x"}}},
        "then": {"properties": {"n": {"type": "number"}}},
    },
    "patterns": record({"a": TEXT}, patternProperties={"^n": {}}, **CLOSED),
    "literals": record({"a": {"enum": [1, "one", [1.5], {"x": 1}]}, "n": TEXT}),
    "more names than declared": record({"a": TEXT}, minProperties=2),
    "a name that is none here": record({"a:": TEXT, "ü n": {"type": "number"}}),
}
DEEP = "[" * MAX_DEPTH + "]" * MAX_DEPTH
VALUES = (
    '"x"', '"x:y"', '"\\u003a"', '"\\ud800"', "1", "-0", "1.5", "1e3", "1e999", "-1e999", "NaN", "Infinity", "true",
    "null", "[]", "[1e999]", "[1, 1.5]", "{}", '{"x": 1e999}', '{"x": 1, "x": 2}', '{"x": 1, "y": "a:b"}', "7" * 400,
    "7" * 400 + ".0", "7" * 5000, DEEP, json.dumps(DEEP), '"[1e999]"', '"{\\"x\\": 1, \\"x\\": 1}"',
    '{"entries": [{"key": "k", "value": 1e999}]}', '[{"key": "k", "value": 1e999}]', '{"entries": []}', '"e123"',
)  # fmt: skip
WAYS = {
    "openai": {"dialect": "openai"},
    "anthropic": {"dialect": "anthropic"},
    "as it is": {"dialect": "json_schema"},
    "types as written": {"dialect": "openai", "policy": Policy(implied_types=False)},
    "carried": {"dialect": "openai", "policy": Policy(open_objects="carry", implied_types=False)},
    "carried as it is": {"dialect": "json_schema", "policy": Policy(open_objects="carry", implied_types=False)},
    "json text": {"dialect": "openai", "policy": Policy(free_form="json_text", nulls="distinguish")},
}


def texts(contract: dict[str, Any]) -> list[str]:
    """Calls with hostile values, names written twice, names that are not declared, and white space in odd places."""
    first, *others = [*contract["properties"], "a", "n"][:2]
    rest = "".join(f", {json.dumps(name)}: null" for name in others)
    name = json.dumps(first)
    found = [f"{{{name}: {value}{rest}}}" for value in VALUES]
    found += [f'{{{name}: "x", "n": {value}}}' for value in VALUES]
    found += [f'{{{name}: "x", "free": {value}, "n": null}}' for value in ("1e999", "1", DEEP)]
    for space in ("", " ", "\n", "\t\r"):
        found += [f'{{{name}{space}:"x"{rest}}}', f'{{{name}{space}:"x",{name}:"y"{rest}}}']
    found += [f'{{{name}: "\\u003a", {name}: "y"}}', f'{{{name}: "y", {name}: "\\u003a"}}', f'{{{name}: "x"}} {{}}']
    return [
        *found,
        "",
        " ",
        "null",
        "[]",
        '"a:b"',
        "{}",
        '{"additional_properties": []}',
        '{"additional_properties": [{"key": "k", "value": 1e999}]}',
    ]


def outcome(compiled: CompiledTool, given: str | bytes) -> tuple[bool, str]:
    """Whether a call is admitted, and in which words it is told what it gives; 1, 1.0 and true are told apart."""
    try:
        return True, repr(compiled.decode(given))
    except ArgumentsError as error:
        return False, str(error)


def long_way(compiled: CompiledTool, given: str) -> tuple[bool, str]:
    reading = compiled.read(given)
    return (False, str(ArgumentsError(reading.faults))) if reading.faults else (True, repr(reading.arguments))


CALLS: dict[str, Any] = {
    "scalars": {"a": "12:30", "n": 1.5, "b": True},
    "all required": {"a": "https://example.org", "n": 3},
    "no arguments": {},
    "lists": {"a": [1, 2.5], "n": "x"},
    "objects within": {"a": {"x": 1.5, "y": "y"}, "n": "x"},
    "any items": {"a": [1, "x", [2]], "n": "x"},
    "conditional": {"a": "x", "n": 1.5},
    "literals": {"a": {"x": 1}, "n": "x"},
    "open within": {"a": {}, "n": "x"},
    "a map": {"a": {"k": 1}, "n": "x"},
    "a name that is none here": {"a:": "x", "ü n": 1.5},
    "types left open": {"a": 0.5, "n": "x"},
    "scalars left open": {"a": 0.5, "n": "x"},
}
"""A call that each contract admits; those that are not here take two texts."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_quick_way_gives_what_the_long_way_gives(contract: str, way: str) -> None:
    more: Any = WAYS[way]
    call = CALLS.get(contract, {"a": "x", "n": "x"})
    tools = [compile_tool(Tool("tool", None, CONTRACTS[contract]), **more), compile_schema(CONTRACTS[contract], **more)]
    for compiled in tools:
        own = json.dumps(compiled.encode(call))
        assert compiled.decode(own) == call
        given = [own, own[:-1] + ",", own.replace(": ", " :"), *texts(CONTRACTS[contract])]
        for index, text in enumerate(given):
            expected = long_way(compiled, text)
            assert outcome(compiled, text if index % 2 else text.encode()) == expected, text[:200]
            assert not expected[0] or not any(word in expected[1] for word in (": inf", "[inf", ": nan", ": -inf"))


@pytest.mark.parametrize("contract", ["scalars", "all required", "lists", "objects within", "no arguments"])
def test_what_most_calls_are_is_read_the_quick_way(contract: str) -> None:
    compiled = compile_tool(Tool("tool", None, CONTRACTS[contract]))
    call = CALLS[contract]
    for text in (json.dumps(compiled.encode(call)), json.dumps(compiled.encode(call), indent=1)):
        assert compiled._made.quick()(text) == call
        assert compiled._made.quick()(text.encode()) == call
