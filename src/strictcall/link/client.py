"""One small interface over the official clients: a body goes out, a response or a stream comes back, all plain dicts.

A client is imported where it is used, and its own retries are off: there is one owner of them. Everything runs under
asyncio and under trio.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import anyio

from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.failures import link_error
from strictcall.link.resolved import ResolvedLink
from strictcall.source.secrets import known_secrets

Result = TypeVar("Result")
NO_KEY: Final = "none"
"""What stands for a key where the provider asks for none: the clients insist on one, or would take another from the
environment.
"""


class Chunks(Protocol):
    """A streamed response, event by event. Raises ``LinkError`` where it breaks off."""

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]: ...

    async def __anext__(self) -> dict[str, Any]: ...

    async def aclose(self) -> None:
        """Close the response; nothing more comes."""


class Client(Protocol):
    """What sends a link's requests.

    Both ways raise ``LinkError``: for an error of the provider's, for what is no answer, and where there is none.
    """

    async def send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a body; gives the response's."""

    async def open(self, body: Mapping[str, Any]) -> Chunks:
        """Send a body whose answer is to be streamed; gives the stream when the provider has taken the request."""

    async def aclose(self) -> None:
        """Close the connections."""


def key_of(link: ResolvedLink) -> str | None:
    """The key of a link, from the environment; ``None`` where it needs none. Raises ``LinkError``."""
    if link.api_key_env is None:
        return None
    key = os.environ.get(link.api_key_env, "").strip()
    if not key:
        raise LinkError(link.name, ErrorKind.KEY, f"the environment variable {link.api_key_env} is not set")
    return key


class Guard:
    """What every client needs of a link beside its address: the time there is, and errors without secrets."""

    def __init__(self, link: ResolvedLink, key: str | None) -> None:
        self.link = link
        self._secrets = known_secrets([key] if key else [], link.headers.values())

    def deadline(self) -> float | None:
        """When an attempt that begins now must be over, by the monotonic clock."""
        total = self.link.timeouts.total
        return None if total is None else time.monotonic() + total

    async def run(
        self, work: Callable[[], Awaitable[Result]], deadline: float | None, *, within_stream: bool = False
    ) -> Result:
        """What some work gives. Raises ``LinkError`` for whatever tells of the link."""
        try:
            with anyio.fail_after(None if deadline is None else max(0.0, deadline - time.monotonic())):
                return await work()
        except Exception as error:
            told = link_error(self.link.name, error, self._secrets, within_stream=within_stream)
            if told is None:
                raise
        # Raised out here it has no context: the client's own error holds the request, with its key.
        raise told

    def unwritable(self, problem: str) -> LinkError:
        """The error of a request that cannot be sent."""
        return LinkError(self.link.name, ErrorKind.UNWRITABLE, problem)

    def malformed(self, problem: str) -> LinkError:
        """The error of a response that is none."""
        return LinkError(self.link.name, ErrorKind.MALFORMED, problem)
