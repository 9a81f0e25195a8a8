"""Reading a Messages request: what is refused and in which words, and what is made of the rest."""

from __future__ import annotations

import pytest

from emulator.messages_bodies import ASSISTANT, SCHEMA, TOOL, USER, body, result, says, system, text, thought, use
from strictcall.emulator.apis.messages import API
from strictcall.emulator.apis.sealing import seal
from strictcall.emulator.conversation import PastCall, WantedOutput
from strictcall.emulator.refusal import Refusal


def refused(value, **query):
    with pytest.raises(Refusal) as caught:
        API.read(value, {}, query)
    return caught.value


# --- what is refused --------------------------------------------------------------------------------------------------

ANY_POSITION = "; the directive-only form (content: [] with output_config) is accepted at any position"
MUST_HAVE_RESULT = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
MUST_HAVE_USE = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
BUDGET = {"type": "enabled", "budget_tokens": 1024}
BAD = [
    # the body's own fields
    ({"model": ...}, "model: Field required"),
    ({"model": None}, "model: Input should be a valid string"),
    ({"model": ""}, "model: String should have at least 1 character"),
    ({"max_tokens": ...}, "max_tokens: Field required"),
    ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": 1.5}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": -1}, "max_tokens: must be greater than or equal to 0"),
    ({"messages": ...}, "messages: Field required"),
    ({"messages": "x"}, "messages: Input should be a valid array"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"temperature": 2}, "temperature: range: 0..1"),
    ({"temperature": None}, "temperature: Input should be a valid number"),
    ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    ({"system": 7}, "system: Input should be a valid array"),
    ({"system": [7]}, "system.0: Input does not match the expected shape."),
    ({"system": [text("")]}, "system: text content blocks must be non-empty"),
    ({"metadata": "x"}, "metadata: Input does not match the expected shape."),
    ({"metadata": {"a": "x"}}, "metadata.a: Extra inputs are not permitted"),
    ({"stop_sequences": [1]}, "stop_sequences.0: Input should be a valid string"),
    ({"service_tier": "x"}, "service_tier: Input should be 'auto' or 'standard_only'"),
    # turns
    ({"messages": [7]}, "messages.0: Input should be an object"),
    ({"messages": [{"content": "x"}]}, "messages.0.role: Field required"),
    (
        {"messages": [{"role": "tool", "content": "x"}]},
        'messages: Unexpected role "tool". Allowed roles are "user" or "assistant"',
    ),
    ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    ({"messages": [{"role": "user", "content": None}]}, "messages.0.content: Input should be a valid array"),
    ({"messages": [{**USER, "name": "x"}]}, "messages.0.name: Extra inputs are not permitted"),
    ({"messages": [ASSISTANT]}, 'messages: first message must use the "user" role'),
    ({"messages": [says("user")]}, "messages.0: user messages must have non-empty content"),
    (
        {"messages": [USER, ASSISTANT, says("user"), says("user")]},
        "messages.2: user messages must have non-empty content",
    ),
    (
        {"messages": [USER, says("assistant"), USER]},
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    ),
    ({"messages": [says("user", text(""))]}, "messages: text content blocks must be non-empty"),
    ({"messages": [says("user", text(" \n"))]}, "messages: text content blocks must contain non-whitespace text"),
    (
        {"messages": [USER, {"role": "assistant", "content": "Well "}]},
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    (
        {"messages": [system("x"), USER]},
        "messages.0: use the top-level 'system' parameter for the initial system prompt" + ANY_POSITION,
    ),
    (
        {"messages": [USER, system("x"), system("y"), USER]},
        "messages.2: role 'system' must precede an 'assistant' message or end the array" + ANY_POSITION,
    ),
    ({"messages": [USER, system([])]}, "messages.1: system content must contain at least one block"),
    # blocks
    ({"messages": [says("user", 7)]}, "messages.0.content.0: Input should be an object"),
    ({"messages": [says("user", {})]}, "messages.0.content.0.type: Field required"),
    ({"messages": [says("user", {"type": "text"})]}, "messages.0.content.0.text.text: Field required"),
    (
        {"messages": [says("user", {**text("x"), "id": "1"})]},
        "messages.0.content.0.text.id: Extra inputs are not permitted",
    ),
    (
        {"messages": [USER, says("assistant", use(input="{}")), says("user", result())]},
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    (
        {"messages": [USER, says("assistant", use(input=None)), says("user", result())]},
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    (
        {"messages": [USER, says("assistant", use("call.1")), says("user", result("call.1"))]},
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        {"messages": [USER, says("assistant", {**use(), "name": "a.b"}), says("user", result())]},
        "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    (
        {"messages": [USER, says("assistant", use()), says("user", {"type": "tool_result", "content": "x"})]},
        "messages.2.content.0.tool_result.tool_use_id: Field required",
    ),
    (
        {"messages": [USER, says("assistant", use()), says("user", result(content=[{"type": "text"}]))]},
        "messages.2.content.0.tool_result.content.0.text.text: Field required",
    ),
    (
        {"messages": [USER, says("assistant", use(), result())]},
        "messages.1: `tool_result` blocks can only be in `user` messages",
    ),
    ({"messages": [says("user", use())]}, "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    # history
    (
        {"messages": [USER, says("assistant", use()), USER]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. "
        + MUST_HAVE_RESULT,
    ),
    (
        {"messages": [USER, says("assistant", use("a"), use("b"), use("c")), says("user", result("b"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, c. "
        + MUST_HAVE_RESULT,
    ),
    (
        {"messages": [USER, says("assistant", use())]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. "
        + MUST_HAVE_RESULT,
    ),
    (
        {"messages": [USER, says("assistant", use()), says("user", text("first"), result())]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. "
        + MUST_HAVE_RESULT,
    ),
    (
        {"messages": [says("user", text("x"), result())]},
        "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. " + MUST_HAVE_USE,
    ),
    (
        {"messages": [USER, says("assistant", use()), says("user", result()), ASSISTANT, says("user", result())]},
        "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. " + MUST_HAVE_USE,
    ),
    (
        {"messages": [USER, says("assistant", use()), says("user", result(), result())]},
        (
            "messages.2.content.1: each tool_use must have a single result. "
            "Found multiple `tool_result` blocks with id: toolu_1"
        ),
    ),
    (
        {"messages": [USER, says("assistant", use(), use()), says("user", result())]},
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    (
        {"messages": [USER, says("assistant", thought("a", "b")), USER]},
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    # tools
    ({"tools": "x"}, "tools: Input should be a valid array"),
    ({"tools": [7]}, "tools.0: Input should be an object"),
    ({"tools": [{"input_schema": SCHEMA}]}, "tools.0.custom.name: Field required"),
    ({"tools": [{"name": "f"}]}, "tools.0.custom.input_schema: Field required"),
    ({"tools": [TOOL, {**TOOL, "parameters": {}}]}, "tools.1.custom.parameters: Extra inputs are not permitted"),
    ({"tools": [{**TOOL, "strict": 1}]}, "tools.0.custom.strict: Input should be a valid boolean"),
    ({"tool_choice": "auto"}, "tool_choice: Input should be an object"),
    (
        {"tools": [TOOL], "tool_choice": {"type": "required"}},
        (
            "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: "
            "'any', 'auto', 'none', 'tool'"
        ),
    ),
    ({"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice.tool.name: Field required"),
    ({"tool_choice": {"type": "auto"}}, "tool_choice.auto may only be specified while providing tools"),
    # thinking and structured output
    (
        {"thinking": {**BUDGET, "budget_tokens": 100}},
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
    (
        {"thinking": BUDGET, "max_tokens": 2000, "tools": [TOOL], "tool_choice": {"type": "any"}},
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    (
        {"output_format": {"type": "json_schema", "schema": SCHEMA}},
        "output_format: This field is deprecated. Use 'output_config.format' instead.",
    ),
    ({"output_config": "x"}, "output_config: Input does not match the expected shape."),
    ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field required"),
    (
        {"output_config": {"format": {"type": "json_object"}}},
        "output_config.format.type: Input should be 'json_schema'",
    ),
]


@pytest.mark.parametrize(("fields", "message"), BAD)
def test_a_bad_body_is_refused_in_anthropics_words(fields, message):
    refusal = refused(body(**fields))
    assert (refusal.message, refusal.status) == (message, 400)
    assert API.error(refusal, "req_1") == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": message},
        "request_id": "req_1",
    }


@pytest.mark.parametrize("value", [None, 7, "text", [], True])
def test_a_body_that_is_no_object_is_refused(value):
    assert refused(value).message == "Input should be an object"


def test_words_that_are_long():
    assert refused(body(thinking=BUDGET)).message.startswith(
        "`max_tokens` must be greater than `thinking.budget_tokens`."
    )
    assert refused(body(tools=[{"type": "function", "function": {}}])).message.startswith(
        "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'bash_"
    )
    assert refused(body(messages=[says("user", {"type": "input_text"})])).message.startswith(
        "messages.0.content.0: Input tag 'input_text' found using 'type' does not match any of the expected tags: '"
    )


def test_a_model_that_thinks_must_have_thought():
    history = [USER, says("assistant", text("hm"), use()), says("user", result())]
    told = refused(body(messages=history, thinking=BUDGET, max_tokens=2000)).message
    assert told.startswith("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. ")
    history[1]["content"].append(thought("late"))
    told = refused(body(messages=history, thinking=BUDGET, max_tokens=2000)).message
    assert told == (
        "messages.1.content.0: If an assistant message contains any thinking blocks, the first block must be "
        "`thinking` or `redacted_thinking`. Found `text`."
    )
    history[1]["content"] = [thought("early"), use()]
    assert API.read(body(messages=history, thinking=BUDGET, max_tokens=2000), {}, {}).turn == 1


# --- what is taken ----------------------------------------------------------------------------------------------------

TAKEN = [
    [USER, USER, ASSISTANT, ASSISTANT],
    [USER, system("x")],
    [USER, system("x"), system([text("y")]), ASSISTANT, USER],
    [says("user"), USER],
    [USER, says("user")],
    [USER, says("assistant")],
    [USER, says("assistant", use("a"), use("b")), says("user", result("b")), says("user", result("a"), text("go on"))],
    [USER, says("assistant", text("x"), use()), says("user", result(content=[], is_error=True))],
    [USER, says("assistant", thought("hm"), {"type": "redacted_thinking", "data": seal("x")}, text("x")), USER],
    [says("user", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}})],
]


@pytest.mark.parametrize("messages", TAKEN)
def test_what_the_api_takes_is_taken(messages):
    assert API.read(body(messages=messages), {}, {}).messages


def test_a_conversation_is_read_whole():
    request = API.read(
        body(
            system=[text("be short"), text("and kind")],
            messages=[
                says("user", text("a"), text("b")),
                says("assistant", thought("hm"), text("I will."), use(input={"a": "x"}), use("toolu_2")),
                says("user", result(), result("toolu_2", content=[text("y"), text("z")]), text("so?")),
            ],
            tools=[TOOL, {"type": "web_search_20250305", "name": "web_search"}, {"name": "g", "input_schema": True}],
            tool_choice={"type": "tool", "name": "g", "disable_parallel_tool_use": True},
            output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
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
        ("assistant", "I will."),
        ("tool", "done"),
        ("tool", "yz"),
        ("user", "so?"),
    ]
    assert request.messages[3].calls == (PastCall("toolu_1", "f", {"a": "x"}), PastCall("toolu_2", "f", {}))
    assert [message.call_id for message in request.messages if message.role == "tool"] == ["toolu_1", "toolu_2"]
    assert [(tool.name, tool.strict, tool.place, tool.schema_place) for tool in request.tools] == [
        ("f", True, "tools.0.custom", "tools.0.custom.input_schema"),
        ("g", None, "tools.2.custom", "tools.2.custom.input_schema"),
    ]
    assert (request.choice, request.only, request.parallel) == ("required", frozenset({"g"}), False)
    assert request.output == WantedOutput("", SCHEMA, "output_config.format.schema", None)
    assert (request.max_tokens, request.stream, request.unknown_fields) == (100, True, ("seed",))


def test_the_old_field_is_taken_on_the_beta_surface():
    old = {"type": "json_schema", "schema": SCHEMA}
    request = API.read(body(output_format=old, mcp_servers=[]), {}, {"beta": "true"})
    assert request.output == WantedOutput("", SCHEMA, "output_format.schema", None)
    assert request.unknown_fields == ()
