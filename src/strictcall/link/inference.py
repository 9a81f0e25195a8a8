"""Asking the links of a configuration: the one that serves gets a request that was made for it.

The configuration is asked at every inference: an edited file or a hot-swapped model is seen at once. What lasts from
one request to the next are the clients' connections, the state of the chain, the budgets of retries, and the toolsets,
by their content.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Self, TypeVar

import anyio

from strictcall.api.answer import Answer
from strictcall.api.events import Event
from strictcall.errors import RequestError, SettingsError
from strictcall.link.chain import Chain
from strictcall.link.client import Client
from strictcall.link.clients import Clients, client_of
from strictcall.link.errors import HANDLING, ErrorKind, Handling, LinkError
from strictcall.link.events import LinkEvent, LinkFailed, LinkServed
from strictcall.link.prepared import Opened, Prepared, Request, ask_streamed, ask_whole, prepare, unwritable
from strictcall.link.resolved import Links, ResolvedLink, Retries
from strictcall.link.retry import Retriers, Sleep
from strictcall.link.toolsets import Toolsets

Result = TypeVar("Result")
Tell = Callable[[LinkEvent], None]


@dataclass(frozen=True, slots=True)
class Served:
    """An answer, and the request as it was made for the link that gave it; ``why`` says why that link."""

    answer: Answer
    prepared: Prepared
    why: str

    @property
    def link(self) -> ResolvedLink:
        """The link that served."""
        return self.prepared.link


@dataclass(frozen=True, slots=True)
class FixedLinks:
    """Links that are known beforehand, the most wanted first: for who has no configuration file. ``asked_again`` says
    how each is asked again.
    """

    links: Sequence[ResolvedLink]
    asked_again: Retries = field(default_factory=Retries)

    def retries(self) -> Retries:
        """How they are asked again."""
        return self.asked_again

    def chain(self) -> Sequence[str]:
        """Their names."""
        return [link.name for link in self.links]

    def resolve(self, name: str) -> ResolvedLink:
        """The link of a name. Raises ``SettingsError``."""
        for link in self.links:
            if link.name == name:
                return link
        raise SettingsError("link", f"no link is called {name!r}; there are {', '.join(self.chain()) or 'none'}")


@dataclass(frozen=True, slots=True)
class Habits:
    """What holds for every link: what each kind of error asks for, how waiting is done, and who makes clients."""

    handling: Mapping[ErrorKind, Handling] = field(default_factory=lambda: HANDLING)
    sleep: Sleep = anyio.sleep
    make_client: Callable[[ResolvedLink], Client] = client_of


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, and what was said of it."""

    request: Request
    link: str | None
    conversation: Hashable | None
    tell: Tell


class Inference(AbstractAsyncContextManager["Inference"]):
    """Asks links. Leaving the context closes the connections.

    ``links`` says which there are. ``chain`` may be shared with others, so that all know of a link that failed.
    ``tell`` is told which link is asked, why, and what came of it.
    """

    def __init__(
        self,
        links: Links,
        *,
        chain: Chain | None = None,
        habits: Habits | None = None,
        tell: Tell = lambda event: None,
    ) -> None:
        self.habits = habits or Habits()
        self._links = links
        self._chain = chain or Chain(handling=self.habits.handling)
        self._tell = tell
        self._clients = Clients(self.habits.make_client)
        self._retriers = Retriers(handling=self.habits.handling, sleep=self.habits.sleep)
        self._toolsets = Toolsets()

    async def __aexit__(self, *error: object) -> None:
        await self._clients.__aexit__(*error)

    def prepare(self, link: ResolvedLink, request: Request, *, streamed: bool = False) -> Prepared:
        """A request as it is made for a link; nothing is sent. Raises as ``strictcall.link.prepared.prepare``."""
        return prepare(link, request, self._toolsets, streamed=streamed)

    async def ask(
        self,
        request: Request,
        *,
        link: str | None = None,
        conversation: Hashable | None = None,
        tell: Tell | None = None,
    ) -> Served:
        """Ask for a whole answer. A ``link`` that is named is the only one that is asked; the requests of one
        ``conversation`` stay with one link as long as it serves. ``tell`` is told of this request, too.

        Raises ``LinkError``, or ``ChainError`` where several links failed; whatever ``links`` raises.
        """
        asked = _Asked(request, link, conversation, self._both(tell))
        answer, prepared, why = await self._served(ask_whole, asked, streamed=False)
        return Served(answer, prepared, why)

    def stream(
        self,
        request: Request,
        *,
        link: str | None = None,
        conversation: Hashable | None = None,
        tell: Tell | None = None,
    ) -> Streaming:
        """Ask for an answer that tells of itself while it arrives: ``async with inference.stream(...) as events``.

        Entering the context raises as ``ask`` does, until there is something to tell; from then on no other link is
        asked, and what breaks off raises ``LinkError`` with ``began``.
        """
        asked = _Asked(request, link, conversation, self._both(tell))

        async def open_it() -> tuple[Opened, Prepared, str]:
            return await self._served(ask_streamed, asked, streamed=True)

        def broke(error: LinkError) -> None:
            asked.tell(LinkFailed(error.link, error.kind, error.words, self._chain.failed(error)))

        return Streaming(open_it, broke)

    # --- one request --------------------------------------------------------------------------------------------------

    async def _served(
        self, ask: Callable[[Prepared, Client], Awaitable[Result]], asked: _Asked, *, streamed: bool
    ) -> tuple[Result, Prepared, str]:
        async def ask_link(name: str, why: str) -> tuple[Result, Prepared, str]:
            prepared, client = self._made_for(self._links.resolve(name), asked.request, streamed=streamed)
            retrier = self._retriers.of(name, self._links.retries(), asked.tell)
            result, attempts = await retrier.run(lambda: ask(prepared, client))
            asked.tell(LinkServed(name, why, prepared.strict, attempts))
            return result, prepared, why

        names = [asked.link] if asked.link is not None else list(self._links.chain())
        pinned = asked.link is not None
        return await self._chain.run(names, ask_link, conversation=asked.conversation, pinned=pinned, tell=asked.tell)

    def _both(self, tell: Tell | None) -> Tell:
        """What tells whoever listens to all requests, and whoever listens to one."""
        if tell is None:
            return self._tell

        def both(event: LinkEvent) -> None:
            self._tell(event)
            tell(event)

        return both

    def _made_for(self, link: ResolvedLink, request: Request, *, streamed: bool) -> tuple[Prepared, Client]:
        """The request for a link, and its client. Raises ``LinkError`` where there is no such request, or client."""
        client = self._clients.of(link)
        try:
            return self.prepare(link, request, streamed=streamed), client
        except RequestError as error:
            told = unwritable(link, error)
        raise told


class Streaming(AbstractAsyncContextManager["Streaming"]):
    """An answer that is told while it arrives: an asynchronous iterator of events. ``answer`` is the whole of it, when
    they have ended.
    """

    def __init__(
        self, open_it: Callable[[], Awaitable[tuple[Opened, Prepared, str]]], broke: Callable[[LinkError], None]
    ) -> None:
        self._open_it = open_it
        self._broke = broke
        self._opened: Opened | None = None
        self._why = ""

    async def __aenter__(self) -> Self:
        self._opened, _, self._why = await self._open_it()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._opened is not None:
            await self._opened.chunks.aclose()

    def __aiter__(self) -> Streaming:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises ``LinkError`` where the answer breaks off."""
        opened = self._entered()
        if not opened.told:
            await self._more(opened)
        if not opened.told:
            raise StopAsyncIteration
        return opened.told.popleft()

    async def _more(self, opened: Opened) -> None:
        try:
            await opened.more()
        except LinkError as error:
            error.began = True
            self._broke(error)
            raise

    @property
    def served(self) -> Served:
        """The answer and who gave it. Raises ``RequestError`` before the events have ended."""
        opened = self._entered()
        if opened.answer is None or opened.told:
            raise RequestError("stream", "the answer is not there before its events have ended")
        return Served(opened.answer, opened.prepared, self._why)

    @property
    def link(self) -> ResolvedLink:
        """The link that serves."""
        return self._entered().prepared.link

    def _entered(self) -> Opened:
        if self._opened is None:
            raise RequestError("stream", "it is used within `async with`")
        return self._opened
