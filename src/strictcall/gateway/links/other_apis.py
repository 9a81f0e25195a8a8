"""Requests for links of other APIs than Chat Completions: taken apart, made anew for the link, and the answer written
as a chat completion.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.api.answer import Answer, Call, StopReason
from strictcall.api.feeding import DONE
from strictcall.api.reading import CUT_OFF
from strictcall.api.writing import MODES, ToolChoice
from strictcall.errors import Fault, RequestError
from strictcall.gateway.chat import is_function, tools_of
from strictcall.gateway.links.answers import Chunks, completion
from strictcall.gateway.links.fields import laid, placed
from strictcall.gateway.links.memory import Memory, call_ids
from strictcall.gateway.links.reply import Reply, Streamed, Whole, event_bytes
from strictcall.gateway.links.request import Asked, as_bytes
from strictcall.json_value import LimitError, compact, parse
from strictcall.link.client import Client
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.prepared import Opened, Prepared, Request, ask_streamed, ask_whole, prepare
from strictcall.link.resolved import ResolvedLink
from strictcall.link.toolsets import Toolsets, sends_output
from strictcall.link.turns import Results, Turn

BROKEN: Final = (StopReason.INCOMPLETE, StopReason.ERROR)
"""Answers that are none."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A request as it was made for a link of another API; ``counts``: a stream is to end with its usage. Its answer is
    kept in a ``memory``.
    """

    prepared: Prepared
    client: Client
    memory: Memory
    streamed: bool
    counts: bool

    @property
    def link(self) -> ResolvedLink:
        """The link."""
        return self.prepared.link

    @property
    def strict(self) -> tuple[str, ...]:
        """The own names of the tools that go out strict."""
        return self.prepared.strict

    async def ask(self) -> Reply:
        """Ask once. Raises ``LinkError``."""
        if self.streamed:
            opened = await ask_streamed(self.prepared, self.client)
            return Streamed(TranslatedEvents(opened, self.memory, counts=self.counts))
        answer = await ask_whole(self.prepared, self.client)
        _check_whole(answer, self.link)
        made = completion(answer, self.prepared)
        self.memory.keep(self.link.name, answer, call_ids(made["choices"][0]["message"].get("tool_calls")) or ())
        return Whole(as_bytes(made))


def _check_whole(answer: Answer, link: ResolvedLink) -> None:
    if answer.stop_reason in BROKEN:
        raise LinkError(link.name, ErrorKind.BROKEN, "the answer broke off")


def translated(link: ResolvedLink, asked: Asked, toolsets: Toolsets, client: Client, memory: Memory) -> Translated:
    """A request as it is made for a link of another API; nothing is sent.

    Raises ``RequestError`` for what that API has no way to say, ``NameClashError`` for two tools of one name.
    """
    body = asked.body
    fields = placed(body, link)
    wanted = Request(
        list(_turns(body["messages"], lambda message: memory.find(link.name, message))),
        tools_of(_checked_tools(body)),
        _choice(body),
        **_output(body, link),
    )
    if link.api == "responses":
        # Chat Completions keeps nothing unless it is asked to, and this API everything unless it is asked not to.
        link = dataclasses.replace(link, extra_body={"store": body.get("store") is True, **link.extra_body})
    prepared = _prepared(link, wanted, toolsets, streamed=asked.streamed)
    made = prepared.body
    for path, value in fields:
        made = laid(made, path, value)
    made = _one_at_a_time(made, body, link)
    options = body.get("stream_options")
    counts = isinstance(options, Mapping) and options.get("include_usage") is True
    return Translated(dataclasses.replace(prepared, body=made), client, memory, asked.streamed, counts)


def _prepared(link: ResolvedLink, wanted: Request, toolsets: Toolsets, *, streamed: bool) -> Prepared:
    """The request as it is made for the link. What is wrong with the answer's schema is told of the client's field."""
    try:
        return prepare(link, wanted, toolsets, streamed=streamed)
    except RequestError as error:
        if error.place.partition(".")[0] not in ("config", "output_config", "text"):
            raise
        raise RequestError("response_format", error.problem) from None


def _checked_tools(body: Mapping[str, Any]) -> Mapping[str, Any]:
    for index, entry in enumerate(body.get("tools") or ()):
        if not is_function(entry):
            raise RequestError(f"tools[{index}]", "only functions are sent to links of another API")
    return body


def _one_at_a_time(made: Mapping[str, Any], body: Mapping[str, Any], link: ResolvedLink) -> Mapping[str, Any]:
    """A body that says that calls must come one at a time, where the client wants them so."""
    if body.get("parallel_tool_calls") is not False or not body.get("tools"):
        return made
    if link.api == "responses":
        return laid(made, ("parallel_tool_calls",), value=False)
    if link.api != "messages":
        raise RequestError("parallel_tool_calls", f"{link.name} speaks the API {link.api}, which cannot be told")
    choice = made.get("tool_choice") or {"type": "auto"}
    if choice.get("type") == "none":
        return made
    return {**made, "tool_choice": {**choice, "disable_parallel_tool_use": True}}


def _choice(body: Mapping[str, Any]) -> ToolChoice:
    """A choice of tools in words that no API owns. Raises ``RequestError``."""
    given = body.get("tool_choice")
    if given is None or given in MODES:
        return given
    if isinstance(given, Mapping) and given.get("type") == "function":
        return _named(given, "tool_choice")
    allowed = given.get("allowed_tools") if isinstance(given, Mapping) else None
    if isinstance(allowed, Mapping) and isinstance(allowed.get("tools"), list):
        names = [_named(tool, f"tool_choice.allowed_tools.tools[{i}]") for i, tool in enumerate(allowed["tools"])]
        if allowed.get("mode") != "required":
            return names
        if len(names) == 1:
            return names[0]
        raise RequestError("tool_choice.allowed_tools.mode", "one of several tools cannot be required of this link")
    raise RequestError("tool_choice", "must be auto, none, required, or name functions")


def _named(tool: Any, place: str) -> str:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        raise RequestError(place, "must name a function")
    return name


def _output(body: Mapping[str, Any], link: ResolvedLink) -> dict[str, Any]:
    """The schema of the answer, as a ``Request`` has it. Raises ``RequestError`` where the link would not hold it."""
    given = body.get("response_format")
    if given is None or given == {"type": "text"}:
        return {}
    wanted = given.get("json_schema") if isinstance(given, Mapping) else None
    if not isinstance(wanted, Mapping) or given.get("type") != "json_schema" or "schema" not in wanted:
        raise RequestError("response_format", f"{link.name} speaks the API {link.api}; it takes a json_schema only")
    if not sends_output(link):
        raise RequestError("response_format", f"{link.name} is not strict, and would hold no schema")
    name = wanted.get("name")
    return {"output": wanted["schema"], **({"output_name": name} if isinstance(name, str) else {})}


# --- the conversation -------------------------------------------------------------------------------------------------


def _turns(messages: Sequence[Any], known: Callable[[Mapping[str, Any]], Answer | None]) -> Iterator[Turn]:
    """The messages as a link takes them up. The turn of an answer that is ``known`` is that answer, and the results of
    its calls are its results. A call whose arguments are no JSON goes back as it was said.
    """
    passed = 0
    for number, message in enumerate(messages):
        if number < passed:
            continue
        place = f"messages[{number}]"
        if not isinstance(message, Mapping):
            raise RequestError(place, "must be an object")
        for name in ("audio", "function_call"):
            if message.get(name) is not None:
                raise RequestError(f"{place}.{name}", "is not sent to links of another API")
        if message.get("role") != "assistant":
            yield message
            continue
        answer = known(message)
        results = None if answer is None else _results(answer, message, messages[number + 1 :])
        if answer is not None and results is not None:
            passed = number + 1 + len(answer.calls)
            yield answer
            yield results
            continue
        if message.get("content") is None and isinstance(message.get("refusal"), str):
            message = {**message, "content": message["refusal"]}
        yield _assistant(message, place)


def _results(answer: Answer, message: Mapping[str, Any], following: Sequence[Any]) -> Results | None:
    """The results of an answer's calls, where they are what follows: each one, and texts."""
    ids = call_ids(message.get("tool_calls")) or ()
    told = [each for each in following[: len(ids)] if isinstance(each, Mapping) and each.get("role") == "tool"]
    outputs = {each.get("tool_call_id"): each.get("content") for each in told}
    texts = tuple(text for text in map(outputs.get, ids) if isinstance(text, str))
    return Results(answer.calls, texts) if len(texts) == len(ids) == len(told) else None


def _assistant(message: Mapping[str, Any], place: str) -> Turn:
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise RequestError(f"{place}.tool_calls", "must be a list")
    broken = {number: fault for number, call in enumerate(calls or ()) if (fault := _fault(call)) is not None}
    content = message.get("content")
    if not broken or not isinstance(content, str | None):
        return message
    return Answer(
        content or "", calls=tuple(_said(call, broken.get(number)) for number, call in enumerate(calls or ()))
    )


def _fault(call: Any) -> Fault | None:
    """What is wrong with the arguments of a call that names a function; ``None`` where they can be read."""
    function = call.get("function") if isinstance(call, Mapping) else None
    raw = function.get("arguments") if isinstance(function, Mapping) and isinstance(function.get("name"), str) else None
    if not isinstance(raw, str) or not raw.strip():
        return None
    try:
        parse(raw)
    except LimitError:
        return CUT_OFF
    return None


def _said(call: Any, fault: Fault | None) -> Call:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise RequestError("messages", "every call of the history must be a call of a function")
    raw = function.get("arguments")
    text = raw if isinstance(raw, str) else compact(raw or {})
    call_id = call.get("id") if isinstance(call.get("id"), str) else None
    if fault is not None:
        return Call(call_id, function["name"], None, (fault,), raw=text)
    return Call(call_id, function["name"], parse(text) if text.strip() else {}, raw=text)


# --- the answer -------------------------------------------------------------------------------------------------------


class TranslatedEvents:
    """A streamed answer of another API on its way to the client, in chunks."""

    def __init__(self, opened: Opened, memory: Memory, *, counts: bool) -> None:
        self._opened = opened
        self._memory = memory
        self._chunks = Chunks(opened.prepared, counts)
        self._out: deque[bytes] = deque()
        self._is_done = False

    def __aiter__(self) -> TranslatedEvents:
        return self

    async def __anext__(self) -> bytes:
        """The next event. Raises ``LinkError`` where the answer breaks off."""
        while not self._out:
            if self._is_done:
                raise StopAsyncIteration
            await self._more()
        return self._out.popleft()

    async def _more(self) -> None:
        opened = self._opened
        if not opened.told and opened.answer is None:
            await opened.more()
        while opened.told:
            self._write(self._chunks.event(opened.told.popleft()))
        if opened.answer is not None:
            _check_whole(opened.answer, opened.prepared.link)
            self._write(self._chunks.last(opened.answer))
            self._memory.keep(opened.prepared.link.name, opened.answer, self._chunks.ids)
            self._out.append(event_bytes(DONE))
            self._is_done = True

    def _write(self, chunks: Iterator[dict[str, Any]]) -> None:
        self._out += (event_bytes(compact(chunk)) for chunk in chunks)

    async def aclose(self) -> None:
        """Close the response."""
        await self._opened.chunks.aclose()
