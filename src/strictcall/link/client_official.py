"""OpenAI's and Anthropic's clients, which are made alike, behind the interface of ``client``."""

from __future__ import annotations

import codecs
import inspect
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import anyio

from strictcall.api.feeding import DONE, event_of
from strictcall.api.sse import EventReader
from strictcall.json_value import sound_value
from strictcall.link.client import NO_KEY, Chunks, Client, Guard
from strictcall.link.errors import LinkError
from strictcall.link.resolved import ResolvedLink
from strictcall.link.tls import tls_context

CLOSING_SECONDS: Final = 5.0
"""How long closing a client or a stream may take."""
DRAINING_SECONDS: Final = 0.2
"""How long the end of a response is waited for when its last event has come."""


class OfficialClient:
    """OpenAI's or Anthropic's client. ``resource`` is the part of it that an API has, with a function ``create``.

    Responses are taken as they come: the client's own models of them are made for reading answers, which
    ``strictcall.api`` does.
    """

    def __init__(self, guard: Guard, official: Any, resource: Any) -> None:
        self._guard = guard
        self._official = official
        self._known = frozenset(inspect.signature(resource.create).parameters)
        self._create: Callable[..., Awaitable[Any]] = resource.with_raw_response.create

    async def send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a body; gives the response's. Raises ``LinkError``."""
        arguments = self._arguments(body)
        return await self._guard.run(lambda: self._whole(arguments), self._guard.deadline())

    async def _whole(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        response = (await self._sent(arguments)).http_response
        made = None
        with suppress(ValueError, RecursionError):
            made = json.loads(response.content)
        if not isinstance(made, dict):
            raise self._guard.malformed("the response is no JSON object")
        return made

    async def open(self, body: Mapping[str, Any]) -> Chunks:
        """Send a body whose answer is to be streamed. Raises ``LinkError``."""
        arguments = {**self._arguments(body), "stream": True}
        deadline = self._guard.deadline()
        opened = await self._guard.run(lambda: self._sent(arguments), deadline)
        return OfficialChunks(self._guard, opened.http_response, deadline)

    async def _sent(self, arguments: Mapping[str, Any]) -> Any:
        """What the client makes of a request.

        Half a character, which models write now and then and names of files may hold, is no text that can be sent: it
        is replaced then. Raises ``LinkError`` for what JSON cannot say at all, as NaN.
        """
        try:
            return await self._create(**arguments)
        except UnicodeEncodeError:  # nothing was sent
            return await self._create(**sound_value(arguments))
        except ValueError as error:  # nor then
            raise self._guard.unwritable(str(error)) from None

    async def aclose(self) -> None:
        """Close the connections."""
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            await self._official.close()

    def _arguments(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A body as the arguments of the client's function: fields that it has no argument for go into ``extra_body``,
        which it lays over the rest.
        """
        others = {name: value for name, value in body.items() if name not in self._known}
        if not others:
            return dict(body)
        extra = body.get("extra_body")
        made = {name: value for name, value in body.items() if name in self._known}
        return {**made, "extra_body": {**others, **(extra if isinstance(extra, Mapping) else {})}}


class OfficialChunks:
    """A streamed response of OpenAI's or Anthropic's client: the events in its bytes."""

    def __init__(self, guard: Guard, response: Any, deadline: float | None) -> None:
        self._guard = guard
        self._response = response
        self._bytes: AsyncGenerator[bytes, None] = response.aiter_bytes()
        self._deadline = deadline
        self._reader = EventReader()
        # What is no UTF-8 is an error here: read as U+FFFD it could end up in the arguments of a call.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._events: deque[dict[str, Any]] = deque()
        self._is_done = False

    def __aiter__(self) -> OfficialChunks:
        return self

    async def __anext__(self) -> dict[str, Any]:
        if not self._events and not self._is_done:
            await self._guard.run(self._more, self._deadline, within_stream=True)
        if not self._events:
            raise StopAsyncIteration
        return self._events.popleft()

    async def _more(self) -> None:
        """Wait until there is an event, or the end."""
        async for piece in self._bytes:
            self._decoder.decode(piece)
            for data in self._reader.feed(piece):
                self._is_done = self._is_done or data.strip() == DONE
                if data.strip() and not self._is_done:
                    self._events.append(event_of(data))
            if self._events or self._is_done:
                return
        self._is_done = True

    async def aclose(self) -> None:
        """Close the response; one that is at its end is read to it, so that its connection can be used again."""
        if self._is_done:
            with anyio.move_on_after(DRAINING_SECONDS), suppress(LinkError):
                await self._guard.run(self._rest, None)
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            await self._bytes.aclose()
            await self._response.aclose()

    async def _rest(self) -> None:
        async for _ in self._bytes:
            pass


def openai_client(link: ResolvedLink, guard: Guard, key: str | None) -> Client:
    """A client for a link that speaks Chat Completions or Responses. Raises ``ImportError``."""
    import openai  # noqa: PLC0415 - heavy, and wanted for such links only

    official = openai.AsyncOpenAI(**_options(openai, link, key))
    if link.base_url is not None:
        # Those that the environment names are of an account with OpenAI, and nobody else's to know.
        official.organization = official.project = None
    resource: Any = official.responses if link.api == "responses" else official.chat.completions
    return OfficialClient(guard, official, resource)


def anthropic_client(link: ResolvedLink, guard: Guard, key: str | None) -> Client:
    """A client for a link that speaks Messages. Raises ``ImportError``."""
    import anthropic  # noqa: PLC0415 - heavy, and wanted for such links only

    official = anthropic.AsyncAnthropic(**_options(anthropic, link, key))
    return OfficialClient(guard, official, official.messages)


def _options(sdk: Any, link: ResolvedLink, key: str | None) -> dict[str, Any]:
    """What a client is made with; ``sdk`` is its package. It asks once, and follows nobody to another address."""
    connect, read = link.timeouts.connect, link.timeouts.read
    timeout = sdk.Timeout(connect=connect, read=read, write=read, pool=connect)
    return {
        "api_key": key or NO_KEY,
        "base_url": link.base_url,
        "max_retries": 0,
        "timeout": timeout,
        "default_headers": dict(link.headers),
        "http_client": sdk.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False, verify=tls_context()),
    }
