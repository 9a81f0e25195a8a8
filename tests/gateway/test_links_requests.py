"""What links are sent of a client's request: the very bytes, or what their API has in the place of each field."""

from __future__ import annotations

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
    put_together,
    streamed,
    taken,
    turns,
    whole,
)
from link.linked import at
from strictcall import Tool, compile_tool
from strictcall.errors import RequestError
from strictcall.gateway.links.fields import laid, placed
from strictcall.gateway.links.request import read_request, with_model
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

DONE = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}], "x": 1.0}'
CHAT = "chat_completions/m"


def sent_to(one: Any, content: bytes, **settings: Any) -> tuple[Any, httpx2.Response]:
    """What a link of Chat Completions was sent of some bytes, and what the client got back."""
    with answering(DONE, seen=(seen := [])) as url:
        gateway = one(entry("chat_completions", url, **settings))
        response = httpx2.post(f"{gateway.url}/v1/chat/completions", content=content, verify=False)
    (sent,) = seen
    return sent, response


# --- links of Chat Completions ----------------------------------------------------------------------------------------

ODD = b"""{ "tools" : [{"type":"function","function":{"name":"a b","parameters":{"oneOf":[]}, "strict": false}}],
 "model" :"chat_completions\\/m","n":2, "messages":[{"role":"user","content":"\\ud83d \\u00fc", "model": 1}],
 "seed": 1.50, "extra_body": {"a": 1E2}, "logprobs":true , "response_format":{"type":"json_object"}}\n"""


def test_off_is_byte_for_byte_but_for_the_models_name(one: Any) -> None:
    sent, response = sent_to(one, ODD, supports_tools="parallel")
    assert sent.raw == ODD.replace(b'"chat_completions\\/m"', b'"m"')
    assert response.content == DONE
    assert response.headers["x-strictcall-link"] == CHAT


def test_what_the_configuration_says_is_laid_over_it(one: Any) -> None:
    body = {"model": CHAT, "messages": ask(), "seed": 1, "max_tokens": 500, "n": 2}
    extra = {"seed": 7, "top_k": 3}
    sent, _ = sent_to(one, json.dumps(body).encode(), supports_tools="basic", extra_body=extra, max_output_tokens=100)
    assert json.loads(sent.raw) == {**body, "model": "m", "seed": 7, "max_tokens": 100, "top_k": 3}


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ({}, {"max_completion_tokens": 100}),
        ({"max_tokens": 50}, {"max_tokens": 50}),
        ({"max_completion_tokens": 150}, {"max_completion_tokens": 100}),
    ],
)
def test_the_lower_cap_counts(one: Any, wanted: dict[str, int], sent: dict[str, int]) -> None:
    content = json.dumps({"model": CHAT, "messages": ask(), **wanted}).encode()
    made, _ = sent_to(one, content, max_output_tokens=100)
    assert {name: value for name, value in json.loads(made.raw).items() if name.startswith("max")} == sent


def test_calls_are_one_at_a_time_where_they_must_be_whatever_else_is_said(one: Any) -> None:
    body = {"model": CHAT, "messages": ask(), "tools": [WEATHER], "parallel_tool_calls": True, "n": 2, "logprobs": True}
    extra = {"parallel_tool_calls": True}
    sent, _ = sent_to(one, json.dumps(body).encode(), dialect="azure-openai", extra_body=extra)
    made = json.loads(sent.raw)
    assert made["parallel_tool_calls"] is False
    assert made["tools"][0]["function"]["strict"] is True
    assert (made["n"], made["logprobs"]) == (2, True)


def test_rules_of_single_tools_hold(one: Any) -> None:
    other = {**WEATHER, "function": {**WEATHER["function"], "name": "other"}}
    body = {"model": CHAT, "messages": ask(), "tools": [WEATHER, other]}
    with answering(DONE, seen=(seen := [])) as url:
        gateway = one(entry("chat_completions", url), tools={"other": {"strict": False}})
        with gateway.client() as client:
            client.chat.completions.create(**body)
    first, second = json.loads(seen[0].raw)["tools"]
    assert first["function"]["strict"] is True
    assert second["function"]["parameters"] == CONTRACT
    assert second["function"].get("strict") is not True


@pytest.mark.parametrize("api", ["chat_completions", "messages"])
def test_a_model_that_takes_no_tools_is_sent_none(one: Any, endpoint: StrictEndpoint, api: str) -> None:
    gateway = one(entry(api, endpoint, supports_tools="none"))
    with gateway.client() as client, pytest.raises(openai.BadRequestError, match="supports_tools is none") as caught:
        whole(client, ask(), model=f"{api}/m", tools=[WEATHER])
    assert caught.value.param == "tools"


@pytest.mark.parametrize(
    ("content", "made"),
    [
        (b'{"model":"x/y","messages":[]}', b'{"model":"z","messages":[]}'),
        (b'{"messages":[{"model":"x"}]}', b'{"model":"z","messages":[{"model":"x"}]}'),
        (b'{"a":"}\\"{","model" : null , "messages":[]}', b'{"a":"}\\"{","model" : "z" , "messages":[]}'),
        (b'{"model":"a","messages":[],"model":"b"}', b'{"model":"z","messages":[],"model":"z"}'),
        (b'{"model":"a","model":null,"messages":[] }', b'{"model":"z","model":"z","messages":[] }'),
        ('{"messages":[],"mod\\u0065l":"ü"}'.encode(), b'{"messages":[],"mod\\u0065l":"z"}'),
    ],
)
def test_the_models_name_is_all_that_is_exchanged(content: bytes, made: bytes) -> None:
    assert with_model(read_request(content), "z") == made


@pytest.mark.parametrize("road", [whole, streamed])
def test_calls_as_text_are_found_whether_strict_or_not(one: Any, road: Any) -> None:
    script = {"replies": [{"calls": [{"name": "weather", "arguments": {"city": "Lisbon", "labels": {"für": "Ana"}}}]}]}
    with strict_endpoint(script, style="hermes") as styled:
        gateway = one(entry("chat_completions", styled, supports_tools="basic", tagged="hermes"))
        with gateway.client() as client:
            choice = road(client, ask(), model=CHAT, tools=[WEATHER]).choices[0]
    assert (taken(choice.message), choice.finish_reason) == ([("weather", SAID)], "tool_calls")
    assert styled.exchanges[0].body["tools"] == [WEATHER]


# --- links of other APIs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["responses", "messages", "generate_content"])
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"logit_bias": {"1": 2}}, "logit_bias"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"audio": {"voice": "x"}}, "audio"),
        ({"extra_body": {"a": 1}}, "extra_body"),
        ({"functions": []}, "functions"),
        ({"temperature": "hot"}, "temperature"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0]"),
        ({"tool_choice": {"type": "custom"}}, "tool_choice"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"messages": [{"role": "assistant", "tool_calls": 3}]}, "messages[0].tool_calls"),
    ],
)
def test_what_an_api_has_no_way_to_say_is_an_error_that_names_the_field(
    all_apis: Standing, endpoint: StrictEndpoint, api: str, fields: dict[str, Any], param: str
) -> None:
    body = {"model": f"{api}/m", "messages": ask(), **fields}
    with all_apis.client() as client, pytest.raises(openai.BadRequestError) as caught:
        client.post("/chat/completions", body=body, cast_to=object)
    assert caught.value.param == param
    assert f"{api}/m" in caught.value.message
    assert list(endpoint.exchanges) == []


def test_another_link_of_the_chain_serves_what_one_cannot_be_told(one: Any, endpoint: StrictEndpoint) -> None:
    chain = ("messages/m", CHAT)
    gateway = one(entry("messages", endpoint), entry("chat_completions", endpoint), chain=chain)
    with gateway.client() as client:
        answer = whole(client, ask("by chat_completions."), model="fallback", n=2, tools=[WEATHER])
    assert [taken(choice.message) for choice in answer.choices] == [[("weather", SAID)]] * 2
    assert [each.api for each in endpoint.exchanges] == ["chat_completions"]


FIELDS = {
    "max_tokens": 70,
    "temperature": 0.5,
    "top_p": 0.25,
    "stop": "END",
    "reasoning_effort": "low",
    "user": "u1",
    "service_tier": "flex",
    "n": 1,
    "logprobs": False,
    "metadata": None,
}


@pytest.mark.parametrize(
    ("api", "made"),
    [
        (
            "messages",
            {
                "max_tokens": 60,
                "temperature": 0.5,
                "top_p": 0.25,
                "stop_sequences": ["END"],
                "output_config": {"effort": "low"},
                "metadata": {"user_id": "u1"},
            },
        ),
        (
            "generate_content",
            {
                "config": {
                    "max_output_tokens": 60,
                    "temperature": 0.5,
                    "top_p": 0.25,
                    "stop_sequences": ["END"],
                    "thinking_config": {"thinking_level": "low"},
                }
            },
        ),
        (
            "responses",
            {
                "max_output_tokens": 60,
                "temperature": 0.5,
                "top_p": 0.25,
                "reasoning": {"effort": "low"},
                "user": "u1",
                "service_tier": "flex",
            },
        ),
    ],
)
def test_fields_have_their_places(api: str, made: dict[str, Any]) -> None:
    link = at("http://x", api, max_output_tokens=60)
    fields = {name: value for name, value in FIELDS.items() if api != "responses" or name != "stop"}
    body: dict[str, Any] = {}
    for path, value in placed(fields, link):
        body = laid(body, path, value)
    assert body == made


@pytest.mark.parametrize("name", ["stop", "seed", "top_k"])
def test_a_field_without_a_place_is_no_secret(name: str) -> None:
    with pytest.raises(RequestError, match="responses/m speaks the API responses, which has nothing of the kind"):
        placed({name: 1}, at("http://x", "responses"))


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "weather"}}, {"type": "tool", "name": "weather"}),
        ("auto", {"type": "auto"}),
    ],
)
def test_choices_of_tools(all_apis: Standing, endpoint: StrictEndpoint, choice: Any, sent: Any) -> None:
    with all_apis.client() as client:
        whole(
            client,
            ask("by messages."),
            model="messages/m",
            tools=[WEATHER],
            tool_choice=choice,
            parallel_tool_calls=False,
        )
    assert endpoint.exchanges[-1].body["tool_choice"] == {**sent, "disable_parallel_tool_use": True}


@pytest.mark.parametrize("api", ["responses", "messages", "generate_content"])
def test_a_call_that_could_not_be_read_goes_back_with_what_was_said_of_it(
    all_apis: Standing, endpoint: StrictEndpoint, api: str
) -> None:
    bad = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lis'}}
    good = {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": json.dumps(SAID)}}
    history = [
        *ask(f"by {api}."),
        {"role": "assistant", "content": None, "tool_calls": [bad, good]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: no JSON."},
        {"role": "tool", "tool_call_id": "c2", "content": "Sunny."},
    ]
    with all_apis.client() as client:
        assert whole(client, history, model=f"{api}/m", tools=[WEATHER]).choices[0].message.content == "Sunny."
    sent = json.dumps(endpoint.exchanges[-1].body, ensure_ascii=False)
    assert "Lis" in sent.replace("Lisbon", "")
    assert sent.index("Error: no JSON.") < sent.rindex("Sunny.")


NUMBERS: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "by": {"type": "object", "additionalProperties": {"type": "integer"}}},
    "required": ["total", "by"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("road", [whole, streamed])
def test_a_schema_for_the_answer(one: Any, road: Any) -> None:
    value = {"total": 3, "by": {"a": 3}}
    form = {"type": "json_schema", "json_schema": {"name": "numbers", "schema": NUMBERS}}
    held = compile_tool(Tool("numbers", None, NUMBERS), dialect="anthropic").encode(value)
    assert held != value
    with strict_endpoint({"replies": [{"text": json.dumps(held)}]}) as writing:
        gateway = one(entry("messages", writing), entry("messages", writing, id="loose", supports_tools="basic"))
        with gateway.client() as client:
            answer = road(client, ask(), model="messages/m", response_format=form)
            with pytest.raises(openai.BadRequestError, match="is not strict, and would hold no schema"):
                road(client, ask(), model="loose/m", response_format=form)
            outside = {"name": "x", "schema": {"$ref": "https://example.com/x.json"}}
            with pytest.raises(openai.BadRequestError, match="cannot be held") as caught:
                whole(
                    client, ask(), model="messages/m", response_format={"type": "json_schema", "json_schema": outside}
                )
            assert caught.value.param == "response_format"
    assert json.loads(answer.choices[0].message.content) == value
    assert writing.exchanges[0].body["output_config"]["format"]["type"] == "json_schema"


def test_a_stream_counts_tokens_only_where_they_are_asked_for(all_apis: Standing) -> None:
    asked: dict[str, Any] = {"model": "messages/m", "messages": ask("by messages."), "tools": [WEATHER], "stream": True}
    with all_apis.client() as client:
        chunks = list(client.chat.completions.create(**asked))
        counted = list(client.chat.completions.create(**asked, stream_options={"include_usage": True}))
    assert all(chunk.choices for chunk in chunks)
    assert [bool(chunk.choices) for chunk in counted] == [True] * (len(counted) - 1) + [False]
    assert counted[-1].usage.completion_tokens > 0
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    assert taken(put_together(chunks).choices[0].message) == [("weather", SAID)]


@pytest.mark.parametrize("raw", ['{"city": "Lisbon"}', "{}"])
def test_no_call_of_an_answer_that_was_cut_off_looks_whole(one: Any, raw: str) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "weather", "input": json.loads(raw)}
    answer = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "max_tokens"}
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    with answering(json.dumps(answer).encode()) as whole_url, answering(stream.encode()) as stream_url:
        gateway = one(entry("messages", whole_url), entry("messages", stream_url, id="streaming"))
        with gateway.client() as client:
            choice = whole(client, ask(), model="messages/m", tools=[WEATHER]).choices[0]
            chunks = client.chat.completions.create(model="streaming/m", messages=ask(), tools=[WEATHER], stream=True)
            deltas = [choice for chunk in chunks for choice in chunk.choices]
    assert (choice.finish_reason, choice.message.tool_calls) == ("length", None)
    told = "".join(call.function.arguments for each in deltas for call in each.delta.tool_calls or ())
    assert deltas[-1].finish_reason == "length"
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(told)


def test_apis_take_up_each_others_conversations(all_apis: Standing, endpoint: StrictEndpoint) -> None:
    messages = ask("by messages.")
    with all_apis.client() as client:
        messages += turns(whole(client, messages, model="messages/m", tools=[WEATHER]).choices[0].message)
        for api in APIS:
            answer = whole(client, messages, model=f"{api}/m", tools=[WEATHER])
            assert answer.choices[0].message.content == "Sunny."
    assert endpoint.refused == []
