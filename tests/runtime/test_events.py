"""Events as JSON lines."""

from __future__ import annotations

import io
import json

import pytest

from runtime.running import Heard, an_object, both_loops, call, runnable
from strictcall import Policy, Tool, Toolset
from strictcall.api.reading import read_call
from strictcall.errors import Fault
from strictcall.runtime.approval import Edit
from strictcall.runtime.budget import Budget
from strictcall.runtime.events import CallEnded, JsonLines, ToolProgress, to_json, to_object
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import Fatal, Success, ToolError

pytestmark = [pytest.mark.anyio, both_loops]


async def lines_of(executor_of, calls):
    stream = io.StringIO()
    await executor_of(JsonLines(stream)).run_batch(calls)
    text = stream.getvalue()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


async def test_a_call_from_its_wire_arguments_to_its_output():
    tool = Tool("search", "Find", an_object({"q": {"type": "string"}, "most": {"type": "integer"}}, ["q"]))
    toolset = Toolset([tool], "openai")
    made = read_call(toolset, "c1", "search", '{"q": "cats", "most": null}')

    async def search(arguments, context):
        context.report(1, 2, "half")
        return Success("3 cats", details={"rows": {1, 2}, "raw": b"\xff"}, notice="all of them")

    lines = await lines_of(
        lambda on_event: Executor([runnable("search", search, tool.parameters)], on_event=on_event), [made]
    )
    assert [line["event"] for line in lines] == [
        *("batch_started", "call_received", "tool_started", "tool_progress", "call_ended", "batch_ended")
    ]
    received, ended = lines[1], lines[4]
    assert received["wire_arguments"] == '{"q": "cats", "most": null}'
    assert received["arguments"] == {"q": "cats"}
    assert (received["batch"], received["position"], received["call_id"], received["tool"]) == (0, 0, "c1", "search")
    assert ended["output"] == {
        "kind": "success",
        "text": "3 cats",
        "details": {"rows": [1, 2], "raw": "/w=="},
        "notice": "all of them",
        "truncated": False,
    }
    assert ended["text"] == "3 cats\n[all of them]"
    assert lines[3]["progress"] == 1
    assert 0 <= ended["tool_duration"] <= ended["duration"] <= lines[5]["duration"]
    assert 1.7e9 < received["at"] <= ended["at"]


async def test_faults_repairs_and_edits():
    # A value of any kind that may not be encoded makes it loose: what is called may have to be mended.
    tool = Tool("note", "Note", an_object({"n": {"type": "integer"}, "any": {}}))
    toolset = Toolset([tool], "openai", Policy(free_form="refuse"))
    calls = [read_call(toolset, "a", "note", '{"n": "3"}'), read_call(toolset, "b", "nope", "{}")]

    async def note(arguments, context):
        return arguments

    def executor_of(on_event):
        edit = Edit({"n": 4})
        return Executor([runnable("note", note)], approve=lambda request: edit, on_event=on_event)

    lines = await lines_of(executor_of, [*calls, call("note", {"n": 1}, faults=(Fault("/n", "bad", "1", "m"),))])
    received = [line for line in lines if line["event"] == "call_received"]
    assert received[0]["repairs"] == [{"pointer": "/n", "message": "text was read as the number that it holds"}]
    assert received[0]["arguments"] == {"n": 3}
    assert received[1]["faults"][0]["expected"] == "no tool has this name"
    assert received[2]["faults"] == [{"pointer": "/n", "expected": "bad", "given": "1", "nearest": "m"}]
    (given,) = (line for line in lines if line["event"] == "approval_given")
    assert (given["decision"], given["arguments"]) == ("edit", {"n": 4})


async def test_fatal_has_no_text_and_the_traceback_stays_in_the_event():
    async def breaks(arguments, context):
        return Fatal(ToolError("GONE", "the disk"), details="d")

    async def fails(arguments, context):
        raise RuntimeError("boom")

    tools = [runnable("breaks", breaks), runnable("fails", fails)]
    lines = await lines_of(lambda on_event: Executor(tools, on_event=on_event), [call("fails"), call("breaks")])
    ended = {line["tool"]: line for line in lines if line["event"] == "call_ended"}
    assert ended["breaks"]["text"] is None
    assert ended["breaks"]["output"]["kind"] == "fatal"
    assert ended["breaks"]["output"]["error"] == {"code": "GONE", "message": "the disk"}
    assert "Traceback" in ended["fails"]["traceback"]
    assert ended["fails"]["text"] == "Error [EXECUTION_ERROR]: boom"
    (over,) = (line for line in lines if line["event"] == "run_ended")
    assert over["reason"] == "fatal"
    assert over["error"]["code"] == "GONE"


async def test_every_event_is_one_line_whatever_it_holds():
    class Odd:
        def __repr__(self):
            raise ValueError

    async def odd(arguments, context):
        context.report(message="two\nlines \u2028 \ud800")
        return Success("a\nb\x85c\ud800", details=[Odd(), {"x": Odd}, float("inf")])

    heard = Heard()
    limits = Limits(budget=Budget(characters=200))
    await Executor([runnable("odd", odd)], limits, on_event=heard).run_batch([call("odd")])
    assert heard.of(CallEnded)
    assert heard.of(ToolProgress)
    for event in heard:
        line = to_json(event)
        assert "\n" not in line
        line.encode()
        assert json.loads(line) == json.loads(json.dumps(to_object(event)))
