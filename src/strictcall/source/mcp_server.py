"""The tools of one MCP server, started over stdio and ended again.

The raw ``tools/list`` results are read beside the SDK's own models, which refuse a whole page for one bad tool.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import IO, TYPE_CHECKING, Any, Self

from strictcall.source.reading import Reading, failed, joined
from strictcall.source.shapes import read_value

if TYPE_CHECKING:
    from mcp import Client

TIMEOUT = 30.0
"""How many seconds a server has to start and list its tools."""

_MAX_PAGES = 1000
_STDERR_SHOWN = 2000
_SDK_LOGGERS = ("mcp", "client")


class _ServerError(Exception):
    """The server did not answer as an MCP server does; the text says how."""


def read_server(command: Sequence[str], timeout: float = TIMEOUT) -> Reading:
    """The tools that the MCP server started by ``command`` lists, each ``inputSchema`` kept whole.

    The server gets this process's environment and is ended afterwards with all that it started. Never raises: what goes
    wrong is a problem, with the end of what the server wrote to standard error. Needs the ``mcp`` extra.
    """
    place = " ".join(command)
    try:
        import anyio  # noqa: PLC0415  an extra
        import mcp  # noqa: F401, PLC0415  an extra
    except ModuleNotFoundError:
        return failed(place, "reading an MCP server needs the MCP SDK: pip install 'strictcall[mcp]'")
    with tempfile.TemporaryFile() as errors, _quiet_sdk():
        try:
            return anyio.run(_read_tools, command, timeout, errors)
        except Exception as error:  # noqa: BLE001  whatever a stranger's server makes of the SDK, it is one problem
            return failed(place, _reason(error, timeout) + _last_words(errors))


async def _read_tools(command: Sequence[str], timeout: float, errors: IO[bytes]) -> Reading:
    import anyio  # noqa: PLC0415  an extra

    pages: list[Any] = []
    with anyio.fail_after(timeout):
        async with open_server(command, errors, pages) as client:
            return await _list_tools(client, pages, " ".join(command))


@asynccontextmanager
async def open_server(command: Sequence[str], errors: IO[bytes], pages: list[Any]) -> AsyncIterator[Client]:
    """A connected client of the server that ``command`` starts; each raw ``tools/list`` result is added to ``pages``.

    Raises what the SDK raises, ``OSError`` where the command cannot be started.
    """
    from mcp import Client, StdioServerParameters  # noqa: PLC0415  an extra
    from mcp.client.stdio import stdio_client  # noqa: PLC0415  an extra

    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    with os.fdopen(os.dup(errors.fileno()), "w") as errlog:
        async with Client(_tapped(stdio_client(server, errlog), pages), cache=None) as client:
            yield client


async def _list_tools(client: Client, pages: list[Any], place: str) -> Reading:
    readings: list[Reading] = []
    cursor: str | None = None
    seen: set[str] = set()
    while len(readings) < _MAX_PAGES:
        pages.clear()
        try:
            await client.list_tools(cursor=cursor)
        except ValueError:
            # The SDK refuses the page for one tool that it does not like; the raw page still holds the others.
            if not pages:
                raise
        if not pages:
            raise _ServerError("it answered tools/list without a list of tools")
        page = pages[-1]
        readings.append(read_value(page["tools"], f"{place}: tools", "tool"))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            found = joined(readings)
            return found if found.tools or found.problems else failed(place, "the server lists no tools")
        if cursor in seen:
            break
        seen.add(cursor)
    raise _ServerError("its pages of tools never end")


@asynccontextmanager
async def _tapped(transport: AbstractAsyncContextManager[Any], pages: list[Any]) -> AsyncIterator[Any]:
    async with transport as (read, write):
        yield _Tap(read, pages), write


class _Tap:
    """A read stream that notes each result with a list of tools on its way to the SDK."""

    def __init__(self, stream: Any, pages: list[Any]) -> None:
        self._stream = stream
        self._pages = pages

    async def receive(self) -> Any:
        return self._noted(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Tap:
        return self

    async def __anext__(self) -> Any:
        return self._noted(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> Any:
        return await self._stream.__aexit__(*details)

    def _noted(self, item: Any) -> Any:
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self._pages.append(result)
        return item


@contextmanager
def _quiet_sdk() -> Iterator[None]:
    """Keep the SDK from writing tracebacks about a server's noise to standard error where logging is not set up."""
    loggers = [logging.getLogger(name) for name in _SDK_LOGGERS]
    handler = logging.NullHandler()
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def _reason(error: BaseException, timeout: float) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"the server did not list its tools within {timeout:g} seconds"
    if isinstance(error, OSError):
        return f"the server could not be started: {error.strerror or error}"
    text = " ".join(str(error).split())[:300] or type(error).__name__
    return f"the server failed: {text}"


def _last_words(errors: IO[bytes]) -> str:
    """The end of what the server wrote to standard error, on one line, to be added to the reason."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _STDERR_SHOWN))
    lines = [line.strip() for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f" (it wrote: {' | '.join(lines[-3:])[-400:]})" if lines else ""
