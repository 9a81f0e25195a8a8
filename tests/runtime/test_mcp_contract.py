"""What the model said, as a real MCP server's tool gets it, and what the model hears: from answer to answer."""

from __future__ import annotations

import json
from dataclasses import replace

import anyio
import pytest

from runtime.mcp_helpers import QUICK, config, plain, until
from strictcall import Policy, Tool, Toolset
from strictcall.api import chat_completions
from strictcall.runtime.executor import Executor
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.output import Fatal, RespondToModel, ToolError, model_text
from strictcall.runtime.runnable import Context, RunnableTool

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def untraced(monkeypatch):
    """Servers are not what coverage is measured of, and start slowly under it."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


def answered(*calls):
    """An answer of the model's with some calls, each a wire name and arguments as the model writes them."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def toolset_of(servers, policy=None):
    return Toolset([tool.tool for tool in servers.tools], dialect="openai", policy=policy or Policy())


async def run(servers, toolset, *calls):
    """The outputs of the model's calls, and the messages that tell it of them."""
    answer = chat_completions.read(answered(*calls), toolset)
    outputs = await Executor(servers.tools).run_batch(answer.calls)
    return outputs, chat_completions.results(answer.calls, [model_text(output) for output in outputs])


async def test_a_typed_tool_that_rejects_nulls_succeeds_when_the_model_says_null_for_what_it_leaves_out():
    async with McpServers(config("a"), settings=QUICK) as servers:
        toolset = toolset_of(servers)
        compiled = toolset["typed"]
        assert compiled.strict
        assert set(compiled.parameters["required"]) == {"query", "limit", "within"}
        # The tool does reject nulls, and names that it does not know.
        for said, refusal in (({"limit": None}, "limit must not be null"), ({"limits": 1}, "unknown argument limits")):
            direct = await servers.find("typed").run({"query": "x", **said}, Context())
            assert direct.error == ToolError("EXECUTION_ERROR", refusal)
        # What the model must say, the tool never hears of.
        _, messages = await run(servers, toolset, ("typed", {"query": "x", "limit": None, "within": None}))
        assert messages == [{"role": "tool", "tool_call_id": "call_0", "content": '{"query": "x"}'}]
        _, messages = await run(servers, toolset, ("typed", {"query": "x", "limit": 3, "within": {"days": None}}))
        assert json.loads(messages[0]["content"]) == {"query": "x", "limit": 3, "within": {}}


async def test_a_name_that_a_tool_does_not_know_never_reaches_it():
    async with McpServers(config("a"), settings=QUICK) as servers:
        said = {"query": "x", "limit": None, "within": None, "limits": 3}
        (output,), _ = await run(servers, toolset_of(servers), ("typed", said))
        assert isinstance(output, RespondToModel)
        assert output.error.code == "INVALID_ARGUMENTS"
        assert "limit" in output.error.message


async def test_a_required_null_is_kept():
    async with McpServers(config("a"), settings=QUICK) as servers:
        _, messages = await run(servers, toolset_of(servers), ("nullable", {"until": None, "size": None}))
        assert json.loads(messages[0]["content"]) == {"until": None}


async def test_the_null_of_a_loose_tool_arrives():
    async with McpServers(config("a"), settings=QUICK) as servers:
        toolset = toolset_of(servers, Policy(open_objects="refuse"))
        assert not toolset["loose"].strict
        said = {"labels": {"a": None, "b": "c"}, "more": None}
        _, messages = await run(servers, toolset, ("loose", said))
        assert json.loads(messages[0]["content"]) == said


async def test_an_open_map_keeps_its_nulls_through_the_strict_form():
    async with McpServers(config("a"), settings=QUICK) as servers:
        toolset = toolset_of(servers)
        assert toolset["loose"].strict
        wire = toolset["loose"].encode({"labels": {"a": None, "b": "c"}})
        _, messages = await run(servers, toolset, ("loose", wire))
        assert json.loads(messages[0]["content"]) == {"labels": {"a": None, "b": "c"}}


async def test_time_outs_failures_and_successes_stand_in_the_order_of_the_calls():
    async with McpServers(config("a"), settings=QUICK) as servers:
        toolset = toolset_of(servers)
        hang = replace(servers.find("hang"), timeout=0.3)
        calls = [(name, toolset[name].encode({})) for name in ("pid", "hang", "fail", "echo", "die")]
        answer = chat_completions.read(answered(*calls), toolset)
        tools = [hang if tool.name == "hang" else tool for tool in servers.tools]
        # The one that ends the server comes in a batch of its own.
        outputs = await Executor(tools).run_batch(answer.calls[:-1]) + await Executor(tools).run_batch(
            answer.calls[-1:]
        )
        texts = [model_text(output) for output in outputs]
        assert texts[0].isdigit()
        assert texts[1].startswith("Error [TIMEOUT]: ")
        assert texts[2:4] == ["Error [EXECUTION_ERROR]: no such town", "{}"]
        assert "ended before it answered" in texts[4]


async def test_an_abort_is_told_and_ends_the_call_at_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIN_NOTES", str(tmp_path))
    async with McpServers(config(a=plain("a")), settings=QUICK) as servers:
        toolset = toolset_of(servers)
        executor = Executor(servers.tools)
        answer = chat_completions.read(answered(("slow", {}), ("hang", {})), toolset)
        outputs = []

        async def batch():
            outputs.extend(await executor.run_batch(answer.calls))

        async with anyio.create_task_group() as group:
            group.start_soon(batch)
            await anyio.sleep(0.3)
            executor.abort("the user has had enough")
        assert [output.error.code for output in outputs] == ["ABORTED", "ABORTED"]
        await until(lambda: (tmp_path / "cancelled-slow").exists() and (tmp_path / "cancelled-hang").exists())


async def test_what_is_fatal_ends_the_run_without_a_message_and_details_are_never_heard():
    def end(arguments, context):
        return Fatal(ToolError("DISK_FULL", "no room"), details="secret detail")

    fatal = RunnableTool(Tool("end", "Ends it all.", {"type": "object", "properties": {}}), end, parallel_safe=False)
    async with McpServers(config("a"), settings=QUICK) as servers:
        toolset = Toolset([*(tool.tool for tool in servers.tools), fatal.tool], dialect="openai")
        executor = Executor([*servers.tools, fatal])
        answer = chat_completions.read(answered(("contents", {}), ("end", {})), toolset)
        first, last = await executor.run_batch(answer.calls)
        assert executor.ended == "fatal"
        assert model_text(last) is None
        assert first.details["_meta"] == {"kept": True}
        assert "kept" not in model_text(first)
