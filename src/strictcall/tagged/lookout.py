"""What to look out for in prose: the openings of an answer's formats, prepared so that they are found fast."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from strictcall.tagged.family import Opening
from strictcall.tagged.offered import Offered
from strictcall.tagged.prose import Prose
from strictcall.tagged.scan import Scan


@dataclass(frozen=True, slots=True)
class Literals:
    """Some literals, the length of the longest, and the pattern that finds the first of them."""

    texts: tuple[str, ...]
    longest: int
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Lookout:
    """Openings. ``first`` are the literals of all, ``later`` of those that may stand behind text. ``alike`` are the
    openings that may stand where a literal does, in their order.
    """

    first: Literals
    later: Literals
    alike: Mapping[str, tuple[Opening, ...]]

    def possible(self, literal: str, scan: Scan, prose: Prose, *, fresh: bool) -> list[Opening] | None:
        """The openings that stand where a literal was found; ``None`` where that is still to be seen.

        ``fresh``: no call was made so far.
        """
        if prose.quoted:
            return []
        allowed = {"anywhere"}
        if prose.line_start:
            allowed.add("line")
        if fresh and not prose.began:
            allowed.add("start")
        here = [opening for opening in self.alike[literal] if opening.where in allowed]
        if prose.in_word:
            here = [opening for opening in here if not _is_word(opening.text)]
        if not scan.closed and any(scan.may_begin(opening.text) for opening in here):
            return None
        return [opening for opening in here if may_stand(scan, opening)]


def lookout(openings: Iterable[Opening], offered: Offered) -> Lookout:
    """What to look out for; an opening of any tool's name is one for each name."""
    found: list[Opening] = []
    for opening in openings:
        found += [opening] if opening.text else [replace(opening, text=name) for name in offered.names]
    return _prepared(tuple(dict.fromkeys(found)))


@lru_cache(maxsize=128)
def _prepared(openings: tuple[Opening, ...]) -> Lookout:
    first = _literals(openings)
    later = _literals(opening for opening in openings if opening.where != "start")
    alike = {text: tuple(o for o in openings if _alike(o.text, text)) for text in first.texts}
    return Lookout(first, later, alike)


def may_stand(scan: Scan, opening: Opening) -> bool:
    """Whether an opening stands here, or may yet."""
    if not scan.begins(opening.text):
        return scan.may_begin(opening.text)
    return not opening.follows or scan.char_after(len(opening.text)) in opening.follows


def _literals(openings: Iterable[Opening]) -> Literals:
    texts = tuple(sorted({opening.text for opening in openings}, key=len, reverse=True))
    marked = ((r"\b" if _is_word(text) else "") + re.escape(text) for text in texts)
    return Literals(texts, max(map(len, texts), default=0), re.compile("|".join(marked) if texts else r"(?!)"))


def _alike(text: str, other: str) -> bool:
    """Whether two literals may begin at one place."""
    return text.startswith(other) or other.startswith(text)


def _is_word(text: str) -> bool:
    """Whether a literal begins as words do: within a word it is none."""
    return text[:1].isalnum()
