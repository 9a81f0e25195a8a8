"""What is off is off, and calls are one at a time exactly where they must be."""

import dataclasses
import json

import openai
import pytest

from link.asking import APIS, inference, wire_tools
from link.linked import ASK, KEY, WEATHER, at, link, recording
from strictcall import Policy, Tool
from strictcall.dialect import load
from strictcall.link.errors import LinkError
from strictcall.link.prepared import Request
from strictcall.link.resolved import ToolRules
from strictcall.testing.endpoint import strict_endpoint

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
ONE_CALL_ONLY = "azure-openai"
"""A dialect that takes strict tools only one call at a time."""


# --- strict off -------------------------------------------------------------------------------------------------------

ODD = Tool("odd", "Odd", {"oneOf": [{"type": "object", "properties": {"a": {"nullable": True}}}], "minProperties": 0})
OFF = {
    "the model cannot": {"supports_tools": "parallel"},
    "it is not wanted": {"strict_tools": False},
    "not for these tools": {"tools": {tool.name: ToolRules(strict=False) for tool in (WEATHER, ODD)}},
}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("fields", OFF.values(), ids=OFF)
@pytest.mark.parametrize("dialect", ["openai", ONE_CALL_ONLY, "deepseek", "cohere", "mistral", "vllm"])
async def test_off_sends_the_bytes_that_a_client_without_strictcall_sends(anyio_backend, dialect, fields):
    with recording() as (url, requests):
        one = at(url, "chat_completions", dialect=load(dialect), extra_body={"seed": 1}, **fields)
        async with inference(one, attempts=1) as asking:
            with pytest.raises(LinkError):
                await asking.ask(Request(ASK, [WEATHER, ODD]))
        plain = openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)
        with pytest.raises(openai.BadRequestError):
            await plain.chat.completions.create(
                model="m",
                messages=ASK,
                tools=[
                    {
                        "type": "function",
                        "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
                    }
                    for t in (WEATHER, ODD)
                ],
                extra_body={"seed": 1},
            )
        await plain.close()
    assert requests[0][1] == requests[1][1]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@APIS
async def test_off_rewrites_nothing_in_any_api(anyio_backend, api):
    with recording() as (url, requests):
        async with inference(at(url, api, strict_tools=False), attempts=1) as asking:
            with pytest.raises(LinkError):
                await asking.ask(Request(ASK, [WEATHER]))
    body = json.loads(requests[0][1])
    ((name, schema, strict),) = wire_tools(body, api)
    assert (name, bool(strict)) == ("get.weather", False)
    assert "strict" not in requests[0][1].decode()
    assert not {"parallel_tool_calls", "tool_choice", "toolConfig"} & body.keys()
    if api != "generate_content":  # Google's client writes types its own way
        assert schema == WEATHER.parameters


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_may_be_off_alone_and_have_a_policy_of_its_own(anyio_backend):
    other = dataclasses.replace(WEATHER, name="other")
    nullable = {"type": ["string", "null"]}
    third = Tool("third", "Third", {"type": "object", "properties": {"a": nullable}})
    rules = {
        "other": ToolRules(strict=False),
        "third": ToolRules(strict=True, policy=Policy(nulls="fold")),
    }
    with strict_endpoint(answers="sensible") as endpoint:
        one = link(endpoint, "chat_completions", tools=rules)
        async with inference(one) as asking:
            result = await asking.ask(Request(ASK, [WEATHER, other, third]))
    sent = {tool["function"]["name"]: tool["function"] for tool in endpoint.exchanges[0].body["tools"]}
    assert sent["other"]["parameters"] == WEATHER.parameters
    assert [tool["strict"] for tool in sent.values()] == [True, False, True]
    assert result.prepared.strict == ("get.weather", "third")
    folded = result.prepared.toolset["third"]
    assert folded.decode('{"a": null}') == {}
    assert folded.policy.nulls == "fold"


# --- parallel calls ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("said", [None, True, False])
@pytest.mark.parametrize("dialect", ["openai", ONE_CALL_ONLY])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("api", ["chat_completions", "responses"])
async def test_the_parallel_flag_is_false_exactly_where_it_must_be(anyio_backend, api, strict, dialect, said):
    extra = {} if said is None else {"parallel_tool_calls": said}
    with recording() as (url, requests):
        one = at(url, api, dialect=load(dialect), strict_tools=strict, extra_body=extra)
        async with inference(one, attempts=1) as asking:
            with pytest.raises(LinkError):
                await asking.ask(Request(ASK, [WEATHER]))
    must = strict and not load(dialect).parallel_with_strict
    assert json.loads(requests[0][1]).get("parallel_tool_calls") == (False if must else said)
