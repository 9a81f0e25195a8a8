"""What the user said, put to use: each value that a prompt names goes to the property it fits best, and only once."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from strictcall.emulator.sensible.prompt import NEAR_BEFORE, Mention, Prompt
from strictcall.emulator.sensible.words import kind_of, known, split, stem, stems

MOST_TEXT: Final = 160
"""How long a text of the user's own words gets."""
BESIDE: Final = frozenset(
    "branch status tag namespace table collection database username symbol version equals named called titled".split()
)
"""Words that a value follows without a word between: "branch main"."""
BEHIND: Final = frozenset("branch table collection database namespace project folder".split())
"""Words that a value stands before: "the people collection"."""
ANYTHING: Final = frozenset({"number", "quoted", "name", "code", "symbol"})
"""Mentions that may be for a field of any kind."""
BESIDE_IT: Final = 3 * (NEAR_BEFORE - 1) + 2
"""The nearness above which a word stands right beside a mention."""
_HINTS: Final = re.compile(r"(?:^| )\[constraints: [^\n]*\]\Z")
_CONNECTOR: Final = r"\s*(?P<link>[:=]|\bis\b|\bto\b|\bas\b|\bof\b|\bequals\b|\bcalled\b|\bnamed\b)?\s*"
_VALUE: Final = (
    r"(?:\"(?P<a>[^\"\n]{1,300})\"|'(?P<b>[^'\n]{1,300})'|`(?P<c>[^`\n]{1,300})`"
    r"|(?P<d>[\w€$£@/#+-](?:[\w.@/#:+-]*\w)?))"
)
_FOLLOWING: Final = re.compile(_CONNECTOR + _VALUE)
_ASKED: Final = re.compile(
    r"\b(?:search|look|find|query|ask|google|know|information|info|learn|research|papers?|articles?|news|issues?"
    r"|documents?|results?|videos?|posts?|read|tell)\b[^.?!\n]{0,40}?"
    r"\b(?:for|about|on|regarding|mentioning|containing|matching|into)\s+(?P<rest>[^?!\n]+)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r",?\s+(?:from|since|after|before|until|between|published|limit|max|top|sorted|at most)\s+\d"
    r"|,\s*(?=\d|limit|max|top|sort)"
)
"""Where a topic ends and a condition begins."""
_SAID: Final = re.compile(r"(?:\b(?:saying|says?|reads|with the text|that)\b|:)\s+(?P<rest>[^\n]{3,})", re.IGNORECASE)
_POLITE: Final = re.compile(
    r"(?:(?:hi|hello|hey|please|can you|could you|would you|will you|i want to|i want|i need to|i need|i'd like to"
    r"|i would like to|let's|let us|help me|now|then|and|also)\b[,!]?\s*)+",
    re.IGNORECASE,
)
_ARTICLES: Final = re.compile(r"(?:(?:me|us|the|a|an|all|some|any|up|out|for|about)\s+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """A place for a value: the words of its name, what is said of it, and the words of what it is part of."""

    words: tuple[str, ...]
    description: str = ""
    about: tuple[str, ...] = ()
    position: int | None = None
    """Its number where it is an item of a tuple."""

    @property
    def said(self) -> str:
        """Its description without the constraints that it ends in."""
        return _HINTS.sub("", self.description)

    @property
    def names(self) -> frozenset[str]:
        """The stems that name it, on either side of a value."""
        return _names(self.words)

    @property
    def cues(self) -> frozenset[str]:
        """The stems that stand before a value for it."""
        return _cues(self.words)

    def nearness(self, mention: Mention) -> int:
        """How near its name stands to a mention; 0 for not at all."""
        return mention.nearness(self.names, self.cues)


@functools.lru_cache(maxsize=2048)
def _names(words: tuple[str, ...]) -> frozenset[str]:
    own = stems(words)
    return own.union(*(known().synonyms.get(word, ()) for word in own))


@functools.lru_cache(maxsize=2048)
def _cues(words: tuple[str, ...]) -> frozenset[str]:
    keys = (*words, *("_".join(pair) for pair in itertools.pairwise(words)))
    return frozenset().union(*(known().cues.get(key, ()) for key in keys))


def _phrases(wanted: Field) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The ways in which a prompt may call a field: by its whole name, without "name" or "id", or "called"; and whether
    a value always follows.
    """
    words = tuple(stem(word) for word in wanted.words if not word.isdigit())
    if not 0 < len(words) <= 6:
        return
    yield words, False
    if len(words) > 1 and wanted.words[-1] in ("name", "key", "id", "number"):
        yield words[:-1], False
    if wanted.words[-1] in ("name", "title"):
        yield from (((stem(word),), False) for word in ("named", "called", "titled"))
    if wanted.words[-1] == "branch":
        yield from (((word,), True) for word in sorted(wanted.cues))


def _is_common(word: str) -> bool:
    return stem(word) in known().verbs | known().openers


def named(name: str, description: object = "", about: tuple[str, ...] = ()) -> Field:
    """The field of a property."""
    text = description if isinstance(description, str) else ""
    return Field(split(name), text if len(text) <= 2_000 else text[:1_500] + text[-500:], about)


@dataclass
class Spoken:
    """A prompt, and which of its mentions are used.

    ``rivals`` are the fields that want values too: what stands beside the name of one is not for another.
    ``own_words`` are the stems of the tool's name: where the prompt has them, it speaks of the tool. ``lone`` is
    whether one text alone is needed. ``paired`` is whether the prompt's pairs are used. ``turns`` counts how often each
    kind of text was made up; ``derived`` are the kinds and places of cities that something followed from.
    """

    prompt: Prompt
    rng: random.Random
    rivals: tuple[Field, ...] = ()
    own_words: frozenset[str] = frozenset()
    lone: bool = False
    paired: bool = False
    turns: Counter[str] = field(default_factory=Counter)
    used: set[int] = field(default_factory=set)
    derived: set[tuple[str, int]] = field(default_factory=set)

    def near(self, kinds: Iterable[str], wanted: Field) -> Mention | None:
        """The unused mention of these kinds beside which the field's name stands."""
        free = [mention for mention in self.prompt.of(*kinds) if mention.start not in self.used]
        ranked = max(free, key=lambda mention: (wanted.nearness(mention), -mention.start), default=None)
        if ranked is None or not wanted.nearness(ranked) or self.is_for_a_rival(ranked, wanted):
            return None
        return ranked

    def any(self, kinds: Iterable[str], wanted: Field) -> Mention | None:
        """The nearest unused mention of these kinds, or the first that no other field claims."""
        near = self.near(kinds, wanted)
        if near is not None:
            return near
        for mention in self.prompt.of(*kinds):
            if mention.start not in self.used and not self.is_for_a_rival(mention, wanted):
                return mention
        return None

    def use(self, mention: Mention) -> str:
        """A mention's value; it is not offered again."""
        self.used.add(mention.start)
        return mention.value

    def is_for_a_rival(self, mention: Mention, wanted: Field) -> bool:
        """Whether a word right beside a mention belongs to another field's name more than to this one's.

        A mention of a kind of its own, such as a date, is only for fields of that kind.
        """
        own = wanted.nearness(mention)
        kind = kind_of(wanted.words)
        open_to_all = mention.kind in ANYTHING and (mention.kind, kind) != ("code", "id")
        return any(
            rival.nearness(mention) > max(own, BESIDE_IT)
            for rival in self.rivals
            if rival.words != wanted.words and (open_to_all or kind_of(rival.words) == kind)
        )

    def told(self, wanted: Field) -> str | None:
        """What follows the field's own name in the prompt: ``status: open``, ``the branch is "main"``."""
        for phrase, cue in _phrases(wanted):
            for index in range(len(self.prompt.words) - len(phrase) + 1):
                found = self._told_at(index, phrase, adjacent=cue)
                if found is not None:
                    return found
        joined = "".join(wanted.words)
        return next((value for key, value in self.prompt.pairs if "".join(split(key)) == joined), None)

    def _told_at(self, index: int, phrase: tuple[str, ...], *, adjacent: bool) -> str | None:
        words = self.prompt.words
        if any(stem(words[index + offset][0]) != part for offset, part in enumerate(phrase)):
            return None
        last, start = words[index + len(phrase) - 1]
        adjacent = adjacent or last.lower() in BESIDE
        found = self._following(start + len(last), plain=len(phrase[0]) > 1, adjacent=adjacent)
        if found is None and last.lower() in BEHIND and index:
            before = words[index - 1][0]
            found = None if before.lower() in known().stop_words or _is_common(before) else before
        return found

    def _following(self, position: int, *, plain: bool, adjacent: bool) -> str | None:
        match = _FOLLOWING.match(self.prompt.text, position)
        if match is None:
            return None
        quoted = match["a"] or match["b"] or match["c"]
        if quoted:
            self._use_at(match.start(match.lastgroup or 0))
            return quoted
        word, link = match["d"], match["link"]
        mention = next((mention for mention in self.prompt.mentions if mention.start == match.start("d")), None)
        if mention is not None and (plain or link):
            return None if mention.start in self.used else self.use(mention)
        table = known()
        if word.lower() in table.stop_words:
            return None
        if link in (":", "=", "is", "equals", "called", "named"):
            return str(word)
        # Without a sign that a value follows, a common word is only the next word of the sentence.
        if _is_common(word) or not plain:
            return None
        return str(word) if link or adjacent or re.search(r"\d|_", word) else None

    def _use_at(self, position: int) -> None:
        self.used.update(mention.start for mention in self.prompt.mentions if mention.start <= position < mention.end)

    def topic(self) -> str:
        """What the user asks about, without the asking; empty where nothing is said."""
        asked = _ASKED.search(self.prompt.text)
        if asked:
            return cut(_ASIDE.split(asked["rest"], maxsplit=1)[0])
        quoted = [mention.value for mention in self.prompt.of("quoted")]
        if len(quoted) == 1:
            return cut(quoted[0])
        text = _POLITE.sub("", self.prompt.text.strip(), count=1)
        first, _, rest = text.partition(" ")
        if stem(first) in known().verbs | known().openers and rest:
            text = _ARTICLES.sub("", rest, count=1) if _ARTICLES.match(rest) else rest
        return cut(text.splitlines()[0] if text.strip() else "")

    def message(self) -> str:
        """What the user wants said: what is quoted, or follows "saying", or else the whole."""
        quoted = next((mention for mention in self.prompt.of("quoted") if mention.start not in self.used), None)
        if quoted is not None:
            return cut(self.use(quoted), 1_000)
        said = _SAID.search(self.prompt.text)
        if said:
            return cut(said["rest"], 1_000)
        return cut(self.prompt.text, 1_000)


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text on one line, ended at a word where it is too long."""
    text = " ".join(text.split()).rstrip(" .,;:!?")
    if len(text) <= most:
        return text
    shorter = text[:most].rsplit(" ", 1)[0] if " " in text[:most] else text[:most]
    return shorter.rstrip(" .,;:!?")
