"""What ``strictcall run`` does: tools are opened, an agent is made, and a question is asked, or one after another."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from anyio.from_thread import start_blocking_portal
from rich.console import Console
from rich.text import Text

from strictcall.cli.failure import UsageError, say
from strictcall.cli.run_conversation import read_conversation, write_conversation
from strictcall.cli.run_session import Approvals, Session, is_terminal, talk
from strictcall.cli.run_shown import Shown
from strictcall.errors import ConfigError
from strictcall.link.configured import NAMES, ConfiguredLinks, find_config
from strictcall.report.plain import plain
from strictcall.runtime.agent.agent import Agent
from strictcall.runtime.agent.settings import AgentSettings
from strictcall.runtime.agent.sources import opened
from strictcall.runtime.agent.tools import AgentTools, ToolLike
from strictcall.runtime.approval import AskUnlessReadOnly
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import ServerState, ServerStatus
from strictcall.source.options import ReadOptions


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command was told; each is one of its options."""

    sources: Sequence[str]
    server: Sequence[str] | None
    options: ReadOptions
    link: str | None
    config: Path | None
    system: str | None
    conversation: Path | None
    allow: frozenset[str]
    yes: bool
    tool_choice: str | None
    max_steps: int
    quiet: bool
    as_json: bool


def hold(choices: Choices, prompt: str | None) -> int:
    """Ask the question, or those that the user types; the exit code. Raises ``StrictCallError`` and ``UsageError``."""
    _check_streams(prompt)
    links = _links(choices)
    turns = () if choices.conversation is None else read_conversation(choices.conversation)
    shown = None if choices.as_json else Shown(Console(stderr=True), choices.quiet)
    approvals = Approvals(set(), not choices.as_json and is_terminal(sys.stdin) and is_terminal(sys.stderr))

    def changed(status: ServerStatus) -> None:
        line = _status_line(status)
        if line is not None:
            approvals.questions.put(line)

    with _prints_aside(), start_blocking_portal("asyncio") as portal:
        sources = opened(choices.sources, choices.server, choices.options, on_change=changed)
        with portal.wrap_async_context_manager(sources) as tools:
            approvals.allowed.update(_checked_tools(tools, choices))
            agent = Agent(
                choices.link,
                tools,
                links=links,
                instructions=choices.system,
                settings=AgentSettings(max_steps=choices.max_steps),
                approve=None if choices.yes else AskUnlessReadOnly(approvals),
                on_event=approvals.questions.put,
            )
            with portal.wrap_async_context_manager(agent):
                session = Session(portal, agent, approvals, shown, turns, choices.tool_choice)
                if prompt is None:
                    return talk(session, lambda held: _keep(held, choices), lambda: _names(tools))
                code = session.ask(prompt)
                _keep(session, choices)
                return code


def _check_streams(prompt: str | None) -> None:
    """Raises ``UsageError`` where nobody could hear an answer, or ask a question."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    if prompt is None and sys.stdin is None:
        raise UsageError("there is no question, and standard input is closed")


def _links(choices: Choices) -> ConfiguredLinks:
    """Where links come from; the one that is asked is looked at at once, so that what is wrong is said first."""
    links = ConfiguredLinks(choices.config or find_config(), on_problem=_edited)
    name = choices.link or next(iter(links.chain()), None)
    if name is None:
        raise UsageError(f"no link to ask: name one by --link provider/model, or write a {NAMES[0]}")
    links.resolve(name)
    return links


def _edited(error: ConfigError) -> None:
    for line in error.lines():
        say(f"strictcall: {line}; what it said before holds")


def _prints_aside() -> AbstractContextManager[object]:
    """Lets what tools print go to standard error: standard output is for the answer, or for lines of JSON."""
    return redirect_stdout(_Printed(sys.stdout))


class _Printed(io.TextIOBase):
    """Standard output whose text goes to standard error. Bytes, which ``emit`` writes, go where they went."""

    def __init__(self, output: TextIO) -> None:
        self.buffer = output.buffer
        self._output = output

    def write(self, text: str) -> int:
        """Write what somebody prints."""
        return sys.stderr.write(text)

    def flush(self) -> None:
        """Write out what was printed."""
        sys.stderr.flush()

    def isatty(self) -> bool:
        """Whether standard output is a terminal."""
        return self._output.isatty()

    def fileno(self) -> int:
        """The number of standard output."""
        return self._output.fileno()


def _checked_tools(tools: Sequence[ToolLike], choices: Choices) -> set[str]:
    """Say which servers are not up; the names of the tools that are allowed. Raises ``UsageError`` where no tool at all
    could be had, or an allowed one is not there, and ``RequestError`` where a demanded one is not.
    """
    for part in tools:
        for status in part.statuses if isinstance(part, McpServers) else ():
            line = _status_line(status)
            if line is not None:
                say(line.plain)
    names = _names(tools)
    if tools and not names:
        raise UsageError("there is no tool to run: see above")
    known = AgentTools(tools)
    known.chosen(choices.tool_choice)
    meant = {name: known.find(name) for name in choices.allow}
    missing = sorted(name for name, tool in meant.items() if tool is None)
    if missing:
        raise UsageError(f"--allow {missing[0]}: there is no such tool; there are {', '.join(names) or 'none'}")
    return {tool.name for tool in meant.values() if tool is not None}


def _names(tools: Sequence[ToolLike]) -> list[str]:
    return [tool.name for tool in AgentTools(tools)()]


def _status_line(status: ServerStatus) -> Text | None:
    if status.state in (ServerState.UP, ServerState.STARTING, ServerState.OFF, ServerState.REMOVED):
        return None
    return Text(plain(f"· the server {status.name} is {status.state}: {status.reason}"), "yellow")


def _keep(session: Session, choices: Choices) -> None:
    if choices.conversation is not None:
        write_conversation(choices.conversation, session.turns)
