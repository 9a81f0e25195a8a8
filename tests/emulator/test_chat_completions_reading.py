"""Chat Completions: what is read, and what the specification does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.chat_bodies import CALL, CLOSED, USER, body, messages, read, tool
from strictcall.emulator.conversation import Message, PastCall
from strictcall.emulator.refusal import Refusal


def test_reads_a_conversation() -> None:
    request = read(
        messages(
            {"role": "developer", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "hi"}, image("x")], "name": "ann"},
            {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
            {"role": "tool", "tool_call_id": "call_2", "content": "two"},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "one"}]},
            {"role": "assistant", "refusal": "No."},
            USER,
        )
    )
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "hi"),
        Message("assistant", "", (PastCall("call_1", "f", "{}"), PastCall("call_2", "f", "{}"))),
        Message("tool", "two", call_id="call_2"),
        Message("tool", "one", call_id="call_1"),
        Message("assistant", "No."),
        Message("user", "hi"),
    )
    assert (request.turn, request.rounds, request.prompt) == (2, 0, "hi")


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_reads_what_is_deprecated_in_history() -> None:
    request = read(
        messages(
            USER,
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "done"},
        )
    )
    assert [message.role for message in request.messages] == ["user", "assistant", "tool"]
    assert request.messages[1].calls == (PastCall("", "f", "{}"),)


@pytest.mark.parametrize(
    ("given", "strict", "place"),
    [
        (tool(), None, None),
        (tool(strict=True), True, "tools[0].function.strict"),
        (tool(strict=False), False, "tools[0].function.strict"),
        (tool(strict=None), None, None),
        ({**tool(), "strict": True}, True, "tools[0].strict"),
        ({**tool(strict=False), "strict": True}, False, "tools[0].function.strict"),
    ],
)
def test_a_marking_is_read_inside_the_function_or_beside_it(
    given: dict[str, Any], strict: bool | None, place: str | None
) -> None:
    (offered,) = read(body(tools=[given])).tools
    assert (offered.strict, offered.strict_place) == (strict, place)
    assert (offered.place, offered.schema_place) == ("tools[0].function", "tools[0].function.parameters")


@pytest.mark.parametrize(
    ("choice", "expected", "only", "forced"),
    [
        (None, "auto", None, False),
        ("none", "none", None, False),
        ("required", "required", None, False),
        ({"type": "function", "function": {"name": "f"}}, "required", {"f"}, True),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
            },
            "auto",
            {"f"},
            False,
        ),
    ],
)
def test_choices(choice: Any, expected: str, only: set[str] | None, forced: bool) -> None:
    request = read(body(tools=[tool()], tool_choice=choice))
    assert (request.choice, request.only, request.options["forced"]) == (expected, only, forced)


def test_reads_what_is_asked_of_the_answer() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "out", "schema": CLOSED, "strict": True}}
    request = read(
        body(
            response_format=wanted,
            max_completion_tokens=7,
            seed=3,
            stream=True,
            tools=[tool()],
            parallel_tool_calls=False,
            stream_options={"include_usage": True},
            top_k=4,
            strict_tools=True,
        )
    )
    assert request.output is not None
    assert (request.output.name, request.output.schema, request.output.strict) == ("out", CLOSED, True)
    assert (request.max_tokens, request.seed, request.stream, request.parallel) == (7, 3, True, False)
    assert request.strict is True
    assert request.unknown_fields == ("top_k", "strict_tools")
    assert request.options["include_usage"] is True


def test_an_object_of_any_kind_may_be_wanted() -> None:
    request = read({**messages({"role": "user", "content": "as JSON"}), "response_format": {"type": "json_object"}})
    assert request.output is not None
    assert request.output.schema is None


UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: "
)
ROLES = "Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
REFUSED: list[tuple[Any, str, str | None, str | None]] = [
    ([], "Invalid type: expected an object, but got an array instead.", None, "invalid_type"),
    ({"messages": [USER]}, "you must provide a model parameter", None, None),
    ({"model": "m"}, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    (
        {"model": 5, "messages": [USER]},
        "Invalid type for 'model': expected a string, but got an integer instead.",
        "model",
        "invalid_type",
    ),
    (
        {"model": "m", "messages": "hi"},
        "Invalid type for 'messages': expected an array of objects, but got a string instead.",
        "messages",
        "invalid_type",
    ),
    (
        messages(),
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "messages",
        "empty_array",
    ),
    (
        messages({"role": "boss", "content": "x"}),
        f"Invalid value: 'boss'. {ROLES}",
        "messages[0].role",
        "invalid_value",
    ),
    (
        messages({"role": "user", "content": 5}),
        (
            "Invalid type for 'messages[0].content': expected one of a string or array of objects, "
            "but got an integer instead."
        ),
        "messages[0].content",
        "invalid_type",
    ),
    (
        messages({"role": "user", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages.[0].content",
        None,
    ),
    (
        messages({"role": "assistant", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages.[0].content",
        None,
    ),
    (
        messages({"role": "user", "content": [{"type": "video"}]}),
        "Invalid value: 'video'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.",
        "messages[0].content[0].type",
        "invalid_value",
    ),
    (
        messages(USER, {"role": "assistant", "content": [image("x")]}),
        (
            "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message "
            "with role "
            "'assistant' contains an image URL."
        ),
        "messages[1]",
        "invalid_value",
    ),
    (
        messages(USER, {"role": "assistant", "tool_calls": []}),
        (
            "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty "
            "array instead."
        ),
        "messages[1].tool_calls",
        "empty_array",
    ),
    (
        messages(USER, {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}),
        (
            "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object "
            "instead."
        ),
        "messages[1].tool_calls[0].function.arguments",
        "invalid_type",
    ),
    (
        messages(
            USER,
            {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        ),
        "Missing required parameter: 'messages[1].tool_calls[0].id'.",
        "messages[1].tool_calls[0].id",
        "missing_required_parameter",
    ),
    (
        messages(USER, {"role": "assistant", "tool_calls": [CALL]}, USER),
        UNANSWERED + "call_1",
        "messages.[2].role",
        None,
    ),
    (messages(USER, {"role": "assistant", "tool_calls": [CALL]}), UNANSWERED + "call_1", "messages.[1].role", None),
    (
        messages(
            USER,
            {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": "call_2"}, {**CALL, "id": "call_3"}]},
            {"role": "tool", "tool_call_id": "call_2", "content": "x"},
            {"role": "assistant", "content": "so"},
        ),
        UNANSWERED + "call_1, call_3",
        "messages.[3].role",
        None,
    ),
    (
        messages(USER, {"role": "tool", "tool_call_id": "call_1", "content": "x"}),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "messages.[1].role",
        None,
    ),
    (
        messages(
            USER,
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
            USER,
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        ),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "messages.[4].role",
        None,
    ),
    (
        messages(
            USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "no", "content": "x"}
        ),
        "Invalid parameter: 'tool_call_id' of 'no' not found in 'tool_calls' of previous message.",
        "messages.[2].tool_call_id",
        None,
    ),
    (
        messages(
            USER,
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        ),
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and messages[3].",
        "messages.[3].tool_call_id",
        None,
    ),
    (
        messages(USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}),
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "messages.[2].tool_call_id",
        None,
    ),
    (
        body(max_tokens=0),
        "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
        "max_tokens",
        "integer_below_min_value",
    ),
    (
        body(temperature=3),
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
        "temperature",
        "decimal_above_max_value",
    ),
    (
        body(max_tokens=1.5),
        "Invalid type for 'max_tokens': expected an integer, but got a decimal number instead.",
        "max_tokens",
        "invalid_type",
    ),
    (
        body(stream="yes"),
        "Invalid type for 'stream': expected a boolean, but got a string instead.",
        "stream",
        "invalid_type",
    ),
    (
        body(max_tokens=1, max_completion_tokens=1),
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        None,
        "invalid_parameter_combination",
    ),
    (
        body(stream_options={"include_usage": True}),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
        None,
    ),
    (
        body(functions=[]),
        "Unsupported parameter: 'functions' is not supported with this model. Use 'tools' instead.",
        "functions",
        "unsupported_parameter",
    ),
    (
        body(stop=["a", "b", "c", "d", "e"]),
        (
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 "
            "instead."
        ),
        "stop",
        "array_above_max_length",
    ),
    (
        body(tools=[]),
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "tools",
        "empty_array",
    ),
    (
        body(tools=[{"type": "retrieval"}]),
        "Invalid value: 'retrieval'. Value must be 'function'.",
        "tools[0].type",
        "invalid_value",
    ),
    (
        body(tools=[{"type": "function"}]),
        "Missing required parameter: 'tools[0].function'.",
        "tools[0].function",
        "missing_required_parameter",
    ),
    (
        body(tools=[{"type": "function", "function": {"parameters": {}}}]),
        "Missing required parameter: 'tools[0].function.name'.",
        "tools[0].function.name",
        "missing_required_parameter",
    ),
    (
        body(tools=[tool(schema=True)]),
        "Invalid type for 'tools[0].function.parameters': expected an object, but got a boolean instead.",
        "tools[0].function.parameters",
        "invalid_type",
    ),
    (
        body(tool_choice="auto"),
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        "tool_choice",
        None,
    ),
    (
        body(parallel_tool_calls=True),
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        "parallel_tool_calls",
        None,
    ),
    (
        body(tools=[tool()], tool_choice="any"),
        "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
        "tool_choice",
        "invalid_value",
    ),
    (
        body(tools=[tool()], tool_choice={"type": "function", "name": "f"}),
        "Missing required parameter: 'tool_choice.function'.",
        "tool_choice.function",
        "missing_required_parameter",
    ),
    (
        body(response_format={"type": "json_object"}),
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        "messages",
        None,
    ),
    (
        body(response_format={"type": "json_schema"}),
        "Missing required parameter: 'response_format.json_schema'.",
        "response_format.json_schema",
        "missing_required_parameter",
    ),
    (
        body(response_format={"type": "json_schema", "json_schema": {"name": "a b", "schema": CLOSED}}),
        (
            "Invalid 'response_format.json_schema.name': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$'."
        ),
        "response_format.json_schema.name",
        "invalid_value",
    ),
]


@pytest.mark.parametrize(("given", "message", "param", "code"), REFUSED, ids=range(len(REFUSED)))
def test_a_body_off_the_specification_is_refused_in_openais_words(
    given: Any, message: str, param: str | None, code: str | None
) -> None:
    with pytest.raises(Refusal) as caught:
        read(given)
    refusal = caught.value
    assert (refusal.status, refusal.message, refusal.param, refusal.code) == (400, message, param, code)
