"""Gemini's generateContent: what is read, and what the specification does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.gemini_bodies import (
    CLOSED,
    MODEL,
    TEXT,
    USER,
    answering,
    body,
    calling,
    contents,
    declared,
    function,
    read,
)
from strictcall.emulator.apis.generate_content import API
from strictcall.emulator.conversation import Message, PastCall
from strictcall.emulator.refusal import Refusal


def test_reads_a_conversation() -> None:
    request = read(
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                USER,
                {
                    "role": "model",
                    "parts": [{"text": "hm", "thought": True}, {"text": "I look."}, *calling("f", "g")["parts"]],
                },
                answering("g", "f"),
                MODEL,
                {"parts": {"text": "and now?"}},
            ],
        }
    )
    assert request.model == "gemini-2.5-pro"
    system, user, assistant, *results, again, last = request.messages
    assert (system, user) == (Message("system", "Be brief."), Message("user", "hi"))
    assert (assistant.text, [(call.name, call.arguments) for call in assistant.calls]) == (
        "I look.",
        [("f", {"n": 1}), ("g", {"n": 1})],
    )
    first, second = (call.id for call in assistant.calls)
    assert first != second
    assert [(result.call_id, result.text) for result in results] == [
        (second, '{"ok": true}'),
        (first, '{"ok": true}'),
    ]
    assert (again, last) == (Message("assistant", "yes"), Message("user", "and now?"))


def test_results_are_matched_by_their_ids() -> None:
    request = read(contents(USER, twice("1", "2"), {"role": "user", "parts": [result("2"), result("1")]}))
    assert request.messages[1].calls == (PastCall("1", "f", {}), PastCall("2", "f", {}))
    assert [message.call_id for message in request.messages[2:]] == ["2", "1"]


def twice(*ids: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"id": call_id, "name": "f"}} for call_id in ids]}


def result(call_id: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": "f", "response": {}}}


@pytest.mark.parametrize("style", ["camel", "snake"])
def test_names_are_taken_in_both_cases(style: str) -> None:
    config = {"maxOutputTokens": "12", "responseMimeType": "application/json", "responseJsonSchema": CLOSED, "seed": 5}
    given = declared(function(), toolConfig={"functionCallingConfig": {"mode": "any", "allowedFunctionNames": ["f"]}})
    given = {**given, "generationConfig": config}
    if style == "snake":
        given = {
            "contents": [USER],
            "tools": {"function_declarations": {"name": "f", "parameters_json_schema": CLOSED}},
            "tool_config": {"function_calling_config": {"mode": 2, "allowed_function_names": "f"}},
            "generation_config": {
                "max_output_tokens": 12,
                "response_mime_type": "application/json",
                "response_json_schema": CLOSED,
                "seed": 5,
            },
        }
    request = read(given, model="gemini-3-pro")
    (tool,) = request.tools
    assert (tool.name, tool.schema, tool.place) == ("f", CLOSED, "tools[0].function_declarations[0]")
    assert tool.schema_place == "tools[0].function_declarations[0].parameters_json_schema"
    assert (request.choice, request.only, request.constrained) == ("required", frozenset({"f"}), True)
    assert request.output is not None
    assert (request.output.schema, request.max_tokens, request.seed) == (CLOSED, 12, 5)


def test_a_schema_in_googles_own_message_is_written_in_one_case() -> None:
    given = {
        "type": "OBJECT",
        "properties": {"min_items": {"type": "ARRAY", "items": {"any_of": [TEXT]}, "min_items": "3", "title": None}},
        "property_ordering": ["min_items"],
    }
    request = read(declared(function(parameters=given)))
    assert request.tools[0].schema == {
        "type": "OBJECT",
        "properties": {"min_items": {"type": "ARRAY", "items": {"anyOf": [TEXT]}, "minItems": 3}},
        "propertyOrdering": ["min_items"],
    }


@pytest.mark.parametrize(
    ("given", "dialect"),
    [
        (declared(function()), "gemini-json"),
        (declared(function(parameters=CLOSED)), "gemini"),
        (declared(function(), function("g", parameters=CLOSED)), "gemini"),
        (body(generationConfig={"responseMimeType": "application/json", "responseSchema": CLOSED}), "gemini"),
        (body(), "gemini-json"),
    ],
)
def test_the_dialect_is_that_of_the_field(given: dict[str, Any], dialect: str) -> None:
    assert read(given).options["dialect"] == dialect


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("auto", False)),
        ({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}, ("auto", False)),
        ({"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, ("none", False)),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, ("required", True)),
        ({"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}, ("auto", True)),
        ({"generationConfig": {"responseMimeType": "application/json"}}, ("auto", True)),
    ],
)
def test_the_mode_says_whether_schemas_are_held(fields: dict[str, Any], expected: tuple[str, bool]) -> None:
    request = read(declared(function(), **fields), model="gemini-3-pro")
    assert (request.choice, request.constrained) == expected


def test_functions_beside_other_tools_are_held() -> None:
    tools = [{"functionDeclarations": [function()]}, {"googleSearch": {}}]
    assert read(body(tools=tools)).constrained is True


def test_a_stream_is_an_array_unless_events_are_asked_for() -> None:
    assert read(body(), method="streamGenerateContent").options["array"] is True
    request = read(body(), method="streamGenerateContent", alt="sse")
    assert (request.stream, request.options["array"]) == (True, False)
    assert (read(body()).stream, read(body()).options["array"]) == (False, False)


PACKAGE = "type.googleapis.com/google.ai.generativelanguage.v1beta"
CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
RESPONSE_TURN = "Please ensure that function response turn comes immediately after a function call turn."
EQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
MATCH = "Please ensure that the function response parts answer the function call parts of the function call turn."
REFUSED: list[tuple[Any, str]] = [
    ([], f"Invalid value ({PACKAGE}.GenerateContentRequest), [...]"),
    ({}, "* GenerateContentRequest.contents: contents is not specified\n"),
    (
        contents({"role": "user", "parts": []}),
        "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n",
    ),
    (contents({"role": "tool", "parts": [{"text": "x"}]}), "Please use a valid role: user, model."),
    (
        contents({"parts": {"role": "user", "text": "x"}}),
        "Invalid JSON payload received. Unknown name \"role\" at 'contents[0].parts': Cannot find field.",
    ),
    (contents({"parts": [{"text": 5}]}), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"),
    (contents("hi"), f"Invalid value at 'contents[0]' ({PACKAGE}.Content), \"hi\""),
    (contents(None), f"Invalid value at 'contents[0]' ({PACKAGE}.Content), null"),
    (
        contents({"parts": [{"thought": True}]}),
        (
            "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one "
            "initialized field\n"
        ),
    ),
    (
        contents({"parts": [{"text": "x", "functionCall": {"name": "f"}}]}),
        "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'functionCall'",
    ),
    (
        contents({"parts": [{"inlineData": {"mimeType": "image/png", "data": "%"}}]}),
        "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for \"%\"",
    ),
    (
        contents(USER, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": "{}"}}]}),
        (
            "Invalid value at 'contents[1].parts[0].function_call.args' "
            '(type.googleapis.com/google.protobuf.Struct), "{}"'
        ),
    ),
    (
        contents(USER, {"role": "model", "parts": [{"functionCall": {"args": {}}}]}),
        "* GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty.\n",
    ),
    (contents(calling("f"), answering("f")), CALL_TURN),
    (contents(USER, MODEL, calling("f"), answering("f")), CALL_TURN),
    (contents(USER, answering("f")), RESPONSE_TURN),
    (contents(USER, calling("f"), USER), EQUAL),
    (contents(USER, calling("f")), EQUAL),
    (contents(USER, calling("f", "g"), answering("f")), EQUAL),
    (contents(USER, calling("f", "g"), answering("f"), answering("g")), EQUAL),
    (contents(USER, calling("f"), answering("f", "f")), EQUAL),
    (contents(USER, calling("f", "g"), answering("f", "f")), MATCH),
    (contents(USER, calling("f", id="1"), answering("f", id="2")), MATCH),
    (
        declared({**function(), "strict": True}),
        (
            "Invalid JSON payload received. Unknown name \"strict\" at 'tools[0].function_declarations[0]': "
            "Cannot find field."
        ),
    ),
    (
        declared({**function(), "a": 1}, {**function("g"), "b": 1}),
        (
            "Invalid JSON payload received. Unknown name \"a\" at 'tools[0].function_declarations[0]': Cannot "
            "find field.\n"
            "Invalid JSON payload received. Unknown name \"b\" at 'tools[0].function_declarations[1]': Cannot "
            "find field."
        ),
    ),
    (
        declared(function(parameters=CLOSED, parametersJsonSchema=CLOSED)),
        (
            "* GenerateContentRequest.tools[0].function_declarations[0]: parameters and parameters_json_schema "
            "are mutually "
            "exclusive. Only one of them may be set.\n"
        ),
    ),
    (
        declared({"name": ["f"]}),
        (
            "Invalid JSON payload received. Unknown name \"name\" at 'tools[0].function_declarations[0]': Proto "
            "field is not "
            "repeating, cannot start list."
        ),
    ),
    (
        declared(function(), toolConfig={"functionCallingConfig": {"mode": "STRICT"}}),
        (
            f"Invalid value at 'tool_config.function_calling_config.mode' ({PACKAGE}.FunctionCallingConfig.Mode), "
            '"STRICT"'
        ),
    ),
    (
        declared(function(), toolConfig={"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["f"]}}),
        (
            "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: should only be "
            "set when the "
            "mode is ANY or VALIDATED.\n"
        ),
    ),
    (
        body(generationConfig={"maxOutputTokens": "many"}),
        "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), \"many\"",
    ),
    (
        body(generationConfig={"maxOutputTokens": 0}),
        "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n",
    ),
    (
        body(generationConfig={"temperature": 3}),
        "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n",
    ),
    (
        body(generationConfig={"responseMimeType": "text/html"}),
        (
            "* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, "
            "`application/json`, `text/x.enum`.\n"
        ),
    ),
    (
        body(generationConfig={"responseSchema": CLOSED}),
        (
            "* GenerateContentRequest.generation_config.response_schema: a schema is only taken with the "
            "response_mime_type "
            "application/json or text/x.enum.\n"
        ),
    ),
    (
        declared(function(), generationConfig={"responseMimeType": "application/json"}),
        "Function calling with a response mime type: 'application/json' is unsupported",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_body_off_the_specification_is_refused_in_googles_words(given: Any, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        read(given)
    assert (caught.value.status, caught.value.message) == (400, message)
    assert API.error(caught.value, "req")["error"]["status"] == "INVALID_ARGUMENT"


def test_gemini_3_wants_the_signatures_of_its_calls_back() -> None:
    signed = {
        "role": "model",
        "parts": [{**calling("f")["parts"][0], "thoughtSignature": "YWJj"}, *calling("g")["parts"]],
    }
    assert read(contents(USER, signed, answering("f", "g")), model="gemini-3-pro").rounds == 1
    with pytest.raises(Refusal, match="function call `default_api:f` , position 2"):
        read(contents(USER, calling("f"), answering("f")), model="gemini-3-pro")
    # What was called before the user last spoke needs none, nor does an older model.
    read(contents(USER, calling("f"), answering("f"), MODEL, USER), model="gemini-3-pro")
    read(contents(USER, calling("f"), answering("f")), model="gemini-2.5-flash")


def test_what_is_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = TEXT
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(Refusal, match="Message too deep"):
        read(declared(function(parameters=schema)))


def test_another_method_is_not_found() -> None:
    with pytest.raises(Refusal) as caught:
        read(body(), method="countTokens")
    assert API.error(caught.value, "req")["error"]["status"] == "NOT_FOUND"
