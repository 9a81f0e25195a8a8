"""Batches: every call has one output, in its place; what runs beside what; faults, names and repeats."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Sequence

import anyio
import pytest

from runtime.running import Heard, an_object, both_loops, call, codes, runnable
from strictcall import Policy, Tool
from strictcall.errors import Fault
from strictcall.runtime.events import BatchEnded, BatchStarted, CallEnded, CallReceived, RunEnded, ToolStarted
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import Fatal, RespondToModel, Success, ToolError, ToolFailed, model_text
from strictcall.runtime.runnable import RunnableTool

pytestmark = [pytest.mark.anyio, both_loops]


async def nap(arguments, context):
    await anyio.sleep(arguments.get("n", 0))
    return arguments


def plain(arguments, context):
    time.sleep(arguments.get("n", 0))
    return arguments


async def test_outputs_are_in_the_order_of_the_calls_whoever_is_first():
    executor = Executor([runnable("nap", nap), runnable("plain", plain)])
    calls = [call("nap", {"n": 0.1}), call("plain", {"n": 0.05}), call("nap", {"n": 0}), call("plain", {"n": 0})]
    outputs = await executor.run_batch(calls)
    assert [output.text for output in outputs] == ['{"n":0.1}', '{"n":0.05}', '{"n":0}', '{"n":0}']
    assert await executor.run_batch([]) == []


async def test_plain_functions_run_in_threads_and_coroutines_in_the_loop():
    here = threading.get_ident()
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("of the caller")

    def in_thread(arguments, context):
        assert threading.get_ident() != here
        assert threading.current_thread().daemon, "a tool that hangs must not keep the process from ending"
        anyio.run(anyio.sleep, 0)  # an event loop of its own is allowed there
        asyncio.run(asyncio.sleep(0))
        return variable.get()

    async def in_loop(arguments, context):
        return threading.get_ident() == here

    def gives_a_coroutine(arguments, context):
        return in_loop(arguments, context)

    class Callable:
        async def __call__(self, arguments, context):
            return await in_loop(arguments, context)

    tools = [
        runnable("in_thread", in_thread),
        runnable("in_loop", in_loop),
        runnable("gives", gives_a_coroutine),
        runnable("object", Callable()),
    ]
    outputs = await Executor(tools).run_batch([call(tool.name) for tool in tools])
    assert [output.text for output in outputs] == ["of the caller", "true", "true", "true"]


async def test_at_most_so_many_at_once_in_waves():
    running, most, order = 0, 0, []

    async def count(arguments, context):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.02)
        running -= 1
        order.append(arguments["n"])

    executor = Executor([runnable("count", count)], Limits(max_parallel_tool_calls=3))
    await executor.run_batch([call("count", {"n": n}) for n in range(8)])
    assert most == 3
    assert [set(order[:3]), set(order[3:6]), set(order[6:])] == [{0, 1, 2}, {3, 4, 5}, {6, 7}]
    most = 0
    await executor.run_batch(
        [call("nope"), call("count", {"n": 8}), call("nope"), *(call("count", {"n": n}) for n in (9, 10))]
    )
    assert most == 3, "a call that does not run takes nobody's place"


async def test_a_tool_that_is_not_parallel_safe_runs_alone_and_in_its_place():
    running, spans = set(), []

    async def track(arguments, context):
        running.add(context.tool)
        spans.append((context.tool, frozenset(running)))
        await anyio.sleep(0.02)
        running.discard(context.tool)

    tools = [runnable(name, track) for name in "abd"] + [runnable("C", track, parallel_safe=False)]
    await Executor(tools).run_batch([call("a"), call("b"), call("nobody"), call("C"), call("d"), call("C")])
    assert [name for name, _ in spans[2:]] == ["C", "d", "C"]
    assert {name for name, _ in spans[:2]} == {"a", "b"}
    assert all(beside == {"C"} for name, beside in spans if name == "C")


async def test_one_failure_is_one_output():
    async def fails(arguments, context):
        raise RuntimeError("boom")

    async def groups(arguments, context):
        async with anyio.create_task_group() as group:
            group.start_soon(fails, {}, context)
            group.start_soon(anyio.sleep, 9)

    async def says_no(arguments, context):
        raise ToolFailed("NOT_FOUND", "no such city", details="for people")

    tools = [
        runnable("nap", nap),
        runnable("fails", fails),
        runnable("groups", groups),
        runnable("says_no", says_no),
    ]
    heard = Heard()
    calls = [call("nap", {"n": 0.05})] + [call(tool.name) for tool in tools[1:]]
    outputs = await Executor(tools, on_event=heard).run_batch(calls)
    assert outputs[0].text == '{"n":0.05}', "the others' failures did not cancel it"
    assert [model_text(output) for output in outputs[1:3]] == ["Error [EXECUTION_ERROR]: boom"] * 2
    assert codes(outputs[3:]) == ["NOT_FOUND"]
    ended = {event.tool: event for event in heard.of(CallEnded)}
    assert "in fails" in ended["fails"].traceback
    assert ended["nap"].traceback is None
    assert "Traceback" not in "".join(filter(None, map(model_text, outputs)))


async def test_a_tool_that_waits_for_what_others_cancelled(anyio_backend):
    if anyio_backend == "trio":
        pytest.skip("trio has no cancellation that is not a scope's")

    async def waits(arguments, context):
        task = asyncio.ensure_future(asyncio.sleep(9))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    executor = Executor([runnable("waits", waits), runnable("nap", nap)])
    assert codes(await executor.run_batch([call("waits"), call("nap", {"n": 0.05})])) == ["EXECUTION_ERROR", "ok"]


async def test_unknown_tools_are_told_the_nearest_names():
    executor = Executor([runnable(name, nap) for name in ("read_file", "read_files", "search")])
    outputs = await executor.run_batch([call("read_fil"), call("zzz"), call("x" * 5000)])
    assert codes(outputs) == ["TOOL_NOT_FOUND"] * 3
    assert "'read_file' or 'read_files'" in outputs[0].error.message
    assert "mean" not in outputs[1].error.message
    assert len(outputs[2].error.message) < 300


async def test_faults_never_reach_the_tool_and_are_told_once():
    ran = []

    async def note(arguments, context):
        ran.append(arguments)

    executor = Executor([runnable("note", note, an_object({"n": {"type": "integer"}}, ["n"]))])
    fault = Fault("/n", "must be an integer", '"x"')
    outputs = await executor.run_batch(
        [
            call("note", {"n": 1}, faults=(fault,)),
            call("note", {"n": 1}, complete=False),
            call("note", {"n": "x"}),  # what nobody checked before is checked here
            call("note", {"m": 1}),
            call("note", [1]),
            call("note", {"n": 2}),
        ]
    )
    assert codes(outputs) == ["INVALID_ARGUMENTS"] * 5 + ["ok"]
    assert model_text(outputs[0]) == 'Error [INVALID_ARGUMENTS]: /n: must be an integer, got "x"'
    assert "cut off" in model_text(outputs[1])
    assert "/n: is required and missing" in model_text(outputs[3])
    assert ran == [{"n": 2}]


async def test_the_tools_own_policy_is_that_of_the_check():
    dated = an_object({"n": {"type": "string", "format": "date"}})
    tools = [
        runnable("lenient", nap_nothing, dated),
        runnable("exact", nap_nothing, dated, policy=Policy(formats="assert")),
    ]
    outputs = await Executor(tools).run_batch([call("lenient", {"n": "soon"}), call("exact", {"n": "soon"})])
    assert codes(outputs) == ["ok", "INVALID_ARGUMENTS"]


async def nap_nothing(arguments, context):
    return None


async def test_a_tool_may_spoil_its_arguments_and_nobody_elses():
    async def spoil(arguments, context):
        arguments["n"] = "spoilt"
        arguments.clear()

    heard, made = Heard(), call("spoil", {"n": 1})
    await Executor([runnable("spoil", spoil)], on_event=heard).run_batch([made])
    assert made.arguments == {"n": 1}
    assert heard.of(ToolStarted)[0].arguments == {"n": 1}


async def test_fatal_ends_the_run_without_a_message():
    beside = anyio.Event()

    async def breaks(arguments, context):
        await beside.wait()
        return Fatal(ToolError("DISK_GONE", "for people"), details="more for people")

    ran = []

    async def note(arguments, context):
        beside.set()
        await anyio.sleep(0.05)
        ran.append(arguments)
        return "done"

    heard = Heard()
    executor = Executor(
        [runnable("breaks", breaks), runnable("note", note)], Limits(max_parallel_tool_calls=2), on_event=heard
    )
    outputs = await executor.run_batch([call("breaks"), call("note", {"n": 1}), call("note", {"n": 2})])
    assert codes(outputs) == ["DISK_GONE", "ok", "ABORTED"]
    assert model_text(outputs[0]) is None
    assert ran == [{"n": 1}], "what ran beside it was not cancelled, what came after did not begin"
    assert executor.ended == "fatal"
    assert executor.fatal == ToolError("DISK_GONE", "for people")
    assert codes(await executor.run_batch([call("note", {"n": 3})])) == ["ABORTED"]
    assert ran == [{"n": 1}]
    assert [event.reason for event in heard.of(RunEnded)] == ["fatal"]
    again = executor.fresh()
    assert codes(await again.run_batch([call("note", {"n": 3})])) == ["ok"]
    assert again.ended is None


async def test_the_same_call_with_the_same_output_too_often():
    answers = iter(["a", "a", "a", "a", "b", "b"])

    async def poll(arguments, context):
        return next(answers)

    async def nap_any(arguments, context):
        return "same"

    heard = Heard()
    two = an_object({"n": {"type": "integer"}, "m": {"type": "integer"}})
    executor = Executor([runnable("poll", poll, two), runnable("other", nap_any)], on_event=heard)
    seen = []
    for turn in range(6):
        # With another call between them, and the keys in another order: neither matters.
        polled = {"n": 1, "m": 2} if turn % 2 else {"m": 2, "n": 1}
        outputs = await executor.run_batch([call("poll", polled), call("other", {"n": turn})])
        seen.append(codes(outputs))
    assert [first for first, _ in seen] == ["ok", "ok", "ok", "REPEATED_CALL", "ok", "ok"]
    assert {second for _, second in seen} == {"ok"}, "other arguments are another call"
    unlimited = Executor([runnable("other", nap_any)], Limits(max_repeats=None))
    assert codes([(await unlimited.run_batch([call("other")]))[0] for _ in range(9)]) == ["ok"] * 9


async def test_a_call_that_cannot_run_is_not_repeated_for_ever_either():
    executor = Executor([runnable("nap", nap)], Limits(max_repeats=2))
    seen = [codes(await executor.run_batch([call("nap", {"m": 1})]))[0] for _ in range(3)]
    assert seen == ["INVALID_ARGUMENTS", "INVALID_ARGUMENTS", "REPEATED_CALL"]
    seen = [codes(await executor.run_batch([call("nope")]))[0] for _ in range(3)]
    assert seen == ["TOOL_NOT_FOUND", "TOOL_NOT_FOUND", "REPEATED_CALL"]


async def test_tools_may_come_and_go_between_batches():
    tools = [runnable("one", nap)]
    executor = Executor(lambda: tools)
    assert codes(await executor.run_batch([call("one"), call("two")])) == ["ok", "TOOL_NOT_FOUND"]
    tools[:] = [runnable("two", nap), runnable("two", nap)]
    assert codes(await executor.run_batch([call("one"), call("two")])) == ["TOOL_NOT_FOUND", "ok"]
    # A tool that comes back with another contract is checked by that.
    tools[:] = [runnable("two", nap, an_object({"m": {"type": "string"}}))]
    assert codes(await executor.run_batch([call("two", {"n": 1}), call("two", {"m": "x"})])) == [
        "INVALID_ARGUMENTS",
        "ok",
    ]


async def test_every_call_has_one_event_of_its_beginning_and_one_of_its_end():
    async def shows(arguments, context):
        context.report(1, 2, "half")
        return Success("text", details={"secret": 1})

    heard = Heard()
    executor = Executor([runnable("shows", shows)], on_event=heard)
    await executor.run_batch([call("shows", call_id="a"), call("nope", call_id=None)])
    await executor.run_batch([call("shows", {"n": 1}, call_id="b")])
    assert heard.kinds()[0] == "BatchStarted"
    assert heard.kinds()[-1] == "BatchEnded"
    assert [(e.batch, e.position, e.call_id) for e in heard.of(CallReceived)] == [
        (0, 0, "a"),
        (0, 1, None),
        (1, 0, "b"),
    ]
    assert sorted((e.batch, e.position, str(e.call_id)) for e in heard.of(CallEnded)) == [
        (0, 0, "a"),
        (0, 1, "None"),
        (1, 0, "b"),
    ]
    ended = next(event for event in heard.of(CallEnded) if event.call_id == "a")
    assert ended.output.details == {"secret": 1}
    assert ended.text == "text"
    assert 0 <= ended.tool_duration <= ended.duration < 5
    unknown = next(event for event in heard.of(CallEnded) if event.tool == "nope")
    assert unknown.tool_duration is None
    assert (
        [event.calls for event in heard.of(BatchStarted)] == [event.calls for event in heard.of(BatchEnded)] == [2, 1]
    )


async def test_progress_from_the_loop_and_from_threads_comes_before_the_end():
    here, threads = threading.get_ident(), []

    async def counts(arguments, context):
        context.report(0.5, message="in the loop")
        return "x"

    def counts_too(arguments, context):
        context.report(1, 3, "in a thread")
        context.report(2, 3)
        return "x"

    kept = []

    async def too_late(arguments, context):
        kept.append(context)

    heard = Heard()

    def listener(event):
        threads.append(threading.get_ident())
        heard(event)

    tools = [runnable("a", counts), runnable("b", counts_too), runnable("c", too_late)]
    executor = Executor(tools, Limits(max_parallel_tool_calls=1), on_event=listener)
    await executor.run_batch([call("a"), call("b"), call("c")])
    kept[0].report(9)
    assert heard.kinds()[4:] == [
        *("ToolStarted", "ToolProgress", "CallEnded"),
        *("ToolStarted", "ToolProgress", "ToolProgress", "CallEnded"),
        *("ToolStarted", "CallEnded", "BatchEnded"),
    ]
    assert set(threads) == {here}


async def test_a_listener_that_fails_harms_nobody_and_repeats_nothing(caplog):
    def listener(event):
        raise ValueError(f"cannot store {event}")

    with caplog.at_level(logging.DEBUG):
        outputs = await Executor([runnable("nap", nap)], on_event=listener).run_batch([call("nap", {"n": 0.001234})])
    assert codes(outputs) == ["ok"]
    assert "ValueError" in caplog.text
    assert "0.001234" not in caplog.text


async def test_no_arguments_and_no_outputs_in_logs(caplog):
    async def fails(arguments, context):
        raise RuntimeError("password=hunter2")

    text = an_object({"key": {"type": "string"}})
    tools = [runnable("fails", fails, text), runnable("nap", nap_nothing, text)]
    with caplog.at_level(logging.DEBUG):
        await Executor(tools).run_batch([call(name, {"key": "s3cr3t"}) for name in ("fails", "nap", "nope")])
        await Executor(tools).run_batch([call("nap", {"key": 5})])
    assert "s3cr3t" not in caplog.text
    assert "hunter2" not in caplog.text


async def test_tools_find_the_call_the_state_and_the_loop():
    async def looks(arguments, context):
        return [context.call_id, context.tool, context.state, context.stopped]

    def in_thread(arguments, context):
        return anyio.from_thread.run_sync(threading.get_ident, token=context.loop)

    executor = Executor([runnable("looks", looks), runnable("in_thread", in_thread)], state={"db": 1})
    first, second = await executor.run_batch([call("looks", call_id="id7"), call("in_thread")])
    assert first.text == '["id7","looks",{"db":1},false]'
    assert second.text == str(threading.get_ident())


async def test_texts_that_cannot_be_sent_are_made_sound():
    async def half(arguments, context):
        return Success("\ud83d", notice="\udc00")

    async def fails(arguments, context):
        raise RuntimeError("\ud83d")

    outputs = await Executor([runnable("half", half), runnable("fails", fails)]).run_batch(
        [call("half"), call("fails")]
    )
    for output in outputs:
        model_text(output).encode()


async def test_a_value_that_cannot_be_looked_at_is_an_error_of_the_tool():
    class Trap(Sequence):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            raise RuntimeError("do not look")

    async def gives(arguments, context):
        return Trap()

    heard = Heard()
    outputs = await Executor([runnable("gives", gives)], on_event=heard).run_batch([call("gives"), call("nope")])
    assert codes(outputs) == ["EXECUTION_ERROR", "TOOL_NOT_FOUND"]
    assert "do not look" in heard.of(CallEnded)[0].traceback


async def test_a_tool_without_a_usable_schema_still_runs():
    outputs = await Executor([RunnableTool(Tool("odd", None, 7), nap_nothing)]).run_batch([call("odd", {"any": 1})])
    assert isinstance(outputs[0], Success | RespondToModel)
