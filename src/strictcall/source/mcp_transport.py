"""How an MCP server is reached: started over stdio, or by its URL over streamable HTTP or server-sent events.

The raw ``tools/list`` results are noted on their way to the SDK's own models, which refuse a whole page for one bad
tool.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    import httpx2
    from mcp import Client


class RefusedError(Exception):
    """A server behind a URL answered with an HTTP status that is no success; the text says which."""


class Server(Protocol):
    """A server that tools can be listed from."""

    def connected(
        self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Client]:
        """A connected client; ``errors`` takes what the server writes to standard error, ``pages`` each raw result
        of ``tools/list``, and ``mark`` is added to the environment of what is started.
        """
        ...


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started by a command; ``environment`` is its whole environment."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    folder: str | None = None

    @asynccontextmanager
    async def connected(self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]) -> AsyncIterator[Client]:
        """As ``Server``. Raises ``OSError`` where the command cannot be started, else what the SDK raises."""
        from mcp import Client, StdioServerParameters  # noqa: PLC0415  an extra
        from mcp.client.stdio import stdio_client  # noqa: PLC0415  an extra

        environment = {**self.environment, **mark}
        server = StdioServerParameters(
            command=self.command[0], args=list(self.command[1:]), env=environment, cwd=self.folder
        )
        with os.fdopen(os.dup(errors.fileno()), "w") as errlog:
            async with Client(_tapped(stdio_client(server, errlog), pages), cache=None) as client:
                yield client


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server behind a URL; ``headers`` are sent with each request, and never to another origin."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    transport: Literal["http", "sse"] = "http"
    timeout: float = 30.0

    @asynccontextmanager
    async def connected(self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]) -> AsyncIterator[Client]:
        """As ``Server``. Raises ``RefusedError`` for an HTTP status that is no success, else what the SDK raises."""
        import httpx2  # noqa: PLC0415  an extra
        from mcp import Client  # noqa: PLC0415  an extra

        del errors, mark  # nothing is started
        answers = _Answers()

        def http_client(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
            del headers, timeout, auth  # what the SDK would choose
            hooks = {"response": [answers.note]}
            return httpx2.AsyncClient(headers=self.headers, timeout=self.timeout, event_hooks=hooks)

        try:
            async with Client(_tapped(self._opened(http_client), pages), cache=None) as client:
                yield client
        except Exception as error:
            if answers.refusal is None:
                raise
            raise RefusedError(answers.refusal) from error

    @asynccontextmanager
    async def _opened(self, http_client: Callable[..., httpx2.AsyncClient]) -> AsyncIterator[Any]:
        from mcp.client.sse import sse_client  # noqa: PLC0415  an extra
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  an extra

        if self.transport == "sse":
            async with sse_client(self.url, httpx_client_factory=http_client) as streams:
                yield streams
            return
        async with http_client() as http, streamable_http_client(self.url, http_client=http) as streams:
            yield streams


class _Answers:
    """Notes the last HTTP answer that refused a request: the SDK says only that there was one."""

    def __init__(self) -> None:
        self.refusal: str | None = None

    async def note(self, response: httpx2.Response) -> None:
        # A server that takes no GET or DELETE says so with 405, and that is no failure.
        if response.is_success or response.status_code == 405:
            return
        self.refusal = f"{response.status_code} {response.reason_phrase}".strip()


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
