"""What a client of the gateway to links is told where no link answers, and which keys go where."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from gateway.links_standing import (
    APIS,
    CLIENTS_KEY,
    KEY,
    WEATHER,
    Standing,
    answering,
    ask,
    entry,
    leave_before_the_answer,
    request_of,
    standing,
    whole,
    write,
)
from strictcall.gateway.links.app import create_links_app
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.inference import Habits
from strictcall.serving import serving
from strictcall.testing.endpoint import StrictEndpoint


def test_keys_stay_where_they_belong(one: Any, caplog: pytest.LogCaptureFixture) -> None:
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}).encode()
    with answering(echo, status=401, seen=(seen := [])) as url:
        gateway = one(entry("chat_completions", url, headers={"x-team": "blue-team"}))
        own = {"x-own": "mine", "cookie": "a=b"}
        with gateway.client() as client, pytest.raises(openai.InternalServerError) as caught:
            whole(client, ask(), model="chat_completions/m", extra_headers=own)
    (sent,) = seen
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["x-team"] == "blue-team"
    assert not {"x-own", "cookie"} & set(sent.headers)
    assert CLIENTS_KEY not in str(sent.headers)
    told = caught.value.response.text + str(caught.value.response.headers)
    assert "Incorrect API key provided: ***." in told
    assert KEY not in told + "".join(gateway.lines) + caplog.text
    assert caught.value.response.headers["x-should-retry"] == "false"


FAULTS = {
    "400": (400, None),
    "401": (502, None),
    "404": (404, "model_not_found"),
    "413": (400, "context_length_exceeded"),
    "429": (429, "rate_limit_exceeded"),
    "500": (502, None),
    "503": (503, None),
    "504": (504, None),
}
"""For each fault of a provider the status and the code that a client is told."""


@pytest.fixture(scope="module")
def faulty(lasting_endpoint: StrictEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A gateway to links that all have one fault, or no key."""
    file = tmp_path_factory.mktemp("faulty") / "strictcall.json"
    bad = [
        entry(api, lasting_endpoint, id=f"{api}-{fault}", headers={"x-emulate-fault": fault})
        for api in ("chat_completions", "messages")
        for fault in FAULTS
    ]
    without_key = [entry(api, lasting_endpoint, id=f"{api}-no-key", api_key_env="NO_SUCH_KEY") for api in APIS]
    write(file, *bad, *without_key)
    with standing(file) as gateway:
        yield gateway


@pytest.mark.parametrize("api", APIS)
def test_a_key_that_is_missing_is_named_by_its_variable(
    faulty: Standing, endpoint: StrictEndpoint, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with faulty.client() as client, pytest.raises(openai.InternalServerError, match="variable NO_SUCH_KEY is not set"):
        whole(client, ask(), model=f"{api}-no-key/m")
    assert list(endpoint.exchanges) == []


@pytest.mark.parametrize("api", ["chat_completions", "messages"])
@pytest.mark.parametrize("fault", FAULTS)
def test_statuses_of_errors(faulty: Standing, api: str, fault: str) -> None:
    with faulty.client() as client, pytest.raises(openai.APIStatusError) as caught:
        whole(client, ask(), model=f"{api}-{fault}/m")
    error = caught.value
    assert (error.status_code, error.code) == FAULTS[fault]
    assert f"{api}-{fault}/m" in error.message
    assert ("retry-after" in error.response.headers) is (fault in ("429", "503"))


def test_a_provider_that_is_gone_or_silent(one: Any) -> None:
    with answering(b"") as gone:
        pass
    gateway = one(entry("chat_completions", gone), entry("messages", gone), chain=("chat_completions/m", "messages/m"))
    with gateway.client() as client:
        with pytest.raises(openai.InternalServerError, match="chat_completions/m: connection") as caught:
            whole(client, ask(), model="chat_completions/m")
        assert caught.value.status_code == 502
        with pytest.raises(openai.InternalServerError, match=r"no link answered: .*connection.*; .*connection"):
            whole(client, ask(), model="fallback")


def test_retries_are_the_configurations(one: Any, endpoint: StrictEndpoint) -> None:
    tired = entry("chat_completions", endpoint, headers={"x-emulate-fault": "500"})
    gateway = one(tired, retries={"attempts": 3, "first_wait": 0.01})
    with gateway.client() as client, pytest.raises(openai.InternalServerError, match="after 3 attempts"):
        whole(client, ask(), model="chat_completions/m")
    assert [each.status for each in endpoint.exchanges] == [500] * 3
    assert sum("is asked again" in line for line in gateway.lines) == 2


def test_a_header_that_cannot_be_filled_in_is_named(one: Any, endpoint: StrictEndpoint) -> None:
    gateway = one(entry("chat_completions", endpoint, headers={"x-team": "${NO_SUCH_VARIABLE}"}))
    with gateway.client() as client, pytest.raises(openai.InternalServerError, match="NO_SUCH_VARIABLE"):
        whole(client, ask(), model="chat_completions/m")


def test_an_error_that_nobody_foresaw_tells_nothing_but_its_name(tmp_path: Path) -> None:
    def make(link: Any) -> Any:
        raise ValueError(KEY)

    write(file := tmp_path / "strictcall.json", entry("messages", "http://127.0.0.1:1"))
    with serving(create_links_app(ConfiguredLinks(file), habits=Habits(make_client=make))) as url:
        body = {"model": "messages/m", "messages": ask()}
        response = httpx2.post(f"{url}/v1/chat/completions", json=body, verify=False)
    assert response.status_code == 500
    assert response.json()["error"]["message"].endswith("please report it: ValueError")
    assert KEY not in response.text


def test_a_client_that_leaves_in_the_middle_of_a_stream_harms_nobody(
    all_apis: Standing, endpoint: StrictEndpoint
) -> None:
    with all_apis.client() as client:
        for api in ("chat_completions", "messages"):
            made = {"model": f"{api}/m", "messages": ask(f"by {api}."), "tools": [WEATHER]}
            with client.chat.completions.create(**made, stream=True) as stream:  # type: ignore[call-overload]
                next(iter(stream))
            assert client.chat.completions.create(**made).choices[0].message.tool_calls  # type: ignore[call-overload]
    assert endpoint.refused == []


@pytest.mark.parametrize(("api", "stream"), [("chat_completions", True), ("messages", False)])
def test_a_client_that_leaves_before_the_answer_ends_the_request(one: Any, api: str, stream: bool) -> None:
    content = json.dumps({"model": f"{api}/m", "messages": ask(), "stream": stream}).encode()
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        gateway = one(entry(api, f"http://127.0.0.1:{upstream.getsockname()[1]}"))
        leave_before_the_answer(gateway.url, upstream, content)


def test_no_key_follows_a_redirect(one: Any) -> None:
    with (
        answering(b"{}", seen=(seen := [])) as elsewhere,
        answering(b"{}", status=307, location=f"{elsewhere}/x") as url,
    ):
        gateway = one(entry("chat_completions", url))
        with gateway.client() as client, pytest.raises(openai.NotFoundError) as caught:
            whole(client, ask(), model="chat_completions/m")
    assert f"(307): the address leads to {elsewhere}, which is not followed" in str(caught.value)
    assert seen == []


JUNK = {
    "deep": b'{"choices":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long number": b'{"choices":[],"x":' + b"9" * 5_000 + b"}",
    "no JSON": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("content", JUNK.values(), ids=JUNK)
def test_what_is_no_answer_is_an_error_of_the_links(one: Any, content: bytes) -> None:
    with answering(content) as url:
        gateway = one(entry("chat_completions", url))
        with (
            gateway.client() as client,
            pytest.raises(openai.InternalServerError, match=r"malformed: .*JSON") as caught,
        ):
            whole(client, ask(), model="chat_completions/m", tools=[WEATHER])
    assert caught.value.status_code == 502


@pytest.mark.parametrize("stream", [False, True])
def test_requests_share_a_connection_and_nothing_else(one: Any, stream: bool) -> None:
    head = "HTTP/1.1 200 OK\r\nset-cookie: a=b; path=/\r\nx-request-id: \u2603\r\ncontent-length: {}\r\n\r\n"
    said = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}'
    content = b"data: " + said + b"\n\ndata: [DONE]\n\n" if stream else said
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        upstream.settimeout(20)
        gateway = one(entry("chat_completions", f"http://127.0.0.1:{upstream.getsockname()[1]}"))
        received: list[bytes] = []

        def serve() -> None:
            connection, _ = upstream.accept()
            with connection:
                for _ in range(2):
                    received.append(request_of(connection))
                    connection.sendall(head.format(len(content)).encode() + content)

        with ThreadPoolExecutor(1) as pool, gateway.client() as client:
            served = pool.submit(serve)
            for _ in range(2):
                asked = {"model": "chat_completions/m", "messages": ask(), "stream": stream}
                answer = client.post("/chat/completions", body=asked, cast_to=httpx2.Response)
                assert "Hi." in answer.text
                assert "x-request-id" not in answer.headers
                time.sleep(0.1 if stream else 0)  # a stream that was told is read to its end
            served.result()
    assert [b"cookie" in each.lower() for each in received] == [False, False]


@pytest.mark.parametrize(
    ("headers", "served"),
    [
        ({}, True),
        ({"origin": "http://localhost:3000"}, True),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"host": "evil.example:4000"}, False),
    ],
)
def test_pages_from_elsewhere_are_not_answered(all_apis: Standing, headers: dict[str, str], served: bool) -> None:
    response = httpx2.get(f"{all_apis.url}/v1/models", headers=headers, verify=False)
    assert response.status_code == (200 if served else 403)
    assert ("error" in response.json()) is not served


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no json", "body: must be JSON"),
        (b"[1]", "body: must be a JSON object"),
        (b'{"model": 3, "messages": []}', "model: must be a text"),
        (b'{"model": "messages/m", "messages": [], "temperature": NaN}', "body: must be JSON"),
        (b'{"model": "messages/m"}', "messages: missing"),
        (b'{"model": "messages/m", "messages": {}}', "messages: must be a list"),
    ],
)
def test_what_is_no_request_is_refused(all_apis: Standing, content: bytes, words: str) -> None:
    response = httpx2.post(f"{all_apis.url}/v1/chat/completions", content=content, verify=False)
    assert (response.status_code, response.json()["error"]["message"]) == (400, words)


@pytest.mark.parametrize("host", ["localhost", "["])
def test_other_paths_are_told(all_apis: Standing, host: str) -> None:
    response = httpx2.post(f"{all_apis.url}/v1/embeddings", json={}, headers={"host": host}, verify=False)
    assert response.status_code == 404
    assert "serves /v1/chat/completions" in response.json()["error"]["message"]
