"""The emulator as a whole: answers that repeat, keys, models, scripts, and what is no request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from starlette.testclient import TestClient

from strictcall.emulator.app import create_app
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "act", "parameters": SCHEMA, "strict": True}}]
MESSAGES = [{"role": "user", "content": "Act on it."}]
BODY: dict[str, Any] = {"model": "m", "messages": MESSAGES, "tools": TOOLS, "tool_choice": "required"}
HEADERS = {"authorization": "Bearer k"}


def arguments(endpoint: StrictEndpoint, times: int) -> list[str]:
    found = []
    for _ in range(times):
        body = httpx2.post(f"{endpoint.base_url}/chat/completions", json=BODY).json()
        found += [call["function"]["arguments"] for call in body["choices"][0]["message"]["tool_calls"]]
    return found


def test_the_same_seed_gives_the_same_answers_and_each_time_another() -> None:
    runs = []
    for seed in (1, 1, 2):
        with strict_endpoint(seed=seed) as endpoint:
            runs.append(arguments(endpoint, 8))
    assert runs[0] == runs[1] != runs[2]
    assert len(set(runs[0])) > 4
    assert all(json.loads(text).keys() == {"a", "n"} for text in runs[0])


@pytest.fixture(scope="module")
def locked() -> Iterator[StrictEndpoint]:
    with strict_endpoint(api_key="right", models=("one", "two"), dialect="openai", answers="sensible") as endpoint:
        yield endpoint


def test_only_the_right_key_is_taken(locked: StrictEndpoint) -> None:
    wrong = openai.OpenAI(base_url=locked.base_url, api_key="wrong-key", max_retries=0)
    with pytest.raises(openai.AuthenticationError) as refused:
        wrong.chat.completions.create(model="one", messages=MESSAGES)
    assert "wrong-key" not in str(refused.value)
    right = openai.OpenAI(base_url=locked.base_url, api_key="right", max_retries=0)
    assert right.chat.completions.create(model="one", messages=MESSAGES).choices[0].message.content


def test_models(locked: StrictEndpoint) -> None:
    client = openai.OpenAI(base_url=locked.base_url, api_key="right", max_retries=0)
    assert [model.id for model in client.models.list()] == ["one", "two"]
    with pytest.raises(openai.NotFoundError, match="'three' does not exist"):
        client.chat.completions.create(model="three", messages=MESSAGES)
    other = anthropic.Anthropic(base_url=locked.url, api_key="right", max_retries=0)
    assert [model.id for model in other.models.list()] == ["one", "two"]


def test_each_api_is_judged_by_its_own_provider_unless_told_otherwise() -> None:
    bounded = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 5}}, "required": ["a"]}
    tool = {"name": "act", "input_schema": {**bounded, "additionalProperties": False}, "strict": True}
    body = {"model": "m", "max_tokens": 50, "messages": MESSAGES, "tools": [tool]}
    headers = {"anthropic-version": "2023-06-01"}
    statuses = []
    for dialect in (None, "openai"):
        with strict_endpoint(dialect=dialect) as endpoint:
            statuses.append(httpx2.post(f"{endpoint.base_url}/messages", json=body, headers=headers).status_code)
    assert statuses == [400, 200]


def test_a_script_drives_a_conversation() -> None:
    script = {
        "replies": [
            {"text": "One moment.", "calls": [{"name": "act", "arguments": {"a": None, "n": 1}, "id": "call_1"}]},
            {"text": "Done."},
        ]
    }
    with strict_endpoint(script) as endpoint:
        client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
        first = client.chat.completions.create(model="m", messages=MESSAGES, tools=TOOLS).choices[0].message
        assert (first.content, first.tool_calls[0].function.arguments) == ("One moment.", '{"a": null, "n": 1}')
        history = [*MESSAGES, first.model_dump(exclude_none=True)]
        history.append({"role": "tool", "tool_call_id": "call_1", "content": "ok"})
        second = client.chat.completions.create(model="m", messages=history, tools=TOOLS).choices[0].message
        assert second.content == "Done."
        with pytest.raises(openai.InternalServerError, match="no reply for turn 3"):
            client.chat.completions.create(
                model="m", messages=[*history, {"role": "assistant", "content": "Done."}, *MESSAGES], tools=TOOLS
            )
        assert [exchange.status for exchange in endpoint.exchanges] == [200, 200, 500]
        assert len(endpoint.refused) == 1


@pytest.mark.parametrize(
    ("path", "content", "status", "said"),
    [
        ("/v1/chat/completions", b"{", 400, "could not parse the JSON body"),
        ("/v1/chat/completions", b"[" * 100_000, 400, "nested too deeply"),
        ("/v1/chat/completions", b"3", 400, "."),
        ("/v1/chat/completion", b"{}", 404, "Unknown request URL: POST /v1/chat/completion"),
    ],
)
def test_what_is_no_request(path: str, content: bytes, status: int, said: str) -> None:
    client = TestClient(create_app())
    response = client.post(path, content=content, headers=HEADERS)
    assert response.status_code == status
    assert said in response.json()["error"]["message"]


def test_it_can_be_called_within_the_process() -> None:
    with TestClient(create_app(answers="sensible")) as client:
        response = client.post("/v1/chat/completions", json=BODY, headers={"x-emulate-fault": ""})
        assert response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "act"
        unknown = client.post("/v1/chat/completions", json=BODY, headers={"x-emulate-fault": "no-indx"})
        assert unknown.status_code == 400
        assert "did you mean no-index" in unknown.json()["error"]["message"]


def test_an_answer_ends_where_its_tokens_do() -> None:
    with strict_endpoint() as endpoint:
        client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
        reasons = {
            client.chat.completions.create(**BODY, max_completion_tokens=2, seed=seed).choices[0].finish_reason
            for seed in range(20)
        }
    assert "length" in reasons
