"""The answers of the Responses API: they are as specified, and the official client reads every one."""

from __future__ import annotations

import asyncio
import json
import random

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from emulator.responses_bodies import OPEN, OPTIONAL, SCHEMA, TOOL, body
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.responses import API
from strictcall.emulator.app import create_app
from strictcall.emulator.interface import Reply
from strictcall.emulator.refusal import STATUS, Refusal
from strictcall.emulator.script import Script, ScriptedConversation, ScriptedReply
from strictcall.emulator.settings import Settings
from strictcall.serving import serving

EVENTS = TypeAdapter(ResponseStreamEvent)


# --- answers ----------------------------------------------------------------------------------------------------------

UNICODE = 'Zoë 🦀 \u2028 日本語 "quoted" \\ \n\ttab \x7f'
ANSWERS = {
    "text": Answer("Hello there, this is a text of some length."),
    "empty": Answer(""),
    "unicode": Answer(UNICODE),
    "one call": Answer(calls=(MadeCall("call_1", "f", '{"a":"' + "x" * 100 + '"}'),), stop="calls"),
    "three calls": Answer(
        "Let me see.",
        calls=tuple(MadeCall(f"call_{index}", "f", json.dumps({"a": UNICODE * index})) for index in range(3)),
        stop="calls",
    ),
    "empty arguments": Answer(calls=(MadeCall("call_1", "f", ""),), stop="calls"),
    "thoughts": Answer("Yes.", reasoning="First this, then that: " + UNICODE),
    "thoughts and call": Answer(reasoning="hm", calls=(MadeCall("call_1", "f", "{}"),), stop="calls"),
    "thoughts alone": Answer(reasoning="hm"),
    "cut text": Answer("Once upon a ti", stop="length"),
    "cut call": Answer(calls=(MadeCall("call_1", "f", '{"a":"on'),), stop="length"),
    "cut thoughts": Answer(reasoning="I wond", stop="length"),
    "refusal": Answer("I cannot help with that.", stop="refusal"),
}


def written(answer, **fields):
    request = API.read(body(tools=[TOOL], **fields), {}, {})
    return Reply(request, answer, "0123456789", 1_700_000_000, random.Random(5))  # noqa: S311


def shape(items):
    """Output items without their ids."""
    return [{name: value for name, value in item.items() if name not in ("id", "call_id")} for item in items]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_response_has_what_the_specification_demands(name):
    value = json.loads(json.dumps(API.whole(written(ANSWERS[name]))))
    response = Response.model_validate(value)
    assert response.status == ("incomplete" if ANSWERS[name].stop == "length" else "completed")
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response.tools[0].strict is True


@pytest.mark.parametrize("name", ANSWERS)
def test_events_are_valid_in_order_and_add_up(name):
    reply = written(ANSWERS[name])
    frames = list(API.frames(reply))
    assert [frame.data["sequence_number"] for frame in frames] == list(range(len(frames)))
    for frame in frames:
        assert frame.event == EVENTS.validate_python(frame.data).type
    kinds = [frame.event for frame in frames]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == ("response.incomplete" if ANSWERS[name].stop == "length" else "response.completed")
    assert frames[-1].data["response"] == API.whole(reply)
    done = [frame.data["item"] for frame in frames if frame.event == "response.output_item.done"]
    assert done == frames[-1].data["response"]["output"]
    joined = {}
    for frame in frames:
        if frame.event.endswith(".delta"):
            joined[frame.data["item_id"]] = joined.get(frame.data["item_id"], "") + frame.data["delta"]
    texts = [text for text in (ANSWERS[name].reasoning, ANSWERS[name].text) if text]
    assert list(joined.values()) == [*texts, *(call.arguments for call in ANSWERS[name].calls if call.arguments)]


def test_a_cut_answer_says_so():
    value = API.whole(written(ANSWERS["cut call"]))
    assert value["incomplete_details"] == {"reason": "max_output_tokens"}
    assert (value["output"][-1]["status"], value["output"][-1]["arguments"]) == ("incomplete", '{"a":"on')


def test_obfuscation_can_be_declined():
    with_it = [frame.data for frame in API.frames(written(ANSWERS["text"])) if frame.event.endswith(".delta")]
    options = {"include_obfuscation": False}
    without = [frame.data for frame in API.frames(written(ANSWERS["text"], stream_options=options))]
    assert all("obfuscation" in data for data in with_it)
    assert not any("obfuscation" in data for data in without)


@pytest.mark.parametrize(
    ("marking", "schema", "echoed"),
    [(None, SCHEMA, True), (None, OPTIONAL, False), (False, SCHEMA, False), (True, SCHEMA, True)],
)
def test_a_tool_that_says_nothing_is_strict_where_its_schema_can_be(marking, schema, echoed):
    request = API.read(body(tools=[{**TOOL, "strict": marking, "parameters": schema}]), {}, {})
    reply = Reply(request, Answer("x"), "1", 0, random.Random(1))  # noqa: S311
    assert API.whole(reply)["tools"][0]["strict"] is echoed


# --- with the official client -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address():
    replies = [ScriptedConversation(f"<{name}>", (ScriptedReply(answer),) * 2) for name, answer in ANSWERS.items()]
    settings = Settings(answers="scripted", script=Script(tuple(replies)), models=("m",))
    with serving(create_app(settings)) as url:
        yield f"{url}/v1"


@pytest.fixture
def client(address):
    with openai.OpenAI(base_url=address, api_key="any", max_retries=0) as made:
        yield made


@pytest.mark.parametrize("name", ANSWERS)
def test_the_client_reads_a_whole_answer(client, name):
    answer = ANSWERS[name]
    response = client.responses.create(model="m", input=f"<{name}>", tools=[TOOL])
    assert response.output_text == ("" if answer.stop == "refusal" else answer.text)
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(call.name, call.arguments) for call in calls] == [(call.name, call.arguments) for call in answer.calls]
    assert [item.summary[0].text for item in response.output if item.type == "reasoning"] == (
        [answer.reasoning] if answer.reasoning else []
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_the_client_reads_a_stream(client, name):
    whole = client.responses.create(model="m", input=f"<{name}>", tools=[TOOL]).to_dict()
    with client.responses.create(model="m", input=f"<{name}>", tools=[TOOL], stream=True) as stream:
        events = list(stream)
    ended = events[-1].response
    assert ended.status == whole["status"]
    assert shape(ended.to_dict()["output"]) == shape(whole["output"])


# The client reads a strict tool's arguments itself, and so cannot have text that is cut off or empty.
@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.startswith("cut") and name != "empty arguments"])
def test_the_clients_accumulator_agrees(client, name):
    with client.responses.stream(model="m", input=f"<{name}>", tools=[TOOL]) as stream:
        snapshots = [event.snapshot for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    if ANSWERS[name].stop != "refusal" and ANSWERS[name].text:
        assert snapshots[-1] == ANSWERS[name].text
    assert [call.arguments for call in final.output if call.type == "function_call"] == [
        call.arguments for call in ANSWERS[name].calls
    ]


def test_the_async_client_reads_both(address):
    async def both():
        async with openai.AsyncOpenAI(base_url=address, api_key="any", max_retries=0) as client:
            whole = await client.responses.create(model="m", input="<three calls>", tools=[TOOL])
            async with client.responses.stream(model="m", input="<three calls>", tools=[TOOL]) as stream:
                return whole, await stream.get_final_response()

    whole, final = asyncio.run(both())
    assert whole.output_text == final.output_text == "Let me see."
    assert [item.arguments for item in whole.output[1:]] == [item.arguments for item in final.output[1:]]


def test_what_was_answered_is_taken_back_as_history(client):
    first = client.responses.create(model="m", input="<thoughts and call>", tools=[TOOL])
    output = [item.to_dict() for item in first.output]
    result = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "done"}
    history = [{"role": "user", "content": "<thoughts and call>"}, *output]
    again = client.responses.create(model="m", input=[*history, result], tools=[TOOL], store=False)
    assert again.output[-1].name == "f"
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1"):
        client.responses.create(model="m", input=history, tools=[TOOL])
    output[0]["encrypted_content"] += "AAAA"
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", input=[*history[:1], *output, result], tools=[TOOL])
    assert caught.value.code == "invalid_encrypted_content"


def test_the_clients_exceptions(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", input="<text>", previous_response_id="resp_x")
    assert (caught.value.param, caught.value.code) == ("previous_response_id", "previous_response_not_found")
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(model="other", input="<text>")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as loose:
        client.responses.create(model="m", input="<text>", tools=[{**TOOL, "parameters": OPEN}])
    assert loose.value.code == "invalid_function_parameters"
    assert loose.value.param == "tools[0].parameters"


EXCEPTIONS = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    409: openai.ConflictError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
}


@pytest.mark.parametrize("status", STATUS)
def test_every_status_has_a_body_that_names_its_kind(status):
    error = API.error(Refusal("words", status), "req_1")["error"]
    assert error["message"] == "words"
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"] == "invalid_request_error") == (status in (400, 401, 403, 404, 413, 422))


@pytest.mark.parametrize("status", [400, 401, 402, 404, 408, 409, 413, 429, 500, 503])
def test_the_client_raises_its_own_exception_for_a_status(client, status):
    expected = EXCEPTIONS.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    with pytest.raises(expected) as caught:
        client.responses.create(model="m", input="<text>", extra_headers={"x-emulate-fault": str(status)})
    assert caught.value.status_code == status
    assert caught.value.type
