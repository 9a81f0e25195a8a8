"""The official Anthropic client against a strict endpoint: tools sent, called, decoded, results returned."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from api.offered import ANTHROPIC, ARGUMENTS, FAR, OUTPUT, PING, SEARCH, tools
from api.streaming import check_law
from strictcall import Toolset, compile_schema
from strictcall.api import messages
from strictcall.api.answer import Answer, StopReason
from strictcall.dialect.registry import load
from strictcall.errors import StreamError
from strictcall.testing.endpoint import strict_endpoint

anthropic = pytest.importorskip("anthropic", reason="the anthropic client is not installed")

WANTED = [("search", ARGUMENTS), ("ping", {})]
WIRE = {"query": "thé 😀", "tags": [{"key": "a", "value": "1"}]}
CALLS = [{"name": "search", "arguments": WIRE}, {"name": "ping", "arguments": {}}]
REPLIES = [{"text": "Let me look.", "reasoning": "Hm.", "calls": CALLS}, {"text": "Two hats."}]
SCRIPT = {"conversations": [{"when": "hats", "replies": REPLIES}]}
ASK = {"role": "user", "content": "Find hats"}
FIXED: dict[str, Any] = {"model": "m", "max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 1024}}

CLIENTS = pytest.mark.parametrize("kind", ["Anthropic", "AsyncAnthropic"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


async def settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def asked(client: Any, body: dict[str, Any], toolset: Toolset, *, streamed: bool) -> Answer:
    """One turn, whichever way the client goes."""
    response = await settled(client.messages.create(**body, stream=streamed))
    if not streamed:
        return messages.read(response.to_dict(), toolset)
    stream, events = messages.Stream(toolset), []
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
def test_a_conversation(kind: str, streamed: bool) -> None:
    toolset = tools("anthropic")

    async def talk(url: str) -> None:
        client = getattr(anthropic, kind)(base_url=url, api_key="k", max_retries=0)
        answer = await asked(client, messages.write({**FIXED, "messages": [ASK]}, toolset), toolset, streamed=streamed)
        assert [(call.name, call.arguments) for call in answer.calls] == WANTED
        assert (answer.text, answer.reasoning, answer.stop_reason) == ("Let me look.", "Hm.", StopReason.TOOL_CALLS)
        assert answer.usage.input
        assert answer.usage.output
        results = messages.results(answer.calls, ["2 hats", "pong"])
        body = messages.write({**FIXED, "messages": [ASK, answer, *results]}, toolset)
        final = await asked(client, body, toolset, streamed=streamed)
        assert (final.text, final.calls, final.stop_reason) == ("Two hats.", (), StopReason.STOP)
        # The same conversation, its calls kept by a caller in contract form, and without what the model thought.
        kept = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls
        ]
        said = {"role": "assistant", "content": kept}
        unthinking = {"model": "m", "max_tokens": 4000, "messages": [ASK, said, *results]}
        body = messages.write(unthinking, toolset)
        assert (await asked(client, body, toolset, streamed=streamed)).text == "Two hats."
        await settled(client.close())

    with strict_endpoint(SCRIPT) as endpoint:
        asyncio.run(talk(endpoint.url))
        assert not endpoint.refused
        replayed, rewritten = (exchange.body["messages"][1]["content"] for exchange in list(endpoint.exchanges)[1:])
        assert [block["type"] for block in replayed] == ["thinking", "text", "tool_use", "tool_use"]
        assert replayed[0]["signature"]
        assert [block["input"] for block in replayed[2:]] == [WIRE, {}]
        assert [block["input"] for block in rewritten] == [WIRE, {}]


@STREAMED
def test_whatever_a_decoder_writes_comes_as_the_contract_has_it(streamed: bool) -> None:
    toolset = Toolset([SEARCH, PING, FAR], "anthropic")

    async def talk(url: str) -> None:
        client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        history: list[Any] = [{"role": "user", "content": "search for hats, then ping"}]
        for _ in range(4):
            fixed = {"model": "m", "max_tokens": 4000, "messages": history}
            body = messages.write(fixed, toolset, tool_choice="required")
            answer = await asked(client, body, toolset, streamed=streamed)
            assert answer.calls
            for call in answer.calls:
                assert call.faults or not toolset[call.name].check(call.arguments)
                assert not call.faults or toolset[call.name].verdict not in ("exact", "closed")
            history += [answer, *messages.results(answer.calls, ["ok"] * len(answer.calls))]
        client.close()

    with strict_endpoint(seed=5) as endpoint:
        asyncio.run(talk(endpoint.url))
        assert not endpoint.refused
        assert len(endpoint.exchanges) == 4


def test_output_and_a_named_choice() -> None:
    toolset = tools("anthropic")
    output = compile_schema(OUTPUT, load("anthropic", target="output"))
    fixed = {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": "Is it so?"}]}
    with strict_endpoint() as endpoint, anthropic.Anthropic(base_url=endpoint.url, api_key="k") as client:
        body = messages.write(fixed, Toolset([], "anthropic"), output=output)
        answer = messages.read(client.messages.create(**body).to_dict(), toolset, output)
        assert not answer.output_faults
        assert isinstance(answer.output["ok"], bool)
        body = messages.write(fixed, toolset, tool_choice="far away!")
        answer = messages.read(client.messages.create(**body).to_dict(), toolset)
        assert [call.name for call in answer.calls] == ["far away!"]
        assert not endpoint.refused


def test_the_bytes_of_a_stream_as_the_client_hands_them_on() -> None:
    toolset = tools("anthropic")
    body = messages.write({**FIXED, "messages": [ASK]}, toolset)
    stream = messages.Stream(toolset)
    with (
        strict_endpoint(SCRIPT) as endpoint,
        anthropic.Anthropic(base_url=endpoint.url, api_key="k", max_retries=0) as client,
        client.messages.with_streaming_response.create(**body, stream=True) as response,
    ):
        events = [event for chunk in response.iter_bytes(7) for event in stream.feed(chunk)]
    answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    assert [(call.name, call.arguments) for call in answer.calls] == WANTED
    assert answer.calls[0].raw != ""
    assert answer.native["content"][2]["input"] == WIRE


def test_an_error_of_the_endpoint() -> None:
    toolset = tools("anthropic")
    with strict_endpoint(SCRIPT) as endpoint, anthropic.Anthropic(base_url=endpoint.url, api_key="k") as client:
        with pytest.raises(anthropic.BadRequestError) as raised:
            client.messages.create(model="m", max_tokens=9, messages=[ASK], tools=[{"name": "no name"}])
        with pytest.raises(StreamError):
            messages.read(raised.value.response.json(), toolset)


def test_the_order_in_which_a_model_writes_stays() -> None:
    """What a model said is sent again key by key as it said it, for a cache to know it."""
    toolset = tools("anthropic")
    script = {"replies": [{"calls": [{"name": "search", "arguments": ANTHROPIC}]}, {"text": "Yes"}]}
    with strict_endpoint(script) as endpoint, anthropic.Anthropic(base_url=endpoint.url, api_key="k") as client:
        fixed = {"model": "m", "max_tokens": 4000}
        body = messages.write({**fixed, "messages": [ASK]}, toolset)
        answer = messages.read(client.messages.create(**body).to_dict(), toolset)
        turns = [ASK, answer, *messages.results(answer.calls, ["x"])]
        client.messages.create(**messages.write({**fixed, "messages": turns}, toolset))
        sent = endpoint.exchanges[-1].body["messages"][1]["content"][0]["input"]
        assert list(sent) == list(ANTHROPIC) == ["tags", "query"]
