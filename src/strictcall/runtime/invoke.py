"""Running one tool once: its time, and whatever it does."""

from __future__ import annotations

import math
import time
import traceback
from dataclasses import dataclass
from typing import Any, Final

import anyio

from strictcall.runtime.as_output import as_output, failure
from strictcall.runtime.calling import Threads, is_async, not_own
from strictcall.runtime.output import ErrorCode, Output, RespondToModel, ToolError
from strictcall.runtime.runnable import Context, RunnableTool

PARTLY: Final = "it may have done part of its work"
_NOTHING_YET: Final = object()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running a tool came to, how many seconds it took, and the traceback of what it raised."""

    output: Output
    duration: float = 0.0
    traceback: str | None = None


async def invoke(tool: RunnableTool, arguments: Any, context: Context, threads: Threads) -> Outcome:
    """Run a tool within its time. Whatever it raises is an outcome, ``SystemExit`` too.

    What is raised on: the cancellation of the task that this runs in, and ``KeyboardInterrupt`` in the event loop.
    """
    began = time.perf_counter()
    value: Any = _NOTHING_YET
    raised: BaseException | None = None
    scope = anyio.CancelScope(deadline=anyio.current_time() + (math.inf if tool.timeout is None else tool.timeout))
    try:
        with scope:
            value = await _returned(tool, arguments, context, threads)
    except BaseException as error:  # noqa: BLE001  what is not its own is raised on
        beyond = not_own(error)
        if beyond is not None:
            raise beyond  # noqa: B904  the same exception, or a part of it
        # What a tool raises when it is stopped does not count.
        await anyio.lowlevel.checkpoint_if_cancelled()
        raised = error
    finally:
        context.stop.set()
    output, raised = _output(value, raised, _too_late(tool) if scope.cancel_called else None)
    said = None if raised is None else "".join(traceback.format_exception(raised))
    return Outcome(output, time.perf_counter() - began, said)


async def _returned(tool: RunnableTool, arguments: Any, context: Context, threads: Threads) -> Any:
    if is_async(tool.run):
        return await tool.run(arguments, context)

    def run() -> Any:
        value = tool.run(arguments, context)
        # What takes long to write must not hold up the event loop.
        return value if hasattr(value, "__await__") else as_output(value)

    value = await threads.call(run, tool.name, alone=not tool.parallel_safe)
    return await value if hasattr(value, "__await__") else value


def _output(
    value: Any, raised: BaseException | None, too_late: ToolError | None
) -> tuple[Output, BaseException | None]:
    """The output of what a tool returned or raised; ``too_late`` where its time was up. What it still returned counts,
    what it raised when it was stopped does not.
    """
    if value is not _NOTHING_YET:
        try:
            return as_output(value), None
        except Exception as error:  # noqa: BLE001  what was returned is the user's and may raise anything
            raised = error
    elif too_late is not None:
        return RespondToModel(too_late), raised
    return failure(raised or RuntimeError("the tool ended without a result")), raised


def _too_late(tool: RunnableTool) -> ToolError:
    return ToolError(ErrorCode.TIMEOUT, f"the tool did not finish within {tool.timeout:g} seconds; {PARTLY}")
