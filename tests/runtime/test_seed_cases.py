"""What the reference systems show of running tools, from the model's own words to the message that answers it.

Tools that reject nulls and unknown names get what they declared, whatever the wire makes a model say.
"""

from __future__ import annotations

import json
import time

import anyio
import pytest
from pydantic import BaseModel, ConfigDict

from runtime.running import Heard, an_object, both_loops, codes, runnable
from strictcall import Policy, Toolset
from strictcall.api import chat_completions, messages, responses
from strictcall.runtime.executor import Executor
from strictcall.runtime.output import Fatal, RespondToModel, Success, ToolError, model_text
from strictcall.runtime.python_tool import tool

pytestmark = [pytest.mark.anyio, both_loops]


def completion(*calls):
    made = [
        {"id": f"call_{row}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for row, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


async def conversation(tools, *calls, policy=None, **options):
    """What the tools' outputs are, and the messages that the model gets, under the strict dialect of OpenAI."""
    toolset = Toolset([item.tool for item in tools], "openai", policy)
    answer = chat_completions.read(completion(*calls), toolset)
    outputs = await Executor(tools, **options).run_batch(answer.calls)
    texts = [model_text(output) for output in outputs]
    return outputs, [] if None in texts else chat_completions.results(answer.calls, texts)


class Strictly(BaseModel):
    """Rejects nulls for optionals, and names that it does not know, as typed MCP servers do."""

    model_config = ConfigDict(extra="forbid")
    script: str
    timeout: int = 30


async def bash(arguments, context):
    taken = Strictly.model_validate(arguments)  # raises for a null, and for an invented name
    return f"ran {taken.script} for {taken.timeout}; {sorted(arguments)}"


BASH = runnable("bash", bash, an_object({"script": {"type": "string"}, "timeout": {"type": "integer"}}, ["script"]))


async def test_a_null_for_an_optional_never_reaches_a_tool_that_rejects_it():
    outputs, told = await conversation([BASH], ("bash", {"script": "ls", "timeout": None}))
    assert codes(outputs) == ["ok"]
    assert told == [{"role": "tool", "tool_call_id": "call_0", "content": "ran ls for 30; ['script']"}]


async def test_an_invented_argument_is_told_and_never_runs():
    (output,), (told,) = await conversation([BASH], ("bash", {"command": "ls", "timeout": None}))
    assert codes([output]) == ["INVALID_ARGUMENTS"]
    assert told["content"].startswith("Error [INVALID_ARGUMENTS]: ")
    assert "/command" in told["content"]
    assert "/script: is required" in told["content"]


async def test_a_required_nullable_keeps_its_null_beside_a_widened_optional():
    seen = []

    async def note(arguments, context):
        seen.append(arguments)

    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = an_object({"body": nullable, "pinned": {"type": "boolean"}}, ["body"])
    await conversation([runnable("note", note, schema)], ("note", {"body": None, "pinned": None}))
    assert seen == [{"body": None}]


async def test_nulls_in_nested_objects_and_in_items_are_undone_too():
    seen = []

    async def note(arguments, context):
        seen.append(arguments)

    inner = an_object({"tag": {"type": "string"}, "why": {"type": "string"}}, ["tag"])
    schema = an_object({"one": inner, "many": {"type": "array", "items": inner}}, ["one"])
    given = {"one": {"tag": "a", "why": None}, "many": [{"tag": "b", "why": None}, {"tag": "c", "why": "d"}]}
    await conversation([runnable("note", note, schema)], ("note", given))
    assert seen == [{"one": {"tag": "a"}, "many": [{"tag": "b"}, {"tag": "c", "why": "d"}]}]


async def test_a_loose_tools_null_arrives():
    seen = []

    async def request(arguments, context):
        seen.append(arguments)

    schema = {"type": "object", "properties": {"url": {"type": "string"}, "body": {}}, "required": ["url"]}
    loose = runnable("request", request, schema)
    policy = Policy(free_form="refuse")
    assert not Toolset([loose.tool], "openai", policy)["request"].strict
    await conversation([loose], ("request", {"url": "x", "body": None}), policy=policy)
    assert seen == [{"url": "x", "body": None}]


async def test_a_python_tool_sees_an_omitted_argument_where_the_model_said_null():
    @tool
    def read(path: str, offset: int = 1, limit: int | None = None) -> str:
        """Read a file.

        Args:
            path: which
            offset: from which line
            limit: how many lines
        """
        return f"{path} {offset} {limit}"

    outputs, _ = await conversation([read], ("read", {"path": "a", "offset": None, "limit": None}))
    assert outputs[0].text == "a 1 None"


async def test_timeout_and_abort_are_visible_to_the_model():
    async def nap(arguments, context):
        await anyio.sleep(60)

    def hang(arguments, context):
        time.sleep(0.6)

    tools = [
        runnable("slow", nap, timeout=0.03),
        runnable("stuck", hang, timeout=0.03),
        runnable("nap", nap),
    ]
    with anyio.move_on_after(0.5):
        _, told = await conversation(tools, ("slow", {"n": None}), ("stuck", {"n": None}), ("nap", {"n": None}))
    assert [item["content"].partition(":")[0] for item in told] == [
        "Error [TIMEOUT]",
        "Error [TIMEOUT]",
        "Error [ABORTED]",
    ]


async def test_fatal_ends_the_run_without_a_tool_message():
    async def breaks(arguments, context):
        return Fatal(ToolError("EXECUTION_ERROR", "cannot go on"))

    heard = Heard()
    outputs, told = await conversation([runnable("breaks", breaks)], ("breaks", {"n": None}), on_event=heard)
    assert codes(outputs) == ["EXECUTION_ERROR"]
    assert told == []
    assert heard.kinds()[-3:] == ["CallEnded", "RunEnded", "BatchEnded"]


SECRET = "s3cr3t-4711"  # noqa: S105


@pytest.mark.parametrize(
    "output",
    [
        Success("fine", details={"key": SECRET}),
        Success("fine", details=SECRET, notice="part", truncated=True),
        RespondToModel(ToolError("NOT_FOUND", "no such row"), details=[SECRET]),
    ],
)
async def test_details_never_reach_the_models_text_in_any_api(output):
    async def gives(arguments, context):
        return output

    heard = Heard()
    gives_it = runnable("gives", gives)
    outputs, told = await conversation([gives_it], ("gives", {"n": None}), on_event=heard)
    assert SECRET not in json.dumps(told)
    assert any(SECRET in repr(event) for event in heard), "people see them"
    answer = chat_completions.read(completion(("gives", {})), Toolset([gives_it.tool]))
    for api in (responses, messages):
        assert SECRET not in json.dumps(api.results(answer.calls, [model_text(item) for item in outputs]))


async def test_structure_is_for_people_and_the_model_gets_plain_text():
    async def gives(arguments, context):
        return Success("3 files", details={"ok": True, "duration": 1.5}, truncated=True)

    _, (told,) = await conversation([runnable("gives", gives)], ("gives", {"n": None}))
    assert told["content"] == "3 files"
