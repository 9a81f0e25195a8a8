"""What has come of a text so far: what is said, what is thought, and the calls; told as it comes."""

from __future__ import annotations

from typing import Any, Final

from strictcall.api.answer import Answer, Call, StopReason
from strictcall.api.assembly import MOST_CALLS
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from strictcall.api.reading import read_call
from strictcall.errors import StreamError
from strictcall.json_value import compact
from strictcall.tagged.offered import Offered
from strictcall.tagged.steps import Said

_SPACE: Final = " \t\r\n"


class Gathering:
    """An answer in the making. Each method takes one thing that was read; ``taken`` gives the events."""

    def __init__(self, offered: Offered) -> None:
        self._offered = offered
        self._text = _Voice()
        self._thoughts = _Voice(between="\n\n")
        self._calls: list[Call] = []
        self._events: list[Event] = []

    def text(self, piece: str) -> None:
        """The model says more."""
        self._text.add(piece)
        self._thoughts.aside()

    def thought(self, piece: str) -> None:
        """The model thinks on."""
        self._tell_text()
        self._text.aside()
        self._thoughts.add(piece)
        new = self._thoughts.taken()
        if new:
            self._events.append(ReasoningDelta(new))

    def call(self, said: Said, *, complete: bool = True) -> None:
        """The model made a call, or was cut off within it."""
        if len(self._calls) >= MOST_CALLS:
            raise StreamError(f"the answer has more than {MOST_CALLS:,} calls")
        self._tell_text()
        self._text.aside()
        self._thoughts.aside()
        call = _call(said, self._offered, complete=complete)
        position = len(self._calls)
        self._calls.append(call)
        self._events.append(CallStarted(position, call.id, call.name))
        if not call.faults:
            self._events.append(ArgumentsDelta(position, compact(call.arguments)))
        self._events.append(CallEnded(position, call.faults))

    def taken(self) -> list[Event]:
        """The events since this was asked last."""
        self._tell_text()
        events, self._events = self._events, []
        return events

    def finish(self, native: Any) -> Answer:
        """The whole answer."""
        self._text.ended()
        self._tell_text()
        calls = tuple(self._calls)
        stop = StopReason.TOOL_CALLS if calls else StopReason.STOP
        if any(not call.complete for call in calls):
            stop = StopReason.INCOMPLETE
        return Answer(self._text.whole, self._thoughts.whole, calls, stop_reason=stop, native=native)

    def _tell_text(self) -> None:
        new = self._text.taken()
        if new:
            self._events.append(TextDelta(new))


class _Voice:
    """Text that grows.

    White space at its end is held back until it is known to stand between words: what stands around calls and thoughts
    belongs to the format. ``between`` is put between the pieces that something else stands between; ``None`` leaves
    what stands there.
    """

    def __init__(self, between: str | None = None) -> None:
        self._between = between
        self._parts: list[str] = []
        self._new: list[str] = []
        self._gap: list[str] = []
        self._aside = between is not None

    @property
    def whole(self) -> str:
        """All of it."""
        return "".join(self._parts)

    def add(self, piece: str) -> None:
        """It goes on."""
        body = piece.rstrip(_SPACE)
        if body:
            self._new.append(self._joined("".join(self._gap) + body))
            self._gap.clear()
            self._aside = False
        if len(body) < len(piece):
            self._gap.append(piece[len(body) :])

    def _joined(self, body: str) -> str:
        if not self._aside:
            return body
        if not self._parts and not self._new:
            return body.lstrip(_SPACE)
        return body if self._between is None else self._between + body.lstrip(_SPACE)

    def aside(self) -> None:
        """Something else stands here."""
        self._aside = True

    def ended(self) -> None:
        """Nothing more comes: white space at the very end belongs to the text where nothing else does."""
        if not self._aside and self._gap:
            self._new.append("".join(self._gap))
            self._gap.clear()

    def taken(self) -> str:
        """What came since this was asked last."""
        new = "".join(self._new)
        self._new.clear()
        if new:
            self._parts.append(new)
        return new


def _call(said: Said, offered: Offered, *, complete: bool) -> Call:
    """The call that was written: its arguments read in either form, for no decoder held them to the schema."""
    compiled = offered.tool(said.name)
    if compiled is None or not complete:
        return read_call(offered.toolset, said.id, said.name, said.arguments, complete=complete)
    reading = compiled.read(said.arguments, "either")
    faults = tuple(dict.fromkeys((*said.faults, *reading.faults)))
    return Call(
        said.id,
        compiled.tool.name,
        None if faults else reading.arguments,
        faults,
        (*said.repairs, *reading.repairs),
        said.arguments,
        said.name,
        compiled.fingerprint,
    )
