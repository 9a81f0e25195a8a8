"""Reading what a command was given: sources, one tool among them, and a call's arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rich.console import Console
from rich.status import Status

from strictcall.cli.failure import UsageError, say, unknown
from strictcall.json_value import MAX_BYTES
from strictcall.source.load import is_url, read_source
from strictcall.source.mcp_server import read_server
from strictcall.source.options import ReadOptions
from strictcall.source.reading import Reading, joined
from strictcall.tool import Tool

NO_SOURCE = "name a source: a file, -, a URL, package.module:attribute, or -- and the command of an MCP server"


@dataclass(frozen=True, slots=True)
class Invocation:
    """What stood after ``--``: the command that starts an MCP server, or ``None`` without ``--``."""

    server: tuple[str, ...] | None = None


def read_tools(sources: Sequence[str], invocation: Invocation, options: ReadOptions) -> Reading:
    """The tools of the sources and of the server after ``--``. Each problem and note is said on standard error.

    Raises ``UsageError`` where there is no source, or an option that goes with none of them.
    """
    return joined(read_each(sources, invocation, options))


def read_each(sources: Sequence[str], invocation: Invocation, options: ReadOptions) -> list[Reading]:
    """As ``read_tools``, but a reading for each source; that of the server comes last."""
    _check(sources, invocation, options)
    with _shown_progress(options) as watched:
        readings = [read_source(source, watched) for source in sources]
        if invocation.server is not None:
            readings.append(read_server(invocation.server, options.timeout))
    for reading in readings:
        for line in (*reading.notes, *reading.problems):
            say(f"strictcall: {line}")
    return readings


def _check(sources: Sequence[str], invocation: Invocation, options: ReadOptions) -> None:
    if not sources and invocation.server is None:
        raise UsageError(NO_SOURCE)
    if list(sources).count("-") > 1:
        raise UsageError("standard input (-) can be read once only")
    if invocation.server is not None and not any(invocation.server[:1]):
        raise UsageError("after -- comes the command that starts an MCP server")
    if options.servers and not sources:
        raise UsageError("--server picks servers of an MCP config file; name the file")
    if options.headers and not any(map(is_url, sources)):
        raise UsageError("--header goes with the URL of a server; name it as the source")


@contextmanager
def _shown_progress(options: ReadOptions) -> Iterator[ReadOptions]:
    """The options with the servers' progress shown, where standard error is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield options
        return
    status = Status("", console=console)

    def show(done: int, of: int) -> None:
        status.update(f"servers read: {done} of {of}")
        status.start()

    try:
        yield replace(options, progress=show)
    finally:
        status.stop()


def pick(reading: Reading, name: str | None) -> Tool:
    """The tool of this name, or the only one there is. Raises ``UsageError`` where that is not exactly one tool."""
    names = [tool.name for tool in reading.tools]
    if name is None:
        if len(names) == 1:
            return reading.tools[0]
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise UsageError(f"there are {len(names)} tools; say which with --tool: {shown}")
    found = [tool for tool in reading.tools if tool.name == name]
    if not found:
        raise unknown("tool", name, names)
    if len(found) > 1:
        raise UsageError(f"{len(found)} tools are called {name!r}; take a source that holds one of them")
    return found[0]


def split_positionals(words: Sequence[str], invocation: Invocation) -> tuple[list[str], str]:
    """SOURCE and ARGUMENTS from a command's positional words; ARGUMENTS is ``-`` where it is left out.

    With a server after ``--`` there is no SOURCE, so that the only word is ARGUMENTS.
    """
    sources = 0 if invocation.server is not None else 1
    if len(words) < sources:
        raise UsageError(NO_SOURCE)
    if len(words) > sources + 1:
        raise UsageError(f"unexpected argument {words[sources + 1]!r}")
    arguments = words[sources] if len(words) > sources else "-"
    if arguments == "-" and "-" in words[:sources]:
        raise UsageError("the source and the arguments cannot both be standard input (-)")
    return list(words[:sources]), arguments


def read_arguments(arguments: str) -> str | bytes:
    """The arguments' text, from standard input where they are ``-``; just enough to see that it is too long."""
    if arguments != "-":
        return arguments
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer.read(MAX_BYTES + 1)
