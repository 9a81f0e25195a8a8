"""Chat Completions: what breaks a dialect's rules, and in whose words it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulator.chat_bodies import CLOSED, FULL, body, read, tool
from emulator.mutations import mutations
from strictcall.dialect import load
from strictcall.emulator import rules
from strictcall.emulator.apis.chat_completions import API
from strictcall.emulator.refusal import Refusal


def worded(given: dict[str, Any], dialect: str = "openai") -> Refusal:
    found = rules.breach(read(given), load(dialect))
    assert found is not None
    return API.word(found, dialect)


def strict(**properties: Any) -> dict[str, Any]:
    """A strict tool whose object has these properties, all required."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return tool(schema=schema, strict=True)


TEXT = {"type": "string"}
OBJECT = {"type": "object"}
REQUIRED = "'required' is required to be supplied and to be an array including every key in properties."
BREACHES: list[tuple[dict[str, Any], str]] = [
    (
        tool(schema={"type": "array", "items": {}}),
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'",
    ),
    (tool(schema={}), "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'"),
    (
        tool(schema={**CLOSED, "oneOf": [{}]}),
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level",
    ),
    (tool(schema=OBJECT), "In context=(), object schema missing properties"),
    (tool(schema={**OBJECT, "properties": {"a": {}}}), "In context=('properties', 'a'), schema must have a 'type' key"),
    (
        tool(schema={**OBJECT, "properties": {"a": {"type": "array"}}}),
        "In context=('properties', 'a'), array schema missing items",
    ),
    (
        tool(schema={**OBJECT, "properties": {"a": {"type": ["string", "array"]}}}),
        "In context=('properties', 'a', 'type', '1'), array schema missing items",
    ),
    (tool(schema={**OBJECT, "properties": {}, "required": None}), "None is not of type 'array'"),
    (
        tool(schema={**OBJECT, "properties": {"a": TEXT}, "required": ["a"]}, strict=True),
        "In context=(), 'additionalProperties' is required to be supplied and to be false",
    ),
    (
        strict(a={**OBJECT, "properties": {"b": TEXT}, "required": ["b"], "additionalProperties": True}),
        "In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false",
    ),
    (
        tool(schema={**CLOSED, "required": []}, strict=True),
        f"In context=(), {REQUIRED} Missing 'a'",
    ),
    (
        strict(
            items={**OBJECT, "properties": {"x": TEXT, "y": TEXT}, "required": ["x"], "additionalProperties": False}
        ),
        f"In context=('properties', 'items'), {REQUIRED} Missing 'y'",
    ),
    (
        tool(schema={**CLOSED, "required": ["a", "b"]}, strict=True),
        f"In context=(), {REQUIRED} Extra required key 'b' supplied",
    ),
    (strict(a={**TEXT, "minLength": 1}), "In context=('properties', 'a'), 'minLength' is not permitted"),
    (
        strict(a={"type": "array", "items": {**TEXT, "default": "x"}}),
        "In context=('properties', 'a', 'items'), 'default' is not permitted",
    ),
    (
        strict(
            a={
                "anyOf": [
                    TEXT,
                    {**OBJECT, "propertyNames": TEXT, "properties": {}, "required": [], "additionalProperties": False},
                ]
            }
        ),
        "In context=('properties', 'a', 'anyOf', '1'), 'propertyNames' is not permitted",
    ),
    (strict(u={**TEXT, "format": "uri"}), "In context=('properties', 'u'), 'uri' is not a valid format"),
    (
        tool(
            schema={**CLOSED, "properties": {"a": {"$ref": "#/$defs/t", "description": "x"}}, "$defs": {"t": TEXT}},
            strict=True,
        ),
        "context=('properties', 'a'), $ref cannot have keywords {'description'}",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), BREACHES, ids=range(len(BREACHES)))
def test_a_schema_is_refused_in_openais_words(given: dict[str, Any], sentence: str) -> None:
    refusal = worded(body(tools=[given]))
    assert refusal.message == f"Invalid schema for function 'f': {sentence}."
    assert (refusal.status, refusal.param, refusal.code) == (
        400,
        "tools[0].function.parameters",
        "invalid_function_parameters",
    )


def test_a_schema_for_the_answer_is_refused_in_openais_words() -> None:
    wanted = {"name": "out", "schema": {**CLOSED, "required": []}, "strict": True}
    refusal = worded(body(response_format={"type": "json_schema", "json_schema": wanted}))
    assert refusal.message == f"Invalid schema for response_format 'out': In context=(), {REQUIRED} Missing 'a'."
    assert (refusal.param, refusal.code) == ("response_format", None)


def test_levels_are_counted() -> None:
    schema: dict[str, Any] = TEXT
    for _ in range(12):
        schema = {**OBJECT, "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
    refusal = worded(body(tools=[tool(schema=schema, strict=True)]))
    assert refusal.message.endswith(" levels of nesting exceeds limit of 10.")


PATTERN = "string does not match pattern. Expected a string that matches the pattern"
OTHERS: list[tuple[dict[str, Any], str, str, str | None, str | None]] = [
    (
        body(tools=[tool("a b")]),
        "openai",
        f"Invalid 'tools[0].function.name': {PATTERN} '^[a-zA-Z0-9_-]+$'.",
        "tools[0].function.name",
        "invalid_value",
    ),
    (
        body(tools=[tool(), tool("x" * 65)]),
        "openai",
        (
            "Invalid 'tools[1].function.name': string too long. Expected a string with maximum length 64, but "
            "got a string "
            "with length 65 instead."
        ),
        "tools[1].function.name",
        "string_above_max_length",
    ),
    (
        body(tools=[tool("")]),
        "openai",
        (
            "Invalid 'tools[0].function.name': empty string. Expected a string with minimum length 1, but got an empty "
            "string instead."
        ),
        "tools[0].function.name",
        "empty_string",
    ),
    (
        body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "g"}}),
        "openai",
        "Tool choice 'function' not found in 'tools' parameter.",
        "tool_choice",
        None,
    ),
    (body(top_k=1), "openai", "Unrecognized request argument supplied: top_k", None, None),
    (
        body(tools=[tool(strict=True)], strict_tools=True),
        "cohere",
        "unknown field: parameter 'strict' is not a valid field",
        None,
        None,
    ),
    (
        body(tools=[tool(schema={**OBJECT, "properties": {"a": {**OBJECT, "required": []}}, "required": []})]),
        "groq",
        (
            "invalid JSON schema for tool f, tools[0].function.parameters: /properties/a: "
            "'required' present but 'properties' is missing"
        ),
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        body(tools=[tool("get", {**OBJECT, "properties": {"a": {}}, "required": []}, strict=True)]),
        "kimi",
        (
            "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, "
            "details: <At path 'properties.a': type is not defined>"
        ),
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        body(tools=[tool(schema={})]),
        "deepseek",
        "Invalid schema for function 'f': schema must be a JSON Schema of 'type: \"object\"', got 'type: null'.",
        None,
        "invalid_request_error",
    ),
    (
        body(tools=[tool("a b", CLOSED)]),
        "deepseek",
        f"Invalid 'tools[0].function.name': {PATTERN} '^[a-zA-Z0-9_-]+$'.",
        None,
        "invalid_request_error",
    ),
]


@pytest.mark.parametrize(("given", "dialect", "message", "param", "code"), OTHERS, ids=range(len(OTHERS)))
def test_other_breaches(given: dict[str, Any], dialect: str, message: str, param: str | None, code: str | None) -> None:
    refusal = worded(given, dialect)
    assert (refusal.message, refusal.param, refusal.code) == (message, param, code)


@pytest.mark.parametrize(
    "dialect", ["anthropic", "cerebras", "mistral", "vllm", "xai", "llama.cpp", "fireworks", "json_schema"]
)
def test_every_dialect_is_told_in_the_same_envelope(dialect: str) -> None:
    refusal = worded(body(tools=[tool(schema={**CLOSED, "properties": {"a": {"type": 5}}}, strict=True)]), dialect)
    assert refusal.message.startswith("Invalid schema for function 'f': ")
    assert refusal.param == "tools[0].function.parameters"


@pytest.mark.parametrize(
    ("status", "code", "kind", "told"),
    [
        (400, "invalid_value", "invalid_request_error", "invalid_value"),
        (400, None, "invalid_request_error", None),
        (401, None, "invalid_request_error", "invalid_api_key"),
        (402, None, "insufficient_quota", "insufficient_quota"),
        (403, None, "invalid_request_error", "permission_denied"),
        (404, None, "invalid_request_error", "model_not_found"),
        (429, None, "requests", "rate_limit_exceeded"),
        (429, "insufficient_quota", "insufficient_quota", "insufficient_quota"),
        (500, None, "server_error", None),
        (503, None, "service_unavailable_error", "server_is_overloaded"),
    ],
)
def test_errors_have_openais_types_and_codes(status: int, code: str | None, kind: str, told: str | None) -> None:
    said = API.error(Refusal("So it is.", status, param="p", code=code), "req_1")
    assert said == {"error": {"message": "So it is.", "type": kind, "param": "p", "code": told}}


def test_whatever_is_odd_in_a_body_it_is_read_or_refused() -> None:
    assert rules.breach(read(FULL), load("openai")) is None
    refused = 0
    for changed in mutations(FULL):
        try:
            found = rules.breach(read(changed), load("openai"))
            if found is None:
                continue
            refusal = API.word(found, "openai")
        except Refusal as raised:
            refusal = raised
        assert json.dumps(API.error(refusal, "req"))
        refused += 1
    assert refused > 300
