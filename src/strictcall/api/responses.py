"""OpenAI's Responses API, both directions.

The shapes are those of https://platform.openai.com/docs/api-reference/responses and, for streams, of
https://platform.openai.com/docs/api-reference/responses-streaming. Bodies, responses and events are plain dicts: what a
client gives is made one by its ``.to_dict()``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.api.answer import Answer, StopReason, Usage
from strictcall.api.feeding import Feed
from strictcall.api.fields import count, error_words, items, shown, table, tables, text
from strictcall.api.reading import raw_text
from strictcall.api.responses_items import ARGUMENTS, Item, Items
from strictcall.api.responses_writing import history, results, write
from strictcall.errors import StreamError
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

__all__ = ["Stream", "history", "read", "results", "write"]

_REASONS: Final[Mapping[str, StopReason]] = {
    "max_output_tokens": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
}
"""``incomplete_details.reason``."""
_ENDED: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_TEXT: Final = "response.output_text"
_REFUSAL: Final = "response.refusal"
_SUMMARY: Final = "response.reasoning_summary_text"
_THOUGHT: Final = "response.reasoning_text"
_TEXTS: Final[Mapping[str, tuple[str, str, str]]] = {
    f"{_TEXT}.delta": ("output_text", "content_index", "delta"),
    f"{_TEXT}.done": ("output_text", "content_index", "text"),
    f"{_REFUSAL}.delta": ("refusal", "content_index", "delta"),
    f"{_REFUSAL}.done": ("refusal", "content_index", "refusal"),
    f"{_SUMMARY}.delta": ("summary_text", "summary_index", "delta"),
    f"{_SUMMARY}.done": ("summary_text", "summary_index", "text"),
    f"{_THOUGHT}.delta": ("reasoning_text", "content_index", "delta"),
    f"{_THOUGHT}.done": ("reasoning_text", "content_index", "text"),
}
"""Events of texts: the kind of part, the field with its number within its item, and the field with the text."""
_ITEM_OF: Final[Mapping[str, str]] = {
    "output_text": "message",
    "refusal": "message",
    "summary_text": "reasoning",
    "reasoning_text": "reasoning",
}


def read(response: Any, toolset: Toolset, output: CompiledTool | None = None) -> Answer:
    """The answer in a response's body, ``{"object": "response", "status": ..., "output": [...], ...}``.

    A response that was cancelled broke off: none of its calls is complete.

    Raises ``StreamError`` for an error's body and a response that ``failed``, with their words; for one that is still
    ``queued`` or ``in_progress``, and for what is no response.
    """
    body = table(response)
    if isinstance(body.get("error"), dict | str) and body["error"]:
        raise StreamError(error_words(body["error"]))
    if not isinstance(body.get("output"), list):
        raise StreamError(f"this is no answer of the Responses API: {shown(response)}")
    if body.get("status") in ("queued", "in_progress"):
        raise StreamError(f"the response is not finished, but {body['status']}")
    stream = Stream(toolset, output)
    stream.feed({"type": "response.completed", "response": body})
    return stream.finish()


class Stream(Feed):
    """The answer of a response that is streamed.

    What an event repeats whole is told only as far as it was not told before, so an answer is the same whether it came
    in deltas, in whole items or in the last event alone. ``native`` of the answer are its output items, as the
    provider sent them when they were done; one that never was is put together from what came of it.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None) -> None:
        super().__init__(toolset, output)
        self._items = Items()
        self._refused = False
        self._usage: dict[str, Any] = {}

    def _take(self, event: dict[str, Any]) -> None:
        kind = text(event.get("type"))
        if kind == "error" or (not kind and event.get("error")):
            raise StreamError(error_words(event.get("error") or {**event, "type": None}))
        if kind in _ENDED:
            self._end(kind, table(event.get("response")))
        elif kind in _TEXTS:
            self._text_event(kind, event)
        elif kind.startswith("response.function_call_arguments."):
            self._arguments_event(kind, event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            said = table(event.get("item"))
            item = self._items.said(event, said, begins=kind.endswith("added"))
            if kind.endswith("done"):
                self._whole(item, said)
            else:
                self._begin(item, said)

    # --- items --------------------------------------------------------------------------------------------------------

    def _begin(self, item: Item, said: dict[str, Any]) -> None:
        """An item is known: if it is a call, its name may be."""
        if item.kind != "function_call":
            return
        if item.slot is None:
            item.slot = self._assembly.slot(item.position)
        item.slot.id = item.slot.id or text(said.get("call_id")) or text(said.get("id")) or None
        if not item.slot.name:
            item.slot.named(text(said.get("name")))
        self._assembly.begin(item.slot)

    def _whole(self, item: Item, said: dict[str, Any]) -> None:
        """An item as it is when it is done."""
        self._begin(item, said)
        if item.slot is not None:
            arguments = said.get("arguments")
            self._arguments(item, item.rest(ARGUMENTS, _text_of(arguments)))
        for kind, parts in (("output_text", "content"), ("summary_text", "summary"), ("reasoning_text", "content")):
            if _ITEM_OF[kind] == item.kind:
                self._whole_parts(item, kind, items(said.get(parts)))
        self._items.done(item, said)

    def _whole_parts(self, item: Item, kind: str, parts: list[Any]) -> None:
        for number, part in enumerate(parts):
            said = table(part)
            if text(said.get("type")) == "refusal" and kind == "output_text":
                self._text(item, "refusal", number, item.rest(f"refusal {number}", text(said.get("refusal"))))
            elif text(said.get("type")) in (kind, "text"):
                self._text(item, kind, number, item.rest(f"{kind} {number}", text(said.get("text"))))

    def _text_event(self, kind: str, event: dict[str, Any]) -> None:
        part, numbered, field = _TEXTS[kind]
        number = count(event.get(numbered)) or 0
        item = self._items.of(event, _ITEM_OF[part])
        piece = text(event.get(field))
        self._text(item, part, number, piece if kind.endswith("delta") else item.rest(f"{part} {number}", piece))

    def _text(self, item: Item, part: str, number: int, piece: str) -> None:
        if not piece:
            return
        self._items.told(item, f"{part} {number}", piece)
        if _ITEM_OF[part] == "reasoning":
            self._think((item.position, part, number), piece)
        else:
            self._refused = self._refused or part == "refusal"
            self._assembly.text(piece)

    def _arguments_event(self, kind: str, event: dict[str, Any]) -> None:
        item = self._items.of(event, "function_call")
        self._begin(item, {"name": event.get("name"), "call_id": event.get("call_id")})
        if kind.endswith("delta"):
            self._arguments(item, text(event.get("delta")))
        elif kind.endswith("done"):
            self._arguments(item, item.rest(ARGUMENTS, _text_of(event.get("arguments"))))

    def _arguments(self, item: Item, piece: str) -> None:
        if piece and item.slot is not None:
            self._items.told(item, ARGUMENTS, piece)
            self._assembly.arguments(item.slot, piece)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _end(self, kind: str, response: dict[str, Any]) -> None:
        error = response.get("error")
        if error or kind == "response.failed" or response.get("status") == "failed":
            raise StreamError(error_words(error))
        for item, said in self._items.last_said(tables(response.get("output"))):
            self._whole(item, said)
        reason = text(table(response.get("incomplete_details")).get("reason"))
        status = text(response.get("status")) or kind.removeprefix("response.")
        if status == "completed":
            self._assembly.stop_reason = StopReason.REFUSAL if self._refused else StopReason.STOP
        elif status == "incomplete":
            self._assembly.stop_reason = _REASONS.get(reason, StopReason.OTHER)
        self._usage = table(response.get("usage"))

    def _settle(self) -> None:
        used = self._usage
        read, made = table(used.get("input_tokens_details")), table(used.get("output_tokens_details"))
        self._assembly.usage = Usage(
            count(used.get("input_tokens")),
            count(used.get("output_tokens")),
            count(read.get("cached_tokens")),
            count(made.get("reasoning_tokens")),
        )

    def _native(self) -> list[dict[str, Any]]:
        return [item.whole() for item in self._items if not item.is_lost]


def _text_of(arguments: Any) -> str:
    """The arguments' text; some servers give the object itself."""
    return raw_text(arguments) if isinstance(arguments, dict) else text(arguments)
