"""One run: the model is asked, its calls are run, and it is told what came of them, until there is an answer.

A conversation holds an answer only together with the results of all its calls, whatever ends the run: so it can always
be gone on with. A batch of calls is run once and never again. Of an answer that was cut off nothing is run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.lowlevel import current_token

from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.writing import ToolChoice
from strictcall.errors import ArgumentsError, Fault, StrictCallError
from strictcall.link.errors import ChainError, LinkError
from strictcall.link.inference import Inference, Served
from strictcall.link.prepared import Request
from strictcall.link.resolved import ResolvedLink
from strictcall.link.turns import Results, Turn
from strictcall.runtime.abort import Abort
from strictcall.runtime.agent.events import (
    AgentEvent,
    Answered,
    Delta,
    RepairAsked,
    RunCompleted,
    RunFailed,
    StepStarted,
)
from strictcall.runtime.agent.result import EndReason, Progress, RunError, RunResult, added
from strictcall.runtime.agent.settings import AgentSettings
from strictcall.runtime.agent.tools import AgentTools
from strictcall.runtime.agent.wanted import OUTPUT_NAME, Wanted
from strictcall.runtime.calling import soon
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import ErrorCode, Output, RespondToModel, ToolError, model_text

_CUT_OFF: Final = {
    StopReason.LENGTH: "it ran out of tokens",
    StopReason.CONTENT_FILTER: "the provider cut it off",
    StopReason.ERROR: "the provider failed",
    StopReason.INCOMPLETE: "it broke off",
}
"""Of answers that end so nothing is run: nobody knows what else they were to say."""
_REFUSED: Final = (StopReason.REFUSAL, StopReason.CONTENT_FILTER)
_UNUSABLE: Final = (ErrorCode.INVALID_ARGUMENTS, ErrorCode.TOOL_NOT_FOUND)
_ENDED_HERE: Final = str(ToolError(ErrorCode.ABORTED, "the run ended here"))
"""What a conversation has for a fatal call, of which the model is told nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run begins with. ``link`` is the only one that is asked, where it is named."""

    turns: Sequence[Turn]
    tools: AgentTools
    instructions: str | None
    link: str | None
    conversation: Hashable
    tool_choice: ToolChoice
    wanted: Wanted[Any] | None
    settings: AgentSettings


class Loop:
    """One run. ``tell`` hears of everything; ``streamed`` says whether of answers while they arrive, too."""

    def __init__(
        self,
        asked: Asked,
        inference: Inference,
        executor: Executor,
        abort: Abort,
        tell: Callable[[AgentEvent], None],
        *,
        streamed: bool,
    ) -> None:
        self._asked = asked
        self._inference = inference
        self._executor = executor
        self._abort = abort
        self._tell = tell
        self._streamed = streamed
        self._turns = list(asked.turns)
        self._usages: list[Usage] = []
        self._link: str | None = None
        self._repairs = 0

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return Progress(tuple(self._turns), added(self._usages), len(self._usages), self._link)

    def interrupt(self, reason: str) -> int:
        """Stop the calls that are at work now, and no others. How many there were."""
        return self._executor.interrupt(reason)

    async def run(self) -> RunResult[Any]:
        """Go on until there is an answer. Raises ``RunError``."""
        try:
            result = await self._steps()
        except RunError as error:
            self._tell(RunFailed(error))
            raise
        self._tell(RunCompleted(result))
        return result

    async def _steps(self) -> RunResult[Any]:
        self._executor.begin()
        for step in range(1, self._asked.settings.max_steps + 1):
            self._check_not_ended()
            self._tell(StepStarted(step))
            served = await self._answer(first=step == 1)
            self._usages.append(served.answer.usage)
            self._link = served.link.name
            self._tell(Answered(step, served.link.name, served.why, served.answer))
            result = await self._taken(served, step)
            if result is not None:
                return result
        most = self._asked.settings.max_steps
        raise self._failure(EndReason.STEPS, f"the model still made calls when max_steps, {most}, was reached")

    # --- asking -------------------------------------------------------------------------------------------------------

    async def _answer(self, *, first: bool) -> Served:
        """The next answer. Raises ``RunError``."""
        served: Served | None = None
        with self._ending_with_the_run():
            try:
                served = await self._ask(self._request(first=first))
            except StrictCallError as error:
                if first and not isinstance(error, LinkError | ChainError):
                    raise  # what was asked for is wrong, and nothing is lost
                raise self._failure(EndReason.LINK, str(error)) from error
        self._check_not_ended()
        assert served is not None  # noqa: S101 - nothing but the end of the run ends the scope
        return served

    async def _ask(self, request: Request) -> Served:
        link, conversation, tell = self._asked.link, self._asked.conversation, self._tell
        if not self._streamed:
            return await self._inference.ask(request, link=link, conversation=conversation, tell=tell)
        async with self._inference.stream(request, link=link, conversation=conversation, tell=tell) as events:
            async for event in events:
                if isinstance(event, Delta):
                    self._tell(event)
            return events.served

    def _request(self, *, first: bool) -> Request:
        asked = self._asked
        wanted = asked.wanted
        told = [] if asked.instructions is None else [{"role": "system", "content": asked.instructions}]
        return Request(
            [*told, *self._turns],
            [each.tool for each in asked.tools()],
            # A call that is demanded is demanded once: else there would be no answer ever.
            asked.tool_choice if first else None,
            None if wanted is None else wanted.schema,
            OUTPUT_NAME if wanted is None else wanted.name,
            tell_output=True,
        )

    @contextmanager
    def _ending_with_the_run(self) -> Iterator[None]:
        """A scope that ends when the run is aborted, or its time is over."""
        loop = current_token()
        scope = anyio.CancelScope(deadline=anyio.current_time() + self._executor.seconds_left)
        with scope, self._abort.heard(lambda reason: soon(loop, scope.cancel)):
            yield

    # --- an answer ----------------------------------------------------------------------------------------------------

    async def _taken(self, served: Served, step: int) -> RunResult[Any] | None:
        """Take an answer: what the run comes to, or ``None`` where it goes on. Raises ``RunError``."""
        answer = served.answer
        cut = _CUT_OFF.get(answer.stop_reason)
        if answer.calls:
            await self._run_calls(served, cut, step)
            return None
        if answer.text or answer.stop_reason is StopReason.PAUSE:
            self._turns.append(answer)
        if answer.stop_reason in _REFUSED:
            raise self._failure(EndReason.REFUSED, answer.text or f"the answer ended as {answer.stop_reason}")
        if answer.stop_reason is StopReason.PAUSE:
            return None
        if cut is not None:
            self._repair(step, f"Your answer was cut off: {cut}. Answer again, and more briefly.")
            return None
        if not answer.text:
            self._repair(step, "You said nothing. Give your answer.")
            return None
        return self._result(answer, step)

    def _result(self, answer: Answer, step: int) -> RunResult[Any] | None:
        wanted = self._asked.wanted
        if wanted is None:
            return RunResult(answer.text, answer.text, self.progress)
        faults = answer.output_faults
        if not faults and answer.stop_reason is not StopReason.STOP:
            faults = (Fault("", f"the answer ended as {answer.stop_reason}"),)
        if not faults:
            try:
                return RunResult(wanted.read(answer.output), answer.text, self.progress)
            except ArgumentsError as error:
                faults = error.faults
        said = str(ArgumentsError(faults)).replace("the arguments: ", "the answer: ", 1)
        self._repair(step, f"Your answer does not fit what was asked for. {said}. Give the whole answer again.")
        return None

    def _repair(self, step: int, words: str) -> None:
        """Tell the model what is wrong with its answer. Raises ``RunError`` where it was told too often."""
        self._count_repair(step, words)
        self._turns.append({"role": "user", "content": words})

    def _count_repair(self, step: int, words: str) -> None:
        self._repairs += 1
        most = self._asked.settings.max_repairs
        if self._repairs > most:
            words = f"after {most} repairs nothing of the answer can be used: {words}"
            raise self._failure(EndReason.REPAIRS, words)
        self._tell(RepairAsked(step, self._repairs, words))

    # --- calls --------------------------------------------------------------------------------------------------------

    async def _run_calls(self, served: Served, cut: str | None, step: int) -> None:
        answer = served.answer
        if cut is not None:
            answer = dataclasses.replace(answer, calls=tuple(_not_to_run(call, cut) for call in answer.calls))
        try:
            outputs: Sequence[Output] = await self._executor.run_batch(answer.calls, self._limits(served.link))
        except BaseException:
            # The task was cancelled. What was run is not to be run again when the conversation goes on.
            self._called(served.answer, self._executor.outputs)
            raise
        texts = self._called(served.answer, outputs)
        self._check_not_ended()
        if cut is not None or all(map(_is_unusable, outputs)):
            self._count_repair(step, "; ".join(dict.fromkeys(texts)))
        else:
            self._repairs = 0

    def _called(self, answer: Answer, outputs: Sequence[Output]) -> tuple[str, ...]:
        """Take an answer and what its calls came to into the conversation, both at once; what the model hears."""
        texts = tuple(model_text(output) or _ENDED_HERE for output in outputs)
        if len(texts) == len(answer.calls):
            self._turns += [answer, Results(answer.calls, texts)]
        return texts

    def _limits(self, link: ResolvedLink) -> Limits:
        """The limits of tools on a link: what it says goes before what holds for the agent."""
        limits = self._asked.settings.limits
        if link.max_parallel_tool_calls is not None:
            limits = dataclasses.replace(limits, max_parallel_tool_calls=link.max_parallel_tool_calls)
        if link.max_tool_output is not None:
            limits = dataclasses.replace(limits, budget=limits.budget.of(link.max_tool_output))
        return limits

    # --- ending -------------------------------------------------------------------------------------------------------

    def _check_not_ended(self) -> None:
        """Raises ``RunError`` where the run is over."""
        ended = self._executor.ended
        if ended == "fatal":
            raise self._failure(EndReason.FATAL, str(self._executor.fatal))
        if ended == "aborted":
            raise self._failure(EndReason.ABORTED, self._abort.reason or "the run was cancelled")
        if ended == "timeout":
            allowed = self._asked.settings.limits.run_timeout
            raise self._failure(EndReason.TIMEOUT, f"its time, run_timeout of {allowed:g} s, was over")

    def _failure(self, reason: EndReason, words: str) -> RunError:
        return RunError(reason, words, self.progress)


def _not_to_run(call: Call, cut: str) -> Call:
    """A call of an answer that was cut off: it is whole perhaps, and must not be run all the same."""
    if call.faults:
        # A name that no tool of the toolset has may still be one by which the executor knows a tool.
        return dataclasses.replace(call, complete=False)
    fault = Fault("", f"nothing was run, because the answer was cut off: {cut}")
    return dataclasses.replace(call, arguments=None, faults=(fault,), complete=False)


def _is_unusable(output: Output) -> bool:
    return isinstance(output, RespondToModel) and output.error.code in _UNUSABLE
