"""Timeouts and aborts: what is stopped, what the model is told, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import anyio
import pytest

from runtime.running import Heard, both_loops, call, codes, runnable
from strictcall import Tool, Toolset
from strictcall.api import chat_completions
from strictcall.runtime.abort import Abort
from strictcall.runtime.approval import Allow
from strictcall.runtime.calling import THREAD_NAME
from strictcall.runtime.events import CallEnded, RunEnded, ToolStarted
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import Fatal, Success, ToolError, model_text

pytestmark = pytest.mark.anyio
ONE = Limits(max_parallel_tool_calls=1)


async def nap(arguments, context):
    await anyio.sleep(arguments.get("n", 60))
    return "rested"


def tool_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]


def wait_for_threads(seconds=5):
    """Whether every tool's thread has come to its end."""
    until = time.monotonic() + seconds
    while tool_threads() and time.monotonic() < until:
        time.sleep(0.01)
    return not tool_threads()


@both_loops
async def test_a_tool_has_its_own_time():
    cleaned = []

    async def tidy(arguments, context):
        try:
            await anyio.sleep(60)
        finally:
            cleaned.append(context.stopped)

    tools = [runnable("tidy", tidy, timeout=0.05), runnable("nap", nap, timeout=None)]
    heard = Heard()
    outputs = await Executor(tools, on_event=heard).run_batch([call("tidy"), call("nap", {"n": 0.1})])
    assert codes(outputs) == ["TIMEOUT", "ok"]
    assert model_text(outputs[0]).startswith("Error [TIMEOUT]: the tool did not finish within 0.05 seconds")
    assert cleaned == [False], "it was cancelled, and ran its own end before anything else did"
    assert 0.05 <= heard.of(CallEnded)[0].tool_duration < 5


@both_loops
async def test_a_thread_is_left_to_itself_and_what_it_comes_to_is_dropped():
    go_on, seen = threading.Event(), []

    def hangs(arguments, context):
        go_on.wait(5)
        seen.append(context.stopped)
        context.report(1, message="too late")
        return "too late"

    heard = Heard()
    executor = Executor([runnable("hangs", hangs, timeout=0.05), runnable("nap", nap)], on_event=heard)
    assert codes(await executor.run_batch([call("hangs")])) == ["TIMEOUT"]
    assert len(tool_threads()) == 1
    so_far = list(heard)
    go_on.set()
    while not seen:
        await anyio.sleep(0.005)
    await anyio.sleep(0.02)
    assert seen == [True], "it could see that nobody waits"
    assert list(heard) == so_far
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ok"]
    assert wait_for_threads()


@both_loops
async def test_threads_that_hang_are_not_piled_up_without_end():
    go_on = threading.Event()

    def hangs(arguments, context):
        return go_on.wait(5)

    tools = [runnable("hangs", hangs, timeout=0.02)]
    executor = Executor(lambda: tools, Limits(max_left_threads=3))
    outputs = await executor.run_batch([call("hangs") for _ in range(3)])
    assert codes(outputs) == ["TIMEOUT"] * 3
    (refused,) = await executor.run_batch([call("hangs", {"n": 1})])
    assert codes([refused]) == ["EXECUTION_ERROR"]
    assert "3 earlier calls" in refused.error.message
    assert executor.ended is None
    go_on.set()
    assert wait_for_threads()
    tools[0] = replace(tools[0], timeout=30)  # a busy machine is no reason to time out again
    (again,) = await executor.run_batch([call("hangs", {"n": 2})])
    assert codes([again]) == ["ok"]


@both_loops
async def test_a_tool_that_must_run_alone_does_not_run_beside_one_that_was_given_up():
    go_on = threading.Event()

    def hangs(arguments, context):
        return go_on.wait(5)

    tools = [runnable("hangs", hangs, timeout=0.02, parallel_safe=False), runnable("nap", nap)]
    executor = Executor(lambda: tools)
    outputs = await executor.run_batch([call("hangs"), call("hangs", {"n": 1}), call("nap", {"n": 0})])
    assert codes(outputs) == ["TIMEOUT", "EXECUTION_ERROR", "ok"]
    assert "still runs" in outputs[1].error.message
    go_on.set()
    assert wait_for_threads()
    tools[0] = replace(tools[0], timeout=30)  # a busy machine is no reason to time out again
    assert codes(await executor.run_batch([call("hangs", {"n": 2})])) == ["ok"]


@both_loops
async def test_what_a_tool_still_returns_or_raises_when_its_time_is_up():
    async def returns(arguments, context):
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            return "just in time"

    async def raises(arguments, context):
        try:
            await anyio.sleep(60)
        finally:
            raise RuntimeError("while it was stopped")

    heard = Heard()
    tools = [runnable("returns", returns, timeout=0.02), runnable("raises", raises, timeout=0.02)]
    outputs = await Executor(tools, on_event=heard).run_batch([call("returns"), call("raises")])
    assert codes(outputs) == ["ok", "TIMEOUT"]
    assert outputs[0].text == "just in time"
    (raised,) = (event for event in heard.of(CallEnded) if event.tool == "raises")
    assert "while it was stopped" in raised.traceback


@both_loops
async def test_time_counts_from_approval_on():
    async def slowly(request):
        await anyio.sleep(0.4)
        return Allow()

    def slowly_in_a_thread(request):
        time.sleep(0.4)
        return True

    for approve in (slowly, slowly_in_a_thread):
        executor = Executor([runnable("nap", nap, timeout=0.3)], approve=approve)
        assert codes(await executor.run_batch([call("nap", {"n": 0.01})])) == ["ok"]


@both_loops
async def test_a_run_has_its_time_over_all_its_batches():
    heard = Heard()
    limits = Limits(run_timeout=0.6, max_parallel_tool_calls=2)
    executor = Executor([runnable("nap", nap)], limits, on_event=heard)
    assert codes(await executor.run_batch([call("nap", {"n": 0.05})])) == ["ok"]
    began = time.monotonic()
    outputs = await executor.run_batch([call("nap"), call("nap", {"n": 0.01}), call("nap")])
    assert time.monotonic() - began < 2
    assert codes(outputs) == ["TIMEOUT", "ok", "ABORTED"]
    assert "the run's 0.6 seconds are over" in outputs[0].error.message
    assert outputs[2].error.message.startswith("not begun")
    assert executor.ended == "timeout"
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ABORTED"]
    assert [(event.reason, event.error.code) for event in heard.of(RunEnded)] == [("timeout", "TIMEOUT")]


@both_loops
async def test_a_run_out_of_time_between_batches_begins_nothing():
    executor = Executor([runnable("nap", nap)], Limits(run_timeout=0.05))
    await executor.run_batch([])
    assert executor.ended is None
    await anyio.sleep(0.06)
    assert executor.ended == "timeout"
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ABORTED"]
    assert executor.ended == "timeout"


@both_loops
async def test_the_runs_time_is_up_for_what_runs_beside_a_fatal_error():
    async def breaks(arguments, context):
        return Fatal(ToolError("GONE", "x"))

    executor = Executor([runnable("breaks", breaks), runnable("nap", nap)], Limits(run_timeout=0.3))
    outputs = await executor.run_batch([call("nap"), call("breaks")])
    assert codes(outputs) == ["TIMEOUT", "GONE"]
    assert executor.ended == "fatal"


def abort_from_a_thread(abort):
    threading.Timer(0.2, abort.set).start()


def abort_from_the_loop(abort):
    asyncio.get_running_loop().call_later(0.05, abort.set)


@both_loops
async def test_an_abort_stops_what_runs_and_begins_nothing_more():
    go_on, heard, abort = threading.Event(), Heard(), Abort()

    def hangs(arguments, context):
        go_on.wait(5)

    tools = [runnable("nap", nap), runnable("hangs", hangs)]
    executor = Executor(tools, Limits(max_parallel_tool_calls=3), on_event=heard, abort=abort)
    abort_from_a_thread(abort)
    began = time.monotonic()
    outputs = await executor.run_batch([call("nap"), call("hangs"), call("nap", {"n": 0}), call("nap", {"n": 0.01})])
    assert time.monotonic() - began < 2
    assert codes(outputs) == ["ABORTED", "ABORTED", "ok", "ABORTED"]
    assert model_text(outputs[0]).startswith("Error [ABORTED]: the tool was stopped: the run was aborted")
    assert model_text(outputs[3]) == "Error [ABORTED]: not begun: the run was aborted"
    assert len(heard.of(ToolStarted)) == 3
    assert executor.ended == "aborted"
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ABORTED"]
    assert [event.reason for event in heard.of(RunEnded)] == ["aborted"]
    go_on.set()
    assert wait_for_threads()


@both_loops
async def test_an_abort_before_the_run_and_its_reason():
    abort = Abort()
    abort.set("the user pressed stop")
    abort.set("again")
    assert abort.reason == "the user pressed stop"
    (output,) = await Executor([runnable("nap", nap)], abort=abort).run_batch([call("nap", {"n": 0})])
    assert model_text(output) == "Error [ABORTED]: not begun: the user pressed stop"
    executor = Executor([runnable("nap", nap)])
    assert executor.ended is None
    executor.abort("enough")
    assert executor.ended == "aborted"
    assert "enough" in model_text((await executor.run_batch([call("nap")]))[0])
    assert codes(await executor.fresh().run_batch([call("nap", {"n": 0})])) == ["ok"]


@both_loops
async def test_a_tool_may_abort_its_own_run():
    abort = Abort()

    async def stops(arguments, context):
        abort.set("seen enough")
        await anyio.sleep(60)

    outputs = await Executor([runnable("stops", stops), runnable("nap", nap)], abort=abort).run_batch(
        [call("stops"), call("nap")]
    )
    assert codes(outputs) == ["ABORTED", "ABORTED"]


@both_loops
async def test_an_abort_while_somebody_is_asked():
    abort, ran = Abort(), []

    async def never(request):
        abort.set()
        await anyio.sleep(60)

    async def note(arguments, context):
        ran.append(1)

    (output,) = await Executor([runnable("note", note)], approve=never, abort=abort).run_batch([call("note")])
    assert model_text(output) == "Error [ABORTED]: not begun: the run was aborted"
    assert ran == []


@both_loops
async def test_a_scope_around_a_batch_stops_it_and_every_call_has_its_output():
    executor = Executor([runnable("nap", nap)], ONE)
    outputs, passed = None, False
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def later():
                await anyio.sleep(0.2)
                scope.cancel()

            group.start_soon(later)
            outputs = await executor.run_batch([call("nap"), call("nap", {"n": 0})])
            await anyio.lowlevel.checkpoint()
            passed = True
    assert codes(outputs) == ["ABORTED", "ABORTED"]
    assert "the tool was stopped: the run was cancelled" in outputs[0].error.message
    assert scope.cancelled_caught, "the cancellation reached the caller at its next checkpoint"
    assert not passed
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ok"], "it was that batch, not the run"


@both_loops
async def test_a_deadline_around_a_batch():
    executor = Executor([runnable("nap", nap)])
    with anyio.move_on_after(0.25):
        outputs = await executor.run_batch([call("nap"), call("nap", {"n": 0})])
    assert codes(outputs) == ["ABORTED", "ok"]


@both_loops
async def test_in_a_scope_that_is_cancelled_already_nothing_begins():
    heard = Heard()
    executor = Executor([runnable("nap", nap)], on_event=heard)
    with anyio.CancelScope() as scope:
        scope.cancel()
        outputs = await executor.run_batch([call("nap"), call("nap", {"n": 0})])
    assert codes(outputs) == ["ABORTED", "ABORTED"]
    assert heard.of(ToolStarted) == []


@both_loops
async def test_history_stays_valid_after_an_abort():
    toolset = Toolset([Tool("nap", "Nap", {"type": "object", "properties": {"n": {"type": "number"}}})], "openai")
    made = [
        {"id": f"call_{row}", "type": "function", "function": {"name": "nap", "arguments": text}}
        for row, text in enumerate(['{"n": 60}', '{"n": "x"}', '{"n": null}'])
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    answer = chat_completions.read({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, toolset)
    executor = Executor([runnable("nap", nap)], ONE)
    with anyio.move_on_after(0.25):
        outputs = await executor.run_batch(answer.calls)
    results = chat_completions.results(answer.calls, [model_text(output) for output in outputs])
    assert [item["tool_call_id"] for item in results] == ["call_0", "call_1", "call_2"]
    assert [item["content"].split(":")[0] for item in results] == [
        "Error [ABORTED]",
        "Error [INVALID_ARGUMENTS]",  # nothing to run, so nothing to wait for
        "Error [ABORTED]",
    ]
    history = chat_completions.history([{"role": "user", "content": "nap"}, answer, *results], toolset)
    assert history[1]["tool_calls"] == made


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_cancellation_of_a_task_of_asyncio():
    heard, before = Heard(), asyncio.all_tasks()
    executor = Executor([runnable("nap", nap)], ONE, on_event=heard)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(executor.run_batch([call("nap"), call("nap", {"n": 0})]), 0.2)
    assert codes([event.output for event in heard.of(CallEnded)]) == ["ABORTED", "ABORTED"]
    assert heard.kinds()[-1] == "BatchEnded"
    assert asyncio.all_tasks() == before
    assert codes(await executor.run_batch([call("nap", {"n": 0})])) == ["ok"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_abort_from_a_callback_of_the_loop():
    abort = Abort()
    abort_from_the_loop(abort)
    assert codes(await Executor([runnable("nap", nap)], abort=abort).run_batch([call("nap")])) == ["ABORTED"]


HANGING = """
import sys, time, anyio
from strictcall import Tool
from strictcall.api.answer import Call
from strictcall.runtime.executor import Executor
from strictcall.runtime.output import model_text
from strictcall.runtime.runnable import RunnableTool

def hangs(arguments, context):
    time.sleep(600)

async def main():
    executor = Executor([RunnableTool(Tool("hangs", None, {}), hangs, timeout=0.1)])
    (output,) = await executor.run_batch([Call("1", "hangs", {})])
    print(model_text(output), flush=True)

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_tool_that_hangs_does_not_keep_the_process_from_ending(loop):
    ended = subprocess.run(
        [sys.executable, "-c", HANGING, loop], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout.startswith("Error [TIMEOUT]")
    assert ended.returncode == 0, ended.stderr


SIGNALLED = """
import signal, sys, anyio
from strictcall import Tool
from strictcall.api.answer import Call
from strictcall.runtime.abort import Abort
from strictcall.runtime.executor import Executor
from strictcall.runtime.output import model_text
from strictcall.runtime.runnable import RunnableTool

abort = Abort()
signal.signal(signal.SIGINT, lambda *_: abort.set("interrupted"))

async def nap(arguments, context):
    print("begun", flush=True)
    await anyio.sleep(600)

async def main():
    executor = Executor([RunnableTool(Tool("nap", None, {}), nap, timeout=None)], abort=abort)
    (output,) = await executor.run_batch([Call("1", "nap", {})])
    print(model_text(output), flush=True)

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_ctrl_c_through_a_token(loop):
    with subprocess.Popen([sys.executable, "-c", SIGNALLED, loop], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said.startswith("Error [ABORTED]: the tool was stopped: interrupted")
    assert process.returncode == 0


@both_loops
async def test_a_stopped_success_is_never_half_said():
    async def text(arguments, context):
        return Success("whole")

    abort = Abort()
    executor = Executor([runnable("text", text)], abort=abort, on_event=lambda event: abort.set())
    outputs = await executor.run_batch([call("text"), call("text", {"n": 1})])
    assert set(codes(outputs)) <= {"ok", "ABORTED"}
    assert len(outputs) == 2
