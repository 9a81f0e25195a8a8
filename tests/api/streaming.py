"""What every API's stream must keep to, however its bytes are cut."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from strictcall.api.answer import Answer
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from strictcall.errors import StreamError
from strictcall.json_value import equal

CUTS = 300


def sse(chunks: Iterable[Any], *, done: bool = False, named: bool = False) -> bytes:
    """Chunks as server-sent events; ``named`` gives each the event name of its ``type``, ``done`` OpenAI's end."""
    lines = []
    for chunk in chunks:
        if named:
            lines.append(f"event: {chunk['type']}\n")
        lines.append(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n")
    if done:
        lines.append("data: [DONE]\n\n")
    return "".join(lines).encode()


def run(stream: Any, pieces: Iterable[Any]) -> tuple[list[Event], Answer]:
    """Feed a stream all pieces; its events, the last ones too, and its answer."""
    events: list[Event] = []
    for piece in pieces:
        events += stream.feed(piece)
    answer = stream.finish()
    return [*events, *stream.ended], answer


def check_law(events: Iterable[Event], answer: Answer) -> None:
    """What was told while it arrived is what the finished answer holds, and in a sound order."""
    events = list(events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer.text
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == answer.reasoning
    for position, call in enumerate(answer.calls):
        own = [event for event in events if getattr(event, "position", None) == position]
        if not own:
            assert call.faults, "a call without a fault was never told"
            continue
        assert [type(event) for event in own] == [CallStarted, *[ArgumentsDelta] * (len(own) - 2), CallEnded]
        assert own[0].name == call.name
        assert own[-1].faults == call.faults
        if not call.faults:
            told = "".join(event.text for event in own[1:-1])
            assert equal(json.loads(told), call.arguments), (told, call.arguments)
    assert max((event.position for event in events if hasattr(event, "position")), default=-1) < len(answer.calls)


def check_stream(make: Callable[[], Any], chunks: list[Any], data: bytes) -> Answer:
    """The same events and answer from chunks, from their bytes at once, byte by byte, and cut in two: at every byte,
    or in a long stream at ``CUTS`` places.

    ``make`` makes a fresh stream.
    """
    events, answer = run(make(), chunks)
    check_law(events, answer)
    for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
        assert run(make(), pieces) == (events, answer)
    for at in range(1, len(data), max(1, len(data) // CUTS)):
        assert run(make(), [data[:at], data[at:]]) == (events, answer), at
    return answer


def fetched(url: str, body: Any, fault: str) -> bytes:
    """What an emulator answers to a body with a fault, as far as it came."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    headers = {"content-type": "application/json", "x-emulate-fault": fault}
    connection.request("POST", f"{place.path}?{place.query}", json.dumps(body), headers)
    try:
        return connection.getresponse().read()
    except http.client.IncompleteRead as cut:
        return cut.partial
    finally:
        connection.close()


def check_faulty(make: Callable[[], Any], data: bytes, tools: Any) -> Answer | str:
    """What a stream makes of bytes that something is wrong with: a sound answer, or the words of its one error."""
    stream, events = make(), []
    try:
        for at in range(0, len(data), 100):
            events += stream.feed(data[at : at + 100])
        answer = stream.finish()
    except StreamError as error:
        return str(error)
    check_law([*events, *stream.ended], answer)
    for call in answer.calls:
        assert call.complete or call.faults
        assert call.faults or not tools[call.name].check(call.arguments)
    return answer
