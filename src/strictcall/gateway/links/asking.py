"""Asking the links of a configuration for a client: the one that serves gets a request that was made for it.

What ``strictcall.link.inference`` does for a program is done here for a client's own request, which links of Chat
Completions are given as it came. The parts are the same: the chain, retries and their budgets, clients and toolsets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread

from strictcall.errors import RequestError
from strictcall.gateway.links.http import ChatHttp
from strictcall.gateway.links.memory import Memory
from strictcall.gateway.links.models import link_names, links_asked, near_names
from strictcall.gateway.links.other_apis import translated
from strictcall.gateway.links.reply import Ready, Reply
from strictcall.gateway.links.request import Asked
from strictcall.gateway.links.same_api import direct
from strictcall.link.chain import MOST_CONVERSATIONS, Chain
from strictcall.link.clients import Clients
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.events import LinkFailed, LinkServed
from strictcall.link.inference import Habits, Tell
from strictcall.link.prepared import unwritable
from strictcall.link.resolved import ResolvedLink
from strictcall.link.retry import Retriers
from strictcall.link.toolsets import Toolsets

MOST_UNLISTED: Final = 100
"""How many models that the file does not list are asked: for each a client is kept open."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a link gave."""

    link: str
    reply: Reply


class Asking(AbstractAsyncContextManager["Asking"]):
    """Asks the links of a configuration, which is looked at for every request. Leaving the context closes the
    connections. ``tell`` is told which link is asked, why, and what came of it.
    """

    def __init__(
        self, links: ConfiguredLinks, *, habits: Habits | None = None, tell: Tell = lambda event: None
    ) -> None:
        self.links = links
        habits = habits or Habits()
        self._tell = tell
        self._chain = Chain(handling=habits.handling)
        self._retriers = Retriers(handling=habits.handling, sleep=habits.sleep)
        self._clients = Clients(habits.make_client)
        self._http = ChatHttp()
        self._toolsets = Toolsets()
        self._conversations = Conversations()
        self._memory = Memory()
        self._unlisted: set[str] = set()
        # Compiling, and importing a client, keep a processor busy, and what comes of it is kept for all requests: so it
        # is done beside the event loop, one after the other.
        self._compiling = anyio.CapacityLimiter(1)

    async def __aexit__(self, *error: object) -> None:
        await self._clients.__aexit__(*error)
        await self._http.aclose()

    async def ask(self, asked: Asked) -> Given:
        """Ask for an answer.

        Raises ``UnknownModelError`` for a model's name that no link has, ``RequestError`` for one model too many that
        the file does not list; ``LinkError``, or ``ChainError`` where several links failed; ``NameClashError`` for two
        tools of one name; ``ConfigError`` for a header that cannot be filled in.
        """
        names = self._wanted(asked.model)
        pinned = asked.model in names
        conversation = None if pinned else self._conversations.of(asked)
        return await self._chain.run(
            names,
            lambda name, why: self._asked(asked, name, why),
            conversation=conversation,
            pinned=pinned,
            tell=self._tell,
        )

    def _wanted(self, model: str) -> tuple[str, ...]:
        configuration, chain = self.links.configuration, self.links.chain()
        names = links_asked(model, configuration, chain)
        unlisted = self._unlisted.union(names).difference(link_names(configuration, chain))
        if len(unlisted) > MOST_UNLISTED:
            raise RequestError("model", f"list {model!r} in the file: {MOST_UNLISTED} others were asked without that")
        self._unlisted = unlisted
        return names

    def broke(self, error: LinkError) -> None:
        """An answer broke off when it had begun."""
        error.began = True
        self._tell(LinkFailed(error.link, error.kind, error.words, self._chain.failed(error)))

    async def _asked(self, asked: Asked, name: str, why: str) -> Given:
        link = self.links.resolve(name)
        ready = await self._ready(link, asked)
        try:
            reply, attempts = await self._retriers.of(name, self.links.retries(), self._tell).run(ready.ask)
        except LinkError as error:
            raise self._hinted(error) from None
        self._tell(LinkServed(name, why, ready.strict, attempts))
        return Given(name, reply)

    async def _ready(self, link: ResolvedLink, asked: Asked) -> Ready:
        """The request for a link. Raises ``LinkError`` where there is none, or no client."""
        try:
            if link.api == "chat_completions":
                return await self._made(lambda: direct(link, asked, self._toolsets, self._http))
            return await self._made(
                lambda: translated(link, asked, self._toolsets, self._clients.of(link), self._memory)
            )
        except RequestError as error:
            told = unwritable(link, error)
        raise told

    async def _made(self, make: Callable[[], Ready]) -> Ready:
        return await anyio.to_thread.run_sync(make, limiter=self._compiling)

    def _hinted(self, error: LinkError) -> LinkError:
        """An error that tells of near names too, where the provider does not know a model that nobody listed."""
        known = link_names(self.links.configuration, self.links.chain())
        near = near_names(error.link, known)
        if error.kind is not ErrorKind.NOT_FOUND or error.link in known or not near:
            return error
        words = f"{error.words}; did you mean {' or '.join(map(repr, near))}?"
        return LinkError(error.link, error.kind, words, status=error.status)


class Conversations:
    """Which requests are of one conversation, told by its first messages: the gateway's clients give it no name.

    A request in which the model had no turn yet begins a conversation of its own, so that one which fell over to
    another link does not take all that begin alike with it.
    """

    def __init__(self) -> None:
        self._newest: OrderedDict[str, Hashable] = OrderedDict()

    def of(self, asked: Asked) -> Hashable:
        """The name of a request's conversation."""
        opening, has_begun = asked.opening()
        if not has_begun or opening not in self._newest:
            self._newest[opening] = object()
        self._newest.move_to_end(opening)
        while len(self._newest) > MOST_CONVERSATIONS:
            self._newest.popitem(last=False)
        return self._newest[opening]
