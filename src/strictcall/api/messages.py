"""Anthropic's Messages API, both directions.

The shapes are those of https://docs.anthropic.com/en/api/messages and, for streams, of
https://docs.anthropic.com/en/docs/build-with-claude/streaming. Bodies, responses and events are plain dicts: what a
client gives is made one by its ``.to_dict()``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from strictcall.api.answer import Answer, StopReason, Usage
from strictcall.api.blocks import Block, Blocks
from strictcall.api.feeding import Feed
from strictcall.api.fields import count, error_words, shown, table, tables, text
from strictcall.api.messages_writing import history, results, write
from strictcall.errors import StreamError
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

__all__ = ["Stream", "history", "read", "results", "write"]

STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": StopReason.STOP,
    "tool_use": StopReason.TOOL_CALLS,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
    "compaction": StopReason.PAUSE,
}
"""https://docs.anthropic.com/en/api/handling-stop-reasons; ``compaction`` is the beta's of the same name."""
_DELTAS: Final[Mapping[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "compaction_delta": ("compaction", "content"),
}
"""The kind of block that a delta belongs to, and the field that it makes longer: both it and the block have it."""
_COUNTED: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def read(response: Any, toolset: Toolset, output: CompiledTool | None = None) -> Answer:
    """The answer in a response's body, ``{"type": "message", "content": [...], ...}``.

    Where the tokens ran out, or a refusal broke the answer off, within a call that is the last block, the call is not
    complete, even if what there is of it looks whole: the API closes what it had of the arguments.

    Raises ``StreamError`` for an error's body, with its words, and for what is no message.
    """
    message = table(response)
    if message.get("type") == "error" or ("error" in message and "content" not in message):
        raise StreamError(error_words(message.get("error")))
    if message.get("type", "message") != "message" or not isinstance(message.get("content"), list):
        raise StreamError(f"this is no answer of the Messages API: {shown(response)}")
    stream = Stream(toolset, output)
    stream.take_whole(message)
    return stream.finish()


class Stream(Feed):
    """The answer of a response that is streamed. ``native`` of its answer is the assistant's message, whole blocks in
    it: what began as pieces is put together, signatures as they came.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None) -> None:
        super().__init__(toolset, output)
        self._blocks = Blocks(self._assembly)
        self._usage: dict[str, int] = {}

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "error" or (kind is None and "error" in event):
            raise StreamError(error_words(event.get("error")))
        if kind == "content_block_delta":
            self._delta(event.get("index"), table(event.get("delta")))
        elif kind == "content_block_start":
            self._start(event.get("index"), table(event.get("content_block")))
        elif kind == "content_block_stop":
            self._stop(self._blocks.at(event.get("index")))
        elif kind == "message_delta":
            self._ending(table(event.get("delta")), event.get("usage"))
        elif kind == "message_start":
            message = table(event.get("message"))
            self._ending(message, message.get("usage"))

    def take_whole(self, message: dict[str, Any]) -> None:
        """Take a message as a response's body has it, in one piece."""
        for block in tables(message.get("content")):
            self._stop(self._start(None, block))
        self._ending(message, message.get("usage"))

    def _start(self, index: Any, start: dict[str, Any]) -> Block:
        block = self._blocks.open(index, text(start.get("type")), start)
        if block.kind == "text":
            self._assembly.text(text(start.get("text")))
        elif block.kind == "thinking":
            self._think(block.position, text(start.get("thinking")))
        elif block.kind == "tool_use":
            self._blocks.call(block, text(start.get("id")), text(start.get("name")))
        return block

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        kind = text(delta.get("type"))
        block = self._blocks.at(index)
        if kind in _DELTAS:
            of, field = _DELTAS[kind]
            self._longer(block or self._start(index, {"type": of}), of, field, text(delta.get(field)))
        elif block is None:
            return
        elif kind == "input_json_delta" and block.kind.endswith("tool_use"):
            self._blocks.add_json(block, text(delta.get("partial_json")))
        elif kind == "citations_delta":
            self._blocks.add_item(block, "citations", delta.get("citation"))

    def _longer(self, block: Block, of: str, field: str, piece: str) -> None:
        if block.kind != of or not piece:
            return
        self._blocks.add_text(block, field, piece)
        if field == "text":
            self._assembly.text(piece)
        elif field == "thinking":
            self._think(block.position, piece)

    def _stop(self, block: Block | None) -> None:
        if block is not None:
            self._blocks.settle(block, block.start.get("input"))

    def _ending(self, delta: dict[str, Any], usage: Any) -> None:
        reason = text(delta.get("stop_reason"))
        if reason:
            self._assembly.stop_reason = STOP_REASONS.get(reason, StopReason.OTHER)
        said = table(usage)
        counts = {name: count(said.get(name)) for name in _COUNTED}
        counts["thinking_tokens"] = count(table(said.get("output_tokens_details")).get("thinking_tokens"))
        self._usage.update({name: value for name, value in counts.items() if value is not None})

    def _settle(self) -> None:
        if self._assembly.stop_reason is not None:
            for block in self._blocks:
                self._stop(block)
        used = self._usage
        read = [used.get(name) for name in _COUNTED if name.endswith("input_tokens")]
        known = [number for number in read if number is not None]
        self._assembly.usage = Usage(
            sum(known) if known else None,
            used.get("output_tokens"),
            used.get("cache_read_input_tokens"),
            used.get("thinking_tokens"),
        )

    def _native(self) -> dict[str, Any]:
        return {"role": "assistant", "content": [_whole(block) for block in self._blocks]}


def _whole(block: Block) -> dict[str, Any]:
    """A block as it stands in a message; the very one that came where it came in one piece."""
    made = dict(_lengthened(block))
    return {**block.start, **made} if made else block.start


def _lengthened(block: Block) -> Iterator[tuple[str, Any]]:
    for field, pieces in block.texts.items():
        yield field, text(block.start.get(field)) + "".join(pieces)
    for field, more in block.lists.items():
        yield field, [*(block.start.get(field) or ()), *more]
    if block.in_pieces:
        yield "input", block.input(block.start.get("input"))
