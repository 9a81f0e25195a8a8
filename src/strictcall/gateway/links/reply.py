"""What a link gave: an answer as bytes for the client, whole, or event by event."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from strictcall.gateway.links.request import as_bytes
from strictcall.link.resolved import ResolvedLink


class Events(Protocol):
    """A streamed answer that has begun: each item is an event, in bytes. Raises ``LinkError`` where it breaks off."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def __anext__(self) -> bytes: ...

    async def aclose(self) -> None:
        """Close it; nothing more comes."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole answer: the bytes of a ``chat.completion``, and headers of the provider's that a client may see."""

    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Streamed:
    """A streamed answer of which something is told already."""

    events: Events
    headers: Mapping[str, str] = field(default_factory=dict)


Reply = Whole | Streamed


class Ready(Protocol):
    """A request as it was made for one link."""

    @property
    def link(self) -> ResolvedLink:
        """The link."""

    @property
    def strict(self) -> tuple[str, ...]:
        """The own names of the tools that go out strict."""

    async def ask(self) -> Reply:
        """Ask the link once. Raises ``LinkError``; nothing of an answer has reached the client then."""


def event_bytes(data: str) -> bytes:
    """An event with this data, as it is sent."""
    return b"".join(b"data: " + line + b"\n" for line in as_bytes(data).split(b"\n")) + b"\n"
