"""Tools that can be run, from where a command line names them: Python code and MCP servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from strictcall.errors import SourceError
from strictcall.runtime.agent.tools import AgentTools, ToolLike
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import McpSettings, ServerStatus
from strictcall.runtime.python_tool import MethodTool, tool
from strictcall.runtime.runnable import RunnableTool
from strictcall.source.load import is_url
from strictcall.source.mcp_server import check_headers, shown_url
from strictcall.source.options import ReadOptions
from strictcall.source.python_function import is_function
from strictcall.source.python_object import find_object, is_reference

_DESCRIBED: Final = "describes tools only, and these are to be run: name functions, or MCP servers"


def is_source(word: str) -> bool:
    """Whether a word of a command line names where tools come from: a URL, ``package.module:attribute``, or a file that
    exists. A text that begins with a URL is none.
    """
    return (is_url(word) and len(word.split()) == 1) or is_reference(word) or _is_file(word)


@asynccontextmanager
async def opened(
    sources: Sequence[str],
    server: Sequence[str] | None = None,
    options: ReadOptions | None = None,
    *,
    on_change: Callable[[ServerStatus], None] | None = None,
) -> AsyncIterator[list[ToolLike]]:
    """The tools of sources: MCP config files, URLs of MCP servers, and functions as ``package.module:attribute``, or
    lists of them. ``server`` is the command of one more MCP server. Servers run while the context lasts.

    Raises ``SourceError`` for a source that has no tools to run, and where two of them come to share a name.
    """
    chosen = options or ReadOptions()
    settings = McpSettings(start_timeout=chosen.timeout, at_once=chosen.at_once)
    found: list[ToolLike] = []
    async with AsyncExitStack() as stack:
        for source in sources:
            if is_reference(source) and not _is_file(source):
                found += _runnable(find_object(source), source)
            else:
                found.append(await stack.enter_async_context(_servers(source, chosen, settings, on_change)))
        if server is not None:
            entry = {"command": server[0], "args": list(server[1:])}
            config = {"mcpServers": {Path(server[0]).name: entry}}
            servers = McpServers(config, settings=settings, on_change=on_change)
            found.append(await stack.enter_async_context(servers))
        _check_names(found)
        yield found


def _servers(
    source: str,
    options: ReadOptions,
    settings: McpSettings,
    on_change: Callable[[ServerStatus], None] | None,
) -> McpServers:
    if not is_url(source):
        if source.endswith(".py"):
            raise SourceError(source, f"name what is in it, {Path(source).stem}:function")
        return McpServers(source, servers=options.servers, settings=settings, on_change=on_change)
    try:
        shown_url(source)
        check_headers(options.headers)
    except ValueError as error:
        raise SourceError("the server's URL", str(error)) from None
    entry = {"url": source, "headers": dict(options.headers)}
    config = {"mcpServers": {urlsplit(source).hostname: entry}}
    return McpServers(config, settings=settings, on_change=on_change)


def _runnable(value: Any, place: str) -> Iterator[RunnableTool]:
    """The tools that a Python object stands for."""
    if isinstance(value, RunnableTool):
        yield value
    elif isinstance(value, list | tuple):
        if not value:
            raise SourceError(place, "there are no tools in it")
        for row, each in enumerate(value, start=1):
            yield from _runnable(each, f"{place}[{row}]")
    elif is_function(value) and not isinstance(value, MethodTool):
        yield tool(value)
    else:
        raise SourceError(place, _DESCRIBED)


def _check_names(found: Sequence[ToolLike]) -> None:
    """Raises ``SourceError`` where two sources have a tool of one name: one of them could never be called."""
    names: set[str] = set()
    for part in found:
        for each in AgentTools([part])():
            if each.name in names:
                raise SourceError(each.name, "two sources have a tool of this name; take one of them, by --server too")
            names.add(each.name)


def _is_file(word: str) -> bool:
    try:
        path = Path(word)
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # longer than a name may be, or no name at all
        return False
