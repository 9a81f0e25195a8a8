"""What a chunk of Chat Completions says, or a whole answer, which is read as one chunk.

Sources: ``CreateChatCompletionResponse`` and ``CreateChatCompletionStreamResponse`` of
https://github.com/openai/openai-openapi; ``reasoning_content``, the counts of cached tokens and
``insufficient_system_resource`` of https://api-docs.deepseek.com/api/create-chat-completion; ``reasoning``,
``reasoning_details`` and the reason ``error`` of https://openrouter.ai/docs/api-reference/overview; content in parts
and ``model_length`` of https://docs.mistral.ai/api.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from strictcall.api.answer import StopReason, Usage
from strictcall.api.fields import count, error_words, items, table, tables, text
from strictcall.api.reading import raw_text
from strictcall.errors import StreamError

STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": StopReason.STOP,
    "eos": StopReason.STOP,
    "tool_calls": StopReason.TOOL_CALLS,
    "function_call": StopReason.TOOL_CALLS,
    "length": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "content_filter": StopReason.CONTENT_FILTER,
    "error": StopReason.ERROR,
    "abort": StopReason.ERROR,
    "insufficient_system_resource": StopReason.ERROR,
}
"""Why an answer ends, by the API's words and those of servers that speak it."""
REASONING: Final = ("reasoning_content", "reasoning")
"""The fields that hold what a model thinks; a server that sends both says the same in each."""
SPOKEN: Final = frozenset({*REASONING, "content", "refusal"})
"""The fields of a delta that hold text."""

Voice = Literal["text", "reasoning", "refusal"]


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a call: ``index``, ``id`` and ``name`` where it has them, and what it adds to the arguments.

    ``extra`` are the fields of the call that are not the API's own, as signatures of the provider are. ``as_value``:
    the arguments came as an object and not as text.
    """

    index: int | str | None
    id: str | None
    name: str
    arguments: str
    extra: dict[str, Any]
    as_value: bool = False


def check_error(chunk: Mapping[str, Any]) -> None:
    """Raises ``StreamError`` with the words of an error that came in place of an answer, or within a stream."""
    error = chunk.get("error")
    if error:
        raise StreamError(error_words(error))
    if chunk.get("object") == "error":
        raise StreamError(error_words(dict(chunk)))


def first_choice(chunk: Mapping[str, Any]) -> dict[str, Any] | None:
    """The choice of index 0, or without an index: of several choices only the first is read."""
    for choice in tables(chunk.get("choices")):
        if not choice.get("index"):
            return choice
    return None


def said(choice: Mapping[str, Any]) -> dict[str, Any]:
    """What a choice adds to the message: a stream's delta, or the whole message."""
    return table(choice.get("delta")) or table(choice.get("message"))


def spoken(delta: Mapping[str, Any]) -> Iterator[tuple[Voice, str]]:
    """The pieces of text in a delta, each with the voice that says it; what was thought before what is said."""
    thought = next((piece for piece in (text(delta.get(name)) for name in REASONING) if piece), "")
    if thought:
        yield "reasoning", thought
    content = delta.get("content")
    if isinstance(content, str):
        yield "text", content
    for part in tables(content):
        yield from _of_part(part)
    yield "refusal", text(delta.get("refusal"))


def _of_part(part: dict[str, Any]) -> Iterator[tuple[Voice, str]]:
    """A part of content that is a list: text, a refusal, or a thought, which is text or parts in its turn."""
    thought = part.get("thinking")
    yield "reasoning", text(thought)
    for inner in tables(thought):
        yield "reasoning", text(inner.get("text"))
    yield "text", text(part.get("text"))
    yield "refusal", text(part.get("refusal"))


def call_pieces(delta: Mapping[str, Any], *, whole: bool = False) -> Iterator[CallPiece]:
    """The pieces of calls in a delta; in a ``whole`` message each is a call of its own.

    Calls of custom tools, whose input is no JSON, are not among them. The old ``function_call`` is a call without id.
    """
    for position, call in enumerate(items(delta.get("tool_calls"))):
        if isinstance(call, dict) and not is_custom(call):
            index = call.get("index")
            if whole or not isinstance(index, int | str):
                index = position if whole else None
            yield _piece(index, call)
    old = table(delta.get("function_call"))
    if old:
        yield _piece("function_call", {"function": old})


def is_custom(call: Mapping[str, Any]) -> bool:
    """Whether a call, or a piece of one, is that of a custom tool."""
    return call.get("type") == "custom" or isinstance(call.get("custom"), dict)


def _piece(index: int | str | None, call: dict[str, Any]) -> CallPiece:
    function = table(call.get("function"))
    arguments = function.get("arguments")
    as_value = arguments is not None and not isinstance(arguments, str)
    extra = {name: value for name, value in call.items() if name not in _OWN and value is not None}
    written = raw_text(arguments) if as_value else text(arguments)
    return CallPiece(index, text(call.get("id")) or None, text(function.get("name")), written, extra, as_value)


_OWN: Final = frozenset({"index", "id", "type", "function"})


def stop_reason(choice: Mapping[str, Any]) -> StopReason | None:
    """Why the answer ends, where a choice says so."""
    reason = text(choice.get("finish_reason"))
    return STOP_REASONS.get(reason, StopReason.OTHER) if reason else None


def usage(chunk: Mapping[str, Any], choice: Mapping[str, Any] | None) -> Usage | None:
    """The tokens that a chunk counts, where it does; some servers count them within the choice."""
    counted = table(chunk.get("usage")) or table((choice or {}).get("usage"))
    if not counted:
        return None
    cached = count(table(counted.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(
        count(counted.get("prompt_tokens")),
        count(counted.get("completion_tokens")),
        count(counted.get("prompt_cache_hit_tokens")) if cached is None else cached,
        count(table(counted.get("completion_tokens_details")).get("reasoning_tokens")),
    )
