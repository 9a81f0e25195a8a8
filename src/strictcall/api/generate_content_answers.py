"""Answers of Gemini's generateContent, whole and streamed: each event of a stream is a response of its own.

Sources: ``GenerateContentResponse``, ``Candidate.FinishReason`` and ``UsageMetadata`` of
https://ai.google.dev/api/generate-content, and the types of
https://github.com/googleapis/python-genai/blob/main/google/genai/types.py (2026-08).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.api.answer import Answer, StopReason, Usage
from strictcall.api.assembly import Slot
from strictcall.api.feeding import Feed
from strictcall.api.fields import count, error_words, table, tables, text
from strictcall.api.generate_content_fields import get, key_of
from strictcall.api.generate_content_partial import PartialArguments
from strictcall.api.keeping import Keeper
from strictcall.api.object_calls import as_object
from strictcall.api.reading import raw_text
from strictcall.errors import StreamError
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

_UNSPECIFIED: Final = "FINISH_REASON_UNSPECIFIED"
STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "STOP": StopReason.STOP,
    "MAX_TOKENS": StopReason.LENGTH,
    "CONTINUATION": StopReason.LENGTH,
    **dict.fromkeys(
        (
            "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "ESCALATION", "MODEL_ARMOR",
        ),
        StopReason.CONTENT_FILTER,
    ),
    **dict.fromkeys(
        (
            "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE",
            "MALFORMED_RESPONSE", "PUP_LIMITED_DISABLED", "IMAGE_OTHER", "NO_IMAGE",
        ),
        StopReason.ERROR,
    ),
}  # fmt: skip
"""Why an answer ends, by the API's words; any other is ``other``."""


def read(response: dict[str, Any], toolset: Toolset, output: CompiledTool | None = None) -> Answer:
    """The answer in a response's body, a dict with names in camelCase or in snake_case (``response.model_dump()`` of
    the client's).

    Of several candidates the first is read. A prompt that was blocked is an empty answer that stopped for
    ``content_filter``. A body that does not say why the answer ended has the reason ``other``.

    Raises ``StreamError`` for what is no answer; for the body of an error, with its words.
    """
    if not isinstance(response, dict):
        raise StreamError(f"an answer is a dict, not {type(response).__name__}")
    check_error(response)
    if first_candidate(response) is None and not is_blocked(response):
        raise StreamError("the answer has no candidate of index 0, and does not say that the prompt was blocked")
    reader = Stream(toolset, output, whole=True)
    reader.feed(response)
    return reader.finish()


class Stream(Feed):
    """Reads a stream: responses, or the bytes of the body where it was asked for with ``alt=sse``.

    Of several candidates the first is read. ``whole`` says that the one response is a whole answer.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None, *, whole: bool = False) -> None:
        super().__init__(toolset, output)
        self._whole = whole
        self._turn = _Turn()
        self._calls = 0
        self._ids: set[str] = set()
        self._last: Slot | None = None
        self._partial: PartialArguments | None = None

    def _take(self, event: dict[str, Any]) -> None:
        check_error(event)
        self._assembly.usage = usage(event) or self._assembly.usage
        if is_blocked(event):
            self._assembly.stop_reason = StopReason.CONTENT_FILTER
        candidate = first_candidate(event)
        if candidate is None:
            return
        for part in tables(table(candidate.get("content")).get("parts")):
            self._part(part)
        self._assembly.stop_reason = stop_reason(candidate) or self._assembly.stop_reason

    def _part(self, given: dict[str, Any]) -> None:
        part = {name: value for name, value in given.items() if value is not None}
        call = get(part, "functionCall")
        if isinstance(call, dict):
            self._call(part, call)
            return
        said = text(part.get("text"))
        if self._last is not None and (said or part.keys() - {"text"}):
            self._last.doubtful = False  # more came after it: it was not cut off
        if part.get("thought") is True:
            self._assembly.reasoning(said)
        else:
            self._assembly.text(said)
        self._turn.part(part, said)

    def _call(self, part: dict[str, Any], call: dict[str, Any]) -> None:
        name = text(call.get("name"))
        pieces, goes_on = get(call, "partialArgs"), get(call, "willContinue") is True
        if self._partial is not None and not name:
            self._partial.take(pieces)
            self._turn.signed(part)
            if not goes_on:
                self._ended(self._partial.whole())
            return
        call_id = text(call.get("id"))
        if call_id in self._ids:
            return  # an event came twice: an id is that of one call
        if call_id:
            self._ids.add(call_id)
        self._break_off()
        self._begin(part, call, name)
        if goes_on or pieces is not None:
            self._partial = PartialArguments()
            self._partial.take(pieces)
            if not goes_on:
                self._ended(self._partial.whole())
        else:
            args = call.get("args")
            self._ended(raw_text({} if args is None else args))

    def _begin(self, part: dict[str, Any], call: dict[str, Any], name: str) -> None:
        if self._last is not None:
            self._last.doubtful = False
        self._last = self._assembly.slot(self._calls, text(call.get("id")) or None, name or None)
        self._last.doubtful = True
        self._calls += 1
        self._turn.call(part, self._last)
        self._assembly.begin(self._last)

    def _ended(self, raw: str) -> None:
        """The arguments of the last call are all there."""
        assert self._last is not None  # noqa: S101 - a call has begun
        self._assembly.arguments(self._last, raw)
        self._partial = None

    def _break_off(self) -> None:
        """A call whose arguments were to go on, and did not."""
        if self._partial is not None:
            self._ended(self._partial.broken_off())

    def _settle(self) -> None:
        self._break_off()
        if self._whole and self._assembly.stop_reason is None:
            self._assembly.stop_reason = StopReason.OTHER

    def _native(self) -> dict[str, Any]:
        return self._turn.content()


# --- what a response says ---------------------------------------------------------------------------------------------


def check_error(response: Mapping[str, Any]) -> None:
    """Raises ``StreamError`` with the words of an error that came in place of an answer, or within a stream."""
    error = response.get("error")
    if error:
        raise StreamError(error_words({**error, "type": error.get("status")} if isinstance(error, dict) else error))


def first_candidate(response: Mapping[str, Any]) -> dict[str, Any] | None:
    """The candidate of index 0, or without an index."""
    return next((item for item in tables(response.get("candidates")) if not item.get("index")), None)


def is_blocked(response: Mapping[str, Any]) -> bool:
    """Whether the prompt was refused, so that there is no answer."""
    return bool(get(table(get(response, "promptFeedback")), "blockReason"))


def stop_reason(candidate: Mapping[str, Any]) -> StopReason | None:
    """Why the answer ends, where a candidate says so."""
    reason = text(get(candidate, "finishReason"))
    return None if reason in ("", _UNSPECIFIED) else STOP_REASONS.get(reason, StopReason.OTHER)


def usage(response: Mapping[str, Any]) -> Usage | None:
    """The tokens that a response counts, where it does: thoughts are counted apart from what is said."""
    counted = table(get(response, "usageMetadata"))
    if not counted:
        return None
    thoughts = count(get(counted, "thoughtsTokenCount"))
    return Usage(
        _sum(count(get(counted, "promptTokenCount")), count(get(counted, "toolUsePromptTokenCount"))),
        _sum(count(get(counted, "candidatesTokenCount")), thoughts),
        count(get(counted, "cachedContentTokenCount")),
        thoughts,
    )


def _sum(*counts: int | None) -> int | None:
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


# --- the turn ---------------------------------------------------------------------------------------------------------


class _Turn:
    """The model's content with every part as it came, for signatures are valid where they stood.

    Only pieces of one text are joined, up to one that carries more than the text.
    """

    def __init__(self) -> None:
        self._keeper = Keeper()
        self._parts: list[_Part] = []

    def part(self, part: dict[str, Any], said: str) -> None:
        """Take a part that is no call."""
        is_plain = part.keys() <= _PLAIN
        if is_plain and not said:
            return
        last = self._parts[-1] if self._parts else None
        if is_plain and last is not None and last.goes_on(part):
            last.texts.append(said)
            return
        kept = {name: value for name, value in part.items() if name != "text"}
        self._parts.append(_Part(self._keeper.kept(kept), texts=[said] if "text" in part else [], is_plain=is_plain))

    def call(self, part: dict[str, Any], slot: Slot) -> None:
        """Take a part that begins a call."""
        key = key_of(part, "functionCall") or "functionCall"
        call = {name: value for name, value in part[key].items() if name not in _PARTIAL}
        beside = {name: value for name, value in part.items() if name != key}
        self._parts.append(_Part(self._keeper.kept(beside), key=key, call=self._keeper.kept(call), slot=slot))

    def signed(self, part: dict[str, Any]) -> None:
        """Take what stands beside a further piece of the last call."""
        key = key_of(part, "functionCall")
        self._parts[-1].beside.update(self._keeper.kept({name: part[name] for name in part if name != key}))

    def content(self) -> dict[str, Any]:
        """The content."""
        return {"role": "model", "parts": [part.written() for part in self._parts]}


_PLAIN: Final = frozenset({"text", "thought"})
_PARTIAL: Final = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})


class _Part:
    """A part of the content: text and what stands beside it, or a call."""

    def __init__(
        self,
        beside: dict[str, Any],
        *,
        texts: list[str] | None = None,
        is_plain: bool = False,
        key: str = "",
        call: dict[str, Any] | None = None,
        slot: Slot | None = None,
    ) -> None:
        self.beside = dict(beside)
        self.texts = texts or []
        self._is_plain = is_plain
        self._key = key
        self._call = call
        self._slot = slot

    def goes_on(self, part: dict[str, Any]) -> bool:
        """Whether a part of nothing but text is more of this one."""
        return self._is_plain and bool(self.beside.get("thought")) == bool(part.get("thought"))

    def written(self) -> dict[str, Any]:
        """The part as it stands in a content."""
        if self._call is None:
            return {**({"text": "".join(self.texts)} if self.texts else {}), **self.beside}
        call = self._call
        if "args" not in call and self._slot is not None:
            call = {**call, "args": as_object("".join(self._slot.raw))}
        return {self._key: call, **self.beside}
