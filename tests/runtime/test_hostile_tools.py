"""Tools that do what no tool should: the call has its output, the run goes on, and so does the event loop."""

from __future__ import annotations

import sys
import threading

import anyio
import pytest

from runtime.running import Heard, both_loops, call, codes, runnable
from strictcall.runtime.abort import Abort
from strictcall.runtime.budget import Budget
from strictcall.runtime.calling import not_own
from strictcall.runtime.events import CallEnded, to_object
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import model_text
from strictcall.runtime.python_tool import tool

pytestmark = [pytest.mark.anyio, both_loops]


class OwnError(BaseException):
    """Derives from where it should not."""


class Thing:
    """Has no text but where it is in memory."""


def raising(error):
    def run(arguments, context):
        raise error

    return run


def raising_async(error):
    async def run(arguments, context):
        raise error

    return run


def returning(make):
    return lambda arguments, context: make()


def cyclic():
    found = {"a": 1}
    found["itself"] = found
    return found


def coroutine():
    async def inner():
        return "awaited"

    return inner()


ERROR = "Error [EXECUTION_ERROR]: "


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (raising(OwnError("mine")), f"{ERROR}OwnError: mine"),
        (raising_async(OwnError("mine")), f"{ERROR}OwnError: mine"),
        (raising(BaseException("any")), f"{ERROR}BaseException: any"),
        # In a thread these three cannot be meant for the event loop.
        (raising(KeyboardInterrupt()), f"{ERROR}KeyboardInterrupt"),
        (raising(GeneratorExit()), f"{ERROR}GeneratorExit"),
        (raising(StopIteration()), f"{ERROR}StopIteration"),
        (lambda arguments, context: sys.exit(3), f"{ERROR}SystemExit: 3"),
        (raising_async(SystemExit(3)), f"{ERROR}SystemExit: 3"),
        (raising_async(BaseExceptionGroup("", [OwnError("in a group")])), f"{ERROR}OwnError: in a group"),
        (returning(cyclic), '{"a":1,"itself":"…"}'),
        (returning(lambda: (n for n in range(3))), f"{ERROR}the tool returned an iterator (generator)"),
        (returning(lambda: map(str, [1])), f"{ERROR}the tool returned an iterator (map)"),
        (returning(Thing), f"<{__name__}.Thing object>"),
        (returning(coroutine), "awaited"),
        (returning(lambda: "\ud800"), "�"),
        (returning(lambda: {"a": float("nan")}), '{"a":"nan"}'),
    ],
)
async def test_whatever_a_tool_does_its_call_has_an_output_and_the_run_goes_on(run, text):
    heard = Heard()
    executor = Executor([runnable("bad", run), runnable("good", returning(lambda: "fine"))], on_event=heard)
    outputs = await executor.run_batch([call("bad"), call("good")])
    assert model_text(outputs[0]).startswith(text)
    assert model_text(outputs[1]) == "fine"
    assert executor.ended is None
    assert [to_object(event)["text"] for event in heard.of(CallEnded)]


async def test_what_is_for_whoever_runs_the_loop_is_raised_on():
    pressed, closed, own = KeyboardInterrupt(), GeneratorExit(), OwnError()
    assert [not_own(error) for error in (pressed, closed, own)] == [pressed, closed, None]
    left = not_own(BaseExceptionGroup("", [own, BaseExceptionGroup("", [own, pressed])]))
    assert left.exceptions[0].exceptions == (pressed,)
    assert not_own(BaseExceptionGroup("", [own, ValueError()])) is None


async def fails_when_stopped(arguments, context):
    async def inner():
        try:
            await anyio.sleep(60)
        finally:
            raise ValueError("could not clean up")

    async with anyio.create_task_group() as group:
        group.start_soon(inner)


@pytest.mark.parametrize(
    ("way", "code"), [("scope", "ABORTED"), ("token", "ABORTED"), ("run", "TIMEOUT"), ("tool", "TIMEOUT")]
)
async def test_what_a_tool_raises_when_it_is_stopped_does_not_count(way, code):
    abort = Abort()
    bad = runnable("bad", fails_when_stopped, timeout=0.05 if way == "tool" else 30)
    executor = Executor([bad], Limits(run_timeout=0.05 if way == "run" else None), abort=abort)
    outputs = []
    with anyio.move_on_after(0.05 if way == "scope" else 30):
        async with anyio.create_task_group() as group:

            async def later():
                await anyio.sleep(0.05)
                abort.set("stop")

            if way == "token":
                group.start_soon(later)
            outputs = await executor.run_batch([call("bad"), call("bad", {"n": 1})])
    assert codes(outputs) == [code] * 2
    assert "clean up" not in model_text(outputs[0])


async def test_fifty_megabytes_are_told_by_their_size_and_held_up_nobody():
    @tool
    def big() -> str:
        return "x" * 50_000_000

    heard = Heard()
    (output,) = await Executor([big], on_event=heard).run_batch([call("big")])
    assert model_text(output).startswith(
        "Error [OUTPUT_TOO_LARGE]: the tool's output has 50,000,000 characters, of which at most 16,000,000 can be kept"
    )
    (ended,) = heard.of(CallEnded)
    assert ended.whole is None


async def test_what_a_thread_returned_is_written_there():
    wrote = []

    class Slow:
        def __str__(self):
            wrote.append(threading.current_thread())
            return "written"

    (output,) = await Executor([runnable("slow", returning(Slow))]).run_batch([call("slow")])
    assert output.text == "written"
    assert wrote
    assert threading.main_thread() not in wrote


async def test_the_same_thing_again_is_the_same_output():
    executor = Executor([runnable("thing", returning(Thing))], Limits(max_repeats=1, budget=Budget(1000)))
    outputs = [(await executor.run_batch([call("thing")]))[0] for _ in range(2)]
    assert codes(outputs) == ["ok", "REPEATED_CALL"]


async def test_what_a_tool_prints_is_not_its_output(capsys):
    @tool
    def prints() -> str:
        sys.stdout.write("to people\n")
        return "to the model"

    (output,) = await Executor([prints]).run_batch([call("prints")])
    assert output.text == "to the model"
    assert capsys.readouterr().out == "to people\n"
