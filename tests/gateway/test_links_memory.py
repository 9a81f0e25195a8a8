"""What only a provider reads of its answers comes back to it, though Chat Completions has no place for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import openai
import pytest

from gateway.links_standing import (
    KEY,
    SAID,
    WEATHER,
    Standing,
    ask,
    entry,
    standing,
    streamed,
    taken,
    turns,
    whole,
    wire,
    write,
)
from strictcall.api.answer import Answer, Call
from strictcall.gateway.links.memory import LONGEST, MOST_ANSWERS, MOST_CHARACTERS, Memory
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

THOUGHTFUL = {
    "conversations": [
        {
            "when": f"by {api}.",
            "replies": [
                {"reasoning": "Hm.", "calls": [{"name": "weather", "arguments": wire(api)} for _ in range(2)]},
                {"text": "Sunny."},
            ],
        }
        for api in ("messages", "generate_content", "responses")
    ]
}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
ROADS = pytest.mark.parametrize("road", [whole, streamed])


@pytest.fixture(scope="module")
def thinker() -> Iterator[StrictEndpoint]:
    with strict_endpoint(THOUGHTFUL, api_key=KEY) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def gateway(thinker: StrictEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    file = tmp_path_factory.mktemp("memory") / "strictcall.json"
    write(
        file,
        entry("messages", thinker, extra_body=THINKING),
        entry("messages", thinker, id="other"),
        entry("generate_content", thinker),
        entry("responses", thinker),
    )
    with standing(file) as made:
        yield made


def begun(gateway: Standing, road: Any, api: str) -> list[Any]:
    """The messages of a conversation's second request: the user's, the assistant's, and the results of its calls."""
    messages = ask(f"by {api}.")
    with gateway.client() as client:
        message = road(client, messages, model=f"{api}/m", tools=[WEATHER]).choices[0].message
    assert taken(message) == [("weather", SAID)] * 2
    return [*messages, *turns(message)]


@ROADS
def test_signed_thoughts_go_back_with_the_calls_that_they_led_to(
    gateway: Standing, thinker: StrictEndpoint, road: Any
) -> None:
    messages = begun(gateway, road, "messages")
    for call in messages[1]["tool_calls"]:  # some clients write the arguments anew
        call["function"]["arguments"] = json.dumps(dict(reversed(SAID.items())))
    with gateway.client() as client:
        assert road(client, messages, model="messages/m", tools=[WEATHER]).choices[0].message.content == "Sunny."
    said, results = thinker.exchanges[-1].body["messages"][1:]
    assert [block["type"] for block in said["content"]] == ["thinking", "tool_use", "tool_use"]
    assert said["content"][0]["signature"]
    assert [block["tool_use_id"] for block in results["content"]] == [block["id"] for block in said["content"][1:]]


@ROADS
def test_signatures_of_calls_go_back(gateway: Standing, thinker: StrictEndpoint, road: Any) -> None:
    messages = begun(gateway, road, "generate_content")
    with gateway.client() as client:
        assert road(client, messages, model="generate_content/m", tools=[WEATHER]).choices[0].message.content
    after = thinker.exchanges[-1]
    said = after.body["contents"][1]["parts"]
    assert after.status == 200
    assert [part["thoughtSignature"] for part in said if part.get("thoughtSignature")]
    assert "skip_thought_signature_validator" not in json.dumps(said)


@ROADS
def test_nothing_is_stored_at_a_provider_that_would_store_all(
    gateway: Standing, thinker: StrictEndpoint, road: Any
) -> None:
    messages = begun(gateway, road, "responses")
    with gateway.client() as client:
        assert road(client, messages, model="responses/m", tools=[WEATHER]).choices[0].message.content == "Sunny."
        assert thinker.exchanges[-1].body["store"] is False
        road(client, ask("by responses."), model="responses/m", tools=[WEATHER], store=True)
        assert thinker.exchanges[-1].body["store"] is True


@pytest.mark.parametrize("changed", ["text", "arguments", "results", "link"])
def test_a_turn_that_is_another_is_sent_as_it_came(gateway: Standing, thinker: StrictEndpoint, changed: str) -> None:
    first, said, *results = begun(gateway, whole, "messages")
    link = "other/m" if changed == "link" else "messages/m"
    if changed == "text":
        said["content"] = "Let me see."
    elif changed == "arguments":
        said["tool_calls"][0]["function"]["arguments"] = '{"city": "Porto"}'
    elif changed == "results":
        results = [{**results[0], "content": [{"type": "text", "text": "Sunny."}]}, results[1]]
    thinker.exchanges.clear()
    # A provider may refuse a turn without the thoughts that it asks for; what it was sent is what counts here.
    with gateway.client() as client, suppress(openai.BadRequestError):
        whole(client, [first, said, *results], model=link, tools=[WEATHER])
    sent = thinker.exchanges[-1].body["messages"][1]["content"]
    assert {block["type"] for block in sent} - {"text"} == {"tool_use"}


def test_a_memory_is_bounded() -> None:
    memory = Memory()
    call = Call("a", "f", {"x": 1}, raw="{}")
    for number in range(MOST_ANSWERS + 1):
        memory.keep("l/m", Answer(calls=(call,)), [f"c{number}"])
    long = Answer(calls=(call,), native={"signature": "x" * LONGEST})
    memory.keep("l/m", long, ["long"])
    memory.keep("l/m", Answer(calls=(Call("a", "f", None, raw="{", complete=False),)), ["cut"])

    def found(call_id: str) -> Any:
        function = {"name": "f", "arguments": '{"x": 1.0}'}
        return memory.find("l/m", {"content": "", "tool_calls": [{"id": call_id, "function": function}]})

    assert found("c1") is not None
    assert found(f"c{MOST_ANSWERS}") is not None
    assert found("c0") is found("cut") is found("long") is None
    memory.keep("l/m", Answer(calls=(call,)), ["next"])
    assert found("c1") is not None  # it was heard of since
    assert found("c2") is None
    thoughts = "x" * (LONGEST - 100)
    most = MOST_CHARACTERS // LONGEST
    for number in range(most):
        for _ in range(2):  # the same answer again takes no more room
            memory.keep("l/m", Answer(calls=(call,), native=thoughts), [f"t{number}"])
    assert found("t0") is not None
    memory.keep("l/m", Answer(calls=(call,), native=thoughts), ["last"])
    assert [name for name in ("t0", "t1", "t2", "last") if found(name) is None] == ["t1"]
    assert found(f"c{MOST_ANSWERS}") is None
