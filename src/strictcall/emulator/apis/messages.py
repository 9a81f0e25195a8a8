"""Anthropic's Messages API: ``POST /v1/messages``.

Sources: https://docs.anthropic.com/en/api/messages and https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any, Final

import jiter

from strictcall.emulator.answer import MadeCall, tokens
from strictcall.emulator.apis.messages_breaches import word
from strictcall.emulator.apis.messages_reading import read
from strictcall.emulator.apis.messages_wording import error
from strictcall.emulator.apis.sealing import seal
from strictcall.emulator.apis.writing import pieces, prompt_tokens
from strictcall.emulator.interface import Api, Frame, Reply

_STOP: Final = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}


def whole(reply: Reply) -> dict[str, Any]:
    """A whole message. A model that says nothing has no blocks."""
    return {**_message(reply), "content": _blocks(reply), **_ending(reply), "usage": _usage(reply)}


def _message(reply: Reply) -> dict[str, Any]:
    """A message without content."""
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }


def _ending(reply: Reply) -> dict[str, Any]:
    refused = reply.answer.stop == "refusal"
    details = {"type": "refusal", "category": None, "explanation": None}
    return {
        "stop_reason": _STOP[reply.answer.stop],
        "stop_sequence": None,
        "stop_details": details if refused else None,
    }


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    answer = reply.answer
    blocks: list[dict[str, Any]] = []
    if answer.reasoning:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": seal(answer.reasoning)})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    return blocks + [_called(call, parsed(call.arguments)) for call in answer.calls]


def _called(call: MadeCall, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments, "caller": {"type": "direct"}}


def parsed(arguments: str) -> dict[str, Any]:
    """The arguments of a call as an object: of text that is cut off, what can be read of it."""
    try:
        value = json.loads(arguments, parse_float=_number, parse_constant=_refused)
    except (ValueError, RecursionError):
        value = _beginning(arguments)
    return value if isinstance(value, dict) else {}


def _beginning(text: str) -> Any:
    try:
        return _finite(jiter.from_json(text.encode("utf-8", "replace"), partial_mode=True, allow_inf_nan=False))
    except ValueError:
        return None


def _finite(value: Any) -> Any:
    """A value of not more levels than the reader of beginnings reads."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return _within(value) if isinstance(value, float) else value


def _number(text: str) -> float:
    return _within(float(text))


def _within(number: float) -> float:
    """A number too large for binary is written as the largest one: JSON has no infinity."""
    return number if math.isfinite(number) else math.copysign(sys.float_info.max, number)


def _refused(name: str) -> None:
    raise ValueError(name)


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "input_tokens": prompt_tokens(reply.request),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "inference_geo": "global",
        "service_tier": "standard",
        **_made(reply),
    }


def _made(reply: Reply) -> dict[str, Any]:
    answer = reply.answer
    details = {"output_tokens_details": {"thinking_tokens": tokens(answer.reasoning)}} if answer.reasoning else {}
    return {"output_tokens": answer.tokens, **details}


# --- streamed ---------------------------------------------------------------------------------------------------------


def frames(reply: Reply) -> Iterator[Frame]:
    """A message as events: it starts, its blocks come one after the other, and it stops."""
    started = {**_message(reply), "usage": {**_usage(reply), "output_tokens": 1}}
    started["usage"].pop("output_tokens_details", None)
    yield _event("message_start", message=started)
    for index, deltas in enumerate(_streamed(reply)):
        yield _event("content_block_start", index=index, content_block=next(deltas))
        if index == 0:
            yield _event("ping")
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    used = _usage(reply)
    cached = {name: used[name] for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")}
    yield _event("message_delta", delta=_ending(reply), usage={**cached, **_made(reply)})
    yield _event("message_stop")


def _event(kind: str, **data: Any) -> Frame:
    return Frame({"type": kind, **data}, kind)


def _streamed(reply: Reply) -> Iterator[Iterator[dict[str, Any]]]:
    """Of each block its beginning and its deltas."""
    answer = reply.answer
    if answer.reasoning:
        yield _thinking(reply)
    if answer.text:
        yield _text(reply)
    for call in answer.calls:
        yield _call(reply, call)


def _thinking(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"type": "thinking", "thinking": "", "signature": ""}
    for piece in pieces(reply.answer.reasoning, reply.rng):
        yield {"type": "thinking_delta", "thinking": piece}
    yield {"type": "signature_delta", "signature": seal(reply.answer.reasoning)}


def _text(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": ""}
    for piece in pieces(reply.answer.text, reply.rng):
        yield {"type": "text_delta", "text": piece}


def _call(reply: Reply, call: MadeCall) -> Iterator[dict[str, Any]]:
    yield _called(call, {})
    for piece in ("", *pieces(call.arguments, reply.rng)):
        yield {"type": "input_json_delta", "partial_json": piece}


API: Final = Api(
    name="messages",
    dialect="anthropic",
    routes=("/v1/messages",),
    read=read,
    word=word,
    error=error,
    whole=whole,
    frames=frames,
    call_prefix="toolu_",
    id_header="request-id",
    needed_header="anthropic-version",
)
"""Messages."""
