"""A place in a text that is still arriving.

What reads calls is written as generators: each step of theirs takes what it needs from the text, and waits where the
text is not there yet. So one way of reading serves whole answers and streams, and no character is looked at twice for
having arrived late.

Places are counted from the start of the answer. What lies before a place that is settled is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import lru_cache
from typing import Final, TypeVar

from strictcall.tagged.offered import Offered
from strictcall.tagged.steps import Begun, Plain, Step, Thought

T = TypeVar("T")
Reading = Generator[Step | None, None, T]
"""Something that reads: it gives ``None`` where it must wait for more text, and what it found on the way."""

SPACE: Final = re.compile(r"[ \t\r\n]*")

_INK: Final = re.compile(r"[^ \t\r\n]")


class Mismatch(Exception):
    """What stands here is no call after all."""


class Cut(Exception):
    """The text ends within what may be a call."""


class Scan:
    """The text of an answer and a place in it, ``at``. ``offered`` are the tools, ``closed``: nothing more comes.

    Every method that is a generator (``yield from`` it) waits for as much text as it needs. At the end of the text
    they raise ``Cut`` where something had to follow.
    """

    __slots__ = ("_base", "_text", "at", "begun", "certain", "closed", "offered")

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self.at = 0
        self.closed = False
        self.certain = False
        self.begun: Begun | None = None
        self._base = 0
        self._text = ""

    # --- the text ---

    def more(self, piece: str) -> None:
        """The text goes on."""
        # The only reference is the local one, so that CPython lets the text grow in place.
        text, self._text = self._text, ""
        text += piece
        self._text = text

    def settle(self, place: int) -> None:
        """Nobody will look at what stands before a place again."""
        if place > self._base:
            self._text = self._text[place - self._base :]
            self._base = place

    @property
    def end(self) -> int:
        """The place after what has arrived."""
        return self._base + len(self._text)

    def between(self, start: int, end: int) -> str:
        """The text between two places."""
        return self._text[start - self._base : end - self._base]

    def search(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """Where a pattern is found from a place on, in what has arrived. ``place_of`` tells where that is."""
        return pattern.search(self._text, start - self._base)

    def place_of(self, index: int) -> int:
        """The place of an index of a match."""
        return self._base + index

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What a pattern matches here, in what has arrived."""
        found = pattern.match(self._text, self.at - self._base)
        return None if found is None else found.group()

    def begins(self, literal: str) -> bool:
        """Whether a literal stands here."""
        return self._text.startswith(literal, self.at - self._base)

    def may_begin(self, literal: str) -> bool:
        """Whether all that has arrived from here on is the beginning of a literal."""
        here = self._text[self.at - self._base : self.at - self._base + len(literal)]
        return len(here) < len(literal) and literal.startswith(here)

    def char_after(self, size: int) -> str:
        """The first character that is not white space after the next ``size``; ``""`` where it has not arrived."""
        found = _INK.search(self._text, self.at - self._base + size)
        return "" if found is None else found.group()

    # --- steps of reading ---

    def wait(self) -> Reading[None]:
        """Wait for more. Raises ``Cut`` where nothing more comes."""
        if self.closed:
            raise Cut
        yield None

    def char(self) -> Reading[str]:
        """The character here, not taken; ``""`` at the end of the text."""
        while self.at >= self.end and not self.closed:
            yield None
        return self.between(self.at, self.at + 1)

    def peek(self, *literals: str) -> Reading[str | None]:
        """Which literal stands here, the longest, not taken; ``None`` for none of them."""
        while True:
            found = max((literal for literal in literals if self.begins(literal)), key=len, default=None)
            rivals = [literal for literal in literals if found is None or len(literal) > len(found)]
            if self.closed or not any(self.may_begin(literal) for literal in rivals):
                return found
            yield None

    def take(self, *literals: str) -> Reading[str]:
        """Take the literal that stands here. Raises ``Mismatch`` for none of them."""
        if len(literals) == 1:
            return (yield from self._take_one(literals[0]))
        found = yield from self.peek(*literals)
        if found is None:
            if self.closed and any(self.may_begin(literal) for literal in literals):
                raise Cut
            raise Mismatch
        self.at += len(found)
        return found

    def _take_one(self, literal: str) -> Reading[str]:
        while not self.begins(literal):
            if not self.may_begin(literal):
                raise Mismatch
            yield from self.wait()
        self.at += len(literal)
        return literal

    def skip(self, *literals: str) -> Reading[str | None]:
        """Take the literal that stands here, if one does; at the end of the text the beginning of one is enough."""
        found = yield from self.peek(*literals)
        if found is not None:
            self.at += len(found)
        elif self.at < self.end and self.closed and any(self.may_begin(literal) for literal in literals):
            self.at = self.end
        return found

    def space(self) -> Reading[str]:
        """Take white space; gives the character after it, not taken, ``""`` at the end of the text."""
        while True:
            self.at += len(self.match(SPACE) or "")
            if self.at < self.end or self.closed:
                return self.between(self.at, self.at + 1)
            yield None

    def run(self, pattern: re.Pattern[str], most: int = 256) -> Reading[str]:
        """Take what a pattern of the form ``[…]*`` matches. Raises ``Mismatch`` for nothing, or more than ``most``."""
        start = self.at
        while True:
            self.at += len(self.match(pattern) or "")
            if self.at - start > most:
                raise Mismatch
            if self.at < self.end or self.closed:
                break
            yield None
        if self.at == start:
            raise Mismatch
        return self.between(start, self.at)

    def until(self, *literals: str, take: bool = True) -> Reading[tuple[str, str]]:
        """The text before the first of some literals, and which it is. Raises ``Cut`` where none comes.

        The literal is taken too, unless ``take`` is false.
        """
        start, pattern = self.at, any_of(literals)
        overlap = max(map(len, literals)) - 1
        while True:
            found = self.search(pattern, self.at)
            if found is not None:
                break
            self.at = self.end if self.closed else max(self.at, self.end - overlap)
            yield from self.wait()
        place = self.place_of(found.start())
        self.at = place + len(found.group()) if take else place
        return self.between(start, place), found.group()

    def flow(self, kind: type[Plain | Thought], *literals: str) -> Reading[str]:
        """Hand on text as it arrives, as ``Plain`` or ``Thought``, up to the first of some literals, which is taken.

        Gives that literal; ``""`` where the text ends before.
        """
        pattern = any_of(literals)
        while True:
            found = self.search(pattern, self.at)
            place = self.place_of(found.start()) if found is not None else self._surely_before(literals)
            piece = self.between(self.at, place)
            self.at = place if found is None else place + len(found.group())
            if piece:
                yield kind(piece)
            if found is not None:
                return found.group()
            if self.closed and self.at >= self.end:
                return ""
            yield None

    def _surely_before(self, literals: tuple[str, ...]) -> int:
        """The place up to which no literal can still come to stand."""
        if self.closed:
            return self.end
        held = held_back(self.between(max(self.at, self.end - max(map(len, literals))), self.end), literals)
        return self.end - held

    # --- what is read ---

    def begin(self, name: str, call_id: str | None = None) -> None:
        """A call of this name is being read: if the text ends within it, it is a call that was cut off.

        Raises ``Mismatch`` for a tool that is not offered, unless the opening was unmistakable.
        """
        if not self.certain and not self.offered.has(name):
            raise Mismatch
        self.begun = Begun(name, call_id, self.at)


@lru_cache(maxsize=512)
def any_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern of the first of some literals, the longest where several begin at one place."""
    return re.compile("|".join(map(re.escape, sorted(literals, key=len, reverse=True))))


@lru_cache(maxsize=512)
def _beginnings(literals: tuple[str, ...]) -> frozenset[str]:
    return frozenset(literal[:size] for literal in literals for size in range(1, len(literal)))


def held_back(text: str, literals: tuple[str, ...]) -> int:
    """How many characters at the end of a text may be the beginning of a literal."""
    beginnings = _beginnings(literals)
    longest = max(map(len, literals), default=1) - 1
    return next((size for size in range(min(longest, len(text)), 0, -1) if text[-size:] in beginnings), 0)
