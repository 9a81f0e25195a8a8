"""Reading what a command was given: sources, one tool among them, and a call's arguments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from strictcall.cli.failure import UsageError, say, unknown
from strictcall.json_value import MAX_BYTES
from strictcall.source.load import read_source
from strictcall.source.mcp_server import read_server
from strictcall.source.reading import Reading, joined
from strictcall.tool import Tool


@dataclass(frozen=True, slots=True)
class Invocation:
    """What stood after ``--``: the command that starts an MCP server, or ``None`` without ``--``."""

    server: tuple[str, ...] | None = None


def read_tools(sources: Sequence[str], invocation: Invocation) -> Reading:
    """The tools of the sources and of the server after ``--``. Each problem is said on standard error.

    Raises ``UsageError`` where there is no source, or no tool could be read from any.
    """
    if not sources and invocation.server is None:
        raise UsageError("name a source: a file, -, package.module:attribute, or -- and the command of an MCP server")
    if list(sources).count("-") > 1:
        raise UsageError("standard input (-) can be read once only")
    readings = [read_source(source) for source in sources]
    if invocation.server is not None:
        if not any(invocation.server[:1]):
            raise UsageError("after -- comes the command that starts an MCP server")
        readings.append(read_server(invocation.server))
    reading = joined(readings)
    for problem in reading.problems:
        say(f"strictcall: {problem}")
    return reading


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
        raise UsageError("name a source: a file, -, package.module:attribute, or -- and the command of an MCP server")
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
