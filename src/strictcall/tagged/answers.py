"""An API's answers whose text may hold calls: models without a parser of their server's write them there.

Calls of the API's own go first: an answer that has any is left as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Protocol

from strictcall.api.answer import Answer, Call, StopReason
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, TextDelta
from strictcall.api.reading import CUT_OFF
from strictcall.json_value import compact
from strictcall.tagged.reading import Stream, read
from strictcall.wire.toolset import Toolset

BETWEEN_THOUGHTS = "\n\n"


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
    """An answer with the calls that its text holds; as it is where it has calls of its own.

    ``format`` and ``model`` are as for ``strictcall.tagged.read``. Raises ``SettingsError`` for an unknown format.
    """
    if answer.calls or not answer.text:
        return answer
    return _joined(answer, read(answer.text, toolset, format, model=model))


class TaggedReader:
    """Reads a stream whose text may hold calls.

    Text flows on as it comes. Calls that it holds are told when all has come, for only then it is known that the
    answer has none of its own.
    """

    def __init__(self, reader: Reader, toolset: Toolset, format: str, model: str | None = None) -> None:  # noqa: A002
        self._reader = reader
        self._text = Stream(toolset, format, model)
        self.ended: list[Event] = []

    @property
    def calls(self) -> int:
        """How many calls of the API's own have come so far."""
        return self._reader.calls

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take a chunk; gives what it tells. Raises ``StreamError``."""
        told: list[Event] = []
        for event in self._reader.feed(chunk):
            told += _without_calls(self._text.feed(event.text)) if isinstance(event, TextDelta) else [event]
        return told

    def finish(self) -> Answer:
        """The whole answer. Raises ``StreamError``."""
        answer, written = self._reader.finish(), self._text.finish()
        self.ended = [*_without_calls(self._text.ended), *self._reader.ended]
        if answer.calls:
            return dataclasses.replace(answer, text=written.text, reasoning=_thoughts(answer, written))
        joined = _joined(answer, written)
        self.ended += [event for position, call in enumerate(joined.calls) for event in _told(position, call)]
        return joined


def _without_calls(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, CallStarted | ArgumentsDelta | CallEnded)]


def _told(position: int, call: Call) -> Iterator[Event]:
    yield CallStarted(position, call.id, call.name)
    if not call.faults:
        yield ArgumentsDelta(position, compact(call.arguments))
    yield CallEnded(position, call.faults)


def _joined(answer: Answer, written: Answer) -> Answer:
    """An answer as its text was read. Where the connection was lost no call is complete, whatever its text says."""
    lost = answer.stop_reason is StopReason.INCOMPLETE
    is_done = answer.stop_reason is StopReason.STOP and bool(written.calls)
    return dataclasses.replace(
        answer,
        text=written.text,
        reasoning=_thoughts(answer, written),
        calls=tuple(map(_cut_off, written.calls)) if lost else written.calls,
        stop_reason=StopReason.TOOL_CALLS if is_done else answer.stop_reason,
    )


def _thoughts(answer: Answer, written: Answer) -> str:
    return BETWEEN_THOUGHTS.join(filter(None, (answer.reasoning, written.reasoning)))


def _cut_off(call: Call) -> Call:
    return dataclasses.replace(call, arguments=None, faults=(CUT_OFF,), complete=False)
