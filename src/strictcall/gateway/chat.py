"""Chat Completions through the gateway: a request on its way to the provider, and the answer on its way back.

What is changed is tools, the calls of the history, and the calls of the answer; all else stays as it came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.api import chat_completions
from strictcall.api.answer import Call
from strictcall.api.chat_completions_chunks import is_custom
from strictcall.api.events import ArgumentsDelta, CallStarted, Event
from strictcall.api.reading import find_tool
from strictcall.api.sse import EventReader
from strictcall.dialect.model import Dialect
from strictcall.errors import RequestError, StreamError
from strictcall.gateway import tagged_text
from strictcall.gateway.tagged_text import Tagged, TaggedText
from strictcall.json_value import compact
from strictcall.policy import Policy
from strictcall.tagged.registry import NONE
from strictcall.tool import Tool
from strictcall.wire.toolset import Toolset

DONE: Final = "[DONE]"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A request as it goes to the provider, and the tools that its answer is read by.

    ``tagged``: calls may stand in the answer's text.
    """

    body: dict[str, Any]
    toolset: Toolset
    tagged: Tagged | None = None


def rewrite(body: Any, dialect: Dialect, policy: Policy, tagged: str | None = None) -> Rewritten | None:
    """A request with its tools compiled and its history in wire form; ``None`` for one without function tools.

    ``tagged`` names the format in which calls may stand in the answer's text, or is ``auto``.

    A client's own ``strict`` marking is not asked: whether a tool can be strict is what compiling finds out.

    Raises ``RequestError`` for tools that cannot be read, ``NameClashError`` for two of one name.
    """
    tools = tools_of(body)
    if not tools:
        return None
    return rewritten(body, Toolset(tools, dialect, policy), tagged)


def tools_of(body: Any) -> list[Tool]:
    """The function tools that a request offers. Raises ``RequestError`` for one that cannot be read."""
    offered = body.get("tools") if isinstance(body, dict) else None
    if not isinstance(offered, list):
        return []
    return [
        _tool(entry["function"], f"tools[{index}].function")
        for index, entry in enumerate(offered)
        if is_function(entry)
    ]


def rewritten(body: dict[str, Any], toolset: Toolset, tagged: str | None = None) -> Rewritten:
    """A request whose function tools are those of a toolset, in the form that the toolset has; its history likewise.

    Raises ``RequestError`` for a request that cannot be written.
    """
    offered = body["tools"]
    others = [entry for entry in offered if not is_function(entry)]
    plain = {name: value for name, value in body.items() if name != "extra_body"}  # a client's word: none on the wire
    written = chat_completions.write({**plain, "tools": others}, toolset)
    ours = iter(written["tools"][len(others) :])
    written["tools"] = [_in_place(entry, next(ours)) if is_function(entry) else entry for entry in offered]
    return Rewritten({**body, **written}, toolset, tagged_in(body, tagged))


def tagged_in(body: dict[str, Any], tagged: str | None) -> Tagged | None:
    """How calls may stand in the text of the answer to a request, where they may."""
    model = body.get("model")
    return None if tagged is None else Tagged(tagged, model if isinstance(model, str) else None)


_COMPILED: Final = frozenset({"name", "description", "parameters", "strict"})
"""The fields of a function that are made anew."""


def _in_place(entry: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """A compiled tool with whatever else the client said of it, as a mark for the provider's cache."""
    function = {name: value for name, value in entry["function"].items() if name not in _COMPILED}
    others = {name: value for name, value in entry.items() if name != "strict"}
    return {**others, **ours, "function": {**function, **ours["function"]}}


def is_function(entry: Any) -> bool:
    """Whether an entry of ``tools`` is a function, and not a tool of another type."""
    return isinstance(entry, dict) and entry.get("type") == "function" and isinstance(entry.get("function"), dict)


def _tool(function: Mapping[str, Any], place: str) -> Tool:
    name, description = function.get("name"), function.get("description")
    if not isinstance(name, str) or not name:
        raise RequestError(f"{place}.name", "must be a text")
    if description is not None and not isinstance(description, str):
        raise RequestError(f"{place}.description", "must be a text")
    return Tool(name, description, function.get("parameters"))


def answered(response: Any, made: Rewritten) -> Any:
    """A whole answer with its calls in contract form; what is no answer stays as it is."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list):
        return response
    return {**response, "choices": [_choice(response, choice, made) for choice in choices]}


def _choice(response: Mapping[str, Any], choice: Any, made: Rewritten) -> Any:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return choice
    toolset = made.toolset
    listed = message.get("tool_calls")
    if not isinstance(listed, list) or not listed:
        if made.tagged is None:
            return choice
        return tagged_text.answered(choice, made.tagged, toolset, lambda call: arguments_text(call, toolset))
    # The old function_call is never answered to tools, and would be read as one call more.
    asked = {name: value for name, value in message.items() if name != "function_call"}
    try:
        alone = {**response, "choices": [{**choice, "index": 0, "message": asked}]}
        answer = chat_completions.read(alone, toolset, tagged=NONE)
    except StreamError:
        return choice
    functions = [index for index, entry in enumerate(listed) if isinstance(entry, dict) and not is_custom(entry)]
    if len(answer.calls) != len(functions):
        return choice
    calls = dict(zip(functions, answer.calls, strict=True))
    said = [_said(entry, calls[index], toolset) if index in calls else entry for index, entry in enumerate(listed)]
    return {**choice, "message": {**message, "tool_calls": said}}


def _said(entry: dict[str, Any], call: Call, toolset: Toolset) -> Any:
    """A call of an answer under the tool's own name, with its arguments as the client is given them."""
    function = entry.get("function")
    if not isinstance(function, dict):
        return entry
    return {**entry, "function": {**function, "name": call.name, "arguments": arguments_text(call, toolset)}}


def arguments_text(call: Call, toolset: Toolset) -> str:
    """A call's arguments in contract form, or as the model wrote them where they cannot be read.

    Where all that is wrong is what the contract asks and no decoder held, they are in contract form too: the client
    finds that out as it would without a gateway, and tells the model of nothing else.
    """
    if not call.faults:
        return compact(call.arguments)
    compiled = find_tool(toolset, call.name)
    if not call.complete or compiled is None or compiled.identity:
        return call.raw
    arguments = compiled.read(call.raw, "wire" if compiled.strict else "either").arguments
    if arguments is None or not set(call.faults) <= set(compiled.check(arguments)):
        return call.raw
    text = compact(arguments)
    return call.raw if _is_said_by(call.raw, text) else text


def _is_said_by(raw: str, text: str) -> bool:
    try:
        return compact(json.loads(raw)) == text
    except (ValueError, RecursionError):
        return False  # what was read was mended first: arguments that were left out, say


class StreamRewriter:
    """A streamed answer with its calls in contract form. ``feed`` takes bytes as they come and gives bytes to send.

    Events that hold no piece of a call pass as they came. What was held of a call is sent before the event that ends
    its choice.
    """

    def __init__(self, made: Rewritten) -> None:
        self._made = made
        self._reader = EventReader()
        self._choices: dict[Any, _StreamedChoice] = {}
        self._last: dict[str, Any] = {}

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What to send on. Raises ``StreamError`` where the stream is none of the API's."""
        for data in self._reader.feed(chunk):
            yield from (b"data: " + text.encode() + b"\n\n" for text in self.event(data))

    def event(self, data: str) -> Iterator[str]:
        """What to send on of one event, by the data of each. Raises ``StreamError``."""
        if data == DONE:
            yield from self._rest()
            yield data
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            yield data  # whatever this is, it is the client's to judge
            return
        choices = event.get("choices") if isinstance(event, dict) else None
        if not isinstance(choices, list) or not any(map(self._concerns, choices)):
            yield data
            return
        self._last = event
        for choice in choices:
            if not _can_be_told_apart(choice):
                yield compact({**event, "choices": [choice]})
                continue
            streamed = self._choices.setdefault(choice.get("index") or 0, _StreamedChoice(self._made))
            yield from (compact({**event, "choices": [rewritten]}) for rewritten in streamed.feed(choice))

    def _concerns(self, choice: Any) -> bool:
        """Whether a choice of an event holds a piece of a call, or ends one that has some."""
        if not _can_be_told_apart(choice):
            return False
        delta = choice.get("delta")
        if isinstance(delta, dict) and (delta.get("tool_calls") or (self._made.tagged and delta.get("content"))):
            return True
        return choice.get("finish_reason") is not None and (choice.get("index") or 0) in self._choices

    def _rest(self) -> Iterator[str]:
        """What is held of choices that nothing ended before the stream was done."""
        for index, streamed in self._choices.items():
            held = streamed.finished()
            if held:
                choice = {"index": index, "delta": {"tool_calls": held}, "finish_reason": None}
                yield compact({**self._last, "choices": [choice]})


def _can_be_told_apart(choice: Any) -> bool:
    """Whether this is a choice, under an index that may be the same in another event."""
    return isinstance(choice, dict) and not isinstance(choice.get("index"), dict | list)


class _StreamedChoice:
    """One choice of a streamed answer.

    Calls are told under the indices 0, 1, … in the order in which they began, those of custom tools among them: some
    servers give all their calls one index.
    """

    def __init__(self, made: Rewritten) -> None:
        self._toolset = made.toolset
        self._stream = chat_completions.Stream(made.toolset, tagged=NONE)
        self._text: TaggedText | None = None
        if made.tagged is not None:
            self._text = TaggedText(made.tagged, made.toolset, lambda call: arguments_text(call, made.toolset))
        self._ended = False
        self._told: set[int] = set()
        self._order: dict[tuple[str, Any], int] = {}
        self._newest: dict[str, int] = {}
        self._begun: set[int] = set()
        self._waiting: dict[int, dict[str, Any]] = {}

    def feed(self, choice: dict[str, Any]) -> Iterator[Any]:
        """The choices to send in the place of one that came, each for an event of its own.

        Raises ``StreamError`` for calls beyond all bounds.
        """
        delta = choice["delta"] if isinstance(choice.get("delta"), dict) else {}
        said = [piece for entry in _entries(delta) for piece in self._pieces(entry)]
        if self._text is not None:
            choice = self._text.rewritten({**choice, "delta": _without_calls(delta)}, alone=not self._order)
            delta = choice["delta"]
            said += _entries(delta)
        others = _without_calls(delta)
        if choice.get("finish_reason") is None:
            if said or others:
                yield {**choice, "delta": {**others, **({"tool_calls": said} if said else {})}}
            return
        said += self.finished(choice["finish_reason"])
        if said:
            yield {**choice, "finish_reason": None, "delta": {"tool_calls": said}}
        yield {**choice, "delta": others}

    def finished(self, reason: Any = "tool_calls") -> list[dict[str, Any]]:
        """What was held of the calls, and of those that do not fit and of which nothing was told, what the model
        wrote. Nothing when asked again.
        """
        if self._ended:
            return []
        self._ended = True
        self._stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        answer = self._stream.finish()
        pieces = self._deltas(self._stream.ended)
        for position, call in enumerate(answer.calls):
            if call.faults and call.raw and position not in self._told:
                pieces.append(_arguments(self._index("function", position), arguments_text(call, self._toolset)))
        return pieces

    def _pieces(self, entry: dict[str, Any]) -> list[dict[str, Any]]:
        """What is sent for a piece of a call. Fields that are not the API's own go with it."""
        key = str(entry.get("id") if entry.get("index") is None else entry["index"])
        if is_custom(entry):
            return [{**entry, "index": self._index("custom", key)}]
        if self._ended:
            return []  # a piece after the end cannot be read with its call any more
        before = self._stream.calls
        events = self._stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]})
        position = self._newest.get(key, self._stream.calls - 1)
        if self._stream.calls > before:
            position = self._newest[key] = self._stream.calls - 1
        index = self._index("function", position)
        extra = {name: value for name, value in entry.items() if name not in _REWRITTEN and value is not None}
        if position in self._begun:
            pieces = self._deltas(events)
            return [{**(pieces[0] if pieces else _arguments(index, "")), **extra}, *pieces[1:]] if extra else pieces
        self._waiting.setdefault(position, {}).update(extra)
        return self._deltas(events)

    def _index(self, kind: str, key: Any) -> int:
        return self._order.setdefault((kind, key), len(self._order))

    def _deltas(self, events: list[Event]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for event in events:
            match event:
                case CallStarted(position, call_id, name):
                    start = {"index": self._index("function", position), "id": call_id, "type": "function"}
                    function = {"name": name, "arguments": ""}
                    found.append({**start, "function": function, **self._waiting.pop(position, {})})
                    self._begun.add(position)
                case ArgumentsDelta(position, text):
                    self._told.add(position)
                    found.append(_arguments(self._index("function", position), text))
                case _:
                    pass  # text and reasoning stand in the delta as it came
        return found


_REWRITTEN: Final = frozenset({"index", "id", "type", "function"})
"""The fields of a call's piece that are made anew."""


def _without_calls(delta: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in delta.items() if name != "tool_calls"}


def _entries(delta: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = delta.get("tool_calls")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _arguments(index: int, text: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": text}}
