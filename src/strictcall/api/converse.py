"""Amazon Bedrock's Converse API, both directions.

The shapes are those of https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
``API_runtime_ConverseStream.html``, as plain dicts: what boto3 takes as keyword arguments, and what it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from strictcall.api.answer import Answer, StopReason, Usage
from strictcall.api.blocks import Block, Blocks
from strictcall.api.converse_writing import history, results, write
from strictcall.api.events import Event
from strictcall.api.feeding import Feed
from strictcall.api.fields import count, error_words, shown, table, tables, text
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
    "guardrail_intervened": StopReason.CONTENT_FILTER,
    "content_filtered": StopReason.CONTENT_FILTER,
    "malformed_model_output": StopReason.ERROR,
    "malformed_tool_use": StopReason.ERROR,
}
"""``StopReason`` of the API's model."""


def read(response: Any, toolset: Toolset, output: CompiledTool | None = None) -> Answer:
    """The answer in what ``converse`` returns, ``{"output": {"message": ...}, "stopReason": ..., "usage": ...}``.

    Where the tokens ran out within a call that is the last block, the call is not complete, even if what there is of
    it looks whole.

    Raises ``StreamError`` for what has no message; for an error's body, with its words.
    """
    body = table(response)
    message = table(body.get("output")).get("message")
    if not isinstance(message, dict):
        error = body.get("Error") or (body if text(body.get("message")) else None)
        raise StreamError(_words(error) if error else f"this is no answer of the Converse API: {shown(response)}")
    stream = Stream(toolset, output)
    stream.take_whole(message, body)
    return stream.finish()


class Stream(Feed):
    """The answer of ``converse_stream``: feed it the events of its ``stream``, dicts of one member each.

    The API's own framing of bytes is boto3's to read: bytes are refused. ``native`` of the answer is the assistant's
    message, put together.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None) -> None:
        super().__init__(toolset, output)
        self._blocks = Blocks(self._assembly)

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take an event; gives what it tells.

        Raises ``StreamError`` for one of the API's exceptions, for bytes, and after ``finish``.
        """
        if not isinstance(chunk, dict):
            kind = type(chunk).__name__
            raise StreamError(f"an event of Converse is a dict, as boto3 gives it, not {kind}")
        return super().feed(chunk)

    def _take(self, event: dict[str, Any]) -> None:
        for member, value in event.items():
            if str(member).endswith("Exception"):
                raise StreamError(": ".join(filter(None, (str(member), text(table(value).get("message"))))))
            said = table(value)
            index = said.get("contentBlockIndex")
            if member == "contentBlockDelta":
                self._delta(index, table(said.get("delta")))
            elif member == "contentBlockStart":
                self._start(index, table(said.get("start")))
            elif member == "contentBlockStop":
                self._stop(self._blocks.at(index))
            elif member == "messageStop":
                self._stopped(said)
            elif member == "metadata":
                self._used(said)

    def take_whole(self, message: dict[str, Any], body: dict[str, Any]) -> None:
        """Take a message as a response has it, in one piece."""
        for part in tables(message.get("content")):
            block = self._start(None, part)
            self._assembly.text(text(part.get("text")) + _cited(part))
            self._think(block.position, text(table(_reasoning(part).get("reasoningText")).get("text")))
            self._stop(block)
        self._stopped(body)
        self._used(body)

    def _start(self, index: Any, start: dict[str, Any]) -> Block:
        use = start.get("toolUse")
        block = self._blocks.open(index, "toolUse" if isinstance(use, dict) else "", start)
        if isinstance(use, dict) and use.get("type") != "server_tool_use":
            self._blocks.call(block, text(use.get("toolUseId")), text(use.get("name")))
        return block

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        # Blocks of text and of thoughts have no start of their own.
        block = self._blocks.at(index) or self._start(index, {})
        if "toolUse" in delta:
            if block.kind == "toolUse":
                self._blocks.add_json(block, text(table(delta["toolUse"]).get("input")))
        elif "text" in delta:
            self._longer(block, "text", text(delta["text"]))
            self._assembly.text(text(delta["text"]))
        elif "reasoningContent" in delta:
            self._thought_of(block, _reasoning(delta))
        else:
            for piece in tables(delta.get("toolResult")):
                self._blocks.add_item(block, "results", piece)

    def _thought_of(self, block: Block, thought: dict[str, Any]) -> None:
        self._think(block.position, text(thought.get("text")))
        self._longer(block, "thought", text(thought.get("text")))
        self._longer(block, "signature", text(thought.get("signature")))
        if isinstance(thought.get("redactedContent"), bytes):
            self._longer(block, "redacted", thought["redactedContent"])

    def _longer(self, block: Block, field: str, piece: str | bytes) -> None:
        if piece:
            self._blocks.add_text(block, field, piece)

    def _stop(self, block: Block | None) -> None:
        if block is not None:
            self._blocks.settle(block, table(block.start.get("toolUse")).get("input"))

    def _stopped(self, said: dict[str, Any]) -> None:
        reason = text(said.get("stopReason"))
        if reason:
            self._assembly.stop_reason = STOP_REASONS.get(reason, StopReason.OTHER)

    def _used(self, said: dict[str, Any]) -> None:
        used = table(said.get("usage"))
        cached = count(used.get("cacheReadInputTokens"))
        read = [count(used.get("inputTokens")), cached, count(used.get("cacheWriteInputTokens"))]
        known = [number for number in read if number is not None]
        if used:
            self._assembly.usage = Usage(sum(known) if known else None, count(used.get("outputTokens")), cached)

    def _settle(self) -> None:
        if self._assembly.stop_reason is not None:
            for block in self._blocks:
                self._stop(block)

    def _native(self) -> dict[str, Any]:
        content = [made for block in self._blocks for made in _whole(block)]
        return {"role": "assistant", "content": content}


def _whole(block: Block) -> Iterator[dict[str, Any]]:
    """A block as it stands in a message; the very one that came where it came in one piece."""
    if block.kind == "toolUse":
        use = block.start["toolUse"]
        made = {**use, "input": block.input(use.get("input"))}
        yield block.start if made == use else {**block.start, "toolUse": made}
    elif "results" in block.lists:
        yield {"toolResult": {**table(block.start.get("toolResult")), "content": _joined(block.lists["results"])}}
    elif block.start and not _is_image_in_pieces(block.start):
        yield block.start
    texts = {field: "".join(pieces) for field, pieces in block.texts.items() if field != "redacted"}
    if "text" in texts and not block.start:
        yield {"text": texts["text"]}
    if "thought" in texts or "signature" in texts:
        thought = {"text": texts.get("thought", "")}
        signed = {"signature": texts["signature"]} if "signature" in texts else {}
        yield {"reasoningContent": {"reasoningText": {**thought, **signed}}}
    if "redacted" in block.texts:
        yield {"reasoningContent": {"redactedContent": b"".join(block.texts["redacted"])}}


def _joined(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a tool of the provider's gave: its texts, which come in pieces, as one."""
    said = "".join(text(piece.get("text")) for piece in results)
    return [*([{"text": said}] if said else []), *(piece for piece in results if "text" not in piece)]


def _is_image_in_pieces(start: dict[str, Any]) -> bool:
    """An image that the model made is not put together again: it would be of no use in a history."""
    return isinstance(start.get("image"), dict) and "source" not in start["image"]


def _reasoning(part: dict[str, Any]) -> dict[str, Any]:
    return table(part.get("reasoningContent"))


def _cited(part: dict[str, Any]) -> str:
    """The text of a block with citations."""
    content = tables(table(part.get("citationsContent")).get("content"))
    return "".join(text(piece.get("text")) for piece in content)


def _words(error: Any) -> str:
    said = table(error)
    return ": ".join(filter(None, (text(said.get("Code")) or text(said.get("__type")), error_words(error))))
