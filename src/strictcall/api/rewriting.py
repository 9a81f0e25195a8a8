"""Arguments rewritten from wire form to contract form while they arrive, as JSON text.

A codec that only leaves out nulls and renames members can be applied to the text as it comes: a member's separator is
written before a member that is kept, never after one. What a codec does otherwise must wait for the value it does it
to. Nothing here checks: what is wrong with a call is found when it is complete.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from strictcall.json_value import LimitError, compact, parse
from strictcall.wire.codec import Below, Enough, Rewrite, Run

_SPACE: Final = " \t\n\r"
_IN_STRING: Final = re.compile(r'[^"\\]+')
_PLAIN: Final = re.compile(r'[^"{}\[\]]+')
_SCALAR_END: Final = frozenset(" \t\n\r,]}")

State = Literal["key", "colon", "value", "next", "first"]


class Rewriter:
    """Rewrites the text of one call's arguments. ``feed`` gives what can be told of each piece."""

    def __init__(self, below: Below) -> None:
        self._root = below
        self._frames: list[_Frame] = []
        self._value: _Value | None = None
        self._key: list[str] | None = None
        self._key_escaped = False
        self._began = False
        self._ended = False
        self._broken = False
        self._out: list[str] = []

    def feed(self, text: str) -> str:
        """The text in contract form that a piece of the wire's text completes."""
        position = 0
        while position < len(text) and not self._ended and not self._broken:
            position = self._step(text, position)
        out, self._out = "".join(self._out), []
        return out

    def _step(self, text: str, position: int) -> int:
        """Take one character, or a run of them that need no looking at; gives the place after."""
        if self._value is not None:
            return self._in_value(text, position)
        if self._key is not None:
            return self._in_key(text, position)
        character = text[position]
        if character in _SPACE:
            return position + 1
        if not self._began:
            self._began = True
            # Arguments that are no object say nothing that could be told before they are complete.
            self._broken = character != "{"
            self._begin(self._root, None)
            return position
        return position + self._between(character)

    def _between(self, character: str) -> int:
        """A character between the parts of an object or array that is rewritten; 1 where it is taken, 0 where it
        begins a member.
        """
        frame = self._frames[-1]
        if character == frame.end and frame.state in ("first", "next"):
            self._out.append(character)
            self._leave()
        elif frame.state == "next" and character == ",":
            frame.state = "key" if frame.is_object else "value"
        elif frame.is_object and frame.state in ("first", "key") and character == '"':
            self._key = [character]
        elif frame.is_object and frame.state == "colon" and character == ":":
            frame.state = "value"
        elif frame.state == "value" or (not frame.is_object and frame.state == "first"):
            self._begin_member(frame)
            return 0
        else:
            self._broken = True
        return 1

    def _begin_member(self, frame: _Frame) -> None:
        if not frame.is_object:
            self._begin(frame.rewrite.items, frame)
            return
        assert frame.rewrite.fields is not None  # noqa: S101 - an object's rewrite has fields
        field = frame.rewrite.fields.get(frame.key)
        if field is None:  # no such member: the call has a fault, which is found in the end
            self._value = _Value(held=True, dropped=True)
            return
        frame.name = field.name
        self._begin(field.below, frame, null_is_absent=field.null_is_absent)

    def _begin(self, below: Below, frame: _Frame | None, *, null_is_absent: bool = False) -> None:
        self._value = _Value(below=below, held=callable(below), null_is_absent=null_is_absent)
        if not null_is_absent and not callable(below):
            self._separate(frame)

    def _separate(self, frame: _Frame | None) -> None:
        """Write what stands before a member that is kept."""
        if frame is None:
            return
        if frame.written:
            self._out.append(",")
        frame.written = True
        if frame.is_object:
            self._out.append(compact(frame.name) + ":")

    # --- keys ---

    def _in_key(self, text: str, position: int) -> int:
        assert self._key is not None  # noqa: S101 - asked before
        if self._key_escaped:
            self._key.append(text[position])
            self._key_escaped = False
            return position + 1
        run = _IN_STRING.match(text, position)
        if run is not None:
            self._key.append(run.group())
            return run.end()
        self._key.append(text[position])
        if text[position] == "\\":
            self._key_escaped = True
            return position + 1
        frame = self._frames[-1]
        try:
            frame.key = parse("".join(self._key))
        except LimitError:
            self._broken = True
        self._key, frame.state = None, "colon"
        return position + 1

    # --- values ---

    def _in_value(self, text: str, position: int) -> int:
        value = self._value
        assert value is not None  # noqa: S101 - asked before
        if not value.begun:
            return self._begin_value(value, text, position)
        if value.scalar:
            end = position
            while end < len(text) and text[end] not in _SCALAR_END:
                end += 1
            self._take(value, text[position:end])
            if end < len(text):
                self._end_value(value)
            return end
        return self._in_container(value, text, position)

    def _begin_value(self, value: _Value, text: str, position: int) -> int:
        character = text[position]
        if character in _SPACE:
            return position + 1
        value.begun = True
        if value.null_is_absent and character != "n":
            value.null_is_absent = False
            if not value.held:
                self._separate(self._frames[-1])
        elif value.null_is_absent:
            value.held = value.dropped = value.scalar = True
            return position
        if isinstance(value.below, Rewrite) and self._enter(value.below, character):
            return position + 1
        value.scalar = character not in '"{['
        if character in "}],:":
            self._broken = True
        return position

    def _enter(self, rewrite: Rewrite, character: str) -> bool:
        """Go into an object or array that is rewritten, if that is what begins here."""
        is_object = rewrite.fields is not None
        if character != ("{" if is_object else "["):
            return False
        self._out.append(character)
        self._frames.append(_Frame(rewrite, is_object=is_object))
        self._value = None
        return True

    def _in_container(self, value: _Value, text: str, position: int) -> int:
        """Within a string, or an object or array that is copied or held whole."""
        if value.escaped:
            self._take(value, text[position])
            value.escaped = False
            return position + 1
        run = (_IN_STRING if value.in_string else _PLAIN).match(text, position)
        if run is not None:
            self._take(value, run.group())
            return run.end()
        character = text[position]
        self._take(value, character)
        if value.in_string:
            value.escaped = character == "\\"
            value.in_string = character != '"'
        elif character == '"':
            value.in_string = True
        else:
            value.depth += 1 if character in "{[" else -1
        if not value.in_string and value.depth == 0:
            self._end_value(value)
        return position + 1

    def _take(self, value: _Value, text: str) -> None:
        if not value.held:
            self._out.append(text)
        elif not value.dropped:
            value.parts.append(text)

    def _end_value(self, value: _Value) -> None:
        self._value = None
        frame = self._frames[-1] if self._frames else None
        if callable(value.below) and not value.dropped:
            self._separate(frame)
            self._out.append(_decoded(value))
        self._after(frame)

    def _leave(self) -> None:
        """An object or array that is rewritten is complete."""
        self._frames.pop()
        self._after(self._frames[-1] if self._frames else None)

    def _after(self, frame: _Frame | None) -> None:
        if frame is None:
            self._ended = True
        else:
            frame.state = "next"


class _Frame:
    """An object or array that is being rewritten. ``name`` is the contract's for the member that is at hand."""

    __slots__ = ("end", "is_object", "key", "name", "rewrite", "state", "written")

    def __init__(self, rewrite: Rewrite, *, is_object: bool) -> None:
        self.rewrite = rewrite
        self.is_object = is_object
        self.end = "}" if is_object else "]"
        self.state: State = "first"
        self.key = ""
        self.name = ""
        self.written = False


class _Value:
    """A value that is copied, held until it is complete, or dropped."""

    __slots__ = (
        "begun",
        "below",
        "depth",
        "dropped",
        "escaped",
        "held",
        "in_string",
        "null_is_absent",
        "parts",
        "scalar",
    )

    def __init__(
        self, below: Below = None, *, held: bool = False, dropped: bool = False, null_is_absent: bool = False
    ) -> None:
        self.below = below
        self.held = held
        self.dropped = dropped
        self.null_is_absent = null_is_absent
        self.begun = self.scalar = self.in_string = self.escaped = False
        self.depth = 0
        self.parts: list[str] = []


def _decoded(value: _Value) -> str:
    """A held value in contract form; whatever it is where it cannot be decoded, which is found in the end."""
    assert callable(value.below)  # noqa: S101 - asked before
    text = "".join(value.parts)
    run = Run()
    try:
        decoded = value.below(parse(text), None, run)
    except (LimitError, Enough, RecursionError):
        return text
    return text if run.faults else compact(decoded)
