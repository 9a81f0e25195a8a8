"""An answer of any API as a chat completion, whole or in chunks.

Source: ``CreateChatCompletionResponse`` and ``CreateChatCompletionStreamResponse`` of
https://github.com/openai/openai-openapi; ``reasoning_content`` of https://api-docs.deepseek.com/api/create-chat-completion,
which most servers and clients that know thoughts have.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from strictcall.gateway.chat import arguments_text
from strictcall.json_value import compact
from strictcall.link.prepared import Prepared

FINISH: Final[Mapping[StopReason, str]] = {
    StopReason.STOP: "stop",
    StopReason.TOOL_CALLS: "tool_calls",
    StopReason.LENGTH: "length",
    StopReason.STOP_SEQUENCE: "stop",
    StopReason.REFUSAL: "content_filter",
    StopReason.CONTENT_FILTER: "content_filter",
    StopReason.PAUSE: "stop",
    StopReason.OTHER: "stop",
}
"""Why an answer ended, in the API's words. One that broke off is an error, and has none."""


def _new_id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


def completion(answer: Answer, prepared: Prepared) -> dict[str, Any]:
    """A whole answer as a ``chat.completion``; ``prepared`` is the request that it answers.

    A call that was cut off is not in it: some APIs close what there is of its arguments, so that it would look whole.
    """
    calls = [_call(call, prepared) for call in answer.calls if call.complete]
    message: dict[str, Any] = {"role": "assistant", "content": said(answer, prepared) or None, "refusal": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(answer)}
    made = {
        "id": _new_id(),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": prepared.link.model,
        "choices": [choice],
    }
    counted = usage(answer.usage)
    return made if counted is None else {**made, "usage": counted}


def _reason(answer: Answer) -> str:
    """Why the answer ended; one that says that it calls, and calls nothing, just stopped."""
    reason = FINISH[answer.stop_reason]
    return reason if answer.calls or reason != "tool_calls" else "stop"


def said(answer: Answer, prepared: Prepared) -> str:
    """The text of an answer; where a schema was asked of it, the value in the form that the schema has it."""
    has_value = prepared.output is not None and not answer.calls and not answer.output_faults
    return compact(answer.output) if has_value and answer.stop_reason is StopReason.STOP else answer.text


def _call(call: Call, prepared: Prepared) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_text(call, prepared.toolset)}
    return {"id": call.id or _call_id(), "type": "function", "function": function}


def _call_id() -> str:
    return f"call_{secrets.token_hex(12)}"


def usage(counted: Usage) -> dict[str, Any] | None:
    """Tokens, as the API tells of them; ``None`` where the provider told of none."""
    if counted.input is None and counted.output is None:
        return None
    read, written = counted.input or 0, counted.output or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": counted.cached or 0},
        "completion_tokens_details": {"reasoning_tokens": counted.reasoning or 0},
    }


@dataclass(slots=True)
class Chunks:
    """Writes an answer in chunks while it arrives: ``event`` for each event, then ``last`` for the whole answer.

    ``counts``: the client asked for the usage, which a chunk of its own tells at the end. Where a schema was asked of
    the answer, its text is told at the end, in the form that the schema has. The last character of arguments is
    held until it is known that the call was not cut off: some APIs close what there is of one, and it would look whole.
    """

    prepared: Prepared
    counts: bool
    _shell: dict[str, Any] = field(init=False)
    _began: bool = False
    _held: dict[int, str] = field(default_factory=dict)
    _told: set[int] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    """The ids of the calls so far, as the client is given them."""

    def __post_init__(self) -> None:
        kind = {"id": _new_id(), "object": "chat.completion.chunk", "created": int(time.time())}
        self._shell = {**kind, "model": self.prepared.link.model}

    def event(self, event: Event) -> Iterator[dict[str, Any]]:
        """The chunks that tell of an event."""
        match event:
            case TextDelta(text):
                if self.prepared.output is None:
                    yield self._chunk({"content": text})
            case ReasoningDelta(text):
                yield self._chunk({"reasoning_content": text})
            case CallStarted(position, call_id, name):
                self.ids.append(call_id or _call_id())
                start = {"index": position, "id": self.ids[-1], "type": "function"}
                yield self._chunk({"tool_calls": [{**start, "function": {"name": name, "arguments": ""}}]})
            case ArgumentsDelta(position, text):
                text = self._held.get(position, "") + text
                self._held[position] = text[-1:]
                if text[:-1]:
                    self._told.add(position)
                    yield self._chunk(_arguments(position, text[:-1]))
            case CallEnded():
                pass  # what is left to tell of it is found in the answer

    def last(self, answer: Answer) -> Iterator[dict[str, Any]]:
        """The chunks that end the answer: what could not be told of it before, its reason to end, and its usage."""
        for position, call in enumerate(answer.calls):
            rest = self._held.get(position)
            if rest is None:
                rest = arguments_text(call, self.prepared.toolset)
            if not call.complete:
                # Nothing at all could be taken for a call without arguments.
                rest = "" if position in self._told else "{"
            if rest:
                yield self._chunk(_arguments(position, rest))
        text = said(answer, self.prepared)
        if self.prepared.output is not None and text:
            yield self._chunk({"content": text})
        yield self._chunk({}, _reason(answer))
        if self.counts:
            yield {**self._shell, "choices": [], "usage": usage(answer.usage)}

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        if not self._began:
            self._began = True
            delta = {"role": "assistant", **delta}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        made = {**self._shell, "choices": [choice]}
        return {**made, "usage": None} if self.counts else made


def _arguments(position: int, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": position, "function": {"arguments": text}}]}
