"""Tools found by any of their names: what a model calls them in an answer, and what the tool then gets."""

from __future__ import annotations

import json

import pytest

from runtime.mcp_helpers import QUICK, config
from runtime.running import Heard, an_object, both_loops, call, codes, runnable
from strictcall import Toolset
from strictcall.api import chat_completions
from strictcall.errors import NameClashError, SettingsError
from strictcall.runtime.events import CallEnded, CallReceived
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.output import model_text
from strictcall.runtime.python_tool import tool

pytestmark = pytest.mark.anyio
SCHEMA = an_object({"title": {"type": "string"}, "days": {"type": "integer"}}, ["title"])


def named(name, *also):
    async def run(arguments, context):
        return {"tool": context.tool, **arguments}

    return runnable(name, run, SCHEMA, also=also)


TOOLS = [
    named("create_issue", "github__create_issue", "github.create_issue", "github/create_issue", "create_issue"),
    named("github__search", "github.search", "github/search", "search"),
    named("web__search", "web.search", "web/search", "search"),
    named("read", "files.read"),
    named("files.read"),
]


def answered(name, arguments, reason="tool_calls"):
    """A whole answer with one call, as a provider sends it."""
    made = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [made]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


async def outcome(name, arguments='{"title": "x", "days": null}', dialect="openai"):
    answer = chat_completions.read(answered(name, arguments), Toolset([tool.tool for tool in TOOLS], dialect))
    (output,) = await Executor(TOOLS).run_batch(answer.calls)
    return model_text(output)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("create_issue", "create_issue"),
        ("github.create_issue", "create_issue"),
        ("github/create_issue", "create_issue"),
        ("github__create_issue", "create_issue"),
        ("github__search", "github__search"),
        ("github.search", "github__search"),
        ("web/search", "web__search"),
        ("files.read", "files.read"),  # a tool of that very name goes before one that is also known by it
    ],
)
async def test_a_call_by_any_of_a_tools_names_runs_it_with_what_it_declared(name, tool):
    assert json.loads(await outcome(name)) == {"tool": tool, "title": "x"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search", "no tool is called 'search'; did you mean 'github__search' or 'web__search'?"),
        ("github.create_isue", "no tool is called 'github.create_isue'; did you mean 'create_issue'?"),
        ("gitlab.delete_everything", "no tool is called 'gitlab.delete_everything'"),
        ("", "no tool is called ''"),
    ],
)
async def test_a_name_that_means_no_tool_or_several_is_told(name, said):
    assert (await outcome(name)).startswith(f"Error [TOOL_NOT_FOUND]: {said}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"days": 1}', "/title: is required"),
        ('{"title": "x", "tags": []}', "/tags"),
        ('{"title": "x", "days": true}', "/days: must be an integer"),
        ("[]", "must be an object"),
        ("no json", "JSON"),
    ],
)
async def test_faults_under_another_name_are_told_and_the_tool_does_not_run(arguments, said):
    text = await outcome("github.create_issue", arguments)
    assert text.startswith("Error [INVALID_ARGUMENTS]: ")
    assert said in text


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "json_schema"])
async def test_arguments_are_read_whatever_the_tools_were_compiled_for(dialect):
    text = await outcome("github.create_issue", '{"title": "x"}', dialect)
    assert json.loads(text) == {"tool": "create_issue", "title": "x"}


async def test_a_call_that_was_cut_off_does_not_run_under_another_name_either():
    toolset = Toolset([tool.tool for tool in TOOLS])
    answer = chat_completions.read(answered("github.create_issue", '{"title": "x"', "length"), toolset)
    (output,) = await Executor(TOOLS).run_batch(answer.calls)
    assert codes([output]) == ["INVALID_ARGUMENTS"]
    assert "cut off" in output.error.message


async def test_a_call_that_nobody_read_is_found_and_checked():
    outputs = await Executor(TOOLS).run_batch(
        [call("web.search", {"title": "x"}), call("web.search", {"days": 1}), call("create_issue", {"title": "y"})]
    )
    assert codes(outputs) == ["ok", "INVALID_ARGUMENTS", "ok"]


async def test_events_have_the_tools_own_name_and_the_one_that_was_called():
    heard = Heard()
    toolset = Toolset([tool.tool for tool in TOOLS])
    answer = chat_completions.read(answered("github.create_issue", '{"title": "x", "days": "7"}'), toolset)
    await Executor(TOOLS, on_event=heard).run_batch(answer.calls)
    (received,), (ended,) = heard.of(CallReceived), heard.of(CallEnded)
    assert (received.wire_name, received.tool) == ("github.create_issue", "create_issue")
    assert (ended.call_id, ended.tool) == ("c1", "create_issue")
    assert received.arguments == {"title": "x", "days": 7}
    assert [repair.pointer for repair in received.repairs] == ["/days"]


async def test_the_same_call_by_two_names_is_the_same_call():
    calls = [call(name, {"title": "x"}) for name in ("create_issue", "github.create_issue")] * 2
    executor = Executor(TOOLS)
    outputs = [(await executor.run_batch([each]))[0] for each in calls]
    assert codes(outputs) == ["ok", "ok", "ok", "REPEATED_CALL"]


@both_loops
async def test_a_servers_tools_are_found_by_any_of_their_names():
    async with McpServers(
        config("a", "b", docs={"url": "http://127.0.0.1:9/", "disabled": True}), settings=QUICK
    ) as up:
        names = ["a.echo", "b/echo", "a__echo", "echo", "docs.echo"]
        outputs = await Executor(lambda: up.tools).run_batch([call(name, {"n": 1}) for name in names])
        assert codes(outputs) == ["ok", "ok", "ok", "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]
        assert "did you mean 'a__echo' or 'b__echo'?" in outputs[3].error.message
        # What a configuration calls them is found in the same way.
        assert [up.find(name) and up.find(name).name for name in names] == ["a__echo", "b__echo", "a__echo", None, None]
        await up.remove("b")
        (alone,) = await Executor(lambda: up.tools).run_batch([call("echo", {"n": 1})])
        assert codes([alone]) == ["ok"]


class Shop:
    @tool
    def find(self, item: str) -> str:
        """Find an item."""
        return item


async def listen(event):
    pass


@pytest.mark.parametrize(
    ("tools", "options", "said"),
    [
        ([listen], {}, "tools: must be RunnableTool objects, such as @tool makes, not function"),
        ([Shop.find], {}, "not MethodTool; give that of an instance, instance.method"),
        (TOOLS[0], {}, "tools: must be a list of tools, or a function that gives those of now, not RunnableTool"),
        (Shop().find, {}, "tools: must be a list of tools, or a function that gives those of now, not FunctionTool"),
        (7, {}, "not int"),
        (TOOLS, {"approve": True}, "approve: must be a function, not bool"),
        (TOOLS, {"on_event": []}, "on_event: must be a function, not list"),
        (TOOLS, {"on_event": listen}, "on_event: must not be async"),
    ],
)
def test_what_is_wrong_with_an_executor_is_said_when_it_is_made(tools, options, said):
    with pytest.raises(SettingsError) as caught:
        Executor(tools, **options)
    assert said in str(caught.value)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(NameClashError, match="'read'"):
        Executor([named("read"), named("read")])


async def test_tools_that_come_and_go_are_looked_at_too():
    with pytest.raises(SettingsError, match="RunnableTool"):
        await Executor(lambda: [listen]).run_batch([call("read")])


@pytest.mark.parametrize("field", ["max_parallel_tool_calls", "run_timeout", "max_repeats", "max_left_threads"])
def test_limits_are_positive(field):
    with pytest.raises(SettingsError, match=field):
        Limits(**{field: 0})


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_tools_time_is_positive(timeout):
    with pytest.raises(SettingsError, match="timeout"):
        runnable("x", listen, timeout=timeout)
