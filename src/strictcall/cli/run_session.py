"""A session of ``strictcall run``: one question, or one after another, with Ctrl-C and questions about calls.

The event loop runs in a thread of its own. The main thread shows what happens, reads what the user types and gets
Ctrl-C: the first one stops the calls that are at work, the next one the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Final, TextIO

from anyio.from_thread import BlockingPortal
from rich.text import Text

from strictcall.cli.failure import FINDINGS, INTERRUPTED, WRONG_USE, UsageError, say
from strictcall.cli.output import emit
from strictcall.cli.run_shown import Shown
from strictcall.errors import StrictCallError
from strictcall.json_value import compact
from strictcall.link.turns import Turn
from strictcall.report.plain import counted, plain
from strictcall.runtime.abort import Abort
from strictcall.runtime.agent.agent import Agent
from strictcall.runtime.agent.events import AgentEvent, to_json
from strictcall.runtime.agent.result import EndReason, RunError, RunResult
from strictcall.runtime.agent.stream import RunStream
from strictcall.runtime.approval import ApprovalRequest, Decision, Deny

_BY_THE_USER: Final = "the user stopped this call"
_NOBODY: Final = "nobody could be asked to allow this call"
_REFUSED: Final = "the user did not allow this call"


@dataclass(slots=True)
class Approvals:
    """Asks the user whether a tool may run. ``allowed`` are the names of tools that need no asking. ``questions`` is
    what the main thread reads: these, and what else there is to show.
    """

    allowed: set[str]
    can_ask: bool
    questions: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    def __call__(self, request: ApprovalRequest) -> Decision | bool:
        """Decide on a request; waits for the user, in a thread of its own."""
        if request.tool.name in self.allowed:
            return True
        if not self.can_ask:
            return Deny(_NOBODY)
        question = _Question(request)
        self.questions.put(question)
        return question.answer.result()


@dataclass(frozen=True, slots=True)
class _Question:
    request: ApprovalRequest
    answer: Future[Decision | bool] = field(default_factory=Future)


class _End:
    """There is no more to show of a run."""


class Session:
    """Holds a conversation, from ``turns`` on. Without ``shown``, every event is a line of JSON on standard output.
    ``tool_choice`` holds for the first step after each question.
    """

    def __init__(
        self,
        portal: BlockingPortal,
        agent: Agent,
        approvals: Approvals,
        shown: Shown | None,
        turns: tuple[Turn, ...] = (),
        tool_choice: str | None = None,
    ) -> None:
        self.turns = turns
        self._portal = portal
        self._agent = agent
        self._approvals = approvals
        self._queue = approvals.questions
        self._shown = shown
        self._tool_choice = tool_choice
        self._conversation: Hashable = object()
        self._stream: RunStream | None = None
        self._pending: _Question | None = None

    def ask(self, question: str) -> int:
        """Ask once and show what comes of it; the exit code. What was said is in ``turns`` afterwards. Raises
        ``StrictCallError`` for a question that cannot be asked at all.
        """
        abort = Abort()
        turns = (*self.turns, {"role": "user", "content": question})
        future = self._portal.start_task_soon(self._run, turns, abort)
        future.add_done_callback(lambda done: self._queue.put(_End()))
        pressed = 0
        while True:
            try:
                if self._shows_next(future):
                    continue
                break
            except KeyboardInterrupt:
                pressed += 1
                if pressed > 2:
                    raise
                self._stop(abort)
        ended = future.result()
        if ended.progress.steps:
            # A question that no link took is not kept: where it is asked again, it would stand there twice.
            self.turns = ended.progress.messages
        if self._shown is not None:
            self._shown.ended(ended)
        if isinstance(ended, RunResult):
            return 0
        return INTERRUPTED if ended.reason is EndReason.ABORTED else FINDINGS

    # --- in the event loop --------------------------------------------------------------------------------------------

    async def _run(self, turns: Sequence[Turn], abort: Abort) -> RunResult[Any] | RunError:
        async with self._agent.stream(
            turns, tool_choice=self._tool_choice, conversation=self._conversation, abort=abort
        ) as events:
            self._stream = events
            try:
                # They are in the queue already, in their order: the agent tells of each at once.
                async for _ in events:
                    pass
            finally:
                self._stream = None
            try:
                result = events.result
            except RunError as error:
                return error
            return result

    def _interrupt(self) -> int:
        return self._stream.interrupt(_BY_THE_USER) if self._stream is not None else 0

    # --- in the main thread -------------------------------------------------------------------------------------------

    def _shows_next(self, future: Future[Any]) -> bool:
        """Show what comes next; false when there is nothing more."""
        if future.done() and self._queue.empty():
            return False
        item = self._queue.get()
        if isinstance(item, _Question):
            self._answer(item)
        elif isinstance(item, Text):
            self._say(item)
        elif not isinstance(item, _End):
            self._show(item)
        return True

    def _show(self, event: AgentEvent) -> None:
        if self._shown is None:
            emit(to_json(event) + "\n")
        else:
            self._shown.event(event)

    def _say(self, line: Text) -> None:
        if self._shown is not None:
            self._shown.line(line)

    def _answer(self, question: _Question) -> None:
        """Ask the user about a call: yes, no, or always for this tool."""
        request = question.request
        if request.tool.name in self._approvals.allowed:  # since it was put
            question.answer.set_result(True)
            return
        self._pending = question
        name, said = plain(request.tool.name), plain(compact(request.arguments))
        self._say(Text.assemble(("? ", "yellow"), f"may {name} run with {said}?"))
        word = typed("  [y]es, [n]o, [a]lways for this tool: ")
        self._pending = None
        answer = (word or "no").strip().lower()
        if answer in ("a", "always"):
            self._approvals.allowed.add(request.tool.name)
        question.answer.set_result(True if answer in ("y", "yes", "a", "always") else Deny(_REFUSED))

    def _stop(self, abort: Abort) -> None:
        """Ctrl-C: calls that are at work are stopped; where there are none, the run is."""
        pending, self._pending = self._pending, None
        stopped = self._portal.call(self._interrupt)
        if pending is not None:
            pending.answer.set_result(Deny(_BY_THE_USER))
        if stopped:
            self._say(Text(f"· stopped {counted(stopped, 'call')}; Ctrl-C once more ends the run", "yellow"))
        else:
            abort.set("the user ended the run")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at the other end."""
    return stream is not None and stream.isatty()


def typed(prompt: str) -> str | None:
    """What the user types; ``None`` at the end of it. Raises ``KeyboardInterrupt``."""
    if is_terminal(sys.stdin):
        sys.stderr.write(prompt)
        sys.stderr.flush()
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def checked(question: str, where: str) -> str:
    """A question that can be asked. Raises ``UsageError`` for one that is empty, or was no UTF-8."""
    if not question.strip():
        raise UsageError(f"{where} holds no question" if where == "standard input" else f"{where} is empty")
    try:
        question.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{where} is no UTF-8") from None
    return question


def talk(session: Session, keep: Callable[[Session], None], tools: Callable[[], Collection[str]]) -> int:
    """Ask what the user types, until there is no more; the exit code of the last answer."""
    if is_terminal(sys.stdin):
        there = counted(len(tools()), "tool")
        say(f"{there}; /tools lists them, Ctrl-C stops a call, then the run, Ctrl-D leaves")
    code = 0
    while True:
        try:
            line = typed("> ")
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            continue
        if line is None or line.strip() == "/quit":
            return code
        if line.strip() == "/tools":
            emit("".join(f"{plain(name)}\n" for name in tools()))
        elif line.strip():
            try:
                code = session.ask(checked(line, "the question"))
                keep(session)
            except (UsageError, StrictCallError) as error:
                # What was said before is not lost by it.
                say(f"strictcall: {error}")
                code = WRONG_USE
