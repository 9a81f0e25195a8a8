"""The gateway in front of a scripted upstream and of the emulator: what is changed, and what is not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from strictcall.dialect import load
from strictcall.errors import SettingsError
from strictcall.gateway import receiving
from strictcall.gateway.app import create_app
from strictcall.gateway.chat import StreamRewriter, rewrite
from strictcall.policy import Policy

CONTRACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["city"],
}
PLAIN: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
TOOLS = [
    {"type": "function", "function": {"name": "weather now", "description": "Weather.", "parameters": CONTRACT}},
    {"type": "custom", "custom": {"name": "grammar"}},
    {"type": "function", "function": {"name": "search", "parameters": PLAIN}},
]
BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": TOOLS, "x": [1, 2]}
WIRE = '{"city":"Lisbon","days":null,"labels":[{"key":"a","value":"b"}]}'
OURS = {"city": "Lisbon", "labels": {"a": "b"}}

Answer = Callable[[httpx2.Request], httpx2.Response]


def gateway(answer: Answer, dialect: str = "openai") -> tuple[TestClient, list[httpx2.Request]]:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return answer(request)

    transport = httpx2.MockTransport(handle)
    return TestClient(create_app("http://up.test/base/v1/", dialect, transport=transport)), seen


def saying(body: Any, status: int = 200, **headers: str) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx2.Response(status, content=sent(content), headers=kind)


async def sent(content: bytes) -> AsyncIterator[bytes]:
    yield content


def calling(*calls: tuple[str, str], **fields: Any) -> dict[str, Any]:
    listed = [
        {"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": listed}
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", **fields}], "u": 1}


def wire_names(dialect: str = "openai") -> tuple[str, str]:
    made = rewrite(BODY, load(dialect), Policy())
    assert made is not None
    return made.toolset["weather now"].name, made.toolset["search"].name


def test_tools_are_compiled_in_their_places_and_the_rest_stays() -> None:
    client, seen = gateway(saying({"choices": []}))
    client.post("/v1/chat/completions?a=b", json=BODY, headers={"authorization": "Bearer secret", "x-own": "1"})
    sent = json.loads(seen[0].content)
    assert seen[0].url == "http://up.test/base/v1/chat/completions?a=b"
    assert (seen[0].headers["authorization"], seen[0].headers["x-own"]) == ("Bearer secret", "1")
    assert {name: value for name, value in sent.items() if name != "tools"} == {
        name: value for name, value in BODY.items() if name != "tools"
    }
    first, custom, last = sent["tools"]
    assert custom == TOOLS[1]
    assert first["function"]["strict"] is last["function"]["strict"] is True
    assert first["function"]["name"] == wire_names()[0] != "weather now"
    assert first["function"]["parameters"]["required"] == ["city", "days", "labels"]


@pytest.mark.parametrize(
    "content",
    [
        b'{ "model":"m" ,\n"messages" : []}',
        b'{"model": "m", "messages": [], "tools": []}',
        b'{"model": "m", "messages": [], "tools": [{"type": "custom"}]}',
        b"no json",
        b"[1]",
        b"",
    ],
)
def test_a_request_without_tools_passes_byte_for_byte(content: bytes) -> None:
    answer = b'{ "choices": [ {"message": {"tool_calls": [ ]}} ]}\n'
    client, seen = gateway(saying(answer, x_request_id="r1"))
    response = client.post("/v1/chat/completions", content=content, headers={"content-type": "application/json"})
    assert seen[0].content == content
    assert response.content == answer
    assert response.headers["x-request-id"] == "r1"


def test_calls_are_read_back() -> None:
    weather, search = wire_names()
    client, _ = gateway(
        saying(calling((weather, WIRE), (search, '{"q": "x"}'), (weather, '{"city": 3}'), ("no", "{}")))
    )
    body = client.post("/v1/chat/completions", json=BODY).json()
    calls = [call["function"] for call in body["choices"][0]["message"]["tool_calls"]]
    assert (calls[0]["name"], json.loads(calls[0]["arguments"])) == ("weather now", OURS)
    assert (calls[1]["name"], json.loads(calls[1]["arguments"])) == ("search", {"q": "x"})
    assert (calls[2]["name"], calls[2]["arguments"]) == ("weather now", '{"city": 3}')
    assert calls[3] == {"name": "no", "arguments": "{}"}
    assert body["u"] == 1


def test_arguments_that_are_left_out_are_none() -> None:
    body = calling((wire_names()[0], ""))
    body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = None
    client, _ = gateway(saying(body))
    call = client.post("/v1/chat/completions", json=BODY).json()["choices"][0]["message"]["tool_calls"][0]
    assert call["function"] == {"name": "weather now", "arguments": "{}"}


def test_the_history_goes_out_in_wire_form() -> None:
    weather, _ = wire_names()
    history = [
        {"role": "user", "content": "Go."},
        calling(("weather now", json.dumps(OURS)))["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "c0", "content": "25"},
        calling((weather, WIRE))["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "c0", "content": "26"},
    ]
    client, seen = gateway(saying({"choices": []}))
    client.post("/v1/chat/completions", json={**BODY, "messages": history})
    sent = json.loads(seen[0].content)["messages"]
    calls = [message["tool_calls"][0]["function"] for message in sent if "tool_calls" in message]
    assert [call["name"] for call in calls] == [weather, weather]
    assert [json.loads(call["arguments"]) for call in calls] == [json.loads(WIRE)] * 2
    assert calls[1]["arguments"] == WIRE
    assert [message for message in sent if message["role"] == "tool"] == [history[2], history[4]]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_errors_pass_as_they_are(status: int) -> None:
    error = b'{"error": {"message": "no"} }'
    client, _ = gateway(saying(error, status, retry_after="7"))
    response = client.post("/v1/chat/completions", json=BODY)
    assert (response.status_code, response.content, response.headers["retry-after"]) == (status, error, "7")


def test_an_upstream_that_is_not_there() -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    client, _ = gateway(fail)
    response = client.post("/v1/chat/completions", json=BODY)
    assert response.status_code == 502
    assert "cannot be reached: refused" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{"type": "function", "function": {"name": 3}}], "tools[0].function.name: must be a text"),
        ([{"type": "function", "function": {"name": "a", "description": []}}], "description: must be a text"),
        ([TOOLS[2], TOOLS[2]], "would both be called 'search'"),
    ],
)
def test_tools_that_cannot_be_read_are_refused(tools: list[Any], said: str) -> None:
    client, seen = gateway(saying({}))
    response = client.post("/v1/chat/completions", json={**BODY, "tools": tools})
    assert response.status_code == 400
    assert said in response.json()["error"]["message"]
    assert seen == []


def test_what_is_not_served() -> None:
    client, _ = gateway(saying({}))
    assert "serves /v1/chat/completions and /v1/models" in client.post("/v1/responses").json()["error"]["message"]
    assert client.get("/v1/chat/completions").status_code == 405


def test_models_pass() -> None:
    client, seen = gateway(saying(b'{"data": [ ]}'))
    assert client.get("/v1/models").content == b'{"data": [ ]}'
    assert client.get("/v1/models/a/b").status_code == 200
    assert [request.url.path for request in seen] == ["/base/v1/models", "/base/v1/models/a/b"]


# --- streams ---


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0, **fields: Any) -> str:
    return json.dumps({"id": "r", "choices": [{"index": index, "delta": delta, "finish_reason": finish}], **fields})


def piece(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    start = {} if name is None else {"id": f"c{index}", "type": "function"}
    function = {"arguments": arguments} | ({} if name is None else {"name": name})
    return {"tool_calls": [{"index": index, **start, "function": function}]}


def stream(*data: str) -> bytes:
    return "".join(f"data: {item}\n\n" for item in (*data, "[DONE]")).encode()


def calls_of(raw: bytes, choice: int = 0) -> dict[int, tuple[str, str]]:
    """By index, the name and the arguments of the calls that a client puts together from a stream."""
    found: dict[int, tuple[str, str]] = {}
    finished = False
    for line in raw.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        for item in json.loads(line.removeprefix("data: "))["choices"]:
            if item["index"] != choice:
                continue
            assert not finished or not item["delta"].get("tool_calls"), "a piece of a call after the end"
            finished = finished or item["finish_reason"] is not None
            for call in item["delta"].get("tool_calls") or []:
                name, arguments = found.get(call["index"], ("", ""))
                function = call["function"]
                found[call["index"]] = (name + function.get("name", ""), arguments + function.get("arguments", ""))
    assert finished
    return found


def rewritten(raw: bytes, size: int | None = None) -> bytes:
    made = rewrite(BODY, load("openai"), Policy())
    assert made is not None
    rewriter = StreamRewriter(made)
    size = size or len(raw)
    return b"".join(out for start in range(0, len(raw), size) for out in rewriter.feed(raw[start : start + size]))


def test_streamed_calls_are_read_back_however_the_bytes_are_cut() -> None:
    weather, search = wire_names()
    raw = stream(
        chunk({"role": "assistant", "content": "One moment…"}),
        chunk(piece(0, "", weather)),
        chunk(piece(0, WIRE[:20])),
        chunk(piece(1, '{"q"', search)),
        chunk(piece(0, WIRE[20:])),
        chunk(piece(1, ': "x"}')),
        chunk({}, "tool_calls"),
        json.dumps({"id": "r", "choices": [], "usage": {"total_tokens": 3}}),
    )
    outs = {rewritten(raw, size) for size in (*range(1, 40), None)}
    assert len(outs) == 1
    out = outs.pop()
    calls = calls_of(out)
    assert (calls[0][0], json.loads(calls[0][1])) == ("weather now", OURS)
    assert (calls[1][0], json.loads(calls[1][1])) == ("search", {"q": "x"})
    lines = [line for line in out.split(b"\n\n") if line]
    assert lines[0] == raw.split(b"\n\n")[0]
    assert lines[-2:] == raw.split(b"\n\n")[-3:-1]


def test_a_streamed_call_that_does_not_fit_comes_as_it_was_said() -> None:
    weather, _ = wire_names()
    raw = stream(chunk(piece(0, '{"city": [}', weather)), chunk(piece(1, "{}", "other")), chunk({}, "tool_calls"))
    calls = calls_of(rewritten(raw))
    assert calls[1] == ("other", "{}")
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(calls[0][1])


def test_each_choice_is_a_stream_of_its_own() -> None:
    weather, search = wire_names()
    raw = stream(
        chunk(piece(0, WIRE, weather), index=0),
        chunk(piece(0, '{"q": "b"}', search), index=1),
        chunk({}, "tool_calls", index=1),
        chunk({}, "tool_calls", index=0),
    )
    out = rewritten(raw)
    assert json.loads(calls_of(out, 0)[0][1]) == OURS
    assert calls_of(out, 1)[0] == ("search", '{"q": "b"}')


@pytest.mark.parametrize("index", [{"a": 1}, [0], [[]]])
def test_a_choice_of_no_index_passes_as_it_came_and_harms_no_other(index: Any) -> None:
    _, search = wire_names()
    odd = {"index": index, "delta": piece(0, WIRE, "x"), "finish_reason": "stop"}
    good = {"index": 0, "delta": piece(0, '{"q": "b"}', search), "finish_reason": None}
    raw = stream(json.dumps({"choices": [odd, good]}), json.dumps({"choices": [odd]}), chunk({}, "tool_calls"))
    out = rewritten(raw)
    events = [json.loads(line.removeprefix("data: ")) for line in out.decode().split("\n\n")[:-2]]
    assert [event for event in events if event["choices"] == [odd]] == [{"choices": [odd]}] * 2
    assert calls_of(out) == {0: ("search", '{"q": "b"}')}


def test_a_body_is_refused_only_where_it_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_BYTES", 100_000)
    client, seen = gateway(saying({"choices": []}))
    pieces = [b'{"messages":"', *[b"x" * 1000] * 99, b'"}']
    sizes = [pieces, [*pieces, b" " * 1000]]
    statuses = [client.post("/v1/chat/completions", content=iter(size)).status_code for size in sizes]
    assert statuses == [200, 413]
    assert [request.content for request in seen] == [b"".join(pieces)]


def test_a_stream_without_calls_passes_byte_for_byte() -> None:
    raw = stream(chunk({"role": "assistant", "content": ""}), chunk({"content": "é"}), chunk({}, "stop"), "no json")
    assert rewritten(raw, 3) == raw


async def broken() -> AsyncIterator[bytes]:
    yield stream(chunk(piece(0, '{"city": "Lis', wire_names()[0])))[:-20]
    raise httpx2.ReadError("gone")


def test_where_the_upstream_breaks_off_so_does_the_gateway() -> None:
    headers = {"content-type": "text/event-stream"}
    client, _ = gateway(lambda request: httpx2.Response(200, content=broken(), headers=headers))
    with pytest.raises(httpx2.ReadError), client.stream("POST", "/v1/chat/completions", json=BODY) as response:
        response.read()


# --- calls as text ---

SAID = 'Let me look.\n<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'


def tagged(content: bytes, kind: str = "application/json") -> TestClient:
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, content=sent(content), headers={"content-type": kind})
    )
    return TestClient(create_app("http://up.test/v1", "json_schema", tagged="auto", transport=transport))


def test_calls_in_the_text_come_as_calls() -> None:
    message = {"role": "assistant", "content": SAID}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    choice = tagged(json.dumps(body).encode()).post("/v1/chat/completions", json=BODY).json()["choices"][0]
    call = choice["message"]["tool_calls"][0]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("search", {"q": "x"})
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Let me look.", "tool_calls")
    assert call["id"].startswith("call_")


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_calls_in_streamed_text_come_as_calls(size: int) -> None:
    pieces = [SAID[start : start + size] for start in range(0, len(SAID), size)]
    raw = stream(chunk({"role": "assistant"}), *[chunk({"content": piece}) for piece in pieces], chunk({}, "stop"))
    out = tagged(raw, "text/event-stream").post("/v1/chat/completions", json=BODY).content
    assert {index: (name, json.loads(text)) for index, (name, text) in calls_of(out).items()} == {
        0: ("search", {"q": "x"})
    }
    events = [json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: {")]
    choices = [event["choices"][0] for event in events]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == "Let me look."
    assert choices[-1]["finish_reason"] == "tool_calls"


def test_prose_and_calls_of_the_api_are_left_as_they_are() -> None:
    said = 'Write `<tool_call>{"name": "search", "arguments": {}}</tool_call>` to call it.'
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}
    choice = tagged(json.dumps(body).encode()).post("/v1/chat/completions", json=BODY).json()["choices"][0]
    assert choice == body["choices"][0]


@pytest.mark.parametrize(
    ("dialect", "asked", "found"), [("vllm", None, True), ("vllm", "none", False), ("json_schema", None, False)]
)
def test_the_dialect_says_whether_calls_are_looked_for(dialect: str, asked: str | None, found: bool) -> None:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}]}
    answer = httpx2.Response(200, json=body)
    app = create_app("http://up.test/v1", dialect, tagged=asked, transport=httpx2.MockTransport(lambda request: answer))
    choice = TestClient(app).post("/v1/chat/completions", json=BODY).json()["choices"][0]
    assert (choice["finish_reason"] == "tool_calls", "tool_calls" in choice["message"]) == (found, found)
    assert found or choice == body["choices"][0]


def test_beside_calls_of_the_api_streamed_text_keeps_what_looks_like_one() -> None:
    own = {"index": 0, "id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "y"}'}}
    raw = stream(
        *[chunk({"content": piece}) for piece in (SAID[:40], SAID[40:])],
        chunk({"tool_calls": [own]}),
        chunk({}, "stop"),
    )
    out = tagged(raw, "text/event-stream").post("/v1/chat/completions", json=BODY).content
    assert [(name, json.loads(text)) for name, text in calls_of(out).values()] == [("search", {"q": "y"})]
    events = [json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: {")]
    assert "".join(event["choices"][0]["delta"].get("content") or "" for event in events) == SAID


def test_an_unknown_format_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match="no format is called 'hermees'; did you mean 'hermes'"):
        create_app("http://up.test", tagged="hermees")
