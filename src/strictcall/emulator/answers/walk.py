"""A random walk over the texts that a grammar allows, steered so that what is rare and interesting comes up often.

Nothing is ruled out by the steering but what no arguments may hold: numbers beyond a double. A choice that a mood does
not favour is made now and then all the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from strictcall.emulator.answers.interesting import NUMBERS, TEXTS, Hints

if TYPE_CHECKING:
    from llguidance import LLMatcher

END: Final = 256
"""The token that ends a text; every other token is a byte."""
Ending = Literal["whole", "cut", "stuck"]
"""The text is whole, it grew too long, or the grammar's engine gave up."""
Kind = Literal["null", "boolean", "number", "text", "object", "array"]
KINDS: Final[dict[int, Kind]] = {
    **dict.fromkeys(b"-0123456789", "number"),
    **dict.fromkeys(b"tf", "boolean"),
    ord("n"): "null",
    ord('"'): "text",
    ord("{"): "object",
    ord("["): "array",
}
"""The kind of value that begins with a byte."""
_NUMBER: Final = frozenset(b"0123456789.eE+-")
_DIGITS: Final = frozenset(b"0123456789")
_QUOTE, _BACKSLASH, _COMMA, _OBJECT, _ARRAY, _MINUS = b'"\\,{[-'
_SURE: Final = 0.95
"""How likely a late walk takes the short way."""
_MOST_DIGITS = 40
_LARGEST_EXPONENT = 250
_TRIED_NAMES = 40
_MARKS: Final = tuple("@:.-/")
"""What the texts of a format do not end without."""
_LETTERS: Final = "etaoinshrdlcumwfgypbvk   eaiou,.-_'019"


@dataclass(frozen=True, slots=True)
class Mood:
    """What one walk prefers; probabilities from 0 to 1.

    ``soft``: after so many bytes the walk looks for an end. ``deepest``: the same of nesting. ``known``: how often a
    text or number is one of the interesting ones. ``stop``: how often a text ends at each chance, ``odd``: how often
    its next character is not plain. ``empty``: how often what was opened is closed at once. ``last``: how often an
    item is the last one. ``full``: how often the next declared property is taken rather than any later one.
    ``weights``: how the kinds of value compare.
    """

    soft: int
    deepest: int
    known: float
    stop: tuple[float, ...]
    odd: float
    empty: float
    last: float
    full: float
    weights: dict[Kind, int] = field(default_factory=dict)


SHORT: Final = Mood(
    40, 8, 0.3, (1.0, 1.0, 0.6), 0.1, 0.7, 0.8, 0.1,
    {"null": 6, "boolean": 3, "number": 3, "text": 3, "object": 1, "array": 1},
)  # fmt: skip
MOODS: Final[dict[str, Mood]] = {
    "short": SHORT,
    "plain": Mood(
        200, 10, 0.3, (0.08, 0.2, 0.4), 0.05, 0.25, 0.4, 0.5,
        {"null": 2, "boolean": 2, "number": 3, "text": 4, "object": 3, "array": 3},
    ),
    "wild": Mood(
        300, 20, 0.7, (0.05, 0.3, 1.0), 0.5, 0.3, 0.4, 0.4,
        {"null": 2, "boolean": 2, "number": 4, "text": 4, "object": 3, "array": 3},
    ),
    "maximal": Mood(
        900, 20, 0.2, (0.0, 0.0, 0.02), 0.1, 0.03, 0.12, 0.95,
        {"null": 1, "boolean": 2, "number": 3, "text": 4, "object": 6, "array": 6},
    ),
    "wide": Mood(
        900, 3, 0.3, (0.2, 1.0), 0.1, 0.05, 0.04, 0.9,
        {"null": 1, "boolean": 2, "number": 3, "text": 3, "object": 6, "array": 6},
    ),
    "deep": Mood(
        700, 60, 0.4, (0.3, 1.0), 0.1, 0.05, 0.7, 0.8,
        {"null": 1, "boolean": 1, "number": 1, "text": 1, "object": 12, "array": 12},
    ),
}  # fmt: skip
"""One is drawn for each walk."""
_WAY_OUT: Final[tuple[Kind, ...]] = ("null", "number", "boolean", "text", "array", "object")
"""The kinds of value, the quickest to finish first."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may come next: the bytes, those of them that are plain in a text and that are not, those that close a
    container, and the first bytes of each kind of value.
    """

    every: tuple[int, ...]
    end: bool
    plain: tuple[int, ...]
    odd: tuple[int, ...]
    closers: tuple[int, ...]
    kinds: dict[Kind, tuple[int, ...]]


@lru_cache(maxsize=4096)
def allowed(mask: bytes) -> Allowed:
    """The meaning of an engine's mask, one bit a token."""
    bits = int.from_bytes(mask, "little")
    every = tuple(byte for byte in range(256) if bits >> byte & 1)
    plain = tuple(byte for byte in every if 0x20 <= byte < 0x7F and byte not in (_QUOTE, _BACKSLASH))
    kinds: dict[Kind, tuple[int, ...]] = {}
    for byte in every:
        if byte in KINDS:
            kinds[KINDS[byte]] = (*kinds.get(KINDS[byte], ()), byte)
    odd = tuple(byte for byte in every if byte == _BACKSLASH or byte >= 0x80)
    closers = tuple(byte for byte in every if byte in b"}]")
    return Allowed(every, bool(bits >> END & 1), plain, odd, closers, kinds)


class Walk:
    """One walk; ``out`` is what it wrote. The matcher stands at the start and is used up."""

    def __init__(self, matcher: LLMatcher, rng: random.Random, mood: Mood, hints: Hints, budget: int) -> None:
        self.out = bytearray()
        self._matcher = matcher
        self._rng = rng
        self._mood = mood
        self._hints = hints
        self._budget = budget
        self._soft = min(mood.soft, budget // 2)
        self._open: list[set[bytes] | None] = []  # the names of each open object; None for an open array
        self._next_name = 0
        self._text_at: int | None = None
        self._escaped = False
        self._is_name = False
        self._fresh = False
        self._stop = 1.0
        self._room = 0
        self._whole_number = False

    def run(self) -> Ending:
        """Walk to the end, or until the budget is spent."""
        matcher = self._matcher
        while len(self.out) < self._budget:
            if matcher.is_stopped():
                return "stuck" if matcher.is_error() else "whole"
            forced: bytes = matcher.compute_ff_bytes()
            chosen = forced or self._choose()
            if not chosen:
                return "whole" if matcher.is_accepting() else "stuck"
            if not matcher.consume_tokens(list(chosen)):
                return "stuck"
            self._follow(chosen)
        return "whole" if matcher.is_stopped() and not matcher.is_error() else "cut"

    @property
    def _late(self) -> bool:
        return len(self.out) > self._soft or len(self._open) > self._mood.deepest

    def _choose(self) -> bytes:
        """What comes next: one byte or several, or nothing at the end."""
        if self._fresh:
            self._fresh = False
            known = self._known_text()
            if known:
                return known
        may = allowed(self._matcher.compute_bitmask())
        if self._text_at is not None:
            return self._in_text(may) if may.every else b""
        if self.out and self.out[-1] in _NUMBER:
            return self._in_number(may)
        return self._in_structure(may)

    # Structure

    def _in_structure(self, may: Allowed) -> bytes:
        if may.end and (not may.every or self._rng.random() < _SURE):
            return b""
        if may.closers and self._closes(may):
            return bytes((self._rng.choice(may.closers),))
        if not may.kinds:
            others = [byte for byte in may.every if byte not in b"}]"] or may.every
            return bytes((self._rng.choice(others),)) if others else b""
        kind = self._kind(may)
        if kind == "number" and self._rng.random() < self._mood.known:
            known = self._known_number()
            if known:
                return known
        first = may.kinds[kind]
        self._stop = self._rng.choice(self._mood.stop)
        if _MINUS in first and len(first) > 1 and self._rng.random() < 0.25:
            return b"-"
        return bytes((self._rng.choice(first),))

    def _closes(self, may: Allowed) -> bool:
        if len(may.every) == len(may.closers):
            return True
        just_opened = self.out[-1] in b"{["
        if self._late:
            return self._rng.random() < _SURE
        if just_opened:
            return self._rng.random() < self._mood.empty
        share = 1 - self._mood.full if self.out[-1] != _COMMA and self._open[-1] is not None else 1.0
        return self._rng.random() < self._mood.last * share

    def _kind(self, may: Allowed) -> Kind:
        kinds = list(may.kinds)
        if len(kinds) == 1:
            return kinds[0]
        if self._late and self._rng.random() < _SURE:
            return next(kind for kind in _WAY_OUT if kind in may.kinds)
        return self._rng.choices(kinds, [self._mood.weights[kind] for kind in kinds])[0]

    # Numbers

    def _known_number(self) -> bytes:
        for _ in range(4):
            own = self._hints.numbers and self._rng.random() < 0.5
            text = self._rng.choice(self._hints.numbers if own else NUMBERS).encode()
            if self._fits(text):
                self._whole_number = True
                return text
        return b""

    def _in_number(self, may: Allowed) -> bytes:
        further = [byte for byte in may.every if byte in _NUMBER]
        ends = [byte for byte in may.every if byte not in _NUMBER]
        number = self._number()
        if ends or may.end:
            stop = _SURE if self._whole_number or self._late else max(0.1, self._stop / 2)
            further = [byte for byte in further if _stays_finite(number, byte)]
            if not further or self._rng.random() < stop:
                self._whole_number = False
                return b"" if may.end else self._after(ends)
        digits = [byte for byte in further if byte in _DIGITS]
        if digits and len(digits) < len(further) and self._rng.random() < 0.8:
            further = digits
        return bytes((self._rng.choice(further),)) if further else b""

    def _after(self, ends: Sequence[int]) -> bytes:
        """The byte behind a number: it also says whether another item or property follows."""
        closers = [byte for byte in ends if byte != _COMMA]
        if not closers or len(closers) == len(ends):
            return bytes((self._rng.choice(ends),))
        last = _SURE if self._late else self._mood.last
        return bytes((self._rng.choice(closers) if self._rng.random() < last else _COMMA,))

    def _number(self) -> bytes:
        start = len(self.out)
        while start and self.out[start - 1] in _NUMBER:
            start -= 1
        return bytes(self.out[start:])

    # Texts

    def _known_text(self) -> bytes:
        """Some of a text at once: a name or text that the grammar allows here, or a long one's beginning."""
        if self._is_name and self._rng.random() < self._mood.full:
            name = self._next_declared()
            if name:
                return name
        if self._late:
            return b""
        if self._rng.random() < self._mood.known:
            return self._interesting_text()
        return self._long_text() if self._stop < 0.01 else b""

    def _next_declared(self) -> bytes:
        """The first declared name that may follow; looked for from the last one on."""
        names = self._hints.names
        for offset in range(min(len(names), _TRIED_NAMES)):
            index = (self._next_name + offset) % len(names)
            if self._fits(names[index]):
                self._next_name = index + 1
                return names[index]
        return b""

    def _interesting_text(self) -> bytes:
        for _ in range(3):
            own = self._hints.runs and self._rng.random() < 0.3
            body = self._rng.choice(self._hints.runs if own else TEXTS).encode()
            if self._fits(body + b'"') and not (self._is_name and self._names_hold(body)):
                return body + b'"'
        return b""

    def _long_text(self) -> bytes:
        length = min(self._room, self._budget - len(self.out))
        body = "".join(self._rng.choices(_LETTERS, k=length)).encode()
        return body[: self._matcher.validate_tokens(list(body))]

    def _in_text(self, may: Allowed) -> bytes:
        closes = _QUOTE in may.every and not self._escaped
        if closes and self._ends_text() and not (self._is_name and len(may.every) > 1 and self._names_hold()):
            return b'"'
        if self._escaped or len(may.every) == 1:
            return bytes((self._rng.choice(may.every),))
        if not closes and self._is_long() and self._rng.random() < 0.4:
            run = self._rng.choice(self._hints.runs or _MARKS).encode()
            if self._fits(run):
                return run
        rather = may.odd if self._rng.random() < (0.03 if self._is_long() else self._mood.odd) else may.plain
        return bytes((self._rng.choice(rather or may.plain or may.odd or may.every),))

    def _ends_text(self) -> bool:
        return self._rng.random() < (_SURE if self._is_long() else self._stop)

    def _is_long(self) -> bool:
        return self._late or (self._text_at is not None and len(self.out) - self._text_at >= self._room)

    def _names_hold(self, body: bytes | None = None) -> bool:
        names = self._open[-1] if self._open else None
        return bool(names) and (bytes(self.out[self._text_at :]) if body is None else body) in (names or ())

    # What was written

    def _fits(self, text: bytes) -> bool:
        return bool(self._matcher.validate_tokens(list(text)) == len(text))

    def _follow(self, text: bytes) -> None:
        for byte in text:
            if self._text_at is None:
                self._follow_structure(byte)
            elif self._escaped:
                self._escaped = False
            elif byte == _BACKSLASH:
                self._escaped = True
            elif byte == _QUOTE:
                names = self._open[-1] if self._open else None
                if self._is_name and names is not None:
                    names.add(bytes(self.out[self._text_at :]))
                self._text_at = None
                self._fresh = False
            else:
                self._fresh = False
            self.out.append(byte)

    def _follow_structure(self, byte: int) -> None:
        if byte == _QUOTE:
            inside = self._open[-1] if self._open else None
            self._is_name = inside is not None and self.out[-1] in b"{,"
            self._text_at = len(self.out) + 1
            self._fresh = True
            self._stop = self._rng.choice(self._mood.stop)
            self._room = self._rng.choice((20, 80, self._mood.soft))
        elif byte == _OBJECT:
            self._open.append(set())
        elif byte == _ARRAY:
            self._open.append(None)
        elif byte in b"}]" and self._open:
            self._open.pop()


def _stays_finite(number: bytes, byte: int) -> bool:
    """Whether a number may go on with a byte without growing beyond a double, or very long."""
    mantissa, mark, exponent = number.lower().partition(b"e")
    if not mark:
        return len(mantissa) < _MOST_DIGITS
    if byte not in _DIGITS:
        return True
    digits = exponent.lstrip(b"+-") + bytes((byte,))
    return len(digits) <= 4 and (exponent.startswith(b"-") or int(digits) <= _LARGEST_EXPONENT)
