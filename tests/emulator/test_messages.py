"""The answers of the Messages API: they are as specified, and the official client reads every one."""

from __future__ import annotations

import asyncio
import json
import random
import sys

import anthropic
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from emulator.messages_bodies import TOOL, TYPES, body, node, result
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.messages import API
from strictcall.emulator.app import create_app
from strictcall.emulator.interface import Reply
from strictcall.emulator.script import Script, ScriptedConversation, ScriptedReply
from strictcall.emulator.settings import Settings
from strictcall.serving import serving

EVENTS = TypeAdapter(RawMessageStreamEvent)


# --- answers ----------------------------------------------------------------------------------------------------------

UNICODE = 'Zoë 🦀 \u2028 日本語 "quoted" \\ \n\ttab \x7f'
BIG = 123456789012345678901234567890
ANSWERS = {
    "text": Answer("Hello there, this is a text of some length."),
    "empty": Answer(""),
    "unicode": Answer(UNICODE),
    "one call": Answer(calls=(MadeCall("toolu_1", "f", '{"a":"' + "x" * 100 + '"}'),), stop="calls"),
    "three calls": Answer(
        "Let me see.",
        calls=tuple(MadeCall(f"toolu_{index}", "f", json.dumps({"a": UNICODE * index})) for index in range(3)),
        stop="calls",
    ),
    "big numbers": Answer(calls=(MadeCall("toolu_1", "f", f'{{"a":{BIG},"b":-{BIG}}}'),), stop="calls"),
    "empty arguments": Answer(calls=(MadeCall("toolu_1", "f", ""),), stop="calls"),
    "thoughts": Answer("Yes.", reasoning="First this, then that: " + UNICODE),
    "thoughts and call": Answer(reasoning="hm", calls=(MadeCall("toolu_1", "f", '{"a":"b"}'),), stop="calls"),
    "thoughts alone": Answer(reasoning="hm"),
    "cut text": Answer("Once upon a ti", stop="length"),
    "cut call": Answer(calls=(MadeCall("toolu_1", "f", '{"a":"one","b":[1,2],"c":"tw'),), stop="length"),
    "cut thoughts": Answer(reasoning="I wond", stop="length"),
    "refusal": Answer("I cannot help with that.", stop="refusal"),
}
STOPS = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}


def written(answer):
    request = API.read(body(tools=[TOOL]), {}, {})
    return Reply(request, answer, "0123456789", 1_700_000_000, random.Random(5))  # noqa: S311


@pytest.mark.parametrize("name", ANSWERS)
def test_a_message_has_what_the_specification_demands(name):
    message = Message.model_validate(json.loads(json.dumps(API.whole(written(ANSWERS[name])))))
    assert message.stop_reason == STOPS[ANSWERS[name].stop]
    assert (message.stop_details is not None) == (name == "refusal")
    assert message.usage.output_tokens == ANSWERS[name].tokens


@pytest.mark.parametrize("name", ANSWERS)
def test_events_are_valid_in_order_and_add_up(name):
    answer = ANSWERS[name]
    frames = list(API.frames(written(answer)))
    for frame in frames:
        assert frame.event == frame.data["type"]
        if frame.event != "ping":
            EVENTS.validate_python(frame.data)
    kinds = [frame.event for frame in frames if frame.event != "ping"]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    joined = {}
    deltas = [frame.data for frame in frames if frame.event == "content_block_delta"]
    for data in deltas:
        fragment = (
            next(value for key, value in data["delta"].items() if key not in ("type", "signature"))
            if (data["delta"]["type"] != "signature_delta")
            else ""
        )
        joined[data["index"]] = joined.get(data["index"], "") + fragment
    texts = [said for said in (answer.reasoning, answer.text) if said]
    assert list(joined.values()) == [*texts, *(call.arguments for call in answer.calls)]
    starts = [frame.data["index"] for frame in frames if frame.event == "content_block_start"]
    stops = [frame.data["index"] for frame in frames if frame.event == "content_block_stop"]
    assert starts == stops == list(range(len(joined)))


def test_a_call_begins_with_an_empty_fragment():
    frames = list(API.frames(written(ANSWERS["one call"])))
    at = next(index for index, frame in enumerate(frames) if frame.event == "content_block_start")
    assert frames[at].data["content_block"]["input"] == {}
    assert frames[at + 1].event == "ping"
    assert frames[at + 2].data["delta"] == {"type": "input_json_delta", "partial_json": ""}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (f'{{"a":{BIG}}}', {"a": BIG}),
        ('{"a":"one","b":[1,2],"c":"tw', {"a": "one", "b": [1, 2]}),
        ('{"a":{"b":', {"a": {}}),
        ('{"a":1e400,"b":-1e400}', {"a": sys.float_info.max, "b": -sys.float_info.max}),
        ('{"a":1e400,"b":"x', {"a": sys.float_info.max}),
        ("", {}),
        ("[1]", {}),
        ("no JSON", {}),
        ('{"a":NaN}', {}),
        ('{"a":' * 100_000, {}),
    ],
)
def test_arguments_are_read_as_far_as_they_can_be(arguments, expected):
    answer = Answer(calls=(MadeCall("toolu_1", "f", arguments),), stop="length")
    whole = API.whole(written(answer))["content"][0]["input"]
    assert whole == expected
    assert all(type(whole[name]) is type(expected[name]) for name in expected)


# --- with the official client -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address():
    replies = [ScriptedConversation(f"<{name}>", (ScriptedReply(answer),) * 2) for name, answer in ANSWERS.items()]
    with serving(create_app(Settings(answers="scripted", script=Script(tuple(replies)), models=("m",)))) as url:
        yield url


@pytest.fixture
def client(address):
    with anthropic.Anthropic(base_url=address, api_key="any", max_retries=0) as made:
        yield made


def asked(name, **fields):
    return {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": f"<{name}>"}],
        "tools": [TOOL],
        **fields,
    }


@pytest.mark.parametrize("name", ANSWERS)
def test_the_client_reads_a_whole_answer(client, name):
    answer = ANSWERS[name]
    message = client.messages.create(**asked(name))
    assert "".join(block.text for block in message.content if block.type == "text") == answer.text
    assert "".join(block.thinking for block in message.content if block.type == "thinking") == answer.reasoning
    calls = [block for block in message.content if block.type == "tool_use"]
    assert [(call.id, call.name) for call in calls] == [(call.id, call.name) for call in answer.calls]
    if answer.stop == "calls":
        assert [call.input for call in calls] == [json.loads(call.arguments or "{}") for call in answer.calls]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_clients_accumulator_agrees(client, name):
    whole = client.messages.create(**asked(name))
    with client.messages.stream(**asked(name)) as stream:
        final = stream.get_final_message()
    assert [block.to_dict() for block in final.content] == [block.to_dict() for block in whole.content]
    assert (final.stop_reason, final.stop_details) == (whole.stop_reason, whole.stop_details)
    assert final.usage.output_tokens == whole.usage.output_tokens


def test_the_async_client_reads_both(address):
    async def both():
        async with anthropic.AsyncAnthropic(base_url=address, api_key="any", max_retries=0) as client:
            whole = await client.messages.create(**asked("three calls"))
            async with client.messages.stream(**asked("three calls")) as stream:
                return whole, await stream.get_final_message()

    whole, final = asyncio.run(both())
    assert [block.to_dict() for block in final.content] == [block.to_dict() for block in whole.content]
    assert len(final.content) == 4


def test_what_was_answered_is_taken_back_as_history(client):
    request = asked("thoughts and call")
    first = client.messages.create(**request)
    history = [*request["messages"], {"role": "assistant", "content": first.content}]
    answered = {"role": "user", "content": [result(first.content[-1].id)]}
    again = client.messages.create(**{**request, "messages": [*history, answered]})
    assert again.content[-1].name == "f"
    with pytest.raises(anthropic.BadRequestError, match="tool_use` ids were found without `tool_result` blocks"):
        client.messages.create(**{**request, "messages": history})
    first.content[0].thinking += "!"
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `thinking` block"):
        client.messages.create(**{**request, "messages": [*history, answered]})


def test_the_clients_exceptions(client):
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(
            **asked("text", tools=[{**TOOL, "input_schema": node({"type": "string", "maxLength": 3})}])
        )
    assert caught.value.type == "invalid_request_error"
    assert caught.value.api_message == "tools.0.custom: For 'string' type, property 'maxLength' is not supported"
    assert caught.value.request_id == caught.value.body["request_id"]
    with pytest.raises(anthropic.BadRequestError, match="foo: Extra inputs are not permitted"):
        client.messages.create(**asked("text", extra_body={"foo": 1}))
    with pytest.raises(anthropic.BadRequestError, match="Tool 'x' not found in provided tools"):
        client.messages.create(**asked("text", tool_choice={"type": "tool", "name": "x"}))
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.messages.create(**asked("text", model="other"))
    assert missing.value.type == "not_found_error"


EXCEPTIONS = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    404: anthropic.NotFoundError,
    409: anthropic.ConflictError,
    429: anthropic.RateLimitError,
}


@pytest.mark.parametrize("status", [400, 401, 402, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529])
def test_the_client_raises_its_own_exception_for_a_status(client, status):
    expected = EXCEPTIONS.get(status, anthropic.InternalServerError if status == 500 else anthropic.APIStatusError)
    with pytest.raises(expected) as caught:
        client.messages.create(**asked("text", extra_headers={"x-emulate-fault": str(status)}))
    assert caught.value.status_code == status
    assert caught.value.type == TYPES[status]
