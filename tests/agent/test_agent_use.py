"""What an agent may be given, and where it may be used."""

import copy
import logging
import threading

import anyio
import pytest

from agent.agents import both_loops, call, calls_then, on, results_of
from link.linked import at
from strictcall.errors import RequestError, SettingsError
from strictcall.runtime.abort import Abort
from strictcall.runtime.agent import Agent, AgentSettings, EndReason, RunError
from strictcall.runtime.agent.events import Answered, RunCompleted
from strictcall.runtime.python_tool import tool
from strictcall.runtime.runnable import RunnableTool
from strictcall.testing.endpoint import strict_endpoint
from strictcall.tool import Tool

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
NOWHERE = at("http://127.0.0.1:9/v1", "chat_completions")


@tool
def look(what: str) -> str:
    """Look at something."""
    return f"saw {what}"


LOOK = call("look", what="it")


class Server:
    """Tools of a server, which the model knows by names that have none of its own."""

    tools = (RunnableTool(Tool("server_find", "", {"type": "object"}), lambda arguments, context: "found"),)

    def find(self, name):
        return self.tools[0] if name in ("server_find", "server.find") else None


# --- what it is given -------------------------------------------------------------------------------------------------


async def _hears(event):
    """No listener: nobody waits for it."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tools": look}, "tools: must be a list of them, not FunctionTool"),
        ({"tools": Server()}, "tools: must be a list of them, not Server"),
        ({"tools": "look"}, "tools: must be a list of them, not str"),
        ({"tools": [5]}, "tools: must be functions, @tool functions or McpServers, not int"),
        ({"link": 5}, "link: must be provider/model, or a ResolvedLink, not int"),
        ({"instructions": ["Be brief."]}, "instructions: must be a text, not list"),
        ({"approve": True}, "approve: must be a function, not bool"),
        ({"on_event": _hears}, "on_event: must not be async"),
        ({"output_type": {"type": "banana"}}, "output_type: not a usable JSON Schema: /type"),
        ({"output_type": {"$ref": "#/nowhere"}}, "output_type: not a usable JSON Schema"),
    ],
)
def test_an_agent_of_what_is_none_is_not_made(given, said):
    with pytest.raises(SettingsError) as caught:
        Agent(**{"link": NOWHERE, **given})
    assert str(caught.value).startswith(said)


def test_links_that_are_none():
    with pytest.raises(SettingsError, match="links: must be links, such as ConfiguredLinks, not int"):
        Agent("a/b", links=5)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_steps": 0}, "max_steps: must be a whole number, 1 or more, not 0"),
        ({"max_steps": None}, "max_steps: must be a whole number, 1 or more, not None"),
        ({"max_repairs": 1.5}, "max_repairs: must be a whole number, 0 or more, not 1.5"),
        ({"limits": None}, "limits: must be Limits, not NoneType"),
    ],
)
def test_settings_that_are_none(fields, said):
    with pytest.raises(SettingsError) as caught:
        AgentSettings(**fields)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("messages", "choice", "said"),
    [
        ([], None, "messages: there are none"),
        ({"role": "user", "content": "go"}, None, "messages: must be a text or a list of messages, not dict"),
        (b"go", None, "messages: must be a text or a list of messages, not bytes"),
        (None, None, "messages: must be a text or a list of messages, not NoneType"),
        (["go"], None, "messages[0]: must be a message with its role, an Answer or Results, not str"),
        ([{"content": "go"}], None, "messages[0]: must be a message with its role"),
        ("go", "lok", "tool_choice: no tool is called 'lok'; there are look, server_find"),
        ("go", ["look", "lok"], "tool_choice: no tool is called 'lok'"),
        ("go", 5, "tool_choice: must be auto, none, required, or names of tools, not int"),
    ],
)
def test_a_run_of_what_is_none_is_not_begun(messages, choice, said):
    with pytest.raises(RequestError) as caught:
        Agent(NOWHERE, [look, Server()]).run_sync(messages, tool_choice=choice)
    assert str(caught.value).startswith(said)


def test_a_call_is_demanded_of_a_tool_by_any_of_its_names_and_of_none_where_there_is_none():
    with strict_endpoint(script=calls_then(call("server_find"))) as endpoint:
        result = on(endpoint, [look, Server()]).run_sync("go", tool_choice="server.find")
        with pytest.raises(RequestError, match="a call is required, and there are no tools"):
            on(endpoint).run_sync("go", tool_choice="required")
    assert results_of(result.progress) == ["found"]
    assert endpoint.exchanges[0].body["tool_choice"]["function"]["name"] == "server_find"


# --- who listens ------------------------------------------------------------------------------------------------------


@both_loops
async def test_a_listener_that_fails_does_no_harm_and_is_logged(anyio_backend, caplog):
    heard = []

    def listen(event):
        heard.append(type(event))
        raise ValueError("secret")

    with strict_endpoint(script=calls_then(LOOK)) as endpoint, caplog.at_level(logging.WARNING, "strictcall"):
        agent = on(endpoint, [look], on_event=listen)
        assert (await agent.run("go")).text == "Done."
        async with agent.stream("go") as events:
            told = [event async for event in events]
    assert heard.count(Answered) == 4
    assert isinstance(told[-1], RunCompleted)
    assert "the listener to Answered failed: ValueError" in caplog.messages
    assert "secret" not in caplog.text


@both_loops
async def test_a_generator_over_a_stream_may_be_closed_early(anyio_backend):
    async def relayed(agent):
        async with agent.stream("go") as events:
            async for event in events:
                yield event

    with strict_endpoint(script=calls_then(LOOK)) as endpoint:
        generator = relayed(on(endpoint, [look]))
        await anext(generator)
        await generator.aclose()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_events_are_read_within_the_context(anyio_backend):
    with strict_endpoint(script=calls_then()) as endpoint:
        async with on(endpoint).stream("go") as events:
            pass
        with pytest.raises(RequestError, match="within"):
            await anext(events)


# --- in threads and loops ---------------------------------------------------------------------------------------------


def test_an_abort_from_another_thread_ends_a_run_without_an_event_loop():
    abort = Abort()
    with strict_endpoint(script=calls_then(), faults=("slow-first-byte",), delay=30) as endpoint:
        threading.Timer(0.2, abort.set, ["enough"]).start()
        with pytest.raises(RunError) as caught:
            on(endpoint).run_sync("go", abort=abort)
    error = copy.copy(caught.value)  # as pickle would make it, in another process
    assert (error.reason, error.words) == (EndReason.ABORTED, "enough")
    assert error.progress == caught.value.progress


@both_loops
async def test_an_agent_that_is_entered_may_be_run_in_other_event_loops_too(anyio_backend):
    with strict_endpoint(script=calls_then(LOOK)) as endpoint, strict_endpoint(script=calls_then(LOOK)) as inner:
        asked = on(inner, [look])

        @tool(name="look")
        def ask(what: str) -> str:
            """Have another agent look, from the thread of a tool."""
            return asked.run_sync(what).text

        async with asked, on(endpoint, [ask]) as agent:
            texts = [(await asked.run("go")).text]
            result = await agent.run("go")
            texts.append((await asked.run("go")).text)
            await anyio.to_thread.run_sync(lambda: texts.append(asked.run_sync("go").text))
    assert texts == ["Done."] * 3
    assert results_of(result.progress) == ["Done."]
