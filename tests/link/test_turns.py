"""Conversations that any link can take up, and the tools of a request by their content."""

import dataclasses
import json

import pytest

from link.asking import APIS, inference
from link.linked import ASK, DIALECTS, WEATHER, at, link
from strictcall import Policy, Tool
from strictcall.api.answer import Answer, Call
from strictcall.errors import RequestError, SettingsError
from strictcall.link.inference import FixedLinks, Inference
from strictcall.link.prepared import Request
from strictcall.link.toolsets import LARGEST_KEPT, Toolsets
from strictcall.link.turns import Results
from strictcall.testing.endpoint import strict_endpoint

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]


# --- conversations ----------------------------------------------------------------------------------------------------

CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather in "}, {"type": "text", "text": "Lisbon?"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get.weather", "arguments": '{"city": "Lisbon"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "22 degrees"},
]
"""A conversation as somebody kept it, in the words of Chat Completions."""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@APIS
async def test_messages_of_chat_completions_go_on_with_any_link(anyio_backend, api):
    with strict_endpoint(answers="sensible") as endpoint:
        async with inference(link(endpoint, api)) as asking:
            result = await asking.ask(Request(CHAT, [WEATHER]))
    assert "22 degrees" in result.answer.text
    assert not endpoint.refused


WRONG = {
    "an unknown role": ([{"role": "wizard", "content": "x"}], r"messages\[0\]\.role: must be system"),
    "an image": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        r"messages\[0\]\.content\[0\]: only text is sent",
    ),
    "no content": ([{"role": "user"}], r"messages\[0\]\.content: must be a text or a list of parts"),
    "a result of no call": (
        [{"role": "tool", "tool_call_id": "x", "content": "y"}],
        r"messages\[0\]\.tool_call_id: no call before has this id",
    ),
    "arguments that are none": (
        [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{"}}]}],
        r"messages\[0\]\.tool_calls\[0\]\.function\.arguments: ",
    ),
    "a call of nothing": ([{"role": "assistant", "tool_calls": [7]}], r"tool_calls\[0\]: must be a call of a function"),
}


@pytest.mark.parametrize(("messages", "words"), WRONG.values(), ids=WRONG)
def test_what_another_api_cannot_be_told_of(messages, words):
    for api in ("responses", "messages", "generate_content", "converse"):
        one = at("http://x", api)
        with pytest.raises(RequestError, match=words):
            Inference(FixedLinks([one])).prepare(one, Request(messages))


def test_what_the_system_says_has_a_place_of_its_own():
    places = {"messages": "system", "converse": "system"}
    for api, place in places.items():
        one = at("http://x", api)
        body = Inference(FixedLinks([one])).prepare(one, Request(ASK)).body
        assert "Be brief." in json.dumps(body[place])
        assert len(body["messages"]) == 1
    one = at("http://x", "generate_content")
    body = Inference(FixedLinks([one])).prepare(one, Request(ASK)).body
    assert body["config"]["system_instruction"] == "Be brief."


def test_an_answer_of_a_provider_that_gave_its_calls_no_ids():
    call = Call(None, "get.weather", {"city": "Lisbon"}, raw='{"city": "Lisbon"}')
    turns = [*ASK, Answer(calls=(call,)), Results((call,), ("22",))]
    for api in DIALECTS:
        one = at("http://x", api)
        body = Inference(FixedLinks([one])).prepare(one, Request(turns, [WEATHER])).body
        assert "Lisbon" in json.dumps(body)


# --- toolsets ---------------------------------------------------------------------------------------------------------


def test_tools_are_compiled_once_for_each_content_and_link():
    kept = Toolsets()
    one, other = at("http://x", "chat_completions"), at("http://x", "messages")
    first = kept.of(one, [WEATHER])
    assert kept.of(one, [dataclasses.replace(WEATHER, parameters=json.loads(json.dumps(WEATHER.parameters)))]) is first
    assert kept.of(other, [WEATHER]) is not first
    assert kept.of(dataclasses.replace(one, strict_tools=False), [WEATHER]) is not first
    assert kept.of(dataclasses.replace(one, policy=Policy(hints=False)), [WEATHER]) is not first
    assert (
        kept.of(dataclasses.replace(one, dialect=dataclasses.replace(one.dialect, all_or_none=True)), [WEATHER])
        is not first
    )


@pytest.mark.parametrize(("size", "is_kept"), [(LARGEST_KEPT // 2, True), (LARGEST_KEPT, False)])
def test_what_is_very_large_is_compiled_each_time(size, is_kept):
    kept, one = Toolsets(), at("http://x", "chat_completions")
    tools = [dataclasses.replace(WEATHER, description="x" * size)]
    assert (kept.of(one, tools) is kept.of(one, tools)) is is_kept
    assert [compiled.tool.name for compiled in kept.of(one, tools).strict] == ["get.weather"]


def test_a_schema_that_its_owner_changes_is_another():
    kept = Toolsets()
    one = at("http://x", "chat_completions", strict_tools=False)
    tool = Tool("t", None, {"type": "object", "properties": {}})
    assert kept.of(one, [tool])["t"].parameters == {"type": "object", "properties": {}}
    tool.parameters["properties"]["a"] = {"type": "string"}
    assert kept.of(one, [tool])["t"].parameters["properties"] == {"a": {"type": "string"}}
    assert kept.of(one, [Tool("t", None, {"type": "object", "properties": {}})])["t"].parameters["properties"] == {}


@pytest.mark.parametrize("schema", [{"a": {1, 2}}, object(), True, 7, None])
def test_whatever_stands_for_a_schema_is_a_toolset(schema):
    for strict in (True, False):
        one = at("http://x", "chat_completions", strict_tools=strict)
        assert len(Toolsets().of(one, [Tool("t", None, schema)])) == 1


def test_links_that_are_known_beforehand():
    with pytest.raises(SettingsError, match="no link is called 'x/y'; there are messages/m"):
        FixedLinks([at("http://x", "messages")]).resolve("x/y")
