"""What a gateway gets of its client: the body of a request, and word that the client went away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

Result = TypeVar("Result")
MOST_BYTES: Final = 64 * 1024 * 1024
"""A longer request is refused."""
CLIENT_LEFT: Final = 499
"""The status for a client that went away, which nobody sees; other servers log it under this number."""


async def received(request: Request) -> bytes | None:
    """The body of a request; ``None`` where it is longer than ``MOST_BYTES``. Raises ``ClientDisconnect``."""
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        parts.append(part)
        length += len(part)
        if length > MOST_BYTES:
            return None
    return b"".join(parts)


async def unless_left(request: Request, work: Callable[[], Awaitable[Result]]) -> Result:
    """What some work for a client gives, once the body of its request was received.

    Raises as ``work`` does, and ``ClientDisconnect`` where the client goes away: the work is given up then, whatever it
    is at.
    """
    done: list[Result] = []
    try:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            done.append(await work())
            group.cancel_scope.cancel()
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if not done:
        raise ClientDisconnect
    return done[0]


async def client_left(request: Request, error: Exception) -> Response:
    """The response to a client that went away."""
    del request, error
    return Response(status_code=CLIENT_LEFT)
