"""Requests for links that speak Chat Completions themselves: what the configuration says is laid over them, all else is
as it came.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import httpx2

from strictcall.api.answer import StopReason
from strictcall.api.chat_completions_chunks import check_error, first_choice, said, stop_reason
from strictcall.api.feeding import DONE, event_of
from strictcall.api.fields import items, tables
from strictcall.api.sse import EventReader
from strictcall.errors import RequestError, StreamError
from strictcall.gateway.chat import Rewritten, StreamRewriter, answered, is_function, rewritten, tagged_in, tools_of
from strictcall.gateway.links.fields import CAPS
from strictcall.gateway.links.http import ChatHttp, closed, json_object, shown, whole_body
from strictcall.gateway.links.reply import Reply, Streamed, Whole, event_bytes
from strictcall.gateway.links.request import Asked, as_bytes, with_model
from strictcall.json_value import compact
from strictcall.link.client import Guard, key_of
from strictcall.link.client_official import DRAINING_SECONDS
from strictcall.link.envelope import body_of
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.resolved import ResolvedLink
from strictcall.link.toolsets import Toolsets, is_off


@dataclass(frozen=True, slots=True)
class Direct:
    """A request as its bytes go to a link, and what its answer is read by, where that is to be changed."""

    link: ResolvedLink
    http: ChatHttp
    body: bytes = field(repr=False)
    made: Rewritten | None
    strict: tuple[str, ...]
    streamed: bool

    async def ask(self) -> Reply:
        """Ask once. Raises ``LinkError``."""
        key = key_of(self.link)
        guard = Guard(self.link, key)
        deadline = guard.deadline()
        response = await self.http.open(self.link, key, self.body, guard, deadline)
        is_json = response.headers.get("content-type", "").startswith("application/json")
        if self.streamed and not is_json:
            events = ChatEvents(response, guard, deadline, self.made)
            try:
                await events.begin()
            except BaseException:
                await events.aclose()
                raise
            return Streamed(events, shown(response))
        raw = await whole_body(response, guard, deadline)
        content = await guard.run(lambda: anyio.to_thread.run_sync(self._read, raw), None)
        return Whole(content, shown(response))

    def _read(self, raw: bytes) -> bytes:
        """The bytes for the client. Raises ``StreamError`` for what is no answer."""
        body = json_object(raw)
        if body is None:
            raise StreamError("the response is no JSON object")
        check_error(body)
        if self.streamed:
            raise StreamError("the answer was to be a stream, and is none")
        choice = first_choice(body)
        if choice is None:
            raise StreamError("the answer has no choices")
        if stop_reason(choice) is StopReason.ERROR and not _says(choice):
            raise StreamError("the answer ended before it said anything")
        changed = numbered(body)
        changed = changed if self.made is None else answered(changed, self.made)
        return raw if changed is body else as_bytes(changed)


def direct(link: ResolvedLink, asked: Asked, toolsets: Toolsets, http: ChatHttp) -> Direct:
    """A request as it is made for a link of Chat Completions; nothing is sent.

    Where no tool is strict on the link, it is the bytes that came, but for the model's name and for what the
    configuration lays over them.

    Raises ``RequestError`` for tools that cannot be read, or for any where the link takes none; ``NameClashError`` for
    two of one name.
    """
    offered = asked.body.get("tools") or ()
    if link.supports_tools == "none" and any(map(is_function, offered)):
        raise RequestError("tools", f"{link.name} takes none: its supports_tools is none")
    # Where nothing is to be read by them, what is wrong with tools is the provider's to say.
    tools = tools_of(asked.body) if link.supports_tools == "strict" or link.tagged is not None else []
    over = {**_capped(asked.body, link), **link.extra_body}
    body = {**asked.body, "model": link.model, **over}
    if tools and not is_off(link, tools):
        made = rewritten(body, toolsets.of(link, tools), link.tagged)
        strict = tuple(compiled.tool.name for compiled in made.toolset.strict)
        return Direct(link, http, as_bytes(made.body), made, strict, asked.streamed)
    sent = as_bytes(body) if over else with_model(asked, link.model)
    read_by = None
    if tools and link.tagged is not None:
        read_by = Rewritten(body, toolsets.of(link, tools), tagged_in(body, link.tagged))
    return Direct(link, http, sent, read_by, (), asked.streamed)


def _capped(body: Mapping[str, Any], link: ResolvedLink) -> dict[str, Any]:
    """The cap on an answer's tokens, where it differs from the client's: the lower one counts."""
    most = link.max_output_tokens
    if most is None:
        return {}
    wanted = {name: body[name] for name in CAPS if type(body.get(name)) is int}
    if wanted:
        return {name: most for name, value in wanted.items() if value > most}
    ours = body_of(link, ())
    return {name: ours[name] for name in CAPS if name in ours}


def _says(choice: Mapping[str, Any]) -> bool:
    """Whether a choice holds anything of an answer: text, thoughts, calls, whatever it is."""
    return any(value for name, value in said(choice).items() if name != "role")


def numbered(event: dict[str, Any]) -> dict[str, Any]:
    """An answer, or a piece of one, whose choices all have an index, which some servers leave out and clients count on;
    the very object where they have.
    """
    choices = items(event.get("choices"))
    if all(type(choice.get("index")) is int for choice in choices if isinstance(choice, dict)):
        return event
    return {**event, "choices": [_with_index(choice, place) for place, choice in enumerate(choices)]}


def _with_index(choice: Any, place: int) -> Any:
    if not isinstance(choice, dict) or type(choice.get("index")) is int:
        return choice
    return {**choice, "index": place}


class ChatEvents:
    """A streamed answer on its way to the client, event by event, calls in contract form where ``made`` says so."""

    def __init__(self, response: httpx2.Response, guard: Guard, deadline: float | None, made: Rewritten | None) -> None:
        self._response = response
        self._pieces: AsyncGenerator[bytes, None] = response.aiter_bytes()
        self._guard = guard
        self._deadline = deadline
        self._reader = EventReader()
        # What is no UTF-8 is an error here: read as U+FFFD it could end up in the arguments of a call.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rewriter = None if made is None else StreamRewriter(made)
        self._out: deque[bytes] = deque()
        self._said = self._has_reason = self._is_done = False

    async def begin(self) -> None:
        """Wait until the answer says something, or is whole. Raises ``LinkError``."""
        while not (self._said or self._has_reason or self._is_done):
            await self._guard.run(self._more, self._deadline, within_stream=True)
        if not (self._said or self._has_reason):
            raise LinkError(self._guard.link.name, ErrorKind.BROKEN, "the answer ended before it said anything")

    def __aiter__(self) -> ChatEvents:
        return self

    async def __anext__(self) -> bytes:
        """The next event. Raises ``LinkError`` where the answer breaks off."""
        while not self._out and not self._is_done:
            await self._guard.run(self._more, self._deadline, within_stream=True)
        if not self._out:
            raise StopAsyncIteration
        return self._out.popleft()

    async def _more(self) -> None:
        piece = await anext(self._pieces, None)
        if piece is None:
            self._is_done = True
            if not self._has_reason:
                raise LinkError(self._guard.link.name, ErrorKind.BROKEN, "the answer broke off")
            return
        self._decoder.decode(piece)
        for data in self._reader.feed(piece):
            self._take(data)

    def _take(self, data: str) -> None:
        if self._is_done or not data.strip():
            return
        if data.strip() == DONE:
            self._is_done, data = True, DONE
        else:
            came = event_of(data)
            check_error(came)
            event = numbered(came)
            data = data if event is came else compact(event)
            choices = tables(event.get("choices"))
            self._said = self._said or any(map(_says, choices))
            if not self._said and any(stop_reason(choice) is StopReason.ERROR for choice in choices):
                raise StreamError("the answer ended before it said anything")
            self._has_reason = self._has_reason or any(choice.get("finish_reason") for choice in choices)
        told = [data] if self._rewriter is None else self._rewriter.event(data)
        self._out += map(event_bytes, told)

    async def aclose(self) -> None:
        """Close the response; one that is at its end is read to it, so that its connection can be used again."""
        if self._is_done:
            with anyio.move_on_after(DRAINING_SECONDS), suppress(httpx2.HTTPError):
                async for _ in self._pieces:
                    pass
        with anyio.CancelScope(shield=True):
            await self._pieces.aclose()
        await closed(self._response)
