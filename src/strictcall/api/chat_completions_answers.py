"""Answers of Chat Completions, whole and streamed: both are read in the same way."""

from __future__ import annotations

from typing import Any, Final

from strictcall.api.answer import Answer, StopReason
from strictcall.api.assembly import Slot
from strictcall.api.chat_completions_chunks import (
    SPOKEN,
    CallPiece,
    call_pieces,
    check_error,
    first_choice,
    is_custom,
    said,
    spoken,
    stop_reason,
    usage,
)
from strictcall.api.events import Event
from strictcall.api.feeding import Feed
from strictcall.api.fields import table, tables, text
from strictcall.api.keeping import Keeper
from strictcall.errors import StreamError
from strictcall.tagged.answers import Reader, TaggedReader, format_for, read_tagged
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset


def read(
    response: dict[str, Any], toolset: Toolset, output: CompiledTool | None = None, *, tagged: str | None = None
) -> Answer:
    """The answer in a response's body, a dict (``response.model_dump()`` of the client's).

    Of several choices the first is read. Calls of tools that are not in the toolset have a fault and keep their text;
    those of custom tools are in ``native`` only. A refusal is the text of an answer that stopped for ``refusal``. A
    body that does not say why the answer ended has the reason ``other``.

    ``tagged`` names a format in which calls may stand in the text, or is ``auto``; then the model's name in the
    response is asked too. ``none`` looks for no calls there. Where nothing is said and tools are offered, the toolset's
    dialect decides.

    Raises ``StreamError`` for what is no answer; for the body of an error, with its words. Raises ``SettingsError``
    for an unknown format.
    """
    if not isinstance(response, dict):
        raise StreamError(f"an answer is a dict, not {type(response).__name__}")
    check_error(response)
    choice = first_choice(response)
    if choice is None:
        said_instead = text(response.get("detail")) or text(response.get("message")) or "no error is told either"
        raise StreamError(f"the answer has no choice of index 0: {said_instead[:500]}")
    reader = Chunks(toolset, output, whole=True)
    reader.feed(response)
    answer = reader.finish()
    form = format_for(toolset, tagged)
    return answer if form is None else read_tagged(answer, toolset, form, text(response.get("model")) or None)


class Stream:
    """Reads a stream: chunks, or the bytes of the response's body. Of several choices the first is read.

    ``tagged`` is as for ``read``; for ``auto``, ``model`` is the model's name. Raises ``SettingsError`` for an unknown
    format.
    """

    def __init__(
        self,
        toolset: Toolset,
        output: CompiledTool | None = None,
        *,
        tagged: str | None = None,
        model: str | None = None,
    ) -> None:
        chunks = Chunks(toolset, output)
        form = format_for(toolset, tagged)
        self._reader: Reader = chunks if form is None else TaggedReader(chunks, toolset, form, model)

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take a chunk; gives what it tells.

        Raises ``StreamError`` for an error that the provider tells, for what is no event, and after ``finish``.
        """
        return self._reader.feed(chunk)

    def finish(self) -> Answer:
        """The whole answer. Asked again, it is the same one. Raises ``StreamError`` where it cannot be put together."""
        return self._reader.finish()

    @property
    def ended(self) -> list[Event]:
        """The events that ``finish`` adds: the ends of the calls."""
        return self._reader.ended

    @property
    def calls(self) -> int:
        """How many calls have come so far, with those of which there is no event yet."""
        return self._reader.calls


class Chunks(Feed):
    """Reads what chunks say. ``whole`` says that the one chunk is a whole answer."""

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None, *, whole: bool = False) -> None:
        super().__init__(toolset, output)
        self._whole = whole
        self._turn = _Turn()
        self._refused = False

    def _take(self, event: dict[str, Any]) -> None:
        check_error(event)
        choice = first_choice(event)
        counted = usage(event, choice)
        if counted is not None:
            self._assembly.usage = counted
        if choice is None:
            return
        delta = said(choice)
        self._turn.take(delta)
        self._speak(delta)
        for piece in call_pieces(delta, whole=self._whole):
            self._call(piece)
        self._assembly.stop_reason = stop_reason(choice) or self._assembly.stop_reason

    def _speak(self, delta: dict[str, Any]) -> None:
        if delta.keys().isdisjoint(SPOKEN):
            return
        for voice, piece in spoken(delta):
            if voice == "reasoning":
                self._assembly.reasoning(piece)
            else:
                self._refused = self._refused or (voice == "refusal" and bool(piece))
                self._assembly.text(piece)

    def _call(self, piece: CallPiece) -> None:
        slot = self._assembly.slot(piece.index, piece.id, piece.name or None)
        slot.doubtful = slot.doubtful or piece.as_value
        self._turn.call(slot, piece.extra)
        self._assembly.arguments(slot, piece.arguments)

    def _settle(self) -> None:
        if self._whole and self._assembly.stop_reason is None:
            self._assembly.stop_reason = StopReason.OTHER
        if self._refused and self._assembly.stop_reason is StopReason.STOP:
            self._assembly.stop_reason = StopReason.REFUSAL

    def _native(self) -> dict[str, Any]:
        return self._turn.message()


class _Turn:
    """The assistant's message, put together as the API would have it back.

    Texts are joined and lists go on, whatever their names are; of anything else the last value counts.
    """

    def __init__(self) -> None:
        self._keeper = Keeper()
        self._texts: dict[str, list[str]] = {}
        self._others: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._calls: dict[int | str, _Kept] = {}

    def take(self, delta: dict[str, Any]) -> None:
        """Take all but the calls of functions."""
        for name, value in delta.items():
            if name == "content" and isinstance(value, list):
                self._parts += self._keeper.kept(tables(value))
            elif name == "tool_calls":
                self._take_custom(tables(value))
            elif isinstance(value, str) and name != "role":
                self._texts.setdefault(name, []).append(self._keeper.text(value))
            elif name not in _NOT_KEPT and value is not None and value != []:
                self._others[name] = _further(self._others.get(name), self._keeper.kept(value))

    def call(self, slot: Slot, extra: dict[str, Any]) -> None:
        """Take what a piece of a function's call has beside name and arguments."""
        kept = self._calls.get(slot.position)
        if kept is None:
            kept = self._calls[slot.position] = _Kept(slot)
        if extra:
            kept.extra.update(self._keeper.kept(extra))

    def _take_custom(self, calls: list[dict[str, Any]]) -> None:
        for call in filter(is_custom, calls):
            index = call.get("index")
            key = text(call.get("id")) if index is None else f"index {index}"
            kept = self._calls.setdefault(key, _Kept(None))
            kept.take_custom(self._keeper.kept(call))

    def message(self) -> dict[str, Any]:
        """The message."""
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        content = texts.pop("content", None)
        made: dict[str, Any] = {"role": "assistant", "content": content}
        if self._parts:
            before = [{"type": "text", "text": content}] if content else []
            made["content"] = [*before, *self._parts]
        made |= {name: value for name, value in texts.items() if value}
        made |= self._others
        if self._calls:
            made["tool_calls"] = [call.written() for call in self._calls.values()]
        return made


_NOT_KEPT: Final = frozenset({"role", "content", "function_call"})


def _further(before: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [*before, *value] if isinstance(before, list) else list(value)
    return value


class _Kept:
    """A call within the message: of a function, whose arguments its slot has, or of a custom tool."""

    def __init__(self, slot: Slot | None) -> None:
        self._slot = slot
        self._input: list[str] = []
        self.extra: dict[str, Any] = {}

    def take_custom(self, call: dict[str, Any]) -> None:
        """Take a piece of a custom tool's call."""
        custom = table(call.get("custom"))
        self._input.append(text(custom.get("input")))
        own = {name: value for name, value in call.items() if name != "index" and value is not None}
        self.extra = {**self.extra, **own, "custom": {**table(self.extra.get("custom")), **custom}}

    def written(self) -> dict[str, Any]:
        """The call as it stands in a message."""
        if self._slot is None:
            return {**self.extra, "custom": {**table(self.extra.get("custom")), "input": "".join(self._input)}}
        function = {"name": self._slot.name, "arguments": "".join(self._slot.raw)}
        return {"id": self._slot.id, "type": "function", "function": function, **self.extra}
