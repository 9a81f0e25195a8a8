"""Streams: until when they fall over, and what ends them; over real sockets against the emulator."""

import dataclasses
import json

import anyio
import pytest

from link.asking import APIS, inference, served
from link.linked import ASK, DIALECTS, QUICK, at, both_loops, link, recording
from strictcall.api.events import TextDelta
from strictcall.emulator.faults import FAULTS
from strictcall.errors import RequestError
from strictcall.link.errors import ChainError, ErrorKind, LinkError
from strictcall.link.events import LinkChosen, LinkFailed, LinkServed
from strictcall.link.prepared import Request
from strictcall.testing.endpoint import strict_endpoint

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
FLAWED = ("truncated-json", "truncated-length", "empty-choices", "reasoning-only", "invalid-utf8")
"""Faults that are an answer, though not that of the script."""


async def listen(stream, heard):
    while True:
        heard.append(await anext(stream))


@both_loops
@APIS
async def test_a_stream_falls_over_until_it_has_told_something(anyio_backend, api):
    with strict_endpoint(script={"replies": [{"text": "Sunny, all of the day."}]}, delay=2.0) as endpoint:
        other = "messages" if api != "messages" else "responses"
        for fault in ("503", "slow-first-byte"):
            quick = dataclasses.replace(QUICK, read=0.4)
            bad = link(endpoint, api, headers={"x-emulate-fault": fault}, timeouts=quick)
            async with inference(bad, link(endpoint, other), attempts=1) as asking:
                result, events = await served(asking, Request(ASK), streamed=True)
            assert (result.link.api, result.answer.text) == (other, "Sunny, all of the day."), fault
            assert "".join(event.text for event in events if isinstance(event, TextDelta)) == result.answer.text


@both_loops
@APIS
async def test_a_stream_that_told_something_does_not_fall_over(anyio_backend, api):
    """What was told cannot be taken back: another link would say it a second time, in other words."""
    told, heard = [], []
    text = "Sunny, all of the day, and the night as well: " * 20
    with strict_endpoint(script={"replies": [{"text": text}] * 3}) as endpoint:
        bad = link(endpoint, api, headers={"x-emulate-fault": "cut"})
        async with inference(bad, link(endpoint, "chat_completions", provider="z"), tell=told.append) as asking:
            async with asking.stream(Request(ASK), conversation=1) as stream:
                with pytest.raises(LinkError) as caught:
                    await listen(stream, heard)
            assert (await asking.ask(Request(ASK), conversation=1)).link.provider == "z"
    assert heard
    assert text.startswith("".join(event.text for event in heard))
    assert (caught.value.kind, caught.value.began, caught.value.attempts) == (ErrorKind.BROKEN, True, 1)
    assert "the answer had begun" in str(caught.value)
    assert [type(event) for event in told[:3]] == [LinkChosen, LinkServed, LinkFailed]
    assert len(endpoint.exchanges) == 2
    with pytest.raises(RequestError, match="not there before its events have ended"):
        assert stream.served


def sse(*events):
    """A streamed response, as bytes."""
    return b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)


EVENTS = "content-type: text/event-stream\r\n"
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FAILED = {"error": {"message": "The server had an error", "code": "server_error"}}
DELTAS = {
    "chat_completions": {"choices": [{"index": 0, "delta": {"content": "Sun"}}]},
    "messages": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Sun"}},
}


@both_loops
@pytest.mark.parametrize(
    ("api", "event", "kind"),
    [
        ("messages", OVERLOADED, ErrorKind.OVERLOADED),
        ("chat_completions", FAILED, ErrorKind.SERVER),
        ("chat_completions", {"choices": 7}, ErrorKind.BROKEN),
        ("chat_completions", [], ErrorKind.MALFORMED),
    ],
)
async def test_an_error_under_the_status_of_an_answer_is_told_apart(anyio_backend, api, event, kind):
    told = []
    with (
        strict_endpoint(script={"replies": [{"text": "Sunny."}]}) as endpoint,
        recording(200, EVENTS, sse(event)) as (url, _),
    ):
        good = link(endpoint, "responses")
        async with inference(at(url, api), good, attempts=1, tell=told.append) as asking:
            result, _ = await served(asking, Request(ASK), streamed=True)
    assert (result.link, result.answer.text) == (good, "Sunny.")
    assert [event.kind for event in told if isinstance(event, LinkFailed)] == [kind]


@both_loops
@pytest.mark.parametrize(
    ("api", "event", "kind"),
    [("messages", OVERLOADED, ErrorKind.OVERLOADED), ("chat_completions", FAILED, ErrorKind.SERVER)],
)
async def test_an_error_after_something_was_told_is_told_apart_too(anyio_backend, api, event, kind):
    with recording(200, EVENTS, sse(DELTAS[api], event)) as (url, requests):
        async with inference(at(url, api)) as asking, asking.stream(Request(ASK)) as stream:
            assert await anext(stream) == TextDelta("Sun")
            with pytest.raises(LinkError, match="the answer had begun") as caught:
                await anext(stream)
    assert (caught.value.kind, len(requests)) == (kind, 1)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_stream_is_used_within_its_context(anyio_backend):
    async with inference(at("http://x", "messages")) as asking:
        stream = asking.stream(Request(ASK))
        with pytest.raises(RequestError, match="within `async with`"):
            await anext(stream)


@both_loops
async def test_a_stream_may_be_left_before_its_end(anyio_backend):
    with strict_endpoint(script={"replies": [{"text": "word " * 200}] * 2}) as endpoint:
        async with inference(link(endpoint, "chat_completions")) as asking:
            async with asking.stream(Request(ASK)) as stream:
                await anext(stream)
            assert (await asking.ask(Request(ASK))).answer.text.startswith("word word")


@both_loops
async def test_a_request_may_be_given_up(anyio_backend):
    with strict_endpoint(faults=("slow-first-byte",), delay=3.0) as endpoint:
        for api in DIALECTS:
            async with inference(link(endpoint, api)) as asking:
                with anyio.move_on_after(0.3) as scope:
                    await asking.ask(Request(ASK))
                assert scope.cancelled_caught, api


@both_loops
async def test_many_requests_through_links_that_fail_in_every_way(anyio_backend):
    """Each ends in an answer or a clear error, and the answers are whole."""
    ends = []
    text = "Sunny, all of the day."
    script = {"replies": [{"text": text}] * 3}
    faults = tuple(fault for fault in FAULTS if fault not in FLAWED)

    async def one(asking, number):
        try:
            result, _ = await served(asking, Request([{"role": "user", "content": f"n {number}"}]), number % 2 == 0)
            ends.append(result.answer.text)
        except (LinkError, ChainError) as error:
            ends.append(error)

    with strict_endpoint(script=script, faults=faults, fault_rate=0.2, delay=0.3) as endpoint:
        links = [link(endpoint, api) for api in DIALECTS]
        async with inference(*links) as asking, anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(one, asking, number)
    assert len(ends) == 60
    assert sum(end == text for end in ends) > 30
    assert all(end == text or isinstance(end, LinkError | ChainError) for end in ends)
