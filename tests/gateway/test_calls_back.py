"""Calls on their way back through the gateway that are not just a function called well: whole, and in a stream."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from strictcall.dialect import load
from strictcall.gateway.app import create_app
from strictcall.gateway.chat import Rewritten, StreamRewriter, answered, rewrite
from strictcall.policy import Policy

NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 3},
        "to": {"type": "object", "additionalProperties": {"type": "string"}},
        "days": {"type": "integer"},
    },
    "required": ["text", "to"],
}
DATED: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 3}, "days": {"type": "integer"}},
    "required": ["text"],
}
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [
        {"type": "function", "function": {"name": "note", "parameters": NOTE}},
        {"type": "function", "function": {"name": "dated", "parameters": DATED}},
        {"type": "function", "function": {"name": "ping"}},
        {"type": "custom", "custom": {"name": "shell"}},
    ],
}
GOOD = '{"text": "abc", "to": [{"key": "a", "value": "b"}], "days": null}'
READ = {"text": "abc", "to": {"a": "b"}}
CUSTOM = {"id": "c9", "type": "custom", "custom": {"name": "shell", "input": "ls"}}


def made() -> Rewritten:
    rewritten = rewrite(BODY, load("openai"), Policy())
    assert rewritten is not None
    return rewritten


def function(call_id: str, name: str, arguments: str, **fields: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def whole(*calls: dict[str, Any], **fields: Any) -> list[Any]:
    """The calls that a client gets of a whole answer."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}
    response = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    calls_back: list[Any] = answered(response, made())["choices"][0]["message"]["tool_calls"]
    return calls_back


def event(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> str:
    return json.dumps({"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **fields})


def pieces(*calls: dict[str, Any], size: int = 7) -> list[str]:
    """The events of a stream in which each call is cut into pieces, one call after the other."""
    found = []
    for index, call in enumerate(calls):
        kind, text = ("custom", "input") if call["type"] == "custom" else ("function", "arguments")
        said = call[kind][text]
        found.append(event({"tool_calls": [{"index": index, **call, kind: {**call[kind], text: ""}}]}))
        cut = [said[start : start + size] for start in range(0, len(said), size)]
        found += [event({"tool_calls": [{"index": index, kind: {text: part}}]}) for part in cut]
    return found


def streamed(*data: str) -> list[dict[str, Any]]:
    """The events that a client gets of a stream, without the last."""
    rewriter = StreamRewriter(made())
    raw = "".join(f"data: {item}\n\n" for item in (*data, "[DONE]")).encode()
    out = b"".join(rewriter.feed(raw)).decode()
    assert out.endswith("data: [DONE]\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in out.splitlines() if line.startswith("data: {")]


def put_together(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls as a client puts them together: by index, texts joined."""
    found: dict[int, dict[str, Any]] = {}
    for piece in (p for e in events for c in e["choices"] for p in c["delta"].get("tool_calls", ())):
        call = found.setdefault(piece["index"], {})
        for name, value in piece.items():
            if isinstance(value, dict) and name in ("function", "custom"):
                kept = call.setdefault(name, {})
                for field, text in value.items():
                    kept[field] = kept.get(field, "") + text
            elif name != "index":
                call[name] = value
    assert list(found) == list(range(len(found)))
    return list(found.values())


ROADS = {
    "whole": whole,
    "streamed": lambda *calls: put_together(streamed(*pieces(*calls), event({}, "tool_calls"))),
    "streamed, whole calls": lambda *calls: put_together(streamed(*pieces(*calls, size=999), event({}, "tool_calls"))),
    "streamed, no reason": lambda *calls: put_together(streamed(*pieces(*calls))),
}


@pytest.fixture(params=ROADS)
def road(request: pytest.FixtureRequest) -> Any:
    return ROADS[request.param]


def test_calls_of_custom_tools_pass_among_others(road: Any) -> None:
    other = {**CUSTOM, "id": "c8"}
    first, custom, second, last = road(function("c1", "note", GOOD), CUSTOM, function("c2", "note", GOOD), other)
    assert [json.loads(call["function"]["arguments"]) for call in (first, second)] == [READ, READ]
    assert [first["id"], second["id"]] == ["c1", "c2"]
    assert (custom, last) == (CUSTOM, other)


def test_where_a_bound_alone_is_broken_the_client_gets_the_contracts_form(road: Any) -> None:
    short = GOOD.replace("abc", "a")
    dated = '{"text": "a", "days": null}'
    calls = road(function("c1", "note", short), function("c2", "dated", dated))
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{**READ, "text": "a"}, {"text": "a"}]


@pytest.mark.parametrize(
    ("said", "in_stream"),
    [
        (
            '{"text": "abc", "to": [{"key": "a", "value": "b"}, {"key": "a", "value": "c"}], "days": null}',
            {"text": "abc", "to": [{"key": "a", "value": "b"}, {"key": "a", "value": "c"}]},
        ),
        ('{"text": "a", "to": 3}', {"text": "a", "to": 3}),
        ("[]", []),
    ],
)
def test_what_cannot_be_read_comes_as_it_was_said(said: str, in_stream: Any) -> None:
    call = function("c1", "note", said)
    assert whole(call) == [call]
    # What of it was told before the fault was found is told.
    (streamed_call,) = ROADS["streamed"](call)
    assert json.loads(streamed_call["function"]["arguments"]) == in_stream


def test_what_was_cut_off_is_not_made_whole(road: Any) -> None:
    (call,) = road(function("c1", "note", GOOD[:40]))
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(call["function"]["arguments"])


def test_fields_that_are_not_the_apis_own_stay(road: Any) -> None:
    signed = {"extra_content": {"google": {"thought_signature": "s"}}}
    (call,) = road(function("c1", "note", GOOD, **signed))
    assert call["extra_content"] == signed["extra_content"]
    assert json.loads(call["function"]["arguments"]) == READ
    plain, bare, late = road(
        function("c1", "ping", ""), function("c2", "ping", "", **signed), function("c3", "note", GOOD)
    )
    assert bare["extra_content"] == signed["extra_content"]
    assert "extra_content" not in plain
    assert "extra_content" not in late


def test_an_old_function_call_beside_calls_changes_nothing() -> None:
    (call,) = whole(function("c1", "note", GOOD), function_call={"name": "note", "arguments": "{}"})
    assert json.loads(call["function"]["arguments"]) == READ


def test_calls_that_share_an_index_are_told_apart() -> None:
    one, two = (event({"tool_calls": [{"index": 0, **function(call_id, "note", GOOD)}]}) for call_id in ("c1", "c2"))
    calls = put_together(streamed(one, two, event({}, "tool_calls")))
    assert [call["id"] for call in calls] == ["c1", "c2"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [READ, READ]


def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    error = {"code": 502, "message": "the provider went away"}
    last = event({"content": ""}, "error", error=error)
    events = streamed(*pieces(function("c1", "note", GOOD[:30])), last)
    assert events[-1]["error"] == error
    assert events[-1]["choices"][0]["finish_reason"] == "error"
    (call,) = put_together(events)
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(call["function"]["arguments"])


# --- the request ---


def test_what_else_is_said_of_a_tool_goes_with_it() -> None:
    marked = {
        "type": "function",
        "function": {"name": "note", "parameters": NOTE, "strict": False, "x": 1},
        "cache_control": {"type": "ephemeral"},
        "strict": False,
    }
    rewritten = rewrite({**BODY, "tools": [marked], "extra_body": {"tools": []}}, load("openai"), Policy())
    assert rewritten is not None
    (tool,) = rewritten.body["tools"]
    assert tool["cache_control"] == {"type": "ephemeral"}
    assert (tool["function"]["x"], tool["function"]["strict"]) == (1, True)
    assert "strict" not in tool
    assert rewritten.body["extra_body"] == {"tools": []}


# --- compressed answers ---


async def sent(content: bytes) -> AsyncIterator[bytes]:
    yield content


def asked(content: bytes, encoding: str, kind: str = "application/json") -> httpx2.Response:
    headers = {"content-type": kind, "content-encoding": encoding}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, content=sent(content), headers=headers))
    client = TestClient(create_app("http://up.test/v1", transport=transport))
    response: httpx2.Response = client.post("/v1/chat/completions", json=BODY)
    return response


def test_an_answer_that_is_compressed_all_the_same_is_read() -> None:
    message = {"role": "assistant", "tool_calls": [function("c1", "note", GOOD)]}
    response = asked(gzip.compress(json.dumps({"choices": [{"message": message}]}).encode()), "gzip")
    call = response.json()["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == READ
    stream = "".join(f"data: {item}\n\n" for item in (*pieces(function("c1", "note", GOOD)), event({}, "stop")))
    response = asked(gzip.compress(stream.encode()), "gzip", "text/event-stream")
    events = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]
    assert json.loads(put_together(events)[0]["function"]["arguments"]) == READ


def test_an_answer_that_cannot_be_read_is_not_passed_on_unread() -> None:
    response = asked(b"?", "br")
    assert response.status_code == 502
    assert "compressed as 'br'" in response.json()["error"]["message"]
