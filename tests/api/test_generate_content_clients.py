"""The official Google client against a strict endpoint: tools sent, called, decoded, results returned."""

import asyncio

import pytest

from api.sample_tools import OUTSIDE, toolset
from api.streaming import check_faulty, check_law, fetched
from strictcall import compile_schema
from strictcall.api.generate_content import Stream, read, results, write
from strictcall.dialect import load
from strictcall.emulator.faults import FAULTS
from strictcall.testing.endpoint import strict_endpoint

genai = pytest.importorskip("google.genai", reason="the google-genai client is not installed")

DIALECTS = ("gemini", "gemini-json")
ASK = {"role": "user", "parts": [{"text": "Find hats in Lisbon"}]}
WANTED = [("search", {"query": "hats", "where": {"tag": "Lisbon"}}), ("set env", {"env": {"A": "1"}})]
MODEL = "gemini-3.1-pro"
"""A model that wants the signatures of its calls back."""


def script(tools):
    """What a model says under a strict decoder: two calls as the wire has them, then a text."""
    calls = [{"name": tools[name].name, "arguments": tools[name].encode(arguments)} for name, arguments in WANTED]
    replies = [{"text": "Let me look.", "reasoning": "hats…", "calls": calls}, {"text": "Two hats."}]
    return {"conversations": [{"when": "hats", "replies": replies}]}


def client_of(endpoint):
    return genai.Client(api_key="k", http_options={"base_url": endpoint.url})


async def asked(client, contents, tools, *, streamed, is_async=False):
    """One turn, whichever way the client goes; the client's own form of the body, its names in snake_case."""
    config = {"thinking_config": {"include_thoughts": True}}
    sent = write({"model": MODEL, "contents": contents, "config": config}, tools)
    models = client.aio.models if is_async else client.models
    if not streamed:
        response = models.generate_content(**sent)
        response = await response if is_async else response
        return read(response.model_dump(mode="json", exclude_none=True), tools)
    stream, events = Stream(tools), []
    if is_async:
        async for chunk in await models.generate_content_stream(**sent):
            events += stream.feed(chunk.model_dump())
    else:
        for chunk in models.generate_content_stream(**sent):
            events += stream.feed(chunk.model_dump(mode="json", by_alias=True))
    answer = stream.finish()
    check_law([*events, *stream.ended], answer)
    return answer


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversation(dialect, streamed, is_async):
    tools = toolset(dialect)
    assert len(tools.strict) == 3

    async def talk(endpoint):
        client = client_of(endpoint)
        contents = [ASK]
        answer = await asked(client, contents, tools, streamed=streamed, is_async=is_async)
        assert [(call.name, call.arguments) for call in answer.calls] == WANTED
        assert (answer.text, answer.reasoning, answer.stop_reason) == ("Let me look.", "hats…", "tool_calls")
        assert answer.usage.input
        assert answer.usage.output
        contents += [answer, *results(answer.calls, ["2 hats", "set"])]
        final = await asked(client, contents, tools, streamed=streamed, is_async=is_async)
        assert (final.text, final.calls, final.stop_reason) == ("Two hats.", (), "stop")
        await client.aio.aclose()
        client.close()

    with strict_endpoint(script(tools)) as endpoint:
        asyncio.run(talk(endpoint))
        assert not endpoint.refused
        first, second = (exchange.body for exchange in endpoint.exchanges)
        assert first["toolConfig"]["functionCallingConfig"]["mode"] == "VALIDATED"
        parts = [part for part in second["contents"][1]["parts"] if "functionCall" in part]
        for part, (name, arguments) in zip(parts, WANTED, strict=True):
            assert part["functionCall"]["name"] == tools[name].name
            assert tools.decode(tools[name].name, part["functionCall"]["args"]) == arguments
        assert parts[0]["thoughtSignature"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_whatever_a_decoder_writes_comes_as_the_contract_has_it(dialect):
    tools = toolset(dialect, OUTSIDE)

    async def talk(endpoint):
        client = client_of(endpoint)
        contents = [{"role": "user", "parts": [{"text": f"{dialect}: search for hats, set env, echo"}]}]
        for turn in range(4):
            answer = await asked(client, contents, tools, streamed=bool(turn % 2))
            for call in answer.calls:
                compiled = tools[call.name]
                assert not call.faults or compiled.verdict not in ("exact", "closed")
                assert call.faults or not compiled.check(call.arguments)
            contents += [answer, *results(answer.calls, ["ok"] * len(answer.calls))]
            if not answer.calls:
                contents.append({"role": "user", "parts": [{"text": "and again"}]})
        client.close()

    with strict_endpoint(dialect=dialect, seed=4) as endpoint:
        asyncio.run(talk(endpoint))
        assert not endpoint.refused
        assert len(endpoint.exchanges) == 4


def test_calls_that_another_api_s_model_made_are_taken():
    tools = toolset("gemini-json")
    with strict_endpoint(script(tools)) as endpoint:
        answer = asyncio.run(asked(client_of(endpoint), [ASK], tools, streamed=False))
        foreign = type(answer)(answer.text, answer.reasoning, answer.calls, stop_reason=answer.stop_reason)
        contents = [ASK, foreign, *results(answer.calls, ["a", "b"])]
        assert asyncio.run(asked(client_of(endpoint), contents, tools, streamed=False)).text == "Two hats."
        assert not endpoint.refused


@pytest.mark.parametrize("dialect", DIALECTS)
def test_output_and_choices_through_the_client(dialect):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    output = compile_schema(schema, load(dialect, "output"))
    tools = toolset(dialect)
    with strict_endpoint(dialect=dialect) as endpoint:
        client = client_of(endpoint)
        body = {"model": MODEL, "contents": [ASK], "config": {}}
        sent = write(body, toolset(dialect), tool_choice="none", output=output)
        answer = read(client.models.generate_content(**sent).model_dump(mode="json"), tools, output)
        assert isinstance(answer.output["ok"], bool)
        for choice, allowed in (("set env", {"set env"}), (["echo", "search"], {"echo", "search"}), ("none", set())):
            sent = write(body, tools, tool_choice=choice)
            answer = read(client.models.generate_content(**sent).model_dump(mode="json"), tools)
            assert {call.name for call in answer.calls} <= allowed
            assert answer.calls or choice != "set env"
        client.close()
        assert not endpoint.refused


ENDS = {
    "cut": "incomplete",
    "truncated-json": "error",
    "truncated-length": "length",
    "malformed-sse": "an event is not JSON",
    "reasoning-only": "stop",
}
"""How an answer with a fault ends, where it is not as without."""


@pytest.mark.parametrize("fault", [name for name in FAULTS if not name.isdecimal()])
def test_a_stream_with_a_fault_is_a_sound_answer_or_a_clear_error(fault):
    tools = toolset("gemini")
    with strict_endpoint(script(tools), dialect="gemini", delay=0.05) as endpoint:
        url = f"{endpoint.url}/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
        made = check_faulty(lambda: Stream(tools), fetched(url, write({"contents": [ASK]}, tools), fault), tools)
    end = ENDS.get(fault, "tool_calls")
    assert (made if isinstance(made, str) else made.stop_reason.value).startswith(end)
    if fault in ("slow-first-byte", "stall", "repeated-names", "duplicate-final", "no-index"):
        assert [(call.name, call.arguments) for call in made.calls] == WANTED
