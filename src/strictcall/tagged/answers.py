"""An API's answers whose text may hold calls: models without a parser of their server's write them there.

Calls of the API's own go first: where an answer has any, no other is looked for, and what looks like one stays text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final, Protocol

from strictcall.api.answer import Answer, Call, StopReason
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from strictcall.api.reading import CUT_OFF
from strictcall.json_value import compact
from strictcall.tagged.engine import Engine
from strictcall.tagged.offered import Offered
from strictcall.tagged.registry import NONE, openings
from strictcall.wire.toolset import Toolset

BETWEEN_THOUGHTS: Final = "\n\n"


def format_for(toolset: Toolset, asked: str | None) -> str | None:
    """The format in which calls of these tools may stand in an answer's text; ``None`` for none.

    ``asked`` is what the caller says, ``none`` among it. Where nothing is said it is what the dialect knows of its
    servers; and nothing without tools, for then a call is only written about.
    """
    if asked is None:
        asked = toolset.dialect.tagged.format if len(toolset) else NONE
    return None if asked == NONE else asked


class Reader(Protocol):
    """What reads a stream; ``strictcall.api`` has one for each API."""

    ended: list[Event]

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take a chunk; gives what it tells."""

    def finish(self) -> Answer:
        """The whole answer."""

    @property
    def calls(self) -> int:
        """How many calls have come so far."""


def read_tagged(answer: Answer, toolset: Toolset, format: str, model: str | None = None) -> Answer:  # noqa: A002
    """An answer with the calls that its text holds; one that has calls of its own keeps those, and no other.

    ``format`` and ``model`` are as for ``strictcall.tagged.read``. Raises ``SettingsError`` for an unknown format.
    """
    text = AnswerText(toolset, format, model)
    text.feed(answer.text)
    if answer.calls:
        text.has_calls()
    return _joined(answer, text.finish()) if answer.text else answer


class AnswerText:
    """The text of an API's answer as it comes, in which calls may stand.

    It flows on at once, up to the first call. The calls, and what stands behind them, are told when all has come: only
    then is it known that the answer has no calls of its own, and nothing that was told is ever taken back.
    """

    def __init__(self, toolset: Toolset, format: str, model: str | None = None) -> None:  # noqa: A002
        self._offered, self._openings = Offered(toolset), openings(format, model)
        self._engine = self._new(as_text=False)
        self._pieces: list[str] = []
        self._held: list[Event] = []
        self._told = {TextDelta: 0, ReasoningDelta: 0}
        self._answer: Answer | None = None
        self.ended: list[Event] = []

    def _new(self, *, as_text: bool) -> Engine:
        return Engine(self._offered, self._openings, as_text=as_text)

    def feed(self, text: str) -> list[Event]:
        """Take a piece of the text; gives what can be told of it: text and thoughts. Raises ``StreamError``."""
        self._pieces.append(text)
        return self._told_of(self._engine.feed(text))

    def has_calls(self) -> list[Event]:
        """The answer has calls of its own: what looks like a call in its text, so far and from here on, is text.

        Gives what can be told now. Asked again it changes nothing.
        """
        if self._engine.as_text:
            return []
        if not self._held:
            self._engine.as_text = True
            return []
        self._engine = self._new(as_text=True)
        self._held.clear()
        return list(self._new_in(self._engine.feed("".join(self._pieces))))

    def finish(self) -> Answer:
        """What the text says, its calls among it; ``ended`` are the events of text and thoughts that were held, and of
        the calls, each whole.
        """
        if self._answer is None:
            self._answer, events = self._engine.finish()
            self.ended = [*self._held, *events]
        return self._answer

    def _told_of(self, events: list[Event]) -> list[Event]:
        """The events before the first call; the others are held."""
        if self._held:
            self._held += events
            return []
        first = next((place for place, event in enumerate(events) if _is_of_call(event)), len(events))
        self._held = events[first:]
        for event in events[:first]:
            if isinstance(event, TextDelta | ReasoningDelta):
                self._told[type(event)] += len(event.text)
        return events[:first]

    def _new_in(self, events: list[Event]) -> Iterator[Event]:
        """What was not told yet, of the text from its beginning."""
        told = dict(self._told)
        for event in events:
            if isinstance(event, TextDelta | ReasoningDelta):
                kind = type(event)
                known = min(told[kind], len(event.text))
                told[kind] -= known
                self._told[kind] += len(event.text) - known
                if known < len(event.text):
                    yield kind(event.text[known:])


class TaggedReader:
    """Reads a stream whose text may hold calls.

    Text flows on as it comes, up to the first call in it. That is told when all has come, for only then it is known
    that the answer has none of its own.
    """

    def __init__(self, reader: Reader, toolset: Toolset, format: str, model: str | None = None) -> None:  # noqa: A002
        self._reader = reader
        self._text = AnswerText(toolset, format, model)
        self._thoughts: list[str] = []
        self._thinker: object = None
        self._answer: Answer | None = None
        self.ended: list[Event] = []

    @property
    def calls(self) -> int:
        """How many calls of the API's own have come so far."""
        return self._reader.calls

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take a chunk; gives what it tells. Raises ``StreamError``."""
        events = self._reader.feed(chunk)
        told = self._from(self._text, self._text.has_calls() if self._reader.calls else [])
        for event in events:
            if isinstance(event, TextDelta):
                told += self._from(self._text, self._text.feed(event.text))
            else:
                told += self._from(self._reader, [event])
        return told

    def finish(self) -> Answer:
        """The whole answer. Asked again, it is the same one. Raises ``StreamError``."""
        if self._answer is None:
            answer = self._reader.finish()
            late = self._text.has_calls() if answer.calls else []
            joined = _joined(answer, self._text.finish())
            said = [*late, *(event for event in self._text.ended if not _is_of_call(event))]
            self.ended = [*self._from(self._text, said), *self._from(self._reader, self._reader.ended)]
            if not answer.calls:
                self.ended += [event for position, call in enumerate(joined.calls) for event in _events(position, call)]
            self._answer = dataclasses.replace(joined, reasoning="".join(self._thoughts))
        return self._answer

    def _from(self, thinker: object, events: list[Event]) -> list[Event]:
        """Events of the API or of its text. Thoughts come from both; what one thought stands apart from the other's."""
        told: list[Event] = []
        for event in events:
            if isinstance(event, ReasoningDelta):
                apart = BETWEEN_THOUGHTS if self._thoughts and self._thinker is not thinker else ""
                event = ReasoningDelta(apart + event.text)
                self._thinker = thinker
                self._thoughts.append(event.text)
            told.append(event)
        return told


def _is_of_call(event: Event) -> bool:
    return isinstance(event, CallStarted | ArgumentsDelta | CallEnded)


def _events(position: int, call: Call) -> Iterator[Event]:
    yield CallStarted(position, call.id, call.name)
    if not call.faults:
        yield ArgumentsDelta(position, compact(call.arguments))
    yield CallEnded(position, call.faults)


def _joined(answer: Answer, written: Answer) -> Answer:
    """An answer as its text was read. Where the connection was lost no call is complete, whatever its text says."""
    thoughts = BETWEEN_THOUGHTS.join(filter(None, (answer.reasoning, written.reasoning)))
    joined = dataclasses.replace(answer, text=written.text, reasoning=thoughts)
    if answer.calls:
        return joined
    lost = answer.stop_reason is StopReason.INCOMPLETE
    is_done = answer.stop_reason is StopReason.STOP and bool(written.calls)
    return dataclasses.replace(
        joined,
        calls=tuple(map(_cut_off, written.calls)) if lost else written.calls,
        stop_reason=StopReason.TOOL_CALLS if is_done else answer.stop_reason,
    )


def _cut_off(call: Call) -> Call:
    return dataclasses.replace(call, arguments=None, faults=(CUT_OFF,), complete=False)
