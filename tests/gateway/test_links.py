"""OpenAI's own client, over sockets, at the gateway to links of four APIs, with the emulator behind them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import openai
import pytest

from gateway.links_standing import (
    APIS,
    CONTRACT,
    SAID,
    WEATHER,
    Standing,
    answering,
    ask,
    entry,
    streamed,
    streamed_async,
    taken,
    turns,
    whole,
    whole_async,
    wire,
    write,
)
from link.asking import wire_tools
from strictcall.testing.endpoint import StrictEndpoint

NOTHING_SAID = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\ndata: {"error":{"message":"x"}}\n\n'
)
ROADS = {"whole": whole, "streamed": streamed, "whole, async": whole_async, "streamed, async": streamed_async}


# --- conversations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
@pytest.mark.parametrize("api", APIS)
def test_a_conversation_with_a_link_of_any_api(
    all_apis: Standing, endpoint: StrictEndpoint, api: str, road: Any
) -> None:
    messages = [{"role": "system", "content": "Be brief."}, *ask(f"The weather by {api}.")]

    async def held(client: Any) -> list[Any]:
        found = []
        for _ in range(2):
            answer = road(client, messages, model=f"{api}/m", tools=[WEATHER], temperature=0.5, max_tokens=99)
            answer = await answer if asyncio.iscoroutine(answer) else answer
            found.append(answer)
            messages.extend(turns(answer.choices[0].message))
        return found

    async def held_async() -> list[Any]:
        async with all_apis.async_client() as client:
            return await held(client)

    with all_apis.client() as client:
        found = asyncio.run(held_async() if asyncio.iscoroutinefunction(road) else held(client))
    first, second = (answer.choices[0] for answer in found)
    assert (first.finish_reason, first.message.content) == ("tool_calls", "One moment.")
    assert taken(first.message) == [("weather", SAID)]
    assert (second.finish_reason, second.message.content, second.message.tool_calls) == ("stop", "Sunny.", None)
    for answer in found:
        assert answer.usage.prompt_tokens > 0
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert [(exchange.api, exchange.status) for exchange in endpoint.exchanges] == [(api, 200)] * 2
    for exchange in endpoint.exchanges:
        ((name, schema, strict),) = wire_tools(exchange.body, api)
        assert (name, strict) == ("weather", True)
        assert schema != CONTRACT
    last = json.dumps(endpoint.exchanges[-1].body, ensure_ascii=False)
    # In the history too the map is written as the decoder of that link has it.
    assert "key" in last.partition("One moment.")[2]
    assert '"labels": {"für"' not in last
    assert "0.5" in last
    assert "99" in last


def test_the_models_are_the_links(all_apis: Standing) -> None:
    with all_apis.client() as client:
        names = [model.id for model in client.models.list()]
        assert names == ["fallback", *dict.fromkeys(["chat_completions/m", "messages/m", *(f"{a}/m" for a in APIS)])]
        assert client.models.retrieve("messages/m").owned_by == "messages"
        with pytest.raises(openai.NotFoundError, match="did you mean 'messages/m'"):
            client.models.retrieve("mesages/m")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-4o", "no model is called 'gpt-4o'; there are chat_completions/m, messages/m"),
        ("message/m", "did you mean 'messages/m'"),
        ("m", "did you mean"),
        ("openai/gpt-5", "no model is called 'openai/gpt-5'"),  # a provider of the catalog that the file has not
    ],
)
def test_a_model_that_no_link_has(all_apis: Standing, endpoint: StrictEndpoint, name: str, words: str) -> None:
    with all_apis.client() as client, pytest.raises(openai.NotFoundError, match=words) as caught:
        client.chat.completions.create(model=name, messages=ask())
    assert caught.value.code == "model_not_found"
    assert list(endpoint.exchanges) == []


def test_a_model_that_is_not_listed_may_be_asked_of_a_provider_of_the_file(
    all_apis: Standing, endpoint: StrictEndpoint
) -> None:
    with all_apis.client() as client:
        answer = whole(client, ask("by messages."), model="messages/another/one", tools=[WEATHER])
    assert endpoint.exchanges[-1].body["model"] == "another/one"
    assert "strict" not in json.dumps(endpoint.exchanges[-1].body)  # nobody said that it can
    assert taken(answer.choices[0].message)[0][0] == "weather"


@pytest.mark.parametrize(
    "name", ["m ", "a\r\nx: y", "\x1b[31m", "\ud800", "../../x", "%2e%2e/x", "x?y=1", "x#", "a" * 300]
)
def test_a_name_that_a_client_makes_up_leads_nowhere(all_apis: Standing, endpoint: StrictEndpoint, name: str) -> None:
    """Some APIs have it in the address of a request, and it stands in a header of the answer and in the log."""
    body = {"model": f"generate_content/{name}", "messages": ask()}
    response = httpx2.post(f"{all_apis.url}/v1/chat/completions", content=json.dumps(body), verify=False)
    assert response.status_code == (400 if len(name) > 256 else 404)
    assert response.json()["error"]["param"] == "model"
    assert list(endpoint.exchanges) == []


def test_the_models_that_are_not_listed_are_so_many_at_most(
    one: Any, endpoint: StrictEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strictcall.gateway.links.asking.MOST_UNLISTED", 2)
    gateway = one(entry("messages", endpoint))
    with gateway.client() as client:
        for name in ("messages/a", "messages/b", "messages/a", "messages/m"):
            whole(client, ask("by messages."), model=name)
        with pytest.raises(openai.BadRequestError, match="list 'messages/c' in the file"):
            whole(client, ask("by messages."), model="messages/c")
        write(gateway.file, entry("messages", endpoint, model="c"))
        whole(client, ask("by messages."), model="messages/c")
    assert len(endpoint.exchanges) == 5


WITHOUT_INDEX = {
    "whole": [b'{"choices":[{"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}'],
    "streamed": [
        b'data: {"choices":[{"delta":{"role":"assistant","content":"H"}}]}\n\n',
        b'data: {"choices":[{"index":null,"delta":{"content":"i."}}]}\n\n',
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    ],
}


@pytest.mark.parametrize("supports", ["strict", "basic"])
@pytest.mark.parametrize("road", ["whole", "streamed"])
def test_choices_without_an_index_get_one(one: Any, road: str, supports: str) -> None:
    with answering(*WITHOUT_INDEX[road]) as url:
        gateway = one(entry("chat_completions", url, supports_tools=supports))
        with gateway.client() as client:
            (choice,) = ROADS[road](client, ask(), model="chat_completions/m", tools=[WEATHER]).choices
    assert (choice.index, choice.message.content, choice.finish_reason) == (0, "Hi.", "stop")


# --- fallback and edited files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["fallback", ""])
@pytest.mark.parametrize("road", [whole, streamed])
def test_the_next_link_gets_everything_in_its_own_form(
    one: Any, endpoint: StrictEndpoint, road: Any, model: str
) -> None:
    overloaded = entry("chat_completions", endpoint, headers={"x-emulate-fault": "503"})
    gateway = one(overloaded, entry("messages", endpoint), chain=("chat_completions/m", "messages/m"))
    messages = ask("Go.")
    with gateway.client() as client:
        for _ in range(2):
            message = road(client, messages, model=model, tools=[WEATHER]).choices[0].message
            assert taken(message) == [("weather", SAID)]
            messages += turns(message)
    assert [(each.api, each.status) for each in endpoint.exchanges] == [
        ("chat_completions", 503),
        ("messages", 200),
        ("messages", 200),
    ]
    (sent,) = (block for block in endpoint.exchanges[-1].body["messages"][1]["content"] if block["type"] == "tool_use")
    assert sent["input"] == wire("messages")
    assert [line.partition(":")[0] for line in gateway.lines] == [
        "chat_completions/m failed",
        "messages/m serves",
        "messages/m serves",
    ]
    assert gateway.lines[1] == "messages/m serves: it is the next of the chain; strict: weather"
    assert "served this conversation before" in gateway.lines[2]


def test_a_conversation_that_begins_alike_begins_with_the_first_link(one: Any, endpoint: StrictEndpoint) -> None:
    tired = entry("chat_completions", endpoint, headers={"x-emulate-fault": "413"})  # which is no reason to leave it
    gateway = one(tired, entry("messages", endpoint), chain=("chat_completions/m", "messages/m"))
    with gateway.client() as client:
        whole(client, ask("by messages."), model="fallback", tools=[WEATHER])
        write(gateway.file, entry("chat_completions", endpoint), chain=("chat_completions/m",))
        whole(client, ask("by messages."), model="fallback")
    assert [each.api for each in endpoint.exchanges] == ["chat_completions", "messages", "chat_completions"]


def test_a_stream_falls_over_before_its_first_word_and_not_after(one: Any, endpoint: StrictEndpoint) -> None:
    chain = ("chat_completions/m", "messages/m")
    with answering(NOTHING_SAID) as broken:
        gateway = one(entry("chat_completions", broken), entry("messages", endpoint), chain=chain)
        with gateway.client() as client:
            answer = streamed(client, ask("by messages."), model="fallback", tools=[WEATHER])
            assert taken(answer.choices[0].message) == [("weather", SAID)]
    assert [each.api for each in endpoint.exchanges] == ["messages"]


BEGUN = {
    "chat_completions": b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"This is"}}]}\n\n',
    "messages": b'data: {"type":"message_start","message":{"role":"assistant","content":[]}}\n\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"This is"}}\n\n',
}


@pytest.mark.parametrize(
    ("api", "supports", "rest", "kind"),
    [
        ("chat_completions", "strict", b"", "broken"),
        ("chat_completions", "strict", b'data: {"choi\n\n', "malformed"),
        ("chat_completions", "basic", b"", "broken"),
        ("chat_completions", "basic", b"data: \xff\n\n", "malformed"),
        ("messages", "strict", b"", "broken"),
        ("messages", "strict", b'data: {"type\n\n', "malformed"),
    ],
)
def test_a_stream_that_breaks_off_ends_in_an_error(
    one: Any, endpoint: StrictEndpoint, api: str, supports: str, rest: bytes, kind: str
) -> None:
    said: list[str] = []

    def heard(client: openai.OpenAI) -> None:
        made = client.chat.completions.create(model="fallback", messages=ask(), tools=[WEATHER], stream=True)
        said.extend(choice.delta.content or "" for chunk in made for choice in chunk.choices)

    with answering(BEGUN[api], rest) as url:
        links = entry(api, url, supports_tools=supports), entry("responses", endpoint)
        gateway = one(*links, chain=(f"{api}/m", "responses/m"))
        with gateway.client() as client, pytest.raises(openai.APIError, match=f"{api}/m: {kind}: .*had begun"):
            heard(client)
    assert "".join(said) == "This is"
    assert list(endpoint.exchanges) == []
    assert any(line.startswith(f"{api}/m failed: {kind}") for line in gateway.lines)


def test_a_file_that_is_edited_in_the_middle_of_a_conversation_makes_it_strict(
    one: Any, endpoint: StrictEndpoint
) -> None:
    gateway = one(entry("chat_completions", endpoint, supports_tools="basic"))
    messages = ask("edit")
    with gateway.client() as client:
        loose = whole(client, messages, model="chat_completions/m", tools=[WEATHER]).choices[0].message
        messages += turns(loose)
        write(gateway.file, entry("chat_completions", endpoint))
        strict = whole(client, messages, model="chat_completions/m", tools=[WEATHER]).choices[0].message
    first, second = (exchange.body for exchange in endpoint.exchanges)
    assert first["tools"] == [WEATHER]
    assert second["tools"][0]["function"]["strict"] is True
    assert json.loads(second["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {
        "city": "Lisbon",
        "days": None,
        "labels": [{"key": "a", "value": "b"}],
    }
    assert taken(loose) == [("weather", {"city": "Lisbon", "labels": {"a": "b"}})]
    assert taken(strict) == [("weather", SAID)]
    assert [line.endswith("; strict: weather") for line in gateway.lines] == [False, True]


def test_a_file_that_goes_wrong_leaves_what_it_said_before(one: Any, endpoint: StrictEndpoint) -> None:
    gateway = one(entry("messages", endpoint))
    gateway.file.write_text("{")
    with gateway.client() as client:
        assert whole(client, ask("by messages."), model="messages/m", tools=[WEATHER]).choices[0].message.tool_calls
