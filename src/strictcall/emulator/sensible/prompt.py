"""Reading the user's words: what they name, and where."""

from __future__ import annotations

import bisect
import dataclasses
import datetime as dt
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from strictcall.emulator.sensible.words import known, stem

MOST_READ: Final = 4000
"""How many characters of a prompt are read."""
NEAR_BEFORE: Final = 3
NEAR_AFTER: Final = 2
"""How many words before and after a value may say what it is."""
TODAY: Final = dt.date(2026, 6, 15)
"""The day that answers take to be today, so that they are the same tomorrow. It is a Monday."""

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PATTERNS: Final = tuple(
    (kind, re.compile(pattern, flags))
    for kind, pattern, flags in (
        ("quoted", r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|`([^`\n]{1,300})`", 0),
        ("quoted", r"(?<!\w)['\u2018]([^'\u2019\n]{1,300})['\u2019](?!\w)", 0),
        ("url", r"\b[a-z][a-z0-9+.-]{1,10}://[^\s\"'<>()]{1,300}[^\s\"'<>().,;:!?]", re.IGNORECASE),
        ("url", r"\bwww\.[a-z0-9-]{1,60}\.[^\s\"'<>()]{1,200}[^\s\"'<>().,;:!?]", re.IGNORECASE),
        ("email", r"\b[\w.+-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}", 0),
        ("domain", r"\b(?:[a-z0-9-]{1,60}\.){1,4}(?:com|org|net|io|dev|app|ai|eu|de|pt|co|uk|example)\b", 0),
        ("uuid", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE),
        ("datetime", r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?", 0),
        ("date", r"\b\d{4}-\d{2}-\d{2}\b", 0),
        ("date", rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?,?(?: \d{{4}}\b)?", re.IGNORECASE),
        ("date", rf"\b{_MONTH}\.? \d{{1,2}}(?!\d)(?:st|nd|rd|th)?(?:,? \d{{4}}\b)?", re.IGNORECASE),
        ("date", r"\b(?:today|tonight|tomorrow|yesterday)\b", re.IGNORECASE),
        ("date", rf"\b(?:(?:next|this|on) )?(?:{'|'.join(_DAYS)})\b", re.IGNORECASE),
        ("time", r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b|\b(?:noon|midnight)\b", re.IGNORECASE),
        ("timezone", r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z][\w/+-]*", 0),
        ("timezone", r"\b(?:UTC|GMT|CET|EST|PST)(?:[+-]\d{1,2})?\b", 0),
        ("ip", r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?\b", 0),
        ("path", r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@-]+)+/?|\b[A-Z]:\\[\w.\\ -]+\w", 0),
        ("path", r"\b(?:[\w-]+/)*[\w-]+\.(?:[a-z]{1,4}\d?|json|yaml|toml|html|docx|xlsx|pptx)\b", 0),
        ("code", r"\b[a-z][a-z0-9_]{1,40}(?:\.[a-z][a-z0-9_]{1,40}){1,4}\b", 0),
        ("repo", r"\b[A-Za-z][\w.-]*/[A-Za-z][\w.-]*\b", 0),
        ("sha", r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", 0),
        ("color", r"(?<!\w)#[0-9a-f]{6}\b|(?<!\w)#[0-9a-f]{3}\b(?!\d)", re.IGNORECASE),
        ("handle", r"(?<!\w)@[\w.-]*\w", 0),
        ("code", r"\b[A-Za-z][A-Za-z0-9]{1,20}(?:[-_][A-Za-z0-9]{1,20}){0,4}[-_]\d{1,10}\b", 0),
        ("expression", r"(?<![\w.])\(?-?\d+(?:\.\d+)?\)?(?:\s*(?:\*\*|[-+*/^])\s*\(?-?\d+(?:\.\d+)?\)?)+", 0),
        ("number", r"(?<![\w.])[-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,12})?(?![\w]*\d)", 0),
    )
)  # fmt: skip
_WORD: Final = re.compile(r"[^\W_](?:[\w\u2019'-]*\w)?")
_CODE: Final = re.compile(r"[A-Z]{2,5}")
_PAIR: Final = re.compile(
    r"(?P<key>[^\W\d][\w.-]{0,60})\s*(?:=|:(?!//)|\bequals\b|\bis\b)\s*"
    r"(?:\"(?P<a>[^\"\n]{1,200})\"|'(?P<b>[^'\n]{1,200})'|(?P<c>[\w€$£.@/#+-]*\w))"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that the user named: its kind, the text that it means, where it stands, and the stems about it.

    ``before`` has the nearest word first, as ``after`` has.
    """

    kind: str
    value: str
    start: int
    end: int
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def nearness(self, names: frozenset[str], cues: frozenset[str] = frozenset()) -> int:
        """How near one of the words stands: 0 for none, more for nearer.

        ``names`` may stand on either side; ``cues`` are words like "from", which stand before and say more.
        """
        nearest = 0
        for words, side, weight in ((names, self.before, 0), (names, self.after, 1), (cues, self.before, 2)):
            for distance, word in enumerate(side):
                if word in words:
                    nearest = max(nearest, 3 * (NEAR_BEFORE - distance) + weight)
                    break
        return nearest


@dataclass(frozen=True, slots=True)
class Prompt:
    """The user's words, read. ``stems`` are those of all words; ``words`` are with their places."""

    text: str
    mentions: tuple[Mention, ...]
    pairs: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, int], ...]
    stems: frozenset[str]
    negated: frozenset[str]

    def of(self, *kinds: str) -> Iterator[Mention]:
        """The mentions of these kinds, in the order of the text."""
        return (mention for mention in self.mentions if mention.kind in kinds)


@functools.lru_cache(maxsize=64)
def read(text: str) -> Prompt:
    """What a prompt names. Only its first ``MOST_READ`` characters are read."""
    text = text[:MOST_READ].encode("utf-8", "replace").decode()
    words = tuple((match.group(), match.start()) for match in _WORD.finditer(text))
    stems = tuple(stem(word) for word, _ in words)
    starts = [start for _, start in words]
    found = sorted(_found(text, words), key=lambda mention: mention.start)
    mentions = tuple(_placed(mention, stems, starts) for mention in found)
    return Prompt(
        text=text,
        mentions=mentions,
        pairs=tuple(_pairs(text)),
        words=words,
        stems=frozenset(stems),
        negated=frozenset(_negated(stems)),
    )


def _found(text: str, words: tuple[tuple[str, int], ...]) -> list[Mention]:
    taken = [False] * (len(text) + 1)
    found: list[Mention] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            value = (
                next((group for group in match.groups() if group), match.group()) if kind == "quoted" else match.group()
            )
            value = _normal(kind, value.strip())
            if value and not any(taken[start:end]):
                taken[start:end] = [True] * (end - start)
                found.append(Mention(kind, value, start, end))
    for mention in (*_places(text, words), *_spelled(words), *_names(text, words)):
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
            found.append(mention)
    return found


def _normal(kind: str, value: str) -> str:
    if kind == "date":
        return _date(value.lower()) or ""
    if kind == "time":
        return _time(value.lower())
    if kind == "number":
        return value.replace(",", "").replace("\u2212", "-")
    if kind == "url" and value.lower().startswith("www."):
        return f"https://{value}"
    return value


def _date(words: str) -> str | None:
    """A date in the standard's writing; ``None`` where there is no such day."""
    near = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}.get(words)
    if near is not None:
        return str(TODAY + dt.timedelta(near))
    weekday = next((index for index, day in enumerate(_DAYS) if day in words), None)
    if weekday is not None:
        return str(TODAY + dt.timedelta((weekday - TODAY.weekday() - 1) % 7 + 1))
    digits = re.findall(r"\d+", words)
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
            return str(dt.date.fromisoformat(words))
        letters = re.sub(r"\d+(?:st|nd|rd|th)?|\bof\b", " ", words).split()
        month = _MONTHS.index(letters[0][:3]) + 1
        return str(dt.date(int(digits[1]) if len(digits) > 1 else TODAY.year, month, int(digits[0])))
    except (ValueError, IndexError):
        return None


def _time(words: str) -> str:
    if words in ("noon", "midnight"):
        return "12:00" if words == "noon" else "00:00"
    numbers = [int(part) for part in re.findall(r"\d+", words)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if words.endswith("pm") and hour < 12:
        hour += 12
    if words.endswith("am") and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""


def _places(text: str, words: tuple[tuple[str, int], ...]) -> Iterator[Mention]:
    """The cities that are known, also where they are written small."""
    cities = known().cities
    for (word, start), following in zip(words, (*words[1:], ("", 0)), strict=False):
        two = f"{word} {following[0]}".lower()
        if two in cities:
            yield Mention("city", cities[two].city, start, following[1] + len(following[0]))
        elif word.lower().removesuffix("'s") in cities:
            city = cities[word.lower().removesuffix("'s")].city
            yield Mention("city", city, start, start + len(city))
    for match in re.finditer(r"\b(?:%s)\b" % "|".join(_countries()), text):  # noqa: UP031 - braces would be regex
        yield Mention("country", match.group(), *match.span())


@functools.cache
def _countries() -> tuple[str, ...]:
    return tuple(sorted({re.escape(place.country) for place in known().cities.values()}))


def _names(text: str, words: tuple[tuple[str, int], ...]) -> Iterator[Mention]:
    """Runs of words that are written with a capital for another reason than to begin a sentence."""
    run: list[tuple[str, int]] = []
    for word, start in (*words, ("", len(text))):
        gap = text[run[-1][1] + len(run[-1][0]) : start] if run else ""
        if run and (gap != " " or not word[:1].isupper()):
            yield from _named(run)
            run = []
        if word[:1].isupper() and (run or not _opens(text, word, start)):
            run.append((word.removesuffix("'s").removesuffix("\u2019s"), start))


def _named(run: list[tuple[str, int]]) -> Iterator[Mention]:
    name = " ".join(word for word, _ in run)
    start, end = run[0][1], run[-1][1] + len(run[-1][0])
    if name.lower() in known().stop_words:
        return
    yield Mention("symbol" if _CODE.fullmatch(name) else "name", name, start, end)


def _opens(text: str, word: str, start: int) -> bool:
    """Whether a word has its capital only because it begins a sentence."""
    before = text[:start].rstrip(" \"'“\u2018([*-")
    plain = stem(word)
    words = known()
    if word.lower() in words.stop_words:
        return True
    begins = not before or before[-1] in ".!?:;\n"
    return begins and (plain in words.verbs or plain in words.openers or not _capital_follows(text, word, start))


def _capital_follows(text: str, word: str, start: int) -> bool:
    return text[start + len(word) : start + len(word) + 2].strip()[:1].isupper()


def _spelled(words: tuple[tuple[str, int], ...]) -> Iterator[Mention]:
    """Numbers, languages, currencies and colours that are written as words."""
    tables = known()
    for word, start in words:
        lower = word.lower()
        for kind, value in (
            ("number", tables.numbers.get(lower)),
            ("language", tables.languages.get(lower)),
            ("currency", tables.currencies.get(stem(word))),
            ("color", tables.colors.get(lower)),
        ):
            if value is not None:
                yield Mention(kind, str(value), start, start + len(word))


def _placed(mention: Mention, stems: tuple[str, ...], starts: list[int]) -> Mention:
    """A mention with the stems about it."""
    first, after = bisect.bisect_left(starts, mention.start), bisect.bisect_left(starts, mention.end)
    before = stems[max(0, first - NEAR_BEFORE) : first]
    return dataclasses.replace(mention, before=before[::-1], after=stems[after : after + NEAR_AFTER])


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    """What is written ``key: value``, ``key=value`` or ``key is value``."""
    for match in _PAIR.finditer(text):
        key = match["key"]
        value = match["a"] or match["b"] or match["c"]
        if key.lower() not in known().stop_words and value.lower() not in known().stop_words:
            yield key, value


def _negated(words: tuple[str, ...]) -> Iterator[str]:
    """The stems that follow a no closely."""
    for index, word in enumerate(words):
        if word in known().negations:
            yield from words[index + 1 : index + 4]
