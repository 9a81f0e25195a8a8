"""Reading a Responses request: what is refused and in which words, and what is made of the rest."""

from __future__ import annotations

import pytest

from emulator.responses_bodies import CALL, PATTERN, REASONING, RESULT, SCHEMA, TOOL, USER, body
from strictcall.emulator.apis.responses import API
from strictcall.emulator.conversation import PastCall, WantedOutput
from strictcall.emulator.refusal import Refusal


def refused(value):
    with pytest.raises(Refusal) as caught:
        API.read(value, {}, {})
    return caught.value


# --- what is refused --------------------------------------------------------------------------------------------------

INPUT_PARTS = "'input_text', 'input_image', 'input_file', 'scoped_content', and 'input_audio'"
ROLES = "'assistant', 'system', 'developer', and 'user'"
BAD = [
    # the body's own fields
    ({"model": ...}, "model", "missing_required_parameter", "Missing required parameter: 'model'."),
    ({"model": 7}, "model", "invalid_type", "Invalid type for 'model': expected a string, but got an integer instead."),
    ({"input": ...}, "input", "missing_required_parameter", "Missing required parameter: 'input'."),
    (
        {"input": {"a": 1}},
        "input",
        "invalid_type",
        "Invalid type for 'input': expected one of a string or array of input items, but got an object instead.",
    ),
    (
        {"input": ..., "messages": []},
        None,
        "unsupported_parameter",
        (
            "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. "
            "Try again with the new parameter. See the API documentation for more information: "
            "https://platform.openai.com/docs/api-reference/responses/create."
        ),
    ),
    *(
        (
            {"input": empty},
            None,
            "missing_required_parameter",
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
        )
        for empty in ("", [])
    ),
    (
        {"max_output_tokens": 15},
        "max_output_tokens",
        "integer_below_min_value",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
    ),
    (
        {"max_output_tokens": "x"},
        "max_output_tokens",
        "invalid_type",
        "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
    ),
    (
        {"temperature": "hot"},
        "temperature",
        "invalid_type",
        "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    ),
    (
        {"temperature": 3},
        "temperature",
        "decimal_above_max_value",
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    ),
    (
        {"truncation": "no"},
        "truncation",
        "invalid_value",
        "Invalid value: 'no'. Supported values are: 'auto' and 'disabled'.",
    ),
    (
        {"truncation": {}},
        "truncation",
        "invalid_type",
        "Invalid type for 'truncation': expected one of 'auto' or 'disabled', but got an object instead.",
    ),
    (
        {"stream_options": {"include_usage": True}},
        "stream_options.include_usage",
        "unknown_parameter",
        "Unknown parameter: 'stream_options.include_usage'.",
    ),
    (
        {"metadata": {str(index): "" for index in range(17)}},
        "metadata",
        "object_above_max_properties",
        (
            "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object "
            "with 17 properties instead."
        ),
    ),
    (
        {"reasoning": {"effort": "much"}},
        "reasoning.effort",
        "invalid_value",
        "Invalid value: 'much'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
    ),
    # nothing is stored
    (
        {"previous_response_id": "resp_x"},
        "previous_response_id",
        "previous_response_not_found",
        "Previous response with id 'resp_x' not found.",
    ),
    (
        {"background": True},
        "background",
        "unsupported_parameter",
        "Unsupported parameter: 'background' is not supported with this model.",
    ),
    # items
    (
        {"input": [7]},
        "input[0]",
        "invalid_type",
        "Invalid type for 'input[0]': expected an input item, but got an integer instead.",
    ),
    ({"input": [{}]}, "input[0]", "invalid_value", f"Invalid value: ''. Supported values are: {ROLES}."),
    (
        {"input": [{"role": "tool", "content": "x"}]},
        "input[0]",
        "invalid_value",
        f"Invalid value: 'tool'. Supported values are: {ROLES}.",
    ),
    (
        {"input": [{"role": "user"}]},
        "input[0].content",
        "missing_required_parameter",
        "Missing required parameter: 'input[0].content'.",
    ),
    (
        {"input": [{**USER, "tool_calls": []}]},
        "input[0].tool_calls",
        "unknown_parameter",
        "Unknown parameter: 'input[0].tool_calls'.",
    ),
    (
        {"input": [{**USER, "phase": "final_answer"}]},
        "input[0].phase",
        "unknown_parameter",
        "Unknown parameter: 'input[0].phase'.",
    ),
    (
        {"input": [USER, {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
        "input[1].content[0]",
        "invalid_value",
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}]},
        "input[0].content[0]",
        "invalid_value",
        f"Invalid value: 'output_text'. Supported values are: {INPUT_PARTS}.",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        "input[0].content[0].type",
        "invalid_value",
        (
            "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'input_audio', 'output_text', "
            "'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'."
        ),
    ),
    (
        {"input": [USER, {**CALL, "arguments": {}}, RESULT]},
        "input[1].arguments",
        "invalid_type",
        "Invalid type for 'input[1].arguments': expected a string, but got an object instead.",
    ),
    (
        {"input": [USER, {**CALL, "name": "a.b"}, RESULT]},
        "input[1].name",
        "invalid_value",
        f"Invalid 'input[1].name': {PATTERN}",
    ),
    (
        {"input": [USER, {**CALL, "id": "call_1"}, RESULT]},
        "input[1].id",
        "invalid_value",
        "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
    ),
    (
        {"input": [USER, {**CALL, "call_id": "c" * 65}, RESULT]},
        "input[1].call_id",
        "string_above_max_length",
        (
            "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, "
            "but got a string with length 65 instead."
        ),
    ),
    (
        {"input": [USER, CALL, {**RESULT, "output": {}}]},
        "input[2].output",
        "invalid_type",
        "Invalid type for 'input[2].output': expected one of a string or array of objects, but got an object instead.",
    ),
    # history
    ({"input": [USER, CALL]}, "input", None, "No tool output found for function call call_1."),
    (
        {"input": [USER, RESULT]},
        "input",
        None,
        "No tool call found for function call output with call_id call_1.",
    ),
    (
        {"input": [USER, RESULT, CALL]},
        "input",
        None,
        "No tool call found for function call output with call_id call_1.",
    ),
    (
        {"input": [USER, CALL, RESULT, RESULT]},
        "input",
        None,
        "No tool call found for function call output with call_id call_1.",
    ),
    (
        {"input": [USER, REASONING, USER]},
        "input",
        None,
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    (
        {"input": [USER, {**REASONING, "encrypted_content": "gAAAAAnonsense"}, {"role": "assistant", "content": "a"}]},
        None,
        "invalid_encrypted_content",
        (
            "The encrypted content gAAA...ense could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        ),
    ),
    # tools
    (
        {"tools": "x"},
        "tools",
        "invalid_type",
        "Invalid type for 'tools': expected an array of tools, but got a string instead.",
    ),
    ({"tools": [{}]}, "tools[0].type", "missing_required_parameter", "Missing required parameter: 'tools[0].type'."),
    (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools[0].name",
        "missing_required_parameter",
        "Missing required parameter: 'tools[0].name'.",
    ),
    (
        {"tools": [{**TOOL, "function": {}}]},
        "tools[0].function",
        "unknown_parameter",
        "Unknown parameter: 'tools[0].function'.",
    ),
    (
        {"tools": [TOOL, {**TOOL, "strict": "yes"}]},
        "tools[1].strict",
        "invalid_type",
        "Invalid type for 'tools[1].strict': expected a boolean, but got a string instead.",
    ),
    (
        {"tools": [TOOL], "tool_choice": "any"},
        "tool_choice",
        "invalid_value",
        "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
    ),
    (
        {"tool_choice": 7},
        "tool_choice",
        "invalid_type",
        (
            "Invalid type for 'tool_choice': expected one of an object or 'none', 'auto', or 'required', but got an "
            "integer instead."
        ),
    ),
    (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}},
        "tool_choice.name",
        "missing_required_parameter",
        "Missing required parameter: 'tool_choice.name'.",
    ),
    (
        {"tools": [TOOL], "tool_choice": {"type": "web_search"}},
        "tool_choice",
        None,
        "Tool choice 'web_search' not found in 'tools' parameter.",
    ),
    # structured output
    (
        {"text": {"format": {"type": "xml"}}},
        "text.format.type",
        "invalid_value",
        "Invalid value: 'xml'. Supported values are: 'json_object', 'text', and 'json_schema'.",
    ),
    (
        {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        "text.format.name",
        "missing_required_parameter",
        "Missing required parameter: 'text.format.name'.",
    ),
    (
        {"text": {"format": {"type": "json_schema", "name": "n"}}},
        "text.format.schema",
        "missing_required_parameter",
        "Missing required parameter: 'text.format.schema'.",
    ),
    (
        {"text": {"format": {"type": "json_schema", "name": "a b", "schema": SCHEMA}}},
        "text.format.name",
        "invalid_value",
        f"Invalid 'text.format.name': {PATTERN}",
    ),
    (
        {"text": {"format": {"type": "json_object"}}, "instructions": "answer in json"},
        "input",
        None,
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    ),
]


@pytest.mark.parametrize(("fields", "param", "code", "message"), BAD)
def test_a_bad_body_is_refused_in_openais_words(fields, param, code, message):
    refusal = refused(body(**fields))
    assert (refusal.message, refusal.status) == (message, 400)
    assert API.error(refusal, "req_1") == {
        "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"conversation": "conv_x"}, "Conversation with id 'conv_x' not found."),
        ({"prompt": {"id": "pmpt_x"}}, "Prompt with id 'pmpt_x' not found."),
        ({"input": [{"type": "item_reference", "id": "msg_x"}]}, "Item with id 'msg_x' not found."),
        (
            {
                "store": False,
                "input": [
                    USER,
                    {"type": "reasoning", "id": "rs_x", "summary": []},
                    {"role": "assistant", "content": ""},
                ],
            },
            (
                "Item with id 'rs_x' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input."
            ),
        ),
    ],
)
def test_what_is_not_stored_is_not_found(fields, message):
    refusal = refused(body(**fields))
    assert (refusal.status, refusal.message) == (404, message)
    assert API.error(refusal, "")["error"]["code"] is None


@pytest.mark.parametrize("value", [None, 7, "text", [], True])
def test_a_body_that_is_no_object_is_refused(value):
    assert refused(value).status == 400


def test_an_unknown_item_names_all_that_are_known():
    refusal = refused(body(input=[{"type": "tool_result"}]))
    assert refusal.param == "input[0]"
    assert refusal.message.startswith("Invalid value: 'tool_result'. Supported values are: 'additional_tools', ")
    assert refusal.message.endswith("'tool_search_output', and 'web_search_call'.")


# --- what is read -----------------------------------------------------------------------------------------------------


def test_a_conversation_is_read_whole():
    request = API.read(
        body(
            instructions="be short",
            input=[
                {"role": "developer", "content": "and kind"},
                {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
                REASONING,
                {**CALL, "id": "fc_1", "status": "completed"},
                {**RESULT, "output": [{"type": "input_text", "text": "x"}, {"type": "input_image"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
                USER,
            ],
            tools=[TOOL, {"type": "web_search"}, {"type": "function", "name": "g", "parameters": None}],
            tool_choice={"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "g"}]},
            parallel_tool_calls=False,
            max_output_tokens=100,
            text={"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
            stream=True,
            seed=1,
        ),
        {},
        {},
    )
    assert [(message.role, message.text) for message in request.messages] == [
        ("system", "be short"),
        ("system", "and kind"),
        ("user", "ab"),
        ("assistant", ""),
        ("tool", "x"),
        ("assistant", "no"),
        ("user", "hi"),
    ]
    assert request.messages[3].calls == (PastCall("call_1", "f", "{}"),)
    assert request.messages[4].call_id == "call_1"
    assert [(tool.name, tool.strict, tool.place, tool.schema_place) for tool in request.tools] == [
        ("f", True, "tools[0]", "tools[0].parameters"),
        ("g", None, "tools[2]", "tools[2].parameters"),
    ]
    assert (request.choice, request.only, request.parallel) == ("required", frozenset({"g"}), False)
    assert request.output == WantedOutput("n", SCHEMA, "text.format.schema", None)
    assert (request.max_tokens, request.stream, request.unknown_fields) == (100, True, ("seed",))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", ("none", None)),
        ("required", ("required", None)),
        ({"type": "function", "name": "f"}, ("required", frozenset({"f"}))),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}, ("auto", frozenset())),
        ({"type": "web_search"}, ("auto", None)),
    ],
)
def test_the_tool_choice(choice, expected):
    request = API.read(body(tools=[TOOL, {"type": "web_search"}], tool_choice=choice), {}, {})
    assert (request.choice, request.only) == expected
