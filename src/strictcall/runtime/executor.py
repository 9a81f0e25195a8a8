"""The executor: runs the calls of an answer under the output contract."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

import anyio
from anyio.abc import TaskStatus
from anyio.lowlevel import current_token

from strictcall.api.answer import Call
from strictcall.errors import ArgumentsError, Fault, SettingsError
from strictcall.json_value import copy_json, sound
from strictcall.runtime.abort import Abort
from strictcall.runtime.approval import ApprovalRequest, Approver, Deny, Edit, decided
from strictcall.runtime.batch import End, Stops, waves
from strictcall.runtime.budget import Budget
from strictcall.runtime.calling import Threads, is_async, is_cancelled, not_own, soon
from strictcall.runtime.events import BatchEnded, BatchStarted, RunEnded
from strictcall.runtime.invoke import Outcome, invoke
from strictcall.runtime.lookup import Lookup, Tools, given
from strictcall.runtime.output import ErrorCode, Fatal, Output, RespondToModel, Success, ToolError
from strictcall.runtime.repeats import Repeats
from strictcall.runtime.runnable import Context, Progress, RunnableTool
from strictcall.runtime.telemetry import usual
from strictcall.runtime.turn import Listener, Telling, Turn
from strictcall.wire.compile import compile_tool
from strictcall.wire.compiled import CompiledTool

_CANCELLED: Final = End("aborted", "the run was cancelled")
_ENDED: Final = End("aborted", "the run has ended")
INTERRUPTED: Final = "somebody stopped this call"
_EDITED: Final = "the arguments were edited before the tool was run"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take.

    - ``max_parallel_tool_calls``: how many tools run at once.
    - ``run_timeout``: seconds from the first batch to the end of the last; ``None`` for no end.
    - ``max_repeats``: how often in a row one call may have the same output; ``None`` for as often as it likes.
    - ``budget``: how much of an output the model gets.
    - ``max_left_threads``: how many tools that timed out in their threads may be at work still before no further one
      is begun in a thread.

    Raises ``SettingsError`` for numbers that are not positive.
    """

    max_parallel_tool_calls: int = 8
    run_timeout: float | None = None
    max_repeats: int | None = 3
    budget: Budget = field(default_factory=Budget)
    max_left_threads: int = 64

    def __post_init__(self) -> None:
        for name in ("max_parallel_tool_calls", "run_timeout", "max_repeats", "max_left_threads"):
            number = getattr(self, name)
            if number is not None and not number > 0:
                raise SettingsError(name, f"must be more than 0, not {number!r}")


class Executor:
    """Runs the calls of one run, batch after batch, on asyncio or trio.

    ``tools`` are what can be called, or a function that gives them, asked anew for each batch: the tools of live
    servers come and go. ``approve`` is asked before a tool runs; without it every tool may run. ``on_event`` hears what
    happens, in the thread of the event loop, and must not wait for anything. ``abort`` ends the run, from any thread.
    ``state`` is what tools find in their ``Context``.

    An executor is for one run: it counts repeated calls and the run's time, and once a tool was fatal, the time was up
    or the run was aborted, it runs nothing more. ``fresh`` gives another like it.

    Raises ``NameClashError`` for two tools of one name, and ``SettingsError`` for what is no tool, no approver or no
    listener.
    """

    def __init__(
        self,
        tools: Tools,
        limits: Limits | None = None,
        *,
        approve: Approver | None = None,
        on_event: Listener | None = None,
        abort: Abort | None = None,
        state: Any = None,
    ) -> None:
        self._tools = given(tools)
        for name, what in (("approve", approve), ("on_event", on_event)):
            if what is not None and not callable(what):
                raise SettingsError(name, f"must be a function, not {type(what).__name__}")
        if on_event is not None and is_async(on_event):
            raise SettingsError("on_event", "must not be async: it is told in passing, and not waited for")
        self._limits = limits or Limits()
        self._approve = approve
        self._listener = on_event
        self._abort = abort or Abort()
        self._state = state
        self._tell = Telling(on_event)
        self._threads = Threads(self._limits.max_left_threads)
        self._repeats = Repeats(self._limits.max_repeats)
        self._telemetry = usual()
        self._compiled: dict[str, CompiledTool] = {}
        self._asking: anyio.Lock | None = None
        self._until = math.inf
        self._batches = 0
        self._running: _Batch | None = None
        self._outputs: tuple[Output, ...] = ()
        self._end: End | None = None
        self._fatal: ToolError | None = None

    @property
    def ended(self) -> Literal["fatal", "aborted", "timeout"] | None:
        """Why the run is over; ``None`` while it goes on. Good to ask before the model is called again."""
        if self._end is not None:
            return self._end.reason
        if self._abort.reason is not None:
            return "aborted"
        return "timeout" if self.seconds_left <= 0 else None

    @property
    def fatal(self) -> ToolError | None:
        """The error that ended the run, of a tool that said it was fatal."""
        return self._fatal

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the last batch, of one that was cancelled as well."""
        return self._outputs

    def fresh(self, abort: Abort | None = None) -> Executor:
        """Another executor with the same tools and settings, for another run."""
        return Executor(
            self._tools,
            self._limits,
            approve=self._approve,
            on_event=self._listener,
            abort=abort,
            state=self._state,
        )

    def abort(self, reason: str | None = None) -> None:
        """End the run: tools at work are stopped, calls that have not begun never do. From any thread."""
        self._abort.set(*([] if reason is None else [reason]))

    def begin(self) -> None:
        """Let the run's time begin now, and not with the first batch. It begins once."""
        if self._until == math.inf and self._limits.run_timeout is not None:
            self._until = time.monotonic() + self._limits.run_timeout

    def interrupt(self, reason: str = INTERRUPTED) -> int:
        """Stop the calls that are at work now, and only those: their outputs are ABORTED with this reason, and the run
        goes on. In the thread of the event loop. How many there were.
        """
        return self._running.stops.interrupt(End("aborted", reason)) if self._running is not None else 0

    async def run_batch(self, calls: Sequence[Call], limits: Limits | None = None) -> list[Output]:
        """Run the calls of one answer; an output for each, in their order. ``limits``, where given, say for this batch
        how many run at once and how much of an output the model gets.

        They run in waves, at most ``max_parallel_tool_calls`` at once; a tool that is not parallel-safe runs alone. No
        call's failure keeps another from running, but after a fatal one no further call begins. Raises nothing for what
        tools and approvers do.

        Where a scope around this is cancelled, or its deadline passes, the tools are stopped and the outputs returned,
        so that history stays valid; the next checkpoint of the caller raises. asyncio's ``Task.cancel`` raises here, as
        it must; what the calls came to is in ``outputs`` and in the events.
        """
        self._outputs = ()
        began = time.perf_counter()
        number = self._batches
        self._batches += 1
        if number == 0:
            self.begin()
        tools = Lookup(self._tools() if callable(self._tools) else self._tools)
        batch = self._running = _Batch(tools, number, len(calls), limits or self._limits)
        turns = [Turn(tools.meant(call), number, position, self._tell) for position, call in enumerate(calls)]
        loop = current_token()
        self._tell(BatchStarted(at=time.time(), batch=number, calls=len(calls)))
        for turn in turns:
            turn.received()

        def aborted(reason: str) -> None:
            soon(loop, partial(self._over, batch, End("aborted", reason)))

        try:
            with self._abort.heard(aborted):
                await self._guarded(batch, turns)
        finally:
            for turn in turns:
                if batch.outputs[turn.position] is None:
                    self._finish(batch, turn, Outcome((batch.stops.end or _CANCELLED).output(begun=False)))
            self._running = None
            self._outputs = tuple(output for output in batch.outputs if output is not None)
            self._tell(BatchEnded(at=time.time(), batch=number, calls=len(calls), duration=time.perf_counter() - began))
        return list(self._outputs)

    # --- the batch ----------------------------------------------------------------------------------------------------

    async def _guarded(self, batch: _Batch, turns: list[Turn]) -> None:
        """Run the waves shielded from the scopes around, and stop them when one of those is cancelled."""
        done, watched = anyio.Event(), anyio.Event()

        async def watch() -> None:
            try:
                await done.wait()
            except anyio.get_cancelled_exc_class():
                # Not raised on: the task ends here, and what was cancelled is the batch, which says so by its outputs.
                batch.stops.stop(_CANCELLED)
            finally:
                watched.set()

        if is_cancelled():
            batch.stops.stop(_CANCELLED)
        async with anyio.create_task_group() as guard:
            guard.start_soon(watch)
            with anyio.CancelScope(shield=True):
                await self._run_waves(batch, turns)
                done.set()
                await watched.wait()

    async def _run_waves(self, batch: _Batch, turns: list[Turn]) -> None:
        def kind(turn: Turn) -> Literal["beside", "alone", "free"]:
            tool = batch.tools.get(turn.call.name)
            if tool is None or turn.call.faults:
                return "free"
            return "beside" if tool.parallel_safe else "alone"

        for wave in waves(turns, batch.limits.max_parallel_tool_calls, kind):
            async with anyio.create_task_group() as group:
                for turn in wave:
                    # Waits until it has begun: so they begin in their order on trio too.
                    await group.start(self._run_turn, batch, turn)

    def _over(self, batch: _Batch, end: End, *, running: bool = True) -> None:
        """The run is over; ``running``: so are the calls at work."""
        if self._end is None:
            self._end = end
            error = self._fatal or ToolError("TIMEOUT" if end.reason == "timeout" else "ABORTED", end.said)
            self._tell(RunEnded(at=time.time(), batch=batch.number, reason=end.reason, error=error))
        batch.stops.stop(end, running=running)

    @property
    def seconds_left(self) -> float:
        """How many seconds of the run's time are left; infinite where it has none, or it has not begun."""
        return self._until - time.monotonic()

    def _time_is_up(self, batch: _Batch) -> End:
        end = End("timeout", f"the run's {self._limits.run_timeout:g} seconds are over")
        self._over(batch, end)
        return end

    # --- one call -----------------------------------------------------------------------------------------------------

    async def _run_turn(self, batch: _Batch, turn: Turn, *, task_status: TaskStatus[None]) -> None:
        task_status.started()
        outcome: Outcome | None = None
        turn.began = time.perf_counter()
        try:
            outcome = self._not_to_begin(batch)
            if outcome is None:
                scope = batch.stops.scope(self.seconds_left)
                try:
                    with scope:
                        outcome = await self._come_to(batch, turn)
                finally:
                    batch.stops.left(scope)
                interrupted = batch.stops.interrupted(scope)
                if interrupted is not None and outcome is None and not batch.stops.stopped:
                    outcome = Outcome(interrupted.output(begun=turn.begun))
                elif scope.cancelled_caught and not batch.stops.stopped:
                    self._time_is_up(batch)
        finally:
            if outcome is None:
                outcome = Outcome((batch.stops.end or _CANCELLED).output(begun=turn.begun))
            self._finish(batch, turn, outcome)

    def _not_to_begin(self, batch: _Batch) -> Outcome | None:
        """The outcome of a call that comes too late to begin."""
        end = batch.stops.end or self._end
        if end is None and self._abort.reason is not None:
            end = End("aborted", self._abort.reason)
            self._over(batch, end)
        if end is None and self.seconds_left <= 0:
            end = self._time_is_up(batch)
        return None if end is None else Outcome(end.output(begun=False))

    async def _come_to(self, batch: _Batch, turn: Turn) -> Outcome:
        """What a call comes to."""
        tool = batch.tools.get(turn.call.name)
        if tool is None:
            return Outcome(batch.tools.unknown(turn.call.name))
        faults = turn.call.faults or self._faults(tool, turn.call.arguments)
        if faults or not turn.call.complete:
            return Outcome(_invalid(faults))
        turn.arguments = turn.call.arguments
        if self._approve is not None:
            refused = await self._refused(self._approve, turn, tool)
            if refused is not None:
                return refused
        turn.started(turn.arguments)
        return await self._invoked(tool, turn)

    async def _refused(self, approve: Approver, turn: Turn, tool: RunnableTool) -> Outcome | None:
        """Ask for approval, one at a time: the outcome of a call that may not run, and ``None`` for one that may."""
        request = ApprovalRequest(turn.call, tool, copy_json(turn.arguments))
        self._asking = self._asking or anyio.Lock()
        async with self._asking:
            began = time.perf_counter()
            turn.asked()
            try:
                decision = await decided(approve, request, self._threads)
            except BaseException as error:  # noqa: BLE001  what is not its own is raised on
                beyond = not_own(error)
                if beyond is not None:
                    raise beyond  # noqa: B904  the same exception, or a part of it
                said = "".join(traceback.format_exception(error))
                output = RespondToModel(
                    ToolError(ErrorCode.APPROVAL_DENIED, "nobody could be asked to allow this call")
                )
                return Outcome(output, traceback=said)
            took = time.perf_counter() - began
        if isinstance(decision, Deny):
            turn.answered("deny", took, decision.reason, None)
            return Outcome(RespondToModel(ToolError(decision.code, decision.reason)))
        if not isinstance(decision, Edit):
            turn.answered("allow", took, None, None)
            return None
        turn.answered("edit", took, None, decision.arguments)
        faults = self._faults(tool, decision.arguments)
        if faults:
            return Outcome(_invalid(faults, "the arguments as they were edited do not fit: "))
        turn.arguments, turn.edited = copy_json(decision.arguments), True
        return None

    async def _invoked(self, tool: RunnableTool, turn: Turn) -> Outcome:
        loop, thread = current_token(), threading.get_ident()

        def progressed(progress: Progress) -> None:
            # From whatever thread it comes, the listener hears it in the loop's.
            if threading.get_ident() == thread:
                turn.progressed(progress)
            else:
                soon(loop, partial(turn.progressed, progress))

        context = Context(turn.call.id, tool.name, self._state, loop, progressed)
        # The tool gets a copy: what it does to its arguments is not what the model said.
        arguments = copy_json(turn.arguments)
        with self._telemetry.running(tool, turn.call.id, arguments) as record:
            outcome = await invoke(tool, arguments, context, self._threads)
            record(outcome)
        return outcome

    def _faults(self, tool: RunnableTool, arguments: Any) -> tuple[Fault, ...]:
        """What the contract has against arguments in its own form."""
        known = self._compiled.get(tool.name)
        if known is None or known.tool is not tool.tool:
            # The dialect does not matter: the contract is the same under each, and this one has the fewest limits.
            known = self._compiled[tool.name] = compile_tool(tool.tool, "json_schema", tool.policy)
        return known.check(arguments)

    def _finish(self, batch: _Batch, turn: Turn, outcome: Outcome) -> None:
        """Put a call's output in its place: the one place where a call gets one."""
        output = _sound(outcome.output)
        if not isinstance(output, Fatal) and not (
            isinstance(output, RespondToModel) and output.error.code == ErrorCode.ABORTED
        ):
            output = self._repeats.judged(turn.call, turn.arguments, output)
        fitted = batch.limits.budget.fit(output, turn.call.name)
        output = fitted.output
        if turn.edited and isinstance(output, Success):
            notice = f"{_EDITED}; {output.notice}" if output.notice else _EDITED
            output = dataclasses.replace(output, notice=notice)
        batch.outputs[turn.position] = output
        turn.ending(
            output=output,
            tool_duration=outcome.duration if turn.begun else None,
            whole=fitted.whole,
            file=None if fitted.file is None else str(fitted.file),
            traceback=outcome.traceback,
        )
        if isinstance(output, Fatal):
            self._fatal = self._fatal or output.error
            self._over(batch, End("fatal", "a tool's error ended the run"), running=False)


class _Batch:
    """The calls of one answer while they run."""

    def __init__(self, tools: Lookup, number: int, calls: int, limits: Limits) -> None:
        self.tools = tools
        self.number = number
        self.limits = limits
        self.outputs: list[Output | None] = [None] * calls
        self.stops = Stops()


def _invalid(faults: tuple[Fault, ...], before: str = "") -> RespondToModel:
    faults = faults or (Fault("", "the call was cut off before its arguments were complete"),)
    return RespondToModel(ToolError(ErrorCode.INVALID_ARGUMENTS, before + str(ArgumentsError(faults))))


def _sound(output: Output) -> Output:
    """An output whose texts can be sent."""
    if isinstance(output, Success):
        text, notice = sound(output.text), None if output.notice is None else sound(output.notice)
        return (
            output
            if (text, notice) == (output.text, output.notice)
            else dataclasses.replace(output, text=text, notice=notice)
        )
    message = sound(output.error.message)
    if message == output.error.message:
        return output
    return dataclasses.replace(output, error=ToolError(output.error.code, message))
