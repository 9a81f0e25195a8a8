"""How an MCP server is reached: started over stdio, or by its URL over streamable HTTP or server-sent events.

What a server sends can be seen on its way to the SDK's own models, which refuse a whole page for one bad tool.
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


_SESSION = "mcp-session-id"


def _nothing() -> None:
    return None


class RefusedError(Exception):
    """A server behind a URL answered with an HTTP status that is no success; the text says which."""


class Server(Protocol):
    """A server that can be talked to."""

    def opened(self, errors: IO[bytes], mark: Mapping[str, str]) -> AbstractAsyncContextManager[Any]:
        """The streams to read from and to write to a server that was started or reached; it is ended afterwards.

        ``errors`` takes what the server writes to standard error; ``mark`` is added to the environment of what is
        started.
        """
        ...

    def connected(
        self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Client]:
        """A connected client, over what ``opened`` gives; ``pages`` takes each raw result of ``tools/list``."""
        ...


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started by a command; ``environment`` is its whole environment."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    folder: str | None = None

    def connected(
        self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Client]:
        """As ``Server``. Raises ``OSError`` where the command cannot be started, else what the SDK raises."""
        return _client(self.opened(errors, mark), pages)

    @asynccontextmanager
    async def opened(self, errors: IO[bytes], mark: Mapping[str, str]) -> AsyncIterator[Any]:
        """As ``Server``. Raises ``OSError`` where the command cannot be started."""
        from mcp import StdioServerParameters  # noqa: PLC0415  an extra
        from mcp.client.stdio import stdio_client  # noqa: PLC0415  an extra

        environment = {**self.environment, **mark}
        server = StdioServerParameters(
            command=self.command[0], args=list(self.command[1:]), env=environment, cwd=self.folder
        )
        with os.fdopen(os.dup(errors.fileno()), "w") as errlog:
            async with stdio_client(server, errlog) as streams:
                yield streams


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server behind a URL; ``headers`` are sent with each request, and never to another origin.

    ``timeout``: how many seconds may pass until it is reached, and until more of an answer comes, unless ``patient``:
    a call may take longer than that, and whoever made it says when it is too long. ``forgotten`` is called when the
    server no longer knows the session, as it says with the status 404 (MCP, transports, "Session Management").
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    transport: Literal["http", "sse"] = "http"
    timeout: float = 30.0
    patient: bool = False
    forgotten: Callable[[], None] | None = field(default=None, repr=False, compare=False)

    def connected(
        self, errors: IO[bytes], pages: list[Any], mark: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Client]:
        """As ``Server``. Raises ``RefusedError`` for an HTTP status that is no success, else what the SDK raises."""
        return _client(self.opened(errors, mark), pages)

    @asynccontextmanager
    async def opened(self, errors: IO[bytes], mark: Mapping[str, str]) -> AsyncIterator[Any]:
        """As ``Server``. Raises ``RefusedError`` for an HTTP status that is no success, else what the SDK raises."""
        import httpx2  # noqa: PLC0415  an extra

        del errors, mark  # nothing is started
        answers = _Answers(self.forgotten or _nothing)

        def http_client(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
            del headers, timeout, auth  # what the SDK would choose
            hooks = {"response": [answers.note]}
            limits = httpx2.Timeout(self.timeout, read=None if self.patient else self.timeout)
            return httpx2.AsyncClient(headers=self.headers, timeout=limits, event_hooks=hooks)

        try:
            async with self._streams(http_client) as streams:
                yield streams
        except Exception as error:
            if answers.refusal is None:
                raise
            raise RefusedError(answers.refusal) from error

    @asynccontextmanager
    async def _streams(self, http_client: Callable[..., httpx2.AsyncClient]) -> AsyncIterator[Any]:
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

    def __init__(self, forgotten: Callable[[], None]) -> None:
        self.refusal: str | None = None
        self._forgotten = forgotten

    async def note(self, response: httpx2.Response) -> None:
        # A server that takes no GET or DELETE says so with 405, and that is no failure.
        if response.status_code == 405:
            return
        if response.is_success:
            self.refusal = None
            return
        if response.status_code == 404 and _SESSION in response.request.headers:
            self._forgotten()
        self.refusal = f"{response.status_code} {response.reason_phrase}".strip()


@asynccontextmanager
async def _client(transport: AbstractAsyncContextManager[Any], pages: list[Any]) -> AsyncIterator[Client]:
    from mcp import Client  # noqa: PLC0415  an extra

    def note(item: Any) -> Any:
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            pages.append(result)
        return item

    async with Client(tapped(transport, note), cache=None) as client:
        yield client


@asynccontextmanager
async def tapped(
    transport: AbstractAsyncContextManager[Any], seen: Callable[[Any], Any], ended: Callable[[], None] = _nothing
) -> AsyncIterator[Any]:
    """The streams of a transport, where all that a server sends goes through ``seen`` before anybody reads it.

    ``ended`` is called when there is no more to come.
    """
    async with transport as (read, write):
        yield _Tap(read, seen, ended), write


class _Tap:
    """A read stream whose items go through a function."""

    def __init__(self, stream: Any, seen: Callable[[Any], Any], ended: Callable[[], None]) -> None:
        self._stream = stream
        self._seen = seen
        self._ended = ended

    async def receive(self) -> Any:
        return self._seen(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Tap:
        return self

    async def __anext__(self) -> Any:
        try:
            return self._seen(await self._stream.__anext__())
        except BaseException:
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> Any:
        return await self._stream.__aexit__(*details)
