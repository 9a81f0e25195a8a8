"""Gemini's generateContent: what breaks a dialect's rules, and how it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulator.gemini_bodies import (
    CLOSED,
    FULL,
    TEXT,
    body,
    contents,
    declared,
    function,
    read,
)
from emulator.mutations import mutations
from strictcall.dialect import load
from strictcall.emulator import rules
from strictcall.emulator.apis.generate_content import API
from strictcall.emulator.refusal import Refusal


def worded(given: dict[str, Any]) -> Refusal:
    request = read(given)
    dialect = request.options["dialect"]
    found = rules.breach(request, load(dialect))
    assert found is not None
    return API.word(found, dialect)


def proto(**properties: Any) -> dict[str, Any]:
    return declared(function(parameters={"type": "object", "properties": properties}))


PACKAGE = "type.googleapis.com/google.ai.generativelanguage.v1beta"
PARAMETERS = "tools[0].function_declarations[0].parameters"
LISTED = f"* GenerateContentRequest.{PARAMETERS}"
UNKNOWN = "Invalid JSON payload received. Unknown name"
BREACHES: list[tuple[dict[str, Any], str]] = [
    (
        declared(function(parameters={**CLOSED, "$schema": "x"})),
        f"{UNKNOWN} \"$schema\" at '{PARAMETERS}': Cannot find field.",
    ),
    (
        proto(a=TEXT, b={**TEXT, "const": "x"}),
        f"{UNKNOWN} \"const\" at '{PARAMETERS}.properties[1].value': Cannot find field.",
    ),
    (
        proto(a={"type": "array", "items": {"anyOf": [TEXT, {"type": "number", "exclusiveMinimum": 0}]}}),
        f"{UNKNOWN} \"exclusiveMinimum\" at '{PARAMETERS}.properties[0].value.items.any_of[1]': Cannot find field.",
    ),
    (
        proto(a={"type": "object", "properties": {"b": TEXT}, "additionalProperties": TEXT}),
        f"{UNKNOWN} \"additionalProperties\" at '{PARAMETERS}.properties[0].value': Cannot find field.",
    ),
    (
        proto(a={"type": ["string", "null"]}),
        f"{UNKNOWN} \"type\" at '{PARAMETERS}.properties[0].value': Proto field is not repeating, cannot start list.",
    ),
    (proto(a={"type": ""}), f"Invalid value at '{PARAMETERS}.properties[0].value.type' ({PACKAGE}.Type), \"\""),
    (
        proto(v={"type": "number", "enum": [0, 1]}),
        f"Invalid value at '{PARAMETERS}.properties[0].value.enum[0]' (TYPE_STRING), 0",
    ),
    (proto(v={"type": "integer", "enum": ["0"]}), f"{LISTED}.properties[v].enum: only allowed for STRING type\n"),
    (proto(ids={"type": "array"}), f"{LISTED}.properties[ids].items: missing field.\n"),
    (
        proto(a={"type": "object", "properties": {}}),
        f"{LISTED}.properties[a].properties: should be non-empty for OBJECT type\n",
    ),
    (
        proto(a={"description": "x"}),
        f"{LISTED}.properties[a].type: must be specified when not using one_of, any_of or all_of fields\n",
    ),
    (
        proto(a={"type": "array", "items": {**TEXT, "format": "uri"}}),
        f"{LISTED}.properties[a].items.format: only 'enum' and 'date-time' are supported for STRING type\n",
    ),
    (
        declared(function(parameters={"type": "object", "properties": {"a": TEXT}, "required": ["b"]})),
        f"{LISTED}.required[0]: property is not defined\n",
    ),
    (
        body(
            generationConfig={
                "responseMimeType": "application/json",
                "responseSchema": {"type": "object", "properties": {"a": {**TEXT, "minLength": 1}}},
            }
        ),
        "response schemas specified unsupported field min_length.",
    ),
    (
        declared(function(parameters=TEXT)),
        (
            "Unable to submit request because `f` functionDeclaration `parameters` schema should be of type OBJECT. "
            "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
        ),
    ),
    (
        declared(function("1st")),
        (
            "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a "
            "letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), "
            "or dashes "
            "(-), with a maximum length of 64.\n"
        ),
    ),
    (declared(function(), function()), "Duplicate function declaration found: f"),
    (
        declared(function(), toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["g"]}}),
        (
            "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: `g` is not one "
            "of the "
            "function_declarations.\n"
        ),
    ),
    (
        body(toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
        "Function calling config is set without function_declarations.",
    ),
    (body(stream=True), f'{UNKNOWN} "stream": Cannot find field.'),
]


@pytest.mark.parametrize(("given", "message"), BREACHES, ids=range(len(BREACHES)))
def test_a_breach_is_told_in_googles_words(given: dict[str, Any], message: str) -> None:
    refusal = worded(given)
    assert (refusal.status, refusal.message) == (400, message)


def test_json_schema_is_judged_by_its_own_dialect() -> None:
    nullable = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"$ref": "#/$defs/t"}},
        "$defs": {"t": TEXT},
    }
    request = read(declared(function(parametersJsonSchema=nullable)))
    assert rules.breach(request, load("gemini-json")) is None


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (402, "FAILED_PRECONDITION"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (408, "DEADLINE_EXCEEDED"),
        (409, "ABORTED"),
        (413, "INVALID_ARGUMENT"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
    ],
)
def test_errors_have_googles_codes(status: int, told: str) -> None:
    error = API.error(Refusal("So it is.", status), "req")["error"]
    assert (error["code"], error["message"], error["status"]) == (status, "So it is.", told)


def test_errors_have_details() -> None:
    limited = API.error(Refusal("Slow down.", 429, headers={"retry-after": "7"}), "req")
    assert limited["error"]["details"] == [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
    with pytest.raises(Refusal) as caught:
        read(contents({"parts": [{"texts": "x"}], "name": 1}))
    (bad,) = API.error(caught.value, "req")["error"]["details"]
    assert [(item["field"], item["description"]) for item in bad["fieldViolations"]] == [
        ("contents[0].parts[0]", f"{UNKNOWN} \"texts\" at 'contents[0].parts[0]': Cannot find field."),
        ("contents[0]", f"{UNKNOWN} \"name\" at 'contents[0]': Cannot find field."),
    ]
    key = API.error(Refusal("Incorrect API key provided.", 401, code="invalid_api_key"), "req")
    assert key["error"]["details"][0]["reason"] == "API_KEY_INVALID"


def test_whatever_is_odd_in_a_body_it_is_read_or_refused() -> None:
    assert rules.breach(read(FULL, "gemini-3-pro"), load("gemini")) is None
    refused = 0
    for changed in mutations(FULL):
        try:
            found = rules.breach(read(changed, "gemini-3-pro"), load("gemini"))
            if found is None:
                continue
            refusal = API.word(found, "gemini")
        except Refusal as raised:
            refusal = raised
        assert json.dumps(API.error(refusal, "req"))
        refused += 1
    assert refused > 300
