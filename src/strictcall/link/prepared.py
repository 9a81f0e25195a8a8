"""A request as it was made for one link, and asking that link once."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strictcall.api.answer import Answer, StopReason
from strictcall.api.events import Event
from strictcall.api.reading import read_output
from strictcall.api.writing import ToolChoice
from strictcall.errors import RequestError, StreamError
from strictcall.json_value import compact
from strictcall.link.client import Chunks, Client
from strictcall.link.envelope import MODULES, body_of
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.failures import link_error
from strictcall.link.resolved import ResolvedLink
from strictcall.link.toolsets import Toolsets, output_of, sends_output, unsent
from strictcall.link.turns import Turn
from strictcall.tagged.answers import Reader, TaggedReader, read_tagged
from strictcall.tagged.registry import NONE
from strictcall.tool import Tool
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

_NOTHING_CAME = (StopReason.INCOMPLETE, StopReason.ERROR)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a link, in words that no API owns.

    ``messages`` are the conversation, as ``strictcall.link.turns`` has it, and ``tools`` those that may be called.
    ``tool_choice`` is ``auto``, ``none``, ``required``, a tool's own name, or several. ``output`` is a JSON Schema for
    the answer, called ``output_name``: ``Answer.output`` is what it says. It is sent where the link is strict, and the
    answer is read by it in any case. With ``tell_output`` the model is told of it in words where it cannot be sent: on
    a link that is not strict, or whose provider takes no schema for the answer in a request with tools.
    """

    messages: Sequence[Turn]
    tools: Sequence[Tool] = ()
    tool_choice: ToolChoice = None
    output: Any = None
    output_name: str = "answer"
    tell_output: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it was made for one link: ``body`` is what its client is given."""

    link: ResolvedLink
    toolset: Toolset
    output: CompiledTool | None
    body: Mapping[str, Any] = field(repr=False)

    @property
    def strict(self) -> tuple[str, ...]:
        """The own names of the tools that go out strict."""
        return tuple(compiled.tool.name for compiled in self.toolset.strict)

    @property
    def _plainly(self) -> Mapping[str, str]:
        """Whether calls are looked for in the text is the link's to say, and not the dialect's."""
        return {"tagged": NONE} if self.link.api == "chat_completions" else {}

    @property
    def _tagged(self) -> str | None:
        """The format of calls that are looked for in the text, where any are."""
        return self.link.tagged if len(self.toolset) else None

    def read(self, response: Mapping[str, Any]) -> Answer:
        """The answer in a response. Raises ``StreamError``."""
        answer: Answer = MODULES[self.link.api].read(response, self.toolset, self.output, **self._plainly)
        if self._tagged is None:
            return answer
        return self.with_output(read_tagged(answer, self.toolset, self._tagged, self.link.model))

    def reader(self) -> Reader:
        """What reads the answer of a response that is streamed."""
        reader: Reader = MODULES[self.link.api].Stream(self.toolset, self.output, **self._plainly)
        if self._tagged is None:
            return reader
        return TaggedReader(reader, self.toolset, self._tagged, self.link.model)

    def with_output(self, answer: Answer) -> Answer:
        """An answer whose output is read from its text as it is now: of calls and thoughts that stood in it, the API's
        own reading of the output knew nothing.
        """
        if self.output is None or self._tagged is None:
            return answer
        if answer.calls or answer.stop_reason is not StopReason.STOP:
            return dataclasses.replace(answer, output=None, output_faults=())
        output, faults = read_output(self.output, answer.text)
        return dataclasses.replace(answer, output=output, output_faults=faults)


def prepare(link: ResolvedLink, request: Request, toolsets: Toolsets, *, streamed: bool = False) -> Prepared:
    """Everything of a request compiled for a link: tools, names, history, and whether calls may be parallel.

    Raises ``RequestError`` for what the link's API or model has no way to say, ``NameClashError`` for two tools of one
    name, ``DialectError`` where the output has no dialect.
    """
    if request.tools and link.supports_tools == "none":
        raise RequestError("tools", f"{link.name} takes none: its supports_tools is none")
    toolset = toolsets.of(link, request.tools)
    output = None if request.output is None else output_of(link, request.output, request.output_name)
    sent = output if sends_output(link) else None
    messages = request.messages
    if output is not None and request.tell_output:
        if request.tools and not output.dialect.output_beside_tools:
            output, sent = unsent(output), None
        messages = messages if sent is not None else _with_words(messages, output)
    written = MODULES[link.api].write(
        body_of(link, messages, streamed=streamed), toolset, tool_choice=request.tool_choice, output=sent
    )
    return Prepared(link, toolset, output, written)


def _with_words(turns: Sequence[Turn], output: CompiledTool) -> list[Turn]:
    """The conversation with the schema of the answer in words, after what the system says at its beginning."""
    schema = compact(output.tool.parameters)
    words = f"Give your final answer as one JSON value and nothing else. It must fit this JSON Schema: {schema}"
    begin = 0
    while begin < len(turns) and _is_system(turns[begin]):
        begin += 1
    return [*turns[:begin], {"role": "system", "content": words}, *turns[begin:]]


def _is_system(turn: Turn) -> bool:
    return isinstance(turn, Mapping) and turn.get("role") in ("system", "developer")


def unwritable(link: ResolvedLink, error: RequestError) -> LinkError:
    """The error of a link that cannot be told what was asked for."""
    return LinkError(link.name, ErrorKind.UNWRITABLE, str(error))


async def ask_whole(prepared: Prepared, client: Client) -> Answer:
    """Ask once, for a whole answer. Raises ``LinkError``."""
    answer = _read(prepared, await client.send(prepared.body))
    _check_not_nothing(prepared, answer)
    return answer


def _read(prepared: Prepared, response: Mapping[str, Any]) -> Answer:
    try:
        return prepared.read(response)
    except StreamError as error:
        told = malformed(prepared.link, error)
    raise told


def malformed(link: ResolvedLink, error: StreamError) -> LinkError:
    """The error of a link whose answer is none, or tells of an error."""
    told = link_error(link.name, error)
    assert told is not None  # noqa: S101 - every ``StreamError`` has a kind
    return told


def _check_not_nothing(prepared: Prepared, answer: Answer) -> None:
    """Raises ``LinkError`` for an answer that broke off before it said anything."""
    if answer.stop_reason in _NOTHING_CAME and not (answer.text or answer.reasoning or answer.calls):
        raise LinkError(prepared.link.name, ErrorKind.BROKEN, "the answer ended before it said anything")


@dataclass(slots=True)
class Opened:
    """An answer that has begun to arrive: what it told so far, and what is still to come. ``answer`` is there at the
    end.
    """

    prepared: Prepared
    chunks: Chunks
    reader: Reader
    told: deque[Event] = field(default_factory=deque)
    answer: Answer | None = None

    async def more(self) -> bool:
        """Wait for the next events, or the end; whether there may be more. Raises ``LinkError``."""
        while self.answer is None:
            try:
                chunk = await anext(self.chunks)
            except StopAsyncIteration:
                self._take(None)
                break
            if self._take(chunk):
                return True
        return bool(self.told)

    def _take(self, chunk: dict[str, Any] | None) -> bool:
        """Take a chunk, or the end; whether it told anything."""
        try:
            if chunk is not None:
                self.told.extend(self.reader.feed(chunk))
            else:
                self.answer = self.prepared.with_output(self.reader.finish())
                self.told.extend(self.reader.ended)
        except StreamError as error:
            told = malformed(self.prepared.link, error)
        else:
            return bool(self.told)
        raise told


async def ask_streamed(prepared: Prepared, client: Client) -> Opened:
    """Ask once, for an answer that is streamed, and wait until it tells something. Raises ``LinkError``: up to then
    nothing of it has reached the user.
    """
    opened = Opened(prepared, await client.open(prepared.body), prepared.reader())
    try:
        await opened.more()
        if opened.answer is not None:
            _check_not_nothing(prepared, opened.answer)
    except BaseException:
        await opened.chunks.aclose()
        raise
    return opened
