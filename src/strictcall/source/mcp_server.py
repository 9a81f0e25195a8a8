"""The tools of MCP servers, each started or connected to, asked, and ended again; several at once."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from strictcall.source.mcp_transport import HttpServer, RefusedError, Server, StdioServer
from strictcall.source.options import TIMEOUT, ReadOptions
from strictcall.source.processes import MARK, interruption, marked, until_interrupted
from strictcall.source.reading import Reading, failed, joined
from strictcall.source.secrets import hidden, known_secrets
from strictcall.source.shapes import read_value

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from mcp import Client

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")  # a token of RFC 9110, section 5.6.2
_MAX_PAGES = 1000
_STDERR_READ = 64 * 1024
_STDERR_LINES = 5
_STDERR_SHOWN = 600
_SDK_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")
NEEDED = "reading an MCP server needs the MCP SDK: pip install 'strictcall[mcp]'"


class _ServerError(Exception):
    """The server did not answer as an MCP server does; the text says how."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A server to be asked for its tools: where it is named, how to reach it, and what must not be shown of it."""

    place: str
    server: Server
    secrets: tuple[str, ...] = ()


def read_server(command: Sequence[str], timeout: float = TIMEOUT) -> Reading:
    """The tools that the MCP server started by ``command`` lists, each ``inputSchema`` kept whole.

    The server gets this process's environment and is ended afterwards with all that it started. Never raises: what goes
    wrong is a problem, with the end of what the server wrote to standard error. Needs the ``mcp`` extra.
    """
    asked = Asked(" ".join(command), StdioServer(command, dict(os.environ)))
    return joined(read_servers([asked], ReadOptions(timeout=timeout)))


def read_url(url: str, options: ReadOptions) -> Reading:
    """The tools that the MCP server behind a URL lists over streamable HTTP, asked with ``options.headers``.

    Never raises: what goes wrong is a problem, in which neither a header's value nor what the URL holds besides host
    and path appears. Needs the ``mcp`` extra.
    """
    try:
        place = shown_url(url)
        check_headers(options.headers)
    except ValueError as error:
        return failed("the server's URL", str(error))
    server = HttpServer(url, options.headers, timeout=options.timeout)
    return joined(read_servers([Asked(place, server, url_secrets(url, options.headers))], options))


def shown_url(url: str) -> str:
    """A URL as it may be shown: without the parts that hold passwords and keys. Raises ``ValueError`` for none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  read for what it raises
    except ValueError:
        raise ValueError("not a URL") from None
    if not parts.hostname:
        raise ValueError("it names no host")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def url_secrets(url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """What must not be shown of a server behind a URL."""
    parts = urlsplit(url)
    named = [pair.rpartition("=")[2] for pair in parts.query.split("&")]
    user = parts.netloc.rpartition("@")[0]
    return known_secrets(headers.values(), [parts.query, *named, user, user.rpartition(":")[2], parts.fragment])


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises ``ValueError`` for a header that cannot be sent; the text has its name only."""
    for name, text in headers.items():
        if not _HEADER.match(name):
            raise ValueError(f"a header cannot be called {name!r}")
        if not text.isascii() or not text.replace("\t", " ").isprintable():
            raise ValueError(f"the value of the header {name!r} holds characters that a header cannot")


def read_servers(servers: Sequence[Asked], options: ReadOptions) -> list[Reading]:
    """A reading for each server, in their order; a number of them are asked at once, each within the timeout.

    Never raises for what a server does, and one never hides another. Whatever way the reading ends (also by Ctrl-C),
    the servers are ended with all that they started.
    """
    if not servers:
        return []
    try:
        import anyio  # noqa: PLC0415  an extra
        import mcp  # noqa: F401, PLC0415  an extra
    except ModuleNotFoundError:
        return [failed(asked.place, NEEDED) for asked in servers]
    readings = [Reading()] * len(servers)
    with quiet_sdk(), interruption() as found, marked() as mark:

        async def work() -> None:
            await _ask_all(servers, options, mark, readings)

        anyio.run(until_interrupted, work, found)
    return readings


async def _ask_all(servers: Sequence[Asked], options: ReadOptions, mark: str, readings: list[Reading]) -> None:
    import anyio  # noqa: PLC0415  an extra

    limiter = anyio.CapacityLimiter(options.at_once)
    done = 0

    async def ask(row: int, asked: Asked) -> None:
        nonlocal done
        readings[row] = await _ask(asked, limiter, options.timeout, mark)
        done += 1
        if options.progress is not None:
            options.progress(done, len(servers))

    async with anyio.create_task_group() as group:
        for row, asked in enumerate(servers):
            group.start_soon(ask, row, asked)


async def _ask(asked: Asked, limiter: CapacityLimiter, timeout: float, mark: str) -> Reading:
    import anyio  # noqa: PLC0415  an extra

    with tempfile.TemporaryFile() as errors:
        pages: list[Any] = []
        try:
            async with limiter:
                with anyio.fail_after(timeout):
                    async with asked.server.connected(errors, pages, {MARK: mark}) as client:
                        return await _list_tools(client, pages, asked.place)
        except Exception as error:  # noqa: BLE001  whatever a stranger's server makes of the SDK, it is one problem
            return failed(asked.place, reason(error, timeout, asked.secrets) + last_words(errors, asked.secrets))


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


@contextmanager
def quiet_sdk() -> Iterator[None]:
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


def reason(error: BaseException, timeout: float, secrets: Sequence[str]) -> str:
    """Why a server could not be used, in words that show no secret."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"the server did not list its tools within {timeout:g} seconds"
    if isinstance(error, OSError):
        return f"the server could not be started: {hidden(error.strerror or str(error), secrets)}"
    if isinstance(error, RefusedError):
        hint = "; give it what it asks for in a header" if str(error)[:3] in {"401", "403"} else ""
        return f"the server answered {hidden(str(error), secrets)}{hint}"
    text = " ".join(hidden(str(error), secrets).split())[:300] or type(error).__name__
    if type(error).__module__.startswith("httpx2"):
        return f"the server could not be reached: {text}"
    return f"the server failed: {text}"


def last_words(errors: IO[bytes], secrets: Sequence[str]) -> str:
    """The end of what the server wrote to standard error, on one line, to be added to the reason."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _STDERR_READ))
    # Secrets are hidden before anything is cut, so that no part of one is left.
    text = hidden(errors.read().decode("utf-8", "replace"), secrets)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f" (it wrote: {' | '.join(lines[-_STDERR_LINES:])[-_STDERR_SHOWN:]})" if lines else ""
