"""Calls that a model writes as text, on their way through the gateway: the client sees them as calls."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall import tagged
from strictcall.api.answer import Call
from strictcall.api.events import Event, ReasoningDelta, TextDelta
from strictcall.wire.toolset import Toolset

Written = Callable[[Call], str]
"""The arguments of a call as the client is given them."""
_CALLS: Final = "tool_calls"
_THOUGHT: Final = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A format in which calls may stand in the text, or ``auto``; and the name of the model that writes."""

    format: str
    model: str | None = None


def answered(choice: Mapping[str, Any], said: Tagged, toolset: Toolset, written: Written) -> dict[str, Any]:
    """A whole answer's choice with the calls that its text holds; the same values where it holds none."""
    message = choice["message"]
    content = message.get("content")
    if not isinstance(content, str) or not content:
        return dict(choice)
    answer = tagged.read(content, toolset, said.format, model=said.model)
    calls = [_entry(call, written) for call in answer.calls if call.complete]
    if not answer.calls and not answer.reasoning:
        return dict(choice)
    made = {**message, "content": answer.text or None}
    if answer.reasoning:
        made[_THOUGHT] = "\n\n".join(filter(None, (message.get(_THOUGHT), answer.reasoning)))
    if calls:
        made[_CALLS] = calls
    return {**choice, "message": made, "finish_reason": _reason(choice.get("finish_reason"), calls)}


class TaggedText:
    """The text of one choice of a streamed answer."""

    def __init__(self, said: Tagged, toolset: Toolset, written: Written) -> None:
        self._stream = tagged.Stream(toolset, said.format, said.model)
        self._written = written
        self._ended = False

    def rewritten(self, choice: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
        """A choice of a chunk with the text that can be told, and at its end the calls that the text held.

        ``alone``: the answer has no calls of the API's own; where it has, those in the text are not told.
        """
        given = choice.get("delta")
        delta = dict(given) if isinstance(given, dict) else {}
        content = delta.get("content")
        events: list[Event] = []
        if isinstance(content, str) and content and not self._ended:
            del delta["content"]
            events = self._stream.feed(content)
        calls: list[dict[str, Any]] = []
        if choice.get("finish_reason") is not None and not self._ended:
            self._ended = True
            answer = self._stream.finish()
            events = [*events, *self._stream.ended]
            calls = [_entry(call, self._written) for call in answer.calls if alone and call.complete]
        for name, text in (("content", _joined(events, TextDelta)), (_THOUGHT, _joined(events, ReasoningDelta))):
            if text:
                delta[name] = f"{delta.get(name) or ''}{text}"
        if calls:
            delta[_CALLS] = [{"index": index, **call} for index, call in enumerate(calls)]
        return {**choice, "delta": delta, "finish_reason": _reason(choice.get("finish_reason"), calls)}


def _entry(call: Call, written: Written) -> dict[str, Any]:
    function = {"name": call.name, "arguments": written(call)}
    return {"id": call.id or f"call_{secrets.token_hex(12)}", "type": "function", "function": function}


def _reason(given: Any, calls: list[Any]) -> Any:
    return _CALLS if calls and given == "stop" else given


def _joined(events: Iterable[Event], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))
