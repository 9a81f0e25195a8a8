"""Faults on demand, seen by the official client and on the raw bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from strictcall.emulator.faults import FAULTS
from strictcall.emulator.settings import Settings
from strictcall.errors import SettingsError
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOLS = [{"type": "function", "function": {"name": "act", "parameters": SCHEMA, "strict": True}}]
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Act on “x”, twice."}],
    "tools": TOOLS,
    "tool_choice": "required",
}
STATUSES = [name for name, fault in FAULTS.items() if fault.status is not None]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[StrictEndpoint]:
    with strict_endpoint(answers="sensible", delay=0.3) as running:
        yield running


def ask(endpoint: StrictEndpoint, kind: str, **fields: Any) -> httpx2.Response:
    with httpx2.Client(timeout=10) as client:
        return client.post(
            f"{endpoint.base_url}/chat/completions", json={**BODY, **fields}, headers={"x-emulate-fault": kind}
        )


def events(response: httpx2.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.mark.parametrize("kind", STATUSES)
def test_statuses(endpoint: StrictEndpoint, kind: str) -> None:
    response = ask(endpoint, kind)
    assert response.status_code == int(kind)
    assert response.json()["error"]["message"]
    assert ("retry-after" in response.headers) is (kind in ("429", "503"))


def test_the_official_client_tries_again_after_429(endpoint: StrictEndpoint) -> None:
    client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**BODY, extra_headers={"x-emulate-fault": "429"})


def test_a_slow_first_byte_and_a_stall_outlast_a_short_patience(endpoint: StrictEndpoint) -> None:
    impatient = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0, timeout=0.1)
    with pytest.raises(openai.APITimeoutError):
        impatient.chat.completions.create(**BODY, extra_headers={"x-emulate-fault": "slow-first-byte"})
    assert ask(endpoint, "stall", stream=True).text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_that_is_cut(endpoint: StrictEndpoint, stream: bool) -> None:
    with pytest.raises(httpx2.TransportError):
        ask(endpoint, "cut", stream=stream)


@pytest.mark.parametrize(("kind", "reason"), [("truncated-json", "tool_calls"), ("truncated-length", "length")])
def test_arguments_that_end_early(endpoint: StrictEndpoint, kind: str, reason: str) -> None:
    choice = ask(endpoint, kind).json()["choices"][0]
    assert choice["finish_reason"] == reason
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(choice["message"]["tool_calls"][-1]["function"]["arguments"])


def test_deltas_without_index(endpoint: StrictEndpoint) -> None:
    found = events(ask(endpoint, "no-index", stream=True))
    deltas = [
        call for event in found for choice in event["choices"] for call in choice["delta"].get("tool_calls") or []
    ]
    assert deltas
    assert all("index" not in delta for delta in deltas)


def test_names_that_are_repeated(endpoint: StrictEndpoint) -> None:
    found = events(ask(endpoint, "repeated-names", stream=True))
    deltas = [
        call for event in found for choice in event["choices"] for call in choice["delta"].get("tool_calls") or []
    ]
    assert len(deltas) > 1
    assert {delta["function"]["name"] for delta in deltas} == {"act"}
    assert len({delta["id"] for delta in deltas if delta["index"] == 0}) == 1


def test_the_final_event_twice(endpoint: StrictEndpoint) -> None:
    found = events(ask(endpoint, "duplicate-final", stream=True))
    assert found[-1] == found[-2]


def test_no_choices(endpoint: StrictEndpoint) -> None:
    assert ask(endpoint, "empty-choices").json()["choices"] == []
    assert events(ask(endpoint, "empty-choices", stream=True))[0]["choices"] == []


def test_only_reasoning(endpoint: StrictEndpoint) -> None:
    message = ask(endpoint, "reasoning-only").json()["choices"][0]["message"]
    assert not message.get("content")
    assert not message.get("tool_calls")
    assert message["reasoning_content"]


def test_a_malformed_event(endpoint: StrictEndpoint) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|Extra"):
        events(ask(endpoint, "malformed-sse", stream=True))


@pytest.mark.parametrize("stream", [False, True])
def test_bytes_that_are_no_utf8(endpoint: StrictEndpoint, stream: bool) -> None:
    with pytest.raises(UnicodeDecodeError):
        ask(endpoint, "invalid-utf8", stream=stream).content.decode()


def test_each_kind_was_looked_at() -> None:
    looked_at = {*STATUSES, "slow-first-byte", "stall", "cut", "truncated-json", "truncated-length", "no-index"}
    looked_at |= {
        "repeated-names",
        "duplicate-final",
        "empty-choices",
        "reasoning-only",
        "malformed-sse",
        "invalid-utf8",
    }
    assert set(FAULTS) == looked_at


def test_a_fault_strikes_at_its_rate() -> None:
    with strict_endpoint(faults=("500",), fault_rate=0.5, answers="sensible") as running:
        statuses = [ask_plainly(running) for _ in range(60)]
    assert 10 < statuses.count(500) < 50


def ask_plainly(endpoint: StrictEndpoint) -> int:
    return httpx2.post(f"{endpoint.base_url}/chat/completions", json=BODY).status_code


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"faults": ("42",)}, "faults: no fault is called '42'"),
        ({"faults": ("stal",)}, "did you mean stall"),
        ({"fault_rate": 2.0}, "fault_rate: 2.0 is not a probability"),
        ({"answers": "scripted"}, "answers: scripted answers need a script"),
        ({"answers": "wise"}, "answers: 'wise' is not one of random, sensible, obedient, scripted"),
        ({"delay": -1.0}, "delay: -1.0 is not a number of seconds"),
        ({"max_tokens": 0}, "max_tokens: must be at least 1"),
    ],
)
def test_a_bad_setting_says_which(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Settings(**fields)
