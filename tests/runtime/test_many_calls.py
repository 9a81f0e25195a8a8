"""Ten thousand calls whose tools fail, hang and are aborted at random: each has exactly one output, in its place."""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections import Counter

import anyio
import pytest

from runtime.running import an_object, both_loops, call, runnable
from strictcall.errors import Fault
from strictcall.runtime.abort import Abort
from strictcall.runtime.approval import Allow, Deny, Edit
from strictcall.runtime.calling import THREAD_NAME
from strictcall.runtime.events import CallEnded, CallReceived
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import RespondToModel, Success, model_text

CALLS = 10_000
LARGEST_BATCH = 120
TIMEOUT = 0.01
PARAMETERS = an_object({"n": {"type": "integer"}}, ["n"])
ALLOWED = {
    "quick": {"ok"},
    "plain": {"ok", "TIMEOUT"},  # a thread may start late on a busy machine
    "fails": {"EXECUTION_ERROR"},
    "plain_fails": {"EXECUTION_ERROR", "TIMEOUT"},
    "hangs": {"TIMEOUT"},
    "plain_hangs": {"TIMEOUT"},
    "alone": {"ok"},
    "asked": {"ok", "APPROVAL_DENIED", "INVALID_ARGUMENTS"},
    "missing": {"TOOL_NOT_FOUND"},
    "faulty": {"INVALID_ARGUMENTS"},
}
WEIGHTS = {
    "quick": 50,
    "plain": 10,
    "fails": 4,
    "plain_fails": 4,
    "hangs": 3,
    "plain_hangs": 3,
    "alone": 1,
    "asked": 8,
}


async def quick(arguments, context):
    await anyio.lowlevel.checkpoint()
    return f"call {arguments['n']}"


def plain(arguments, context):
    return f"call {arguments['n']}"


async def fails(arguments, context):
    raise RuntimeError(f"call {arguments['n']}")


def plain_fails(arguments, context):
    raise KeyError(f"call {arguments['n']}")


async def hangs(arguments, context):
    await anyio.sleep(60)


def plain_hangs(arguments, context):
    context.stop.wait(60)
    return "too late"


def approve(request):
    return (Allow(), Deny(f"call {request.arguments['n']}"), Edit(request.arguments), Edit({}))[
        request.arguments["n"] % 4
    ]


async def approve_asked(request):
    return approve(request) if request.tool.name == "asked" else True


TOOLS = [
    runnable("quick", quick, PARAMETERS, timeout=30),
    runnable("plain", plain, PARAMETERS, timeout=30),
    runnable("fails", fails, PARAMETERS, timeout=30),
    runnable("plain_fails", plain_fails, PARAMETERS, timeout=30),
    runnable("hangs", hangs, PARAMETERS, timeout=TIMEOUT),
    runnable("plain_hangs", plain_hangs, PARAMETERS, timeout=TIMEOUT),
    runnable("alone", quick, PARAMETERS, timeout=30, parallel_safe=False),
    runnable("asked", quick, PARAMETERS, timeout=30),
    runnable("faulty", quick, PARAMETERS, timeout=30),
]


def some_calls(rng, first, count):
    names = rng.choices([*WEIGHTS, "missing", "faulty"], [*WEIGHTS.values(), 5, 5], k=count)
    return [
        call(name, {"n": n}, f"id{n}", faults=(Fault("/n", f"call {n}"),) if name == "faulty" else ())
        for n, name in enumerate(names, start=first)
    ]


async def run_one(rng, executor_of, calls):
    """The outputs of a batch that is left alone, or aborted in one of three ways."""
    way = rng.choices(["none", "scope", "token", "deadline"], [7, 1, 1, 1])[0]
    wait, abort, outputs = rng.random() * 0.01, Abort(), None
    executor = executor_of(abort)
    if way == "none":
        return way, await executor.run_batch(calls)
    if way == "deadline":
        with anyio.move_on_after(wait):
            outputs = await executor.run_batch(calls)
        return way, outputs
    if way == "token":
        timer = threading.Timer(wait, abort.set)
        timer.start()
        outputs = await executor.run_batch(calls)
        timer.cancel()
        timer.join()
        return way, outputs
    async with anyio.create_task_group() as group:

        async def later():
            await anyio.sleep(wait)
            group.cancel_scope.cancel()

        group.start_soon(later)
        outputs = await executor.run_batch(calls)
        group.cancel_scope.cancel()
    return way, outputs


def living():
    """The tasks there are."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        import trio

        return trio.lowlevel.current_statistics().tasks_living


def check(calls, outputs, aborted):
    """How often which code came; each output must be one that its call can have, and be that call's own."""
    assert len(outputs) == len(calls)
    found = Counter()
    for made, output in zip(calls, outputs, strict=True):
        text = model_text(output)
        code = "ok" if isinstance(output, Success) else str(output.error.code)
        assert isinstance(output, Success | RespondToModel)
        assert code in ALLOWED[made.name] | ({"ABORTED"} if aborted else set()), (made.name, text)
        said = re.search(r"call (\d+)", text)
        if said:
            assert int(said[1]) == made.arguments["n"], "another call's output"
        else:
            assert code in {"ABORTED", "TIMEOUT", "TOOL_NOT_FOUND", "INVALID_ARGUMENTS"}
        found[code] += 1
    return found


@pytest.mark.anyio
@both_loops
async def test_ten_thousand_calls(anyio_backend):
    rng = random.Random(f"{anyio_backend} 8")  # noqa: S311
    events, before, began = [], living(), time.monotonic()
    limits = Limits(max_parallel_tool_calls=64, max_left_threads=1000)

    def executor_of(abort):
        return Executor(TOOLS, limits, approve=approve_asked, on_event=events.append, abort=abort)

    made, found, ways = 0, Counter(), Counter()
    while made < CALLS:
        calls = some_calls(rng, made, min(rng.randint(1, LARGEST_BATCH), CALLS - made))
        made += len(calls)
        way, outputs = await run_one(rng, executor_of, calls)
        found += check(calls, outputs, aborted=way != "none")
        ways[way] += 1
        told = [event for event in events if isinstance(event, CallEnded)]
        assert sorted(event.position for event in told) == list(range(len(calls))), "one end for each call"
        assert all(event.output is outputs[event.position] for event in told)
        assert sum(isinstance(event, CallReceived) for event in events) == len(calls)
        events.clear()
    assert found.total() == CALLS
    assert set(found) == set.union(*ALLOWED.values()) | {"ABORTED"}, "each of them happened"
    assert set(ways) == {"none", "scope", "token", "deadline"}
    until = time.monotonic() + 5
    while any(thread.name.startswith(THREAD_NAME) for thread in threading.enumerate()) and time.monotonic() < until:
        await anyio.sleep(0.01)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]
    await anyio.sleep(0)
    assert living() == before
    assert not events, "nothing was told after the last batch"
    assert time.monotonic() - began < 120, "far more than it takes: a few seconds"
