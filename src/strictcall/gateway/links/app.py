"""The gateway to the links of a configuration as an ASGI application: Chat Completions, whatever the links speak.

Its clients bring no key: what they send as one is not looked at, and the links' own keys come from the environment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strictcall.errors import StrictCallError
from strictcall.gateway.links.asking import Asking, Given
from strictcall.gateway.links.errors import INVALID, NO_RETRY, Told, told, told_of
from strictcall.gateway.links.models import found_model, listed_models
from strictcall.gateway.links.reply import Events, Streamed, event_bytes
from strictcall.gateway.links.request import as_bytes, read_request
from strictcall.gateway.receiving import MOST_BYTES, client_left, received, unless_left
from strictcall.json_value import compact
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.errors import LinkError
from strictcall.link.inference import Habits, Tell

LINK_HEADER: Final = "x-strictcall-link"
"""The header of an answer that names the link which gave it."""
_HERE: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def create_links_app(
    links: ConfiguredLinks, *, habits: Habits | None = None, tell: Tell = lambda event: None
) -> Starlette:
    """A gateway to the links of a configuration file, which is looked at for every request.

    ``tell`` is told which link is asked, why, and what came of it. Only programs on this machine are answered, and no
    page that a browser has from elsewhere: whoever is answered spends what the links' keys pay for.
    """
    gateway = _Gateway(Asking(links, habits=habits, tell=tell))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        async with gateway.asking:
            yield

    routes = [
        Route("/v1/chat/completions", gateway.checked(gateway.chat), methods=["POST"]),
        Route("/v1/models", gateway.checked(gateway.models), methods=["GET"]),
        Route("/v1/models/{model:path}", gateway.checked(gateway.model), methods=["GET"]),
    ]
    handlers = {404: _not_served, 405: _not_served, ClientDisconnect: client_left, Exception: _bug}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def _not_served(request: Request, error: Exception) -> Response:
    said = f"this gateway serves /v1/chat/completions and /v1/models, not {request.method} {request.scope['path']}"
    return _refused(getattr(error, "status_code", 404), said)


async def _bug(request: Request, error: Exception) -> Response:
    """An error that nobody foresaw: its text may hold anything, so its name is all that is told."""
    del request
    said = f"an error of strictcall's own, please report it: {type(error).__name__}"
    return _failed(told(500, said, "api_error", headers=NO_RETRY))


def _refused(status: int, message: str) -> Response:
    return _failed(told(status, message, INVALID))


def _failed(error: Told) -> Response:
    return _json(error.body, error.status, dict(error.headers))


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    # Names that a client made up may hold half a character, which Starlette's own has no bytes for.
    return Response(as_bytes(value), status, headers, "application/json")


Answering = Callable[[Request], Any]


@dataclass(frozen=True, slots=True)
class _Gateway:
    asking: Asking

    def checked(self, answer: Answering) -> Answering:
        """What answers a request that comes from this machine, and tells of what is wrong in the API's shape."""

        async def answered(request: Request) -> Response:
            refusal = _from_elsewhere(request)
            if refusal is not None:
                return refusal
            try:
                response: Response = await answer(request)
            except StrictCallError as error:
                return _failed(told_of(error))
            return response

        return answered

    async def models(self, request: Request) -> Response:
        """The links, as models."""
        del request
        links = self.asking.links
        return _json({"object": "list", "data": listed_models(links.configuration, links.chain())})

    async def model(self, request: Request) -> Response:
        """One of them."""
        links = self.asking.links
        return _json(found_model(request.path_params["model"], links.configuration, links.chain()))

    async def chat(self, request: Request) -> Response:
        """A request for an answer."""
        raw = await received(request)
        if raw is None:
            return _refused(413, f"the request is larger than {MOST_BYTES:,} bytes")
        asked = await anyio.to_thread.run_sync(read_request, raw)
        return self._answer(await unless_left(request, lambda: self.asking.ask(asked)))

    def _answer(self, given: Given) -> Response:
        headers = {**given.reply.headers, LINK_HEADER: quote(given.link, safe="/:@ ")}
        if isinstance(given.reply, Streamed):
            return _EventResponse(given.reply.events, self.asking.broke, headers)
        return Response(given.reply.content, 200, headers, "application/json")


def _from_elsewhere(request: Request) -> Response | None:
    """The refusal of a request that a page of a browser makes, or one that was led here under another name."""
    for name, url in (("host", f"//{request.headers.get('host', '')}"), ("origin", request.headers.get("origin"))):
        if url is not None and _host(url) not in _HERE:
            return _refused(403, f"this gateway answers programs on this machine only; the header {name} names another")
    return None


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


class _EventResponse(StreamingResponse):
    """A streamed answer. Where it breaks off, its last event is an error, and it is closed however it ends."""

    def __init__(self, events: Events, broke: Callable[[LinkError], None], headers: dict[str, str]) -> None:
        self._events = events
        self._broke = broke
        shown = {"cache-control": "no-cache", **headers}
        super().__init__(self._told(), 200, shown, "text/event-stream")

    async def _told(self) -> AsyncIterator[bytes]:
        try:
            async for event in self._events:
                yield event
        except LinkError as error:
            self._broke(error)
            yield event_bytes(compact(told_of(error).body))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._events.aclose()
