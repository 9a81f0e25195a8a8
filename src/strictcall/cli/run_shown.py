"""How a run is shown: the answer on standard output as it comes, what happens on the way on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from strictcall.api.events import TextDelta
from strictcall.cli.output import emit
from strictcall.errors import cut
from strictcall.json_value import LimitError, compact, parse
from strictcall.link import events as link
from strictcall.link.chain import FIRST, PINNED, STICKY
from strictcall.report.plain import counted, plain
from strictcall.runtime import events as runtime
from strictcall.runtime.agent import events as agent
from strictcall.runtime.agent.result import RunError, RunResult
from strictcall.runtime.output import RespondToModel, Success

LONGEST: Final = 160
"""How many characters of a call's arguments, or of a line of its result, are shown."""
_LONGEST_READ: Final = 100_000
MOST_LINES: Final = 6
"""How many lines of a result are shown."""


@dataclass(slots=True)
class Shown:
    """Shows the events of runs. ``quiet`` leaves out all but the answer."""

    console: Console
    quiet: bool = False
    _within_a_line: bool = False

    def event(self, event: agent.AgentEvent) -> None:
        """Show an event, if it is one that is shown."""
        if isinstance(event, TextDelta):
            self._text(event.text)
            return
        show = _SHOWN.get(type(event))
        line = None if show is None or self.quiet else show(event)
        if line is not None:
            self.line(line)

    def line(self, text: Text) -> None:
        """A line, or several, beside the answer."""
        self.end_line()
        self.console.print(text, soft_wrap=True, highlight=False)

    def ended(self, ended: RunResult[Any] | RunError) -> None:
        """The end of a run."""
        self.end_line()
        if isinstance(ended, RunError):
            self.line(Text(f"strictcall: {plain(str(ended))}", "red"))
        if not self.quiet and ended.progress.steps:
            self.line(Text(_counts(ended), "dim"))

    def end_line(self) -> None:
        """Begin a new line, where the answer stopped within one."""
        if self._within_a_line:
            emit("\n")
            self._within_a_line = False

    def _text(self, text: str) -> None:
        if text:
            emit(_safe(text) if sys.stdout.isatty() else text)
            self._within_a_line = not text.endswith("\n")


def _safe(text: str) -> str:
    """A model's text as a terminal may have it: its lines and tabs as they are, other control characters escaped."""
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))


def _counts(ended: RunResult[Any] | RunError) -> str:
    progress = ended.progress
    usage = progress.usage
    tokens = [f"{number:,} tokens {way}" for number, way in ((usage.input, "in"), (usage.output, "out")) if number]
    return ", ".join([counted(progress.steps, "step"), *tokens, *([progress.link] if progress.link else [])])


def _called(event: runtime.CallReceived) -> Text:
    said = event.wire_arguments if event.faults else json.dumps(event.arguments, ensure_ascii=False)
    return Text.assemble(("→ ", "cyan"), (plain(event.tool), "bold cyan"), f" {cut(plain(said), LONGEST)}")


def _ended(event: runtime.CallEnded) -> Text:
    output = event.output
    took = f" ({event.tool_duration:.1f} s)" if event.tool_duration is not None else ""
    if isinstance(output, Success):
        return Text.assemble(("← ", "green"), _lines(event.text or ""), (took, "dim"))
    said = str(output.error)
    mark = "✗ " if isinstance(output, RespondToModel) else "✗ fatal: "
    return Text.assemble((f"{mark}{_lines(said)}", "red"), (took, "dim"))


def _lines(text: str) -> str:
    lines = _compacted(text).split("\n")
    shown = [cut(plain(line), LONGEST) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    return "\n  ".join(shown)


def _compacted(text: str) -> str:
    """JSON that was written for reading, on one line; any other text as it is."""
    if not text.startswith(("{", "[")) or len(text) > _LONGEST_READ:
        return text
    try:
        return compact(parse(text))
    except LimitError:
        return text


def _retried(event: link.LinkRetry) -> Text:
    said = f"· {event.link}: {event.kind}: {event.words}; again in {event.delay:.1f} s"
    return Text(plain(said), "dim")


def _failed(event: link.LinkFailed) -> Text:
    return Text(plain(f"· {event.link} gave no answer: {event.kind}: {event.words}"), "yellow")


def _served(event: link.LinkServed) -> Text | None:
    # Said only where it is no matter of course.
    usual = event.why in _USUAL
    return None if usual else Text(plain(f"· {event.link} answers: {event.why}"), "dim")


def _repair(event: agent.RepairAsked) -> Text:
    return Text(f"· told the model: {cut(plain(event.words), LONGEST)}", "yellow")


def _progressed(event: runtime.ToolProgress) -> Text | None:
    parts = [plain(event.message)] if event.message else []
    if event.progress is not None:
        parts.append(f"{event.progress:g}" + (f" of {event.total:g}" if event.total is not None else ""))
    return Text(f"· {plain(event.tool)}: {', '.join(parts)}", "dim") if parts else None


_SHOWN: Final[Mapping[type, Callable[[Any], Text | None]]] = {
    runtime.CallReceived: _called,
    runtime.CallEnded: _ended,
    runtime.ToolProgress: _progressed,
    link.LinkRetry: _retried,
    link.LinkFailed: _failed,
    link.LinkServed: _served,
    agent.RepairAsked: _repair,
}
_USUAL: Final = frozenset({PINNED, STICKY, FIRST})
