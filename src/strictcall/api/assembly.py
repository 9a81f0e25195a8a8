"""Putting an answer together from a stream: text, reasoning, and calls that come in pieces."""

from __future__ import annotations

import re
from typing import Any, Final

from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from strictcall.api.reading import find_tool, read_call, read_output
from strictcall.api.rewriting import Rewriter
from strictcall.errors import Fault, StreamError
from strictcall.json_value import MAX_BYTES, LimitError, compact, parse
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

MOST_CALLS: Final = 1024
"""An answer with more calls is refused."""
_SIGNS: Final = re.compile(r'\\.|["{}\[\]\\]', re.DOTALL)
"""What structure is made of, and what is escaped."""
_CUT: Final = frozenset(
    {
        StopReason.LENGTH,
        StopReason.STOP_SEQUENCE,
        StopReason.REFUSAL,
        StopReason.CONTENT_FILTER,
        StopReason.ERROR,
        StopReason.OTHER,
    }
)
"""Reasons for which the last call may have been cut off: it counts only if its arguments are a whole object."""


class Assembly:
    """What has come of an answer so far. Each method takes one thing that a chunk says; ``taken`` gives the events.

    A stream ends with ``finish``; where no stop reason was told before, it broke off.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None) -> None:
        self._toolset = toolset
        self._output = output
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._size = 0
        self._slots: list[Slot] = []
        self._events: list[Event] = []
        self.stop_reason: StopReason | None = None
        self.usage = Usage()

    @property
    def calls(self) -> int:
        """How many calls have come so far, with those of which there is no event yet."""
        return len(self._slots)

    def taken(self) -> list[Event]:
        """The events since this was asked last."""
        events, self._events = self._events, []
        return events

    def text(self, piece: str) -> None:
        """The model says more."""
        if piece:
            self._grow(piece)
            self._text.append(piece)
            self._events.append(TextDelta(piece))

    def reasoning(self, piece: str) -> None:
        """The model thinks on."""
        if piece:
            self._grow(piece)
            self._reasoning.append(piece)
            self._events.append(ReasoningDelta(piece))

    def slot(self, index: int | str | None = None, call_id: str | None = None, name: str | None = None) -> Slot:
        """The call that a piece belongs to: by its index, else by its id, else the last one.

        A piece with an id or a name of its own, other than those of the call that it would belong to, begins a new
        call: some servers give every call the index 0, and some give none.
        """
        slot = self._known(index, call_id)
        if slot is None or slot.is_another(call_id, name, by_index=index is not None):
            if len(self._slots) >= MOST_CALLS:
                raise StreamError(f"the answer has more than {MOST_CALLS:,} calls")
            if self._slots:
                self.begin(self._slots[-1])  # so that calls are told in their order, even one without arguments
            slot = Slot(len(self._slots), index)
            self._slots.append(slot)
        slot.id = slot.id or call_id or None
        if name:
            slot.named(name)
        return slot

    def _known(self, index: int | str | None, call_id: str | None) -> Slot | None:
        """The newest call with this index, or this id; without either, the newest at all."""
        if index is not None:
            return next((slot for slot in reversed(self._slots) if slot.index == index), None)
        if call_id:
            return next((slot for slot in reversed(self._slots) if slot.id == call_id), None)
        return self._slots[-1] if self._slots else None

    def arguments(self, slot: Slot, piece: str) -> None:
        """A call's arguments go on."""
        self._grow(piece)
        if piece:
            self.begin(slot)
            slot.raw.append(piece)
            slot.end.feed(piece)
            if slot.rewriter is not None:
                slot.tell(slot.rewriter.feed(piece), self._events)

    def begin(self, slot: Slot) -> None:
        """A call's name is known by now."""
        if slot.begun or not slot.name:
            return
        slot.begun = True
        tool = find_tool(self._toolset, slot.name)
        if tool is not None and tool.below != "hold":
            slot.rewriter = Rewriter(tool.below)
        name = slot.name if tool is None else tool.tool.name
        self._events.append(CallStarted(slot.position, slot.id, name))
        if slot.rewriter is not None and slot.raw:  # they began before the name was known
            slot.tell(slot.rewriter.feed("".join(slot.raw)), self._events)

    def finish(self, native: Any = None) -> Answer:
        """The whole answer. The events that end its calls are ``taken`` afterwards."""
        stop = self.stop_reason or StopReason.INCOMPLETE
        calls = tuple(self._ended(slot, stop) for slot in self._slots)
        if stop is StopReason.STOP and calls:
            stop = StopReason.TOOL_CALLS  # some servers, and OpenAI's for a forced tool, say no more than that it ends
        text = "".join(self._text)
        value: Any = None
        faults: tuple[Fault, ...] = ()
        if self._output is not None and not calls and stop is StopReason.STOP:
            value, faults = read_output(self._output, text)
        return Answer(text, "".join(self._reasoning), calls, value, stop, self.usage, faults, native)

    def _ended(self, slot: Slot, stop: StopReason) -> Call:
        self.begin(slot)
        raw = "".join(slot.raw)
        last = slot is self._slots[-1]
        is_certain = stop not in _CUT or not last or (is_whole(raw) and not slot.doubtful)
        complete = stop is not StopReason.INCOMPLETE and is_certain
        call = read_call(self._toolset, slot.id, slot.name, raw, complete=complete)
        if slot.begun:
            if not call.faults and not slot.told:
                slot.tell(compact(call.arguments), self._events)
            self._events.append(CallEnded(slot.position, call.faults))
        return call

    def _grow(self, piece: str) -> None:
        self._size += len(piece)
        if self._size > MAX_BYTES:
            raise StreamError(f"the answer is longer than {MAX_BYTES:,} characters")


class Slot:
    """A call in the making. ``told``: some of its arguments were. ``doubtful``: they came as a value, which looks
    whole even where the model was cut off within it.
    """

    __slots__ = ("begun", "doubtful", "end", "id", "index", "name", "position", "raw", "rewriter", "told")

    def __init__(self, position: int, index: int | str | None) -> None:
        self.position = position
        self.index = index
        self.id: str | None = None
        self.name = ""
        self.raw: list[str] = []
        self.end = ObjectEnd()
        self.rewriter: Rewriter | None = None
        self.begun = False
        self.told = False
        self.doubtful = False

    def is_another(self, call_id: str | None, name: str | None, *, by_index: bool) -> bool:
        """Whether a piece with this id and name cannot belong to this call."""
        if call_id and self.id:
            return call_id != self.id
        if not name or not self.name or by_index:
            return False
        return name != self.name or self.end.reached

    def named(self, name: str) -> None:
        """The call's name, or a piece of it: servers repeat it whole, hardly any send it in pieces."""
        if not self.name:
            self.name = name
        elif not self.begun and name != self.name:
            self.name += name

    def tell(self, text: str, events: list[Event]) -> None:
        """Tell a piece of the arguments in contract form."""
        if text:
            self.told = True
            events.append(ArgumentsDelta(self.position, text))


class ObjectEnd:
    """Finds where the object ends that a text holds, while the text arrives."""

    __slots__ = ("_depth", "_escaped", "_in_string", "reached")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._escaped = False
        self.reached = False

    def feed(self, piece: str) -> None:
        """More of the text, not empty."""
        start = 1 if self._escaped else 0
        self._escaped = False
        for match in _SIGNS.finditer(piece, start):
            sign = match.group()
            if sign == "\\":  # the last of the piece: what it escapes is still to come
                self._escaped = True
            elif len(sign) == 1:
                self._sign(sign)

    def _sign(self, sign: str) -> None:
        if self._in_string:
            self._in_string = sign != '"'
        elif sign == '"':
            self._in_string = True
        else:
            self._depth += 1 if sign in "{[" else -1
            self.reached = self.reached or self._depth <= 0


def is_whole(raw: str) -> bool:
    """Whether the text of a call's arguments is an object with its end."""
    try:
        return type(parse(raw)) is dict if raw.strip() else False
    except LimitError:
        return False
