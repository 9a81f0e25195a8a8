"""Chat Completions: answers in their envelopes, and as the official client reads them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest

from emulator.chat_bodies import CLOSED, body, read, tool
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.chat_completions import API
from strictcall.emulator.app import create_app
from strictcall.emulator.interface import Reply
from strictcall.emulator.script import Script, ScriptedConversation, ScriptedReply
from strictcall.emulator.settings import Settings
from strictcall.serving import serving

# --- answers ----------------------------------------------------------------------------------------------------------

THREE = tuple(MadeCall(f"call_{n}", f"tool_{n}", json.dumps({"n": n, "ü": "é" * 50, "big": 10**30})) for n in range(3))
ANSWERS = {
    "text": Answer("Good day to you, and a long one at that."),
    "nothing": Answer(""),
    "unicode": Answer('naïve 🎉 "quoted"\n\t\u2028\u0000 ' + "字" * 40),
    "call": Answer(calls=THREE[:1], stop="calls"),
    "three": Answer(calls=THREE, stop="calls"),
    "both": Answer("Let me look.", calls=THREE[:2], stop="calls"),
    "no arguments": Answer(calls=(MadeCall("call_0", "f", ""),), stop="calls"),
    "thought": Answer("So.", reasoning="First this, then that."),
    "only thought": Answer(reasoning="Nothing but thoughts."),
    "cut": Answer(calls=(*THREE[:1], MadeCall("call_9", "f", '{"a": "b')), stop="length"),
    "cut text": Answer("It was a dark and", stop="length"),
    "refused": Answer("I can't help with that.", stop="refusal"),
}
FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "refusal": "stop"}


def reply(answer: Answer, seed: int, **fields: Any) -> Reply:
    return Reply(read(body(**fields)), answer, "abc", 1_700_000_000, random.Random(seed))  # noqa: S311 - repeatable


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", ANSWERS)
def test_a_stream_adds_up_to_the_whole_answer(case: str, seed: int) -> None:
    whole = API.whole(reply(ANSWERS[case], seed))
    chunks = [frame.data for frame in API.frames(reply(ANSWERS[case], seed, stream=True))]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    said: dict[str, Any] = {"content": None, "refusal": None, "reasoning_content": None}
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        for name, before in said.items():
            if delta.get(name) is not None:
                said[name] = (before or "") + delta[name]
        for part in delta.get("tool_calls", []):
            if "id" in part:
                assert part["index"] == len(calls), "calls are opened in their order"
                calls.append({"id": part["id"], "type": part["type"], "function": dict(part["function"])})
            else:
                assert set(part) == {"index", "function"}
                calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
    message = whole["choices"][0]["message"]
    assert deltas[0]["role"] == "assistant"
    assert not any("role" in delta for delta in deltas[1:])
    assert said["content"] == message["content"]
    assert said["refusal"] == message["refusal"]
    assert said["reasoning_content"] == message.get("reasoning_content")
    assert calls == message.get("tool_calls", [])
    finishes = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert finishes == [None] * (len(chunks) - 1) + [FINISH[ANSWERS[case].stop]]
    assert finishes[-1] == whole["choices"][0]["finish_reason"]
    assert {chunk["id"] for chunk in chunks} == {whole["id"]} == {"chatcmpl-abc"}


def test_fragments_of_parallel_calls_are_sometimes_mixed() -> None:
    def order(seed: int, **fields: Any) -> list[int]:
        chunks = [frame.data for frame in API.frames(reply(ANSWERS["three"], seed, stream=True, **fields))]
        return [part["index"] for chunk in chunks for part in chunk["choices"][0]["delta"].get("tool_calls", [])]

    mixed = [order(seed) != sorted(order(seed)) for seed in range(20)]
    assert any(mixed)
    assert not all(mixed)
    strict = [tool(strict=True)]
    assert all(order(seed, tools=strict) == sorted(order(seed, tools=strict)) for seed in range(20))


def test_a_stream_is_cut_the_same_way_each_time() -> None:
    first, second = (list(API.frames(reply(ANSWERS["three"], 7, stream=True))) for _ in range(2))
    assert first == second


def test_usage_comes_last_with_no_choice_where_asked_for() -> None:
    asked = reply(ANSWERS["thought"], 1, stream=True, stream_options={"include_usage": True})
    *chunks, last = [frame.data for frame in API.frames(asked)]
    assert all(chunk["usage"] is None for chunk in chunks)
    assert last["choices"] == []
    usage = last["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 0 < usage["completion_tokens_details"]["reasoning_tokens"] < usage["completion_tokens"]
    assert all("usage" not in frame.data for frame in API.frames(reply(ANSWERS["thought"], 1, stream=True)))


def test_padding_can_be_declined() -> None:
    declined = reply(ANSWERS["text"], 1, stream=True, stream_options={"include_obfuscation": False})
    assert all("obfuscation" not in frame.data for frame in API.frames(declined))
    assert all(frame.data["obfuscation"] for frame in API.frames(reply(ANSWERS["text"], 1, stream=True)))


def test_a_call_that_the_choice_named_ends_with_stop() -> None:
    named = {"type": "function", "function": {"name": "f"}}
    asked = reply(ANSWERS["call"], 1, tools=[tool()], tool_choice=named)
    assert API.whole(asked)["choices"][0]["finish_reason"] == "stop"
    assert API.whole(replace(asked, answer=ANSWERS["cut"]))["choices"][0]["finish_reason"] == "length"


def test_more_than_one_choice() -> None:
    assert [choice["index"] for choice in API.whole(reply(ANSWERS["text"], 1, n=3))["choices"]] == [0, 1, 2]
    chunks = [frame.data["choices"][0] for frame in API.frames(reply(ANSWERS["text"], 1, n=2, stream=True))]
    assert [chunk["index"] for chunk in chunks if chunk["finish_reason"]] == [0, 1]


# --- the official client ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    conversations = tuple(
        ScriptedConversation(f"case {name}.", (ScriptedReply(answer),)) for name, answer in ANSWERS.items()
    )
    structured = ScriptedConversation("case parsed.", (ScriptedReply(Answer('{"a": "b"}')),))
    settings = Settings(script=Script((*conversations, structured)), answers="scripted")
    with serving(create_app(settings)) as address:
        yield f"{address}/v1"


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="k", max_retries=0) as made:
        yield made


def asked(case: str) -> Any:
    return [{"role": "user", "content": f"case {case}."}]


def check(message: Any, finish: str | None, case: str) -> None:
    answer = ANSWERS[case]
    refused = answer.stop == "refusal"
    assert (message.content or "") == ("" if refused else answer.text)
    assert (message.refusal or "") == (answer.text if refused else "")
    assert finish == FINISH[answer.stop]
    made = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
    assert made == [(call.id, call.name, call.arguments) for call in answer.calls]


@pytest.mark.parametrize("case", ANSWERS)
def test_the_client_reads_a_whole_answer(client: openai.OpenAI, case: str) -> None:
    completion = client.chat.completions.create(model="m", messages=asked(case))
    check(completion.choices[0].message, completion.choices[0].finish_reason, case)
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    if ANSWERS[case].reasoning:
        assert completion.choices[0].message.model_extra == {"reasoning_content": ANSWERS[case].reasoning}


@pytest.mark.parametrize("case", [case for case in ANSWERS if ANSWERS[case].stop != "length"])
def test_the_client_adds_up_a_stream(client: openai.OpenAI, case: str) -> None:
    with client.chat.completions.stream(
        model="m", messages=asked(case), stream_options={"include_usage": True}
    ) as stream:
        for _ in stream:
            pass
        completion = stream.get_final_completion()
    check(completion.choices[0].message, completion.choices[0].finish_reason, case)
    assert completion.usage is not None


def test_the_client_parses_the_calls_of_strict_tools(client: openai.OpenAI) -> None:
    tools: Any = [tool(f"tool_{n}", strict=True) for n in range(3)]
    for _ in range(8):
        # Each time is cut otherwise: the emulator counts how many times a request came.
        with client.chat.completions.stream(model="m", messages=asked("three"), tools=tools) as stream:
            calls = stream.until_done().get_final_completion().choices[0].message.tool_calls
        assert calls is not None
        assert [call.function.parsed_arguments for call in calls] == [json.loads(call.arguments) for call in THREE]


def test_the_asynchronous_client_reads_both(base_url: str) -> None:
    async def talk() -> None:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
            completion = await client.chat.completions.create(model="m", messages=asked("three"))
            check(completion.choices[0].message, completion.choices[0].finish_reason, "three")
            text = ""
            stream = await client.chat.completions.create(model="m", messages=asked("unicode"), stream=True)
            async for chunk in stream:
                text += chunk.choices[0].delta.content or ""
            assert text == ANSWERS["unicode"].text

    asyncio.run(talk())


def test_the_client_parses_what_a_schema_held(client: openai.OpenAI) -> None:
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "out", "schema": CLOSED, "strict": True}}
    completion = client.chat.completions.create(model="m", messages=asked("parsed"), response_format=wanted)
    assert json.loads(completion.choices[0].message.content or "") == {"a": "b"}


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        ("400", openai.BadRequestError),
        ("401", openai.AuthenticationError),
        ("402", openai.APIStatusError),
        ("404", openai.NotFoundError),
        ("409", openai.ConflictError),
        ("429", openai.RateLimitError),
        ("500", openai.InternalServerError),
        ("503", openai.InternalServerError),
    ],
)
def test_the_client_raises_what_each_status_means(
    client: openai.OpenAI, status: str, raised: type[openai.APIStatusError]
) -> None:
    with pytest.raises(raised) as caught:
        client.chat.completions.create(model="m", messages=asked("text"), extra_headers={"x-emulate-fault": status})
    assert caught.value.status_code == int(status)
    assert isinstance(caught.value.body, dict)
    assert {"message", "type", "param", "code"} == set(caught.value.body)


def test_the_client_is_told_where_a_schema_is_wrong(client: openai.OpenAI) -> None:
    wrong: Any = tool(schema={**CLOSED, "required": []}, strict=True)
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=asked("text"), tools=[wrong])
    error = caught.value
    assert (error.param, error.code, error.type) == (
        "tools[0].function.parameters",
        "invalid_function_parameters",
        "invalid_request_error",
    )
    assert "Missing 'a'" in error.message
