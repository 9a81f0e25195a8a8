"""The official OpenAI client against a strict endpoint: tools sent, called, decoded, results returned."""

import asyncio

import pytest

from api.sample_tools import OUTSIDE, toolset
from api.streaming import check_faulty, check_law, fetched
from strictcall import compile_schema
from strictcall.api.chat_completions import Stream, read, results, write
from strictcall.dialect import load
from strictcall.emulator.faults import FAULTS
from strictcall.testing.endpoint import strict_endpoint

openai = pytest.importorskip("openai", reason="the openai client is not installed")

SCRIPTED = ("openai", "deepseek")
ASK = {"role": "user", "content": "Find hats in Lisbon"}
WANTED = [("search", {"query": "hats", "where": {"tag": "Lisbon"}}), ("set env", {"env": {"A": "1"}})]


def script(tools):
    """What a model says under a strict decoder: two calls as the wire has them, then a text."""
    calls = [{"name": tools[name].name, "arguments": tools[name].encode(arguments)} for name, arguments in WANTED]
    replies = [{"text": "Let me look.", "reasoning": "hats…", "calls": calls}, {"text": "Two hats."}]
    return {"conversations": [{"when": "hats", "replies": replies}]}


def body(messages, tools, **more):
    return write({"model": "m", "messages": messages, "extra_body": {}, **more}, tools)


async def asked(client, messages, tools, *, streamed):
    """One turn, whichever way the client goes."""
    sent = body(messages, tools, **({"stream": True, "stream_options": {"include_usage": True}} if streamed else {}))
    response = client.chat.completions.create(**sent)
    if hasattr(response, "__await__"):
        response = await response
    if not streamed:
        return read(response.model_dump(), tools)
    stream, events = Stream(tools), []
    if hasattr(response, "__aiter__"):
        async for chunk in response:
            events += stream.feed(chunk.model_dump())
    else:
        for chunk in response:
            events += stream.feed(chunk.to_dict())
    answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    return answer


async def closed(client):
    ended = client.close()
    if ended is not None:
        await ended


CLIENTS = pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@CLIENTS
@STREAMED
@pytest.mark.parametrize("dialect", SCRIPTED)
def test_a_conversation(kind, streamed, dialect):
    tools = toolset(dialect)
    assert len(tools.strict) == 3

    async def talk(endpoint):
        client = getattr(openai, kind)(base_url=endpoint.base_url, api_key="k", max_retries=0)
        messages = [ASK]
        answer = await asked(client, messages, tools, streamed=streamed)
        assert [(call.name, call.arguments) for call in answer.calls] == WANTED
        assert (answer.text, answer.reasoning, answer.stop_reason) == ("Let me look.", "hats…", "tool_calls")
        assert answer.usage.input
        assert answer.usage.output
        messages += [answer, *results(answer.calls, ["2 hats", "set"])]
        final = await asked(client, messages, tools, streamed=streamed)
        assert (final.text, final.calls, final.stop_reason) == ("Two hats.", (), "stop")
        # The same conversation, its calls kept by a caller in contract form.
        spoken = {
            "role": "assistant",
            "content": answer.text,
            "tool_calls": [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": contract_text(call)}}
                for call in answer.calls
            ],
        }
        again = await asked(client, [ASK, spoken, *results(answer.calls, ["a", "b"])], tools, streamed=streamed)
        assert again.text == "Two hats."
        await closed(client)

    with strict_endpoint(script(tools), dialect=dialect) as endpoint:
        asyncio.run(talk(endpoint))
        assert not endpoint.refused
        second, third = (exchange.body["messages"][1] for exchange in list(endpoint.exchanges)[1:])
        for sent in (second, third):
            for call, (name, arguments) in zip(sent["tool_calls"], WANTED, strict=True):
                assert call["function"]["name"] == tools[name].name
                assert tools.decode(tools[name].name, call["function"]["arguments"]) == arguments


def contract_text(call):
    import json

    return json.dumps(call.arguments)


@STREAMED
@pytest.mark.parametrize("dialect", ["openai", "deepseek", "groq", "cohere", "azure-openai", "vllm", "xai"])
def test_whatever_a_decoder_writes_comes_as_the_contract_has_it(dialect, streamed):
    more = () if load(dialect).all_or_none else (OUTSIDE,)
    tools = toolset(dialect, *more)

    async def talk(endpoint):
        client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
        messages = [{"role": "user", "content": f"{dialect} search for hats, set env, echo"}]
        for _ in range(3):
            answer = await asked(client, messages, tools, streamed=streamed)
            for call in answer.calls:
                compiled = tools[call.name]
                assert not call.faults or compiled.verdict not in ("exact", "closed")
                assert call.faults or not compiled.check(call.arguments)
            messages += [answer, *results(answer.calls, ["ok"] * len(answer.calls))]
            if not answer.calls:
                messages.append({"role": "user", "content": "and again"})
        client.close()

    with strict_endpoint(dialect=dialect, seed=3) as endpoint:
        asyncio.run(talk(endpoint))
        assert not endpoint.refused
        assert len(endpoint.exchanges) == 3


def test_the_bytes_of_a_stream_as_the_client_hands_them_on():
    tools = toolset("openai")
    with (
        strict_endpoint(script(tools), dialect="openai") as endpoint,
        openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0) as client,
        client.chat.completions.with_streaming_response.create(**body([ASK], tools, stream=True)) as response,
    ):
        stream = Stream(tools)
        events = [event for part in response.iter_bytes() for event in stream.feed(part)]
        answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    assert [(call.name, call.arguments) for call in answer.calls] == WANTED


def test_output_through_the_client():
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}, "note": {"type": "string"}}}
    output = compile_schema({**schema, "required": ["ok"]}, load("openai", "output"))
    tools = toolset("openai")
    reply = {"text": '{"ok":true,"note":null}'}
    with (
        strict_endpoint({"conversations": [{"when": "hats", "replies": [reply]}]}, dialect="openai") as endpoint,
        openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0) as client,
    ):
        sent = write({"model": "m", "messages": [ASK]}, tools, output=output)
        answer = read(client.chat.completions.create(**sent).model_dump(), tools, output)
        assert answer.output == {"ok": True}
        assert not endpoint.refused


def test_choices_through_the_client():
    tools = toolset("openai")
    with (
        strict_endpoint(dialect="openai") as endpoint,
        openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0) as client,
    ):
        for choice, allowed in (("set env", {"set env"}), (["echo", "search"], {"echo", "search"}), ("none", set())):
            sent = write({"model": "m", "messages": [ASK]}, tools, tool_choice=choice)
            answer = read(client.chat.completions.create(**sent).model_dump(), tools)
            assert {call.name for call in answer.calls} <= allowed
            assert answer.calls or choice != "set env"
        assert not endpoint.refused


ENDS = {
    "cut": "incomplete",
    "truncated-json": "tool_calls",
    "truncated-length": "length",
    "malformed-sse": "an event is not JSON",
    "reasoning-only": "stop",
}
"""How an answer with a fault ends, where it is not as without."""


@pytest.mark.parametrize("fault", [name for name in FAULTS if not name.isdecimal()])
def test_a_stream_with_a_fault_is_a_sound_answer_or_a_clear_error(fault):
    tools = toolset("openai")
    with strict_endpoint(script(tools), dialect="openai", delay=0.05) as endpoint:
        sent = write({"model": "m", "messages": [ASK], "stream": True}, tools)
        made = check_faulty(lambda: Stream(tools), fetched(f"{endpoint.base_url}/chat/completions", sent, fault), tools)
    end = ENDS.get(fault, "tool_calls")
    assert (made if isinstance(made, str) else made.stop_reason.value).startswith(end)
    if fault in ("cut", "truncated-json", "truncated-length"):
        assert all(call.faults for call in made.calls[-1:])
    elif fault in ("slow-first-byte", "stall", "repeated-names", "duplicate-final", "empty-choices"):
        assert [(call.name, call.arguments) for call in made.calls] == WANTED
