"""The gateway as an ASGI application: one upstream, Chat Completions made exact, and models listed as they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.errors import NameClashError, RequestError
from strictcall.gateway.chat import Rewritten, StreamRewriter, answered, rewrite
from strictcall.gateway.receiving import MOST_BYTES, client_left, received, unless_left
from strictcall.gateway.upstream import Upstream, passed_back
from strictcall.json_value import compact
from strictcall.policy import Policy
from strictcall.tagged.registry import NONE, openings

_READABLE: Final = frozenset({"identity", "gzip", "deflate"})
"""How an answer may be compressed, though none is asked to be."""
MOST_READ: Final = 64 * 1024 * 1024
"""A longer whole answer is passed on as it is: so many bytes."""


def create_app(
    upstream: str,
    dialect: str | Dialect = "openai",
    policy: Policy | None = None,
    *,
    tagged: str | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Starlette:
    """A gateway in front of ``upstream``, the base URL that OpenAI's client would be given (``https://…/v1``).

    ``dialect`` says what that provider's strict decoder accepts. ``tagged`` names the format in which the model writes
    calls as text, where no parser of the server's reads them, or is ``auto``; ``none`` leaves the text as it is, and
    where nothing is said the dialect decides. ``transport`` stands in for the network in tests.

    Raises ``DialectError`` for an unknown dialect, ``SettingsError`` for an unknown format.
    """
    used = load(dialect) if isinstance(dialect, str) else dialect
    form = used.tagged.format if tagged is None else tagged
    if form != NONE:
        openings(form)
    gateway = _Gateway(Upstream(upstream, transport), used, policy or Policy(), None if form == NONE else form)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        try:
            yield
        finally:
            await gateway.upstream.close()

    routes = [
        Route("/v1/chat/completions", gateway.chat, methods=["POST"]),
        Route("/v1/models", gateway.models, methods=["GET"]),
        Route("/v1/models/{model:path}", gateway.models, methods=["GET"]),
    ]
    handlers = {404: _not_served, 405: _not_served, ClientDisconnect: client_left}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def _not_served(request: Request, error: Exception) -> Response:
    said = f"this gateway serves /v1/chat/completions and /v1/models, not {request.method} {request.url.path}"
    return _refused(getattr(error, "status_code", 404), said)


def _refused(status: int, message: str, kind: str = "invalid_request_error", param: str | None = None) -> Response:
    """An error of the gateway's own, in the shape that clients of the API know."""
    return JSONResponse({"error": {"message": message, "type": kind, "param": param, "code": None}}, status)


@dataclass(frozen=True, slots=True)
class _Gateway:
    upstream: Upstream
    dialect: Dialect
    policy: Policy
    tagged: str | None

    async def models(self, request: Request) -> Response:
        """What the upstream says, as it says it."""
        return await self._passed(request, b"", _as_it_came)

    async def chat(self, request: Request) -> Response:
        """A request for an answer."""
        raw = await received(request)
        if raw is None:
            return _refused(413, f"the request is larger than {MOST_BYTES:,} bytes")
        try:
            made = await anyio.to_thread.run_sync(self._rewritten, raw)
        except (RequestError, NameClashError) as error:
            return _refused(400, str(error), param=getattr(error, "place", "tools"))
        if made is None:
            return await self._passed(request, raw, _as_it_came)
        body = compact(made.body).encode()
        return await self._passed(request, body, lambda response: _decoded(response, made), plain=True)

    def _rewritten(self, raw: bytes) -> Rewritten | None:
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            return None  # the upstream has its own words for that
        return rewrite(body, self.dialect, self.policy, self.tagged)

    async def _passed(
        self, request: Request, body: bytes, respond: Callable[[httpx2.Response], Any], *, plain: bool = False
    ) -> Response:
        path = request.url.path.removeprefix("/v1")

        async def asked() -> Response:
            try:
                response = await self.upstream.send(
                    request.method, path, request.url.query, request.headers.items(), body, plain=plain
                )
            except httpx2.TransportError as error:
                said = str(error) or type(error).__name__
                return _refused(502, f"{self.upstream.base_url} cannot be reached: {said}", "api_connection_error")
            made: Response = await respond(response)
            return made

        return await unless_left(request, asked)


async def _as_it_came(response: httpx2.Response) -> Response:
    headers = passed_back(response.headers, changed=False)
    return _Streamed(response, response.aiter_raw(), response.status_code, headers)


class _Streamed(StreamingResponse):
    """A response that is passed on piece by piece; the upstream's is closed however that ends."""

    def __init__(
        self, response: httpx2.Response, pieces: AsyncIterator[bytes], status: int, headers: Mapping[str, str]
    ) -> None:
        self._response = response
        super().__init__(pieces, status, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._response.aclose()


async def _decoded(response: httpx2.Response, made: Rewritten) -> Response:
    """The answer to a request that was rewritten."""
    kind = response.headers.get("content-type", "")
    if response.status_code != 200:
        return await _as_it_came(response)
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in _READABLE:
        await response.aclose()
        return _refused(502, f"the answer is compressed as {encoding!r}, which was not asked for", "api_error")
    headers = passed_back(response.headers, changed=True)
    if kind.startswith("text/event-stream"):
        return _Streamed(response, _rewritten_stream(response, made), 200, headers)
    try:
        raw = await response.aread()
    except httpx2.TransportError as error:
        return _refused(502, f"the answer broke off: {str(error) or type(error).__name__}", "api_connection_error")
    finally:
        await response.aclose()
    if len(raw) <= MOST_READ:
        raw = await anyio.to_thread.run_sync(_whole, raw, made)
    return Response(raw, 200, headers)


def _whole(raw: bytes, made: Rewritten) -> bytes:
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    changed = answered(said, made)
    return raw if changed is said else compact(changed).encode()


async def _rewritten_stream(response: httpx2.Response, made: Rewritten) -> AsyncIterator[bytes]:
    """A stream on its way to the client. Where the upstream breaks off, so does this."""
    rewriter = StreamRewriter(made)
    async for part in response.aiter_bytes():
        for out in rewriter.feed(part):
            yield out
