"""The official OpenAI client against a strict endpoint, through the Responses API: sent, called, decoded, answered."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import pytest

from api.offered import ARGUMENTS, FAR, OPENAI, OUTPUT, PING, SEARCH, tools
from api.streaming import check_law
from strictcall import Toolset, compile_schema
from strictcall.api import responses
from strictcall.api.answer import Answer, StopReason
from strictcall.dialect.registry import load
from strictcall.errors import StreamError
from strictcall.testing.endpoint import strict_endpoint

openai = pytest.importorskip("openai", reason="the openai client is not installed")

WANTED = [("search", ARGUMENTS), ("ping", {})]
CALLS = [{"name": "search", "arguments": OPENAI}, {"name": "ping", "arguments": "{}"}]
REPLIES = [{"text": "Let me look.", "reasoning": "Hm.", "calls": CALLS}, {"text": "Two hats."}]
SCRIPT = {"conversations": [{"when": "hats", "replies": REPLIES}]}
ASK = {"role": "user", "content": "Find hats"}

CLIENTS = pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
STORED = pytest.mark.parametrize("store", [True, False], ids=["stored", "unstored"])


async def settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def asked(client: Any, body: dict[str, Any], toolset: Toolset, *, streamed: bool) -> Answer:
    """One turn, whichever way the client goes."""
    response = await settled(client.responses.create(**body, stream=streamed))
    if not streamed:
        return responses.read(response.model_dump(), toolset)
    stream, events = responses.Stream(toolset), []
    if hasattr(response, "__aiter__"):
        async for event in response:
            events += stream.feed(event.to_dict())
    else:
        for event in response:
            events += stream.feed(event.model_dump())
    answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    return answer


@CLIENTS
@STREAMED
@STORED
def test_a_conversation(kind: str, streamed: bool, store: bool) -> None:
    toolset = tools("openai")

    async def talk(base_url: str) -> None:
        client = getattr(openai, kind)(base_url=base_url, api_key="k", max_retries=0)
        fixed = {"model": "m", "store": store, "include": ["reasoning.encrypted_content"]}
        body = responses.write({**fixed, "input": [ASK]}, toolset)
        answer = await asked(client, body, toolset, streamed=streamed)
        assert [(call.name, call.arguments) for call in answer.calls] == WANTED
        assert (answer.text, answer.reasoning, answer.stop_reason) == ("Let me look.", "Hm.", StopReason.TOOL_CALLS)
        assert answer.usage.input
        assert answer.usage.output
        results = responses.results(answer.calls, ["2 hats", "pong"])
        body = responses.write({**fixed, "input": [ASK, answer, *results]}, toolset)
        final = await asked(client, body, toolset, streamed=streamed)
        assert (final.text, final.calls, final.stop_reason) == ("Two hats.", (), StopReason.STOP)
        # The same conversation, its calls kept by a caller in contract form.
        kept = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
            for call in answer.calls
        ]
        body = responses.write({**fixed, "input": [ASK, *kept, *results]}, toolset)
        assert (await asked(client, body, toolset, streamed=streamed)).text == "Two hats."
        await settled(client.close())

    with strict_endpoint(SCRIPT) as endpoint:
        asyncio.run(talk(endpoint.base_url))
        assert not endpoint.refused
        replayed, rewritten = (
            [item["arguments"] for item in exchange.body["input"] if item.get("type") == "function_call"]
            for exchange in list(endpoint.exchanges)[1:]
        )
        assert replayed == [OPENAI, "{}"]
        assert [json.loads(text) for text in rewritten] == [json.loads(OPENAI), {}]


@STREAMED
def test_whatever_a_decoder_writes_comes_as_the_contract_has_it(streamed: bool) -> None:
    toolset = Toolset([SEARCH, PING, FAR], "openai")

    async def talk(base_url: str) -> None:
        client = openai.OpenAI(base_url=base_url, api_key="k", max_retries=0)
        history: list[Any] = [{"role": "user", "content": "search for hats, then ping"}]
        for _ in range(4):
            body = responses.write({"model": "m", "input": history, "tool_choice": "required"}, toolset)
            answer = await asked(client, body, toolset, streamed=streamed)
            assert answer.calls
            for call in answer.calls:
                assert call.faults or not toolset[call.name].check(call.arguments)
                assert not call.faults or toolset[call.name].verdict not in ("exact", "closed")
            history += [answer, *responses.results(answer.calls, ["ok"] * len(answer.calls))]
        client.close()

    with strict_endpoint(seed=5) as endpoint:
        asyncio.run(talk(endpoint.base_url))
        assert not endpoint.refused
        assert len(endpoint.exchanges) == 4


def test_output_and_a_named_choice() -> None:
    toolset = tools("openai")
    output = compile_schema(OUTPUT, load("openai", target="output"))
    with strict_endpoint() as endpoint, openai.OpenAI(base_url=endpoint.base_url, api_key="k") as client:
        body = responses.write({"model": "m", "input": "Is it so?"}, Toolset([]), output=output)
        answer = responses.read(client.responses.create(**body).to_dict(), toolset, output)
        assert not answer.output_faults
        assert isinstance(answer.output["ok"], bool)
        body = responses.write({"model": "m", "input": "Go"}, toolset, tool_choice="far away!")
        answer = responses.read(client.responses.create(**body).to_dict(), toolset)
        assert [call.name for call in answer.calls] == ["far away!"]
        body = responses.write({"model": "m", "input": "Go"}, toolset, tool_choice=["ping", "search"])
        client.responses.create(**body)
        assert not endpoint.refused


def test_the_bytes_of_a_stream_as_the_client_hands_them_on() -> None:
    toolset = tools("openai")
    body = responses.write({"model": "m", "input": [ASK]}, toolset)
    stream = responses.Stream(toolset)
    with (
        strict_endpoint(SCRIPT) as endpoint,
        openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0) as client,
        client.responses.with_streaming_response.create(**body, stream=True) as response,
    ):
        events = [event for chunk in response.iter_bytes(7) for event in stream.feed(chunk)]
    answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    assert [(call.name, call.arguments) for call in answer.calls] == WANTED


def test_an_error_of_the_endpoint() -> None:
    toolset = tools("openai")
    with strict_endpoint(SCRIPT) as endpoint, openai.OpenAI(base_url=endpoint.base_url, api_key="k") as client:
        with pytest.raises(openai.BadRequestError) as raised:
            client.responses.create(model="m", input="hats", tools=[{"type": "function", "name": "no name"}])
        with pytest.raises(StreamError):
            responses.read(raised.value.response.json(), toolset)
