"""A request on its way to the link that serves it, over real sockets against the emulator."""

import dataclasses
import json

import pytest

from link.asking import APIS, HASTY, STREAMED, inference, served, wire_tools
from link.linked import ASK, DIALECTS, KEY, WEATHER, at, both_loops, link, recording
from strictcall.api.answer import StopReason
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, TextDelta
from strictcall.dialect import load
from strictcall.link.errors import ChainError, ErrorKind, LinkError
from strictcall.link.events import LinkChosen, LinkFailed, LinkRetry, LinkServed, LinkSkipped
from strictcall.link.inference import FixedLinks, Inference
from strictcall.link.prepared import Request
from strictcall.link.resolved import Retries
from strictcall.link.toolsets import Toolsets
from strictcall.link.turns import Results
from strictcall.testing.endpoint import strict_endpoint

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]


# --- one link ---------------------------------------------------------------------------------------------------------


@both_loops
@STREAMED
@APIS
async def test_a_conversation_with_strict_tools(anyio_backend, api, streamed):
    told = []
    with strict_endpoint(answers="sensible", api_key=KEY) as endpoint:
        async with inference(link(endpoint, api), tell=told.append) as asking:
            first, events = await served(asking, Request(ASK, [WEATHER]), streamed)
            (call,) = first.answer.calls
            turns = [*ASK, first.answer, Results((call,), ("22 degrees",))]
            second, _ = await served(asking, Request(turns, [WEATHER]), streamed)
    assert (call.name, call.faults) == ("get.weather", ())
    assert call.arguments["city"] == "Lisbon"
    assert None not in call.arguments.values()
    assert "22 degrees" in second.answer.text
    assert not endpoint.refused
    assert all(strict for exchange in endpoint.exchanges for _, _, strict in wire_tools(exchange.body, api))
    name = f"{api}/m"
    why = "it is the first of the chain"
    assert told == [LinkChosen(name, why), LinkServed(name, why, ("get.weather",), 1)] * 2
    if streamed:
        started, ended = (next(e for e in events if isinstance(e, kind)) for kind in (CallStarted, CallEnded))
        text = "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
        assert (started.name, ended.faults, json.loads(text)) == ("get.weather", (), call.arguments)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@APIS
async def test_caps_and_fields_of_the_configuration_are_in_the_request(anyio_backend, api):
    extra = {"generate_content": {"labels": {"a": "b"}}}.get(api, {"metadata": {"user_id": "u"}})
    with recording() as (url, requests):
        async with inference(at(url, api, max_output_tokens=77, extra_body=extra), attempts=1) as asking:
            with pytest.raises(LinkError):
                await asking.ask(Request(ASK))
    body = json.loads(requests[0][1])
    places = {
        "chat_completions": body.get("max_completion_tokens"),
        "responses": body.get("max_output_tokens"),
        "messages": body.get("max_tokens"),
        "generate_content": body.get("generationConfig", {}).get("maxOutputTokens"),
    }
    assert places[api] == 77
    assert extra.items() <= body.items()


def test_other_servers_of_chat_completions_have_the_older_name_of_the_cap():
    one = at("http://x", "chat_completions", dialect=load("vllm"), max_output_tokens=77)
    body = Inference(FixedLinks([one])).prepare(one, Request(ASK)).body
    assert (body.get("max_tokens"), body.get("max_completion_tokens")) == (77, None)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@APIS
async def test_an_output_is_asked_for_where_the_link_is_strict_and_read_in_any_case(anyio_backend, api):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    script = {"replies": [{"text": '{"city": "Lisbon"}'}]}
    for strict in (True, False):
        with strict_endpoint(script=script) as endpoint:
            async with inference(link(endpoint, api, strict_tools=strict)) as asking:
                answer = (await asking.ask(Request(ASK, output=schema))).answer
        assert (answer.output, answer.output_faults) == ({"city": "Lisbon"}, ())
        assert ("city" in json.dumps(endpoint.exchanges[0].body)) is strict, strict


# --- fallback ---------------------------------------------------------------------------------------------------------


@both_loops
@STREAMED
@APIS
async def test_another_link_gets_its_own_tools_and_history(anyio_backend, api, streamed):
    """Begun on one API, gone on with on each other one: the first has broken down in between."""
    told = []
    others = [other for other in DIALECTS if other != api]
    with strict_endpoint(answers="sensible") as first, strict_endpoint(answers="sensible") as second:
        for other in others:
            async with inference(link(first, api), link(second, other), tell=told.append) as asking:
                began, _ = await served(asking, Request(ASK, [WEATHER]), streamed, conversation=1)
            assert began.link.api == api
            turns = [*ASK, began.answer, Results(began.answer.calls, ("22 degrees",))]
            broken = link(first, api, headers={"x-emulate-fault": "503"})
            async with inference(broken, link(second, other), tell=told.append) as asking:
                went_on, _ = await served(asking, Request(turns, [WEATHER]), streamed, conversation=1)
            assert went_on.link.api == other
            assert "22 degrees" in went_on.answer.text
    assert not second.refused
    for other, exchange in zip(others, second.exchanges, strict=True):
        ((_, schema, strict),) = wire_tools(exchange.body, other)
        own = went_on_schema(other)
        assert (schema, strict) == (own, True) if other != "generate_content" else strict
        assert "Lisbon" in json.dumps(exchange.body)


def went_on_schema(api):
    """The schema that a link of an API has, compiled for it alone."""
    one = at("http://x", api)
    (compiled,) = Toolsets().of(one, [WEATHER])
    return compiled.parameters


@both_loops
async def test_events_tell_which_link_served_and_why(anyio_backend):
    told = []
    with strict_endpoint(answers="sensible") as endpoint:
        bad = link(endpoint, "messages", headers={"x-emulate-fault": "529"}, model="big")
        good = link(endpoint, "chat_completions")
        async with inference(bad, good, tell=told.append) as asking:
            await asking.ask(Request(ASK, [WEATHER]), conversation="c")
            await asking.ask(Request(ASK, [WEATHER]))
    first, why = "it is the first of the chain", "it is the next of the chain"
    retry = next(event for event in told if isinstance(event, LinkRetry))
    assert told == [
        LinkChosen("messages/big", first),
        LinkRetry("messages/big", ErrorKind.OVERLOADED, "Overloaded", 1, retry.delay),
        LinkFailed("messages/big", ErrorKind.OVERLOADED, "Overloaded", 5.0),
        LinkChosen("chat_completions/m", why),
        LinkServed("chat_completions/m", why, ("get.weather",), 1),
        next(event for event in told if isinstance(event, LinkSkipped)),
        LinkChosen("chat_completions/m", why),
        LinkServed("chat_completions/m", why, ("get.weather",), 1),
    ]
    assert KEY not in repr(told)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_pinned_link_is_the_only_one(anyio_backend):
    with strict_endpoint(answers="sensible") as endpoint:
        bad = link(endpoint, "messages", headers={"x-emulate-fault": "503"})
        async with inference(link(endpoint, "chat_completions"), bad) as asking:
            with pytest.raises(LinkError, match="messages/m: overloaded"):
                await asking.ask(Request(ASK), link="messages/m")
    assert {exchange.api for exchange in endpoint.exchanges} == {"messages"}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_one_api_cannot_say_another_is_asked(anyio_backend):
    """The Messages API has no choice of several tools; a model without tools takes none."""
    tools = [WEATHER, dataclasses.replace(WEATHER, name="b"), dataclasses.replace(WEATHER, name="c")]
    request = Request(ASK, tools, tool_choice=["get.weather", "b"])
    with strict_endpoint(answers="sensible") as endpoint:
        links = [
            link(endpoint, "messages"),
            link(endpoint, "chat_completions", provider="x", supports_tools="none"),
            link(endpoint, "chat_completions"),
        ]
        async with inference(*links) as asking:
            assert (await asking.ask(request)).link.name == "chat_completions/m"
            with pytest.raises(LinkError, match="cannot limit a choice to several tools") as caught:
                await asking.ask(request, link="messages/m")
    assert caught.value.kind is ErrorKind.UNWRITABLE
    assert len(endpoint.exchanges) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_all_fail(anyio_backend):
    with strict_endpoint(faults=("500",)) as endpoint:
        async with inference(*(link(endpoint, api) for api in DIALECTS)) as asking:
            with pytest.raises(ChainError) as caught:
                await asking.ask(Request(ASK))
    assert [(error.link, error.attempts) for error in caught.value.failures] == [(f"{api}/m", 2) for api in DIALECTS]
    assert KEY not in str(caught.value)


class Edited:
    """A configuration that is edited while it is used."""

    def __init__(self, one):
        self.one = one
        self.asked = 0

    def chain(self):
        return [self.one.name]

    def retries(self):
        return Retries()

    def resolve(self, name):
        self.asked += 1
        assert name == self.one.name
        return self.one


@both_loops
async def test_a_model_made_strict_in_a_conversation_is_strict_at_the_next_step(anyio_backend):
    with strict_endpoint(answers="sensible", loose_rate=0.0) as endpoint:
        links = Edited(link(endpoint, "chat_completions", supports_tools="basic", dialect=load("vllm")))
        plain = dataclasses.replace(WEATHER, name="get_weather")
        async with Inference(links, habits=HASTY) as asking:
            first = await asking.ask(Request(ASK, [plain]), conversation=1)
            links.one = link(endpoint, "chat_completions")
            turns = [*ASK, first.answer, Results(first.answer.calls, ("22 degrees",))]
            second = await asking.ask(Request(turns, [plain]), conversation=1)
    before, after = (exchange.body for exchange in endpoint.exchanges)
    assert "strict" not in json.dumps(before)
    assert after["tools"][0]["function"]["strict"] is True
    assert "22 degrees" in second.answer.text
    # Its own call is said again in the form that it has now.
    sent = json.loads(after["messages"][2]["tool_calls"][0]["function"]["arguments"])
    assert second.prepared.toolset["get_weather"].decode(sent) == first.answer.calls[0].arguments
    assert links.asked == 2


# --- what an answer may be --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@STREAMED
@APIS
async def test_a_call_that_was_cut_off_is_not_complete(anyio_backend, api, streamed):
    with strict_endpoint(answers="sensible") as endpoint:
        bad = link(endpoint, api, headers={"x-emulate-fault": "truncated-length"})
        async with inference(bad) as asking:
            result, _ = await served(asking, Request(ASK, [WEATHER]), streamed)
    assert result.answer.stop_reason is StopReason.LENGTH
    assert not any(call.complete and not call.faults for call in result.answer.calls)


@both_loops
@STREAMED
async def test_calls_written_as_text_are_calls(anyio_backend, streamed):
    said = 'I look.\n<tool_call>\n{"name": "get.weather", "arguments": {"city": "Lisbon"}}\n</tool_call>'
    with strict_endpoint(script={"replies": [{"text": said}, {"text": "Sunny."}]}, dialect="vllm") as endpoint:
        one = link(endpoint, "chat_completions", dialect=load("vllm"), supports_tools="basic", tagged="hermes")
        async with inference(one) as asking:
            result, events = await served(asking, Request(ASK, [WEATHER]), streamed)
            turns = [*ASK, result.answer, Results(result.answer.calls, ("22 degrees",))]
            last, _ = await served(asking, Request(turns, [WEATHER]), streamed)
    (call,) = result.answer.calls
    assert (call.name, call.arguments, call.complete) == ("get.weather", {"city": "Lisbon"}, True)
    assert result.answer.text.strip() == "I look."
    assert result.answer.stop_reason is StopReason.TOOL_CALLS
    assert last.answer.text == "Sunny."
    if streamed:
        assert [type(event) for event in events if not isinstance(event, TextDelta)] == [
            CallStarted,
            ArgumentsDelta,
            CallEnded,
        ]
        assert "tool_call" not in "".join(event.text for event in events if isinstance(event, TextDelta))


class Stubborn:
    """A client whose first answers are what they are told to be."""

    def __init__(self, *responses):
        self.responses = list(responses)

    async def send(self, body):
        return self.responses.pop(0)

    async def aclose(self):
        pass


SPOKEN = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Here I am."}}]}
NONE = {
    "no choice": {"choices": []},
    "an error under the status of an answer": {"error": {"message": "overloaded", "code": "server_error"}},
    "nothing at all": {},
    "one that broke off": {"choices": [{"index": 0, "finish_reason": "error", "message": {"content": None}}]},
}


@both_loops
@pytest.mark.parametrize("response", NONE.values(), ids=NONE)
async def test_an_answer_that_is_none_is_asked_for_again(anyio_backend, response):
    client = Stubborn(response, SPOKEN)
    habits = dataclasses.replace(HASTY, make_client=lambda link: client)
    async with inference(at("http://x", "chat_completions"), habits=habits) as asking:
        assert (await asking.ask(Request(ASK))).answer.text == "Here I am."
    assert client.responses == []
