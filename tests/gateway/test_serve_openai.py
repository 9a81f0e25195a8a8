"""The unmodified client of OpenAI, over sockets, at the gateway in front of the emulator."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jsonschema
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from gateway.links_standing import leave_before_the_answer
from strictcall import Tool, compile_tool
from strictcall.gateway.app import create_app
from strictcall.serving import serving
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

TRIP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "nights": {"type": "integer", "minimum": 1},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "hotel": {
            "type": "object",
            "properties": {"stars": {"type": "integer", "default": 3}, "note": {"type": "string", "maxLength": 9}},
        },
        "near": {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "number"}],
            "minItems": 2,
            "items": False,
        },
    },
    "required": ["city", "labels"],
    "additionalProperties": False,
}
FIND: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "trips.book now", "description": "Book a trip.", "parameters": TRIP}},
    {"type": "function", "function": {"name": "find", "description": "Find anything.", "parameters": FIND}},
]
CONTRACTS = {"trips.book now": TRIP, "find": FIND}
WIRE_NAME = compile_tool(Tool("trips.book now", None, TRIP)).name
WIRE = {
    "city": "Oslo",
    "nights": None,
    "labels": [{"key": "für", "value": "Ana"}, {"key": "by", "value": ""}],
    "hotel": {"stars": None, "note": "quiet"},
    "near": {"item_0": 59.9, "item_1": 10.7},
}
SAID = {"city": "Oslo", "labels": {"für": "Ana", "by": ""}, "hotel": {"note": "quiet"}, "near": [59.9, 10.7]}
SCRIPT = {
    "replies": [
        {
            "text": "One moment.",
            "calls": [{"name": WIRE_NAME, "arguments": WIRE}, {"name": "find", "arguments": {"text": "x"}}],
        },
        {"text": "Booked."},
        {"calls": [{"name": WIRE_NAME, "arguments": WIRE}]},
        {"text": "Again."},
    ]
}
DIALECTS = ("openai", "deepseek")
SECRET = "sk-secret"  # noqa: S105 - nobody's


@contextmanager
def standing(dialect: str, script: Any = None, **settings: Any) -> Iterator[tuple[str, StrictEndpoint]]:
    """The base URL of a gateway, and the endpoint behind it, which takes one key only."""
    with (
        strict_endpoint(script, dialect=dialect, api_key=SECRET, **settings) as endpoint,
        serving(create_app(endpoint.base_url, dialect)) as url,
    ):
        yield f"{url}/v1", endpoint


def taken(call: Any) -> tuple[str, Any]:
    return call.function.name, json.loads(call.function.arguments)


def whole(client: openai.OpenAI, messages: list[Any]) -> Any:
    return client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message


def streamed(client: openai.OpenAI, messages: list[Any]) -> Any:
    state = ChatCompletionStreamState()
    with client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True) as stream:
        for chunk in stream:
            state.handle_chunk(chunk)
    return state.get_final_completion().choices[0].message


async def whole_async(client: openai.AsyncOpenAI, messages: list[Any]) -> Any:
    return (await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)).choices[0].message


async def streamed_async(client: openai.AsyncOpenAI, messages: list[Any]) -> Any:
    state = ChatCompletionStreamState()
    async with await client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True) as stream:
        async for chunk in stream:
            state.handle_chunk(chunk)
    return state.get_final_completion().choices[0].message


def again(messages: list[Any], message: Any) -> None:
    """The assistant's turn and the results of its calls, as a client puts them into the next request."""
    messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in message.tool_calls or ()]


ROADS = {"whole": whole, "streamed": streamed, "whole, async": whole_async, "streamed, async": streamed_async}


@pytest.fixture(params=ROADS)
def road(request: pytest.FixtureRequest) -> Any:
    return ROADS[request.param]


def converse(url: str, road: Any, prompts: list[str], rounds: int = 8) -> list[Any]:
    """The messages of the assistant, prompt by prompt, until it answers in words."""

    async def held() -> list[Any]:
        client: Any = openai.AsyncOpenAI if road in (whole_async, streamed_async) else openai.OpenAI
        opened = client(base_url=url, api_key=SECRET, max_retries=0)
        messages: list[Any] = []
        found = []
        try:
            for prompt in prompts:
                messages.append({"role": "user", "content": prompt})
                for _ in range(rounds):
                    message = road(opened, messages)
                    message = await message if asyncio.iscoroutine(message) else message
                    found.append(message)
                    again(messages, message)
                    if not message.tool_calls:
                        break
        finally:
            closed = opened.close()
            if closed is not None:
                await closed
        return found

    return asyncio.run(held())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversation_of_several_turns(road: Any, dialect: str) -> None:
    with standing(dialect, SCRIPT) as (url, endpoint):
        found = converse(url, road, ["Book.", "Again."])
    assert [message.content for message in found] == ["One moment.", "Booked.", None, "Again."]
    assert [[taken(call) for call in message.tool_calls or ()] for message in found] == [
        [("trips.book now", SAID), ("find", {"text": "x"})],
        [],
        [("trips.book now", SAID)],
        [],
    ]
    assert [exchange.status for exchange in endpoint.exchanges] == [200] * 4
    for exchange in endpoint.exchanges:
        assert [tool["function"]["strict"] for tool in exchange.body["tools"]] == [True, True]
    last = [call for message in endpoint.exchanges[-1].body["messages"] for call in message.get("tool_calls", ())]
    assert [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in last] == [
        (WIRE_NAME, WIRE),
        ("find", {"text": "x"}),
        (WIRE_NAME, WIRE),
    ]


def test_the_same_tools_are_refused_without_the_gateway() -> None:
    for dialect in DIALECTS:
        with (
            strict_endpoint(dialect=dialect) as endpoint,
            openai.OpenAI(base_url=endpoint.base_url, api_key="k") as client,
        ):
            with pytest.raises(openai.BadRequestError, match=r"tools\[0\]\.function\.name"):
                whole(client, [{"role": "user", "content": "Book."}])
            strict = [{**tool, "function": {**tool["function"], "name": "t", "strict": True}} for tool in TOOLS[:1]]
            with pytest.raises(openai.BadRequestError, match="Invalid schema for function 't'"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Go."}], tools=strict)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(2))
def test_random_answers_give_arguments_that_the_tools_declared(road: Any, dialect: str, seed: int) -> None:
    with standing(dialect, seed=seed, answers="random") as (url, endpoint):
        found = converse(url, road, [f"Go {number}." for number in range(3)])
    assert endpoint.refused == []
    calls = [call for message in found for call in message.tool_calls or ()]
    assert calls
    for call in calls:
        name, arguments = taken(call)
        errors = list(jsonschema.Draft202012Validator(CONTRACTS[name]).iter_errors(arguments))
        # A bound of a text is all that these decoders do not hold, and a name of a map may come twice.
        assert {error.validator for error in errors} <= {"minLength", "maxLength"} or repeats(arguments), arguments


def repeats(arguments: Any) -> bool:
    """Whether a map came as the model wrote it, since no map can be made of it."""
    labels = arguments["labels"]
    return isinstance(labels, list) and len({entry["key"] for entry in labels}) < len(labels)


def test_errors_are_the_clients_own() -> None:
    with standing("openai") as (url, endpoint):
        with (
            openai.OpenAI(base_url=url, api_key="other", max_retries=0) as client,
            pytest.raises(openai.AuthenticationError, match="Incorrect API key"),
        ):
            whole(client, [{"role": "user", "content": "Go."}])
        with openai.OpenAI(base_url=url, api_key=SECRET, max_retries=0) as client:
            with pytest.raises(openai.BadRequestError, match="would both be called"):
                client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "Go."}], tools=[TOOLS[1], TOOLS[1]]
                )
            with pytest.raises(openai.RateLimitError):
                client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": "Go."}],
                    tools=TOOLS,
                    extra_headers={"x-emulate-fault": "429"},
                )
            assert client.models.list().data
        assert [exchange.status for exchange in endpoint.exchanges] == [401, 429]


def test_an_upstream_that_is_gone() -> None:
    with strict_endpoint() as endpoint:
        gone = endpoint.base_url
    with (
        serving(create_app(gone)) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client,
        pytest.raises(openai.InternalServerError, match="cannot be reached"),
    ):
        whole(client, [{"role": "user", "content": "Go."}])


def test_a_client_that_leaves_in_the_middle_of_a_stream_harms_nobody() -> None:
    with (
        standing("openai", SCRIPT) as (url, endpoint),
        openai.OpenAI(base_url=url, api_key=SECRET, max_retries=0) as client,
    ):
        for _ in range(3):
            asked = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": TOOLS, "stream": True}
            with client.chat.completions.create(**asked) as stream:  # type: ignore[call-overload]
                next(iter(stream))
        assert taken(whole(client, [{"role": "user", "content": "Go."}]).tool_calls[0]) == ("trips.book now", SAID)
    assert endpoint.refused == []


@pytest.mark.parametrize("tools", [TOOLS, []], ids=["rewritten", "as it came"])
def test_a_client_that_leaves_before_the_answer_ends_the_request(tools: list[Any]) -> None:
    content = json.dumps({"messages": [{"role": "user", "content": "Go."}], "tools": tools}).encode()
    with (
        socket.create_server(("127.0.0.1", 0)) as upstream,
        serving(create_app(f"http://127.0.0.1:{upstream.getsockname()[1]}")) as url,
    ):
        leave_before_the_answer(url, upstream, content)


def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level("DEBUG")
    with (
        standing("openai", SCRIPT) as (url, endpoint),
        openai.OpenAI(base_url=url, api_key=SECRET, max_retries=0) as client,
    ):
        assert whole(client, [{"role": "user", "content": "Go."}]).tool_calls
    assert endpoint.exchanges[0].status == 200  # the key did arrive: the endpoint takes no other
    said = [record.getMessage() for record in caplog.records if not record.name.startswith("openai")]
    assert not any(SECRET in words for words in [*said, *capfd.readouterr()])
