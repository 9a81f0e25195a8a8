"""Google's client behind the interface of ``client``.

Its asynchronous half runs under asyncio only, so the other one runs in threads: under asyncio and trio alike. A request
that is given up is left behind in its thread, and ends there at the latest when the time for it is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from strictcall.link.client import NO_KEY, Chunks, Client, Guard
from strictcall.link.failures import link_error
from strictcall.link.resolved import ResolvedLink
from strictcall.link.tls import tls_context

if TYPE_CHECKING:
    from google import genai


class _Request(threading.local):
    """The request that a thread has sent: whether a response to it has come."""

    answered = False


_REQUEST = _Request()


def _note(response: object) -> None:
    del response
    _REQUEST.answered = True


def google_client(link: ResolvedLink, guard: Guard, key: str | None) -> Client:
    """A client for a link that speaks generateContent. Raises ``ImportError``."""
    from google import genai  # noqa: PLC0415 - heavy, and wanted for such links only
    from google.genai import types  # noqa: PLC0415

    read, tls = link.timeouts.read, tls_context()
    options = types.HttpOptions(
        base_url=link.base_url,
        headers=dict(link.headers),
        timeout=None if read is None else max(1, int(read * 1000)),
        retry_options=types.HttpRetryOptions(attempts=1),
        client_args={"follow_redirects": False, "verify": tls, "event_hooks": {"response": [_note]}},
        # The half that is not used is made as well.
        async_client_args={"follow_redirects": False, "verify": tls, "ssl": tls},
    )
    return GoogleClient(guard, genai.Client(api_key=key or NO_KEY, vertexai=False, http_options=options))


class GoogleClient:
    """Google's client. Bodies are the arguments of ``generate_content``: ``model``, ``contents`` and ``config``."""

    def __init__(self, guard: Guard, official: genai.Client) -> None:
        self._guard = guard
        self._official = official

    async def send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a body; gives the response's. Raises ``LinkError``."""
        ask: Callable[..., Any] = self._official.models.generate_content
        read = partial(_read, partial(ask, **body), self._guard)
        return await self._guard.run(lambda: _in_thread(read), self._guard.deadline()) or {}

    async def open(self, body: Mapping[str, Any]) -> Chunks:
        """Send a body whose answer is to be streamed. Raises ``LinkError``."""
        ask: Callable[..., Iterator[Any]] = self._official.models.generate_content_stream
        chunks = GoogleChunks(self._guard, ask(**body), self._guard.deadline())
        await chunks.begin()
        return chunks

    async def aclose(self) -> None:
        """Close the connections."""
        self._official.close()


class GoogleChunks:
    """A stream of Google's client, which asks only when its first chunk is asked for."""

    def __init__(self, guard: Guard, chunks: Iterator[Any], deadline: float | None) -> None:
        self._guard = guard
        self._chunks = chunks
        self._deadline = deadline
        self._first: list[dict[str, Any] | None] = []
        self._begun = False

    async def begin(self) -> None:
        """Wait for the first chunk. Raises ``LinkError``."""
        self._first.append(await self._guard.run(self._next, self._deadline))
        self._begun = True

    def __aiter__(self) -> GoogleChunks:
        return self

    async def __anext__(self) -> dict[str, Any]:
        if self._first:
            chunk = self._first.pop()
        else:
            chunk = await self._guard.run(self._next, self._deadline, within_stream=True)
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def _next(self) -> dict[str, Any] | None:
        return await _in_thread(partial(_read, partial(next, self._chunks, None), self._guard, begun=self._begun))

    async def aclose(self) -> None:
        """Close the response, unless a thread that was left behind still reads it: it closes it then."""
        close: Callable[[], None] | None = getattr(self._chunks, "close", None)
        if close is None:
            return
        try:
            close()
        except ValueError:  # "generator already executing"
            return


async def _in_thread(work: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _read(ask: Callable[[], Any], guard: Guard, *, begun: bool = False) -> dict[str, Any] | None:
    """What the client makes of a response, or of the next piece of one that has ``begun``.

    The client looks at responses with little care: whatever it trips over once there is one is of the response. Raises
    ``LinkError`` for that; what it raises before is of the request.
    """
    _REQUEST.answered = begun
    try:
        made = ask()
        return None if made is None else _as_dict(made)
    except Exception as error:
        if not _REQUEST.answered or link_error(guard.link.name, error) is not None:
            raise
        name = type(error).__name__
    raise guard.malformed(f"the response is none that Google's client can read: {name}")


def _as_dict(response: Any) -> dict[str, Any]:
    made: dict[str, Any] = response.model_dump(
        mode="json", exclude={"sdk_http_response"}, exclude_none=True, warnings=False
    )
    return made
