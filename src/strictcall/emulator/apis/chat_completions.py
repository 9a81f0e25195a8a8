"""The Chat Completions API (OpenAI, and the many who speak it): ``POST /v1/chat/completions``.

Sources: https://github.com/openai/openai-openapi (``CreateChatCompletionResponse``,
``CreateChatCompletionStreamResponse``) and https://platform.openai.com/docs/guides/error-codes. ``reasoning_content``
is not OpenAI's; DeepSeek, vLLM, SGLang and others have it (https://api-docs.deepseek.com/guides/reasoning_model).
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping
from typing import Any, Final

from strictcall.emulator.answer import MadeCall, tokens
from strictcall.emulator.apis.chat_completions_breaches import word
from strictcall.emulator.apis.chat_completions_reading import read, read_styled
from strictcall.emulator.apis.writing import pieces, prompt_tokens
from strictcall.emulator.interface import Api, Frame, Reply
from strictcall.emulator.refusal import Kind, Refusal

_FINGERPRINT: Final = "fp_emulated"
_FINISH: Final = {"stop": "stop", "calls": "tool_calls", "length": "length", "refusal": "stop"}
"""Why an answer ends. A refusal is a whole message, told in a field of its own."""
_TYPES: Final[Mapping[Kind, str]] = {
    "invalid": "invalid_request_error",
    "authentication": "invalid_request_error",
    "billing": "insufficient_quota",
    "permission": "invalid_request_error",
    "not_found": "invalid_request_error",
    "timeout": "timeout",
    "conflict": "conflict_error",
    "too_large": "invalid_request_error",
    "unprocessable": "invalid_request_error",
    "rate_limit": "requests",
    "server": "server_error",
    "overloaded": "service_unavailable_error",
}
_CODES: Final[Mapping[Kind, str]] = {
    "authentication": "invalid_api_key",
    "billing": "insufficient_quota",
    "permission": "permission_denied",
    "not_found": "model_not_found",
    "too_large": "request_too_large",
    "rate_limit": "rate_limit_exceeded",
    "overloaded": "server_is_overloaded",
}
"""The code where a refusal has none of its own."""


def error(refusal: Refusal, request_id: str) -> Any:
    """An error's body. The request's id is in a header only. Exhausted quota has its own type, at any status."""
    del request_id
    code = refusal.code or _CODES.get(refusal.kind)
    kind = "insufficient_quota" if code == "insufficient_quota" else _TYPES[refusal.kind]
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": code}}


def whole(reply: Reply) -> Any:
    """A whole answer; every one of ``n`` choices is the same."""
    message = _message(reply)
    choices = [
        {"index": index, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
        for index in range(reply.request.options["n"])
    ]
    return {**_head(reply, "chat.completion"), "choices": choices, "usage": _usage(reply)}


def _message(reply: Reply) -> dict[str, Any]:
    answer = reply.answer
    refused = answer.stop == "refusal"
    content = None if refused or (answer.calls and not answer.text) else answer.text
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
    return {**message, "refusal": answer.text if refused else None, "annotations": []}


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.id}",
        "object": kind,
        "created": reply.created,
        "model": reply.request.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def _finish(reply: Reply) -> str:
    """A call that the choice named ends with ``stop``, as one that the model chose does not."""
    if reply.answer.stop == "calls" and reply.request.options["forced"]:
        return "stop"
    return _FINISH[reply.answer.stop]


def _usage(reply: Reply) -> dict[str, Any]:
    prompt = prompt_tokens(reply.request)
    completion = reply.answer.tokens * int(reply.request.options["n"])
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": tokens(reply.answer.reasoning) if reply.answer.reasoning else 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


# --- streamed ---------------------------------------------------------------------------------------------------------


def frames(reply: Reply) -> Iterator[Frame]:
    """A stream's events: the role, deltas, why it ends and, where asked for, the usage with no choice."""
    options = reply.request.options
    with_usage = options["include_usage"]
    for index in range(options["n"]):
        for delta in _deltas(reply):
            yield _chunk(reply, index, delta, None)
        yield _chunk(reply, index, {}, _finish(reply))
    if with_usage:
        yield Frame({**_head(reply, "chat.completion.chunk"), "choices": [], "usage": _usage(reply), **_padding(reply)})


def _chunk(reply: Reply, index: int, delta: dict[str, Any], finish: str | None) -> Frame:
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    usage = {"usage": None} if reply.request.options["include_usage"] else {}
    return Frame({**_head(reply, "chat.completion.chunk"), "choices": [choice], **usage, **_padding(reply)})


def _padding(reply: Reply) -> dict[str, str]:
    """Random characters that hide the length of a delta from who watches the network, unless they are declined."""
    if not reply.request.options["obfuscation"]:
        return {}
    rng = reply.rng
    return {"obfuscation": "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(1, 8)))}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    answer, rng = reply.answer, reply.rng
    refused = answer.stop == "refusal"
    only_calls = bool(answer.calls) and not answer.text
    first = {"role": "assistant", "content": None if refused or only_calls else "", "refusal": None}
    if only_calls and len(answer.calls) == 1 and not answer.reasoning and rng.random() < 0.5:
        # A lone call is opened together with the role.
        yield {**first, "tool_calls": [_opened(answer.calls[0], 0)]}
        yield from (_continued(piece, 0) for piece in pieces(answer.calls[0].arguments, rng))
        return
    yield first
    for piece in pieces(answer.reasoning, rng):
        yield {"reasoning_content": piece}
    for piece in pieces(answer.text, rng):
        yield {"refusal" if refused else "content": piece}
    # The official client takes a strict call as complete, and parses it, when the next one is opened.
    may_overlap = not any(tool.strict for tool in reply.request.tools)
    yield from _calls(answer.calls, rng, rng.choice((0.0, 0.3)) if may_overlap else 0.0)


def _calls(calls: tuple[MadeCall, ...], rng: random.Random, overlap: float) -> Iterator[dict[str, Any]]:
    """Calls one after the other or, as some servers have it, several at a time, their fragments mixed.

    They are opened in their order in either case; ``overlap`` is how likely one is before those before it are complete.
    """
    waiting = [_call(call, index, rng) for index, call in enumerate(calls)]
    running: list[Iterator[dict[str, Any]]] = []
    while running or waiting:
        if waiting and (not running or rng.random() < overlap):
            running.append(waiting.pop(0))
            chosen = running[-1]
        else:
            chosen = rng.choice(running)
        delta = next(chosen, None)
        if delta is None:
            running.remove(chosen)
        else:
            yield delta


def _call(call: MadeCall, index: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    yield {"tool_calls": [_opened(call, index)]}
    for piece in pieces(call.arguments, rng):
        yield _continued(piece, index)


def _opened(call: MadeCall, index: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": ""}
    return {"index": index, "id": call.id, "type": "function", "function": function}


def _continued(piece: str, index: int) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


API: Final = Api(
    name="chat_completions",
    dialect="openai",
    routes=("/v1/chat/completions", "/chat/completions"),
    read=read,
    word=word,
    error=error,
    whole=whole,
    frames=frames,
    stream_end=Frame("[DONE]"),
    read_styled=read_styled,
)
"""Chat Completions."""
