"""Calls that a model writes as text, on their way through the gateway: the client sees them as calls."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.events import Event, ReasoningDelta, TextDelta
from strictcall.tagged.answers import BETWEEN_THOUGHTS, AnswerText
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

    def text(self, toolset: Toolset) -> AnswerText:
        """What reads the text of one choice."""
        return AnswerText(toolset, self.format, self.model)


def answered(choice: Mapping[str, Any], said: Tagged, toolset: Toolset, written: Written) -> dict[str, Any]:
    """A whole answer's choice with the calls that its text holds; the same values where it holds none."""
    message = choice["message"]
    content = message.get("content")
    if not isinstance(content, str) or not content:
        return dict(choice)
    text = said.text(toolset)
    text.feed(content)
    answer = text.finish()
    calls = _entries(answer, written)
    if not answer.calls and not answer.reasoning:
        return dict(choice)
    made = {**message, "content": answer.text or None}
    if answer.reasoning:
        made[_THOUGHT] = BETWEEN_THOUGHTS.join(filter(None, (message.get(_THOUGHT), answer.reasoning)))
    if calls:
        made[_CALLS] = calls
    return {**choice, "message": made, "finish_reason": _reason(choice.get("finish_reason"), calls)}


class TaggedText:
    """The text of one choice of a streamed answer."""

    def __init__(self, said: Tagged, toolset: Toolset, written: Written) -> None:
        self._text = said.text(toolset)
        self._written = written
        self._ended = False

    def rewritten(self, choice: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
        """A choice of a chunk with the text that can be told, and at its end the calls that the text held.

        ``alone``: the answer has no calls of the API's own; where it has, what looks like one in the text is text.
        """
        given = choice.get("delta")
        delta = dict(given) if isinstance(given, dict) else {}
        content = delta.get("content")
        events: list[Event] = [] if alone or self._ended else self._text.has_calls()
        if isinstance(content, str) and content and not self._ended:
            del delta["content"]
            events += self._text.feed(content)
        calls: list[dict[str, Any]] = []
        if choice.get("finish_reason") is not None and not self._ended:
            self._ended = True
            calls = _entries(self._text.finish(), self._written)
            events += self._text.ended
        for name, text in (("content", _joined(events, TextDelta)), (_THOUGHT, _joined(events, ReasoningDelta))):
            if text:
                delta[name] = f"{delta.get(name) or ''}{text}"
        if calls:
            delta[_CALLS] = [{"index": index, **call} for index, call in enumerate(calls)]
        return {**choice, "delta": delta, "finish_reason": _reason(choice.get("finish_reason"), calls)}


def _entries(answer: Answer, written: Written) -> list[dict[str, Any]]:
    """The calls of an answer that are complete, as the client is given them."""
    return [
        {
            "id": call.id or f"call_{secrets.token_hex(12)}",
            "type": "function",
            "function": {"name": call.name, "arguments": written(call)},
        }
        for call in answer.calls
        if call.complete
    ]


def _reason(given: Any, calls: list[Any]) -> Any:
    return _CALLS if calls and given == "stop" else given


def _joined(events: Iterable[Event], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))
