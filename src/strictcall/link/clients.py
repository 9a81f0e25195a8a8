"""The client of each link: the one that its API has, kept open from one request to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from strictcall.link.client import Client, Guard, key_of
from strictcall.link.client_google import google_client
from strictcall.link.client_official import anthropic_client, openai_client
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.resolved import Api, ResolvedLink


def _converse(link: ResolvedLink, guard: Guard, key: str | None) -> Client:
    problem = (
        "requests to Bedrock's Converse API are not sent from here: write and read them with strictcall.api.converse"
    )
    raise LinkError(link.name, ErrorKind.NO_CLIENT, problem)


_MAKERS: Final[Mapping[Api, tuple[Callable[[ResolvedLink, Guard, str | None], Client], str]]] = {
    "chat_completions": (openai_client, "openai"),
    "responses": (openai_client, "openai"),
    "messages": (anthropic_client, "anthropic"),
    "generate_content": (google_client, "google"),
    "converse": (_converse, ""),
}
"""For each API, what makes its client, and the extra that brings it."""


def client_of(link: ResolvedLink) -> Client:
    """A client for a link, with the key that the environment has now.

    Raises ``LinkError`` where there is no key, or where the official client is not installed.
    """
    make, extra = _MAKERS[link.api]
    key = key_of(link)
    try:
        return make(link, Guard(link, key), key)
    except ImportError as error:
        problem = f"{error.name or 'a client'} is not installed: pip install 'strictcall[{extra}]'"
    raise LinkError(link.name, ErrorKind.NO_CLIENT, problem)


class Clients(AbstractAsyncContextManager["Clients"]):
    """The clients of some links, kept open from one request to the next; one whose link changed is made anew."""

    def __init__(self, make: Callable[[ResolvedLink], Client] = client_of) -> None:
        self._make = make
        self._open: dict[str, tuple[tuple[Any, ...], Client]] = {}
        self._retired: list[Client] = []

    def of(self, link: ResolvedLink) -> Client:
        """The client of a link. Raises ``LinkError``, as ``client_of``."""
        way = (link.api, link.base_url, key_of(link), dict(link.headers), link.timeouts)
        kept = self._open.get(link.name)
        if kept is not None and kept[0] == way:
            return kept[1]
        made = self._make(link)
        if kept is not None:
            # Another request may be using it still.
            self._retired.append(kept[1])
        self._open[link.name] = (way, made)
        return made

    async def __aexit__(self, *_: object) -> None:
        clients = [client for _, client in self._open.values()] + self._retired
        self._open, self._retired = {}, []
        for client in clients:
            await client.aclose()
