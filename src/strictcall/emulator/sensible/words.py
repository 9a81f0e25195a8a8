"""Words: how names are cut into them, which of them mean the same, and what is plainly known of the world."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

MOST_NAME: Final = 80
"""How many characters of a name are read: a longer one tells nothing more."""
VAGUE_HEADS: Final = frozenset({"name", "value", "string", "str", "input"})
"""Last words of a name that say less than the word before them: a branch name is a branch."""
_ONLY_LAST: Final = frozenset({"start", "end", "to", "from", "day", "time", "hour", "step", "range", "key"})
"""Words that say of another what it is for, unless they come last."""
_PIECES: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMPS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of text: what it is called, the names that mean it, and usual values of it.

    ``free``: the user's own words are such a text.
    """

    name: str
    names: frozenset[str]
    values: tuple[str, ...]
    free: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A city, and what is known of it."""

    city: str
    country: str
    code: str
    timezone: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Known:
    """The tables of ``words.toml``, read. The keys of ``synonyms`` and the members of the sets are stems."""

    stop_words: frozenset[str]
    verbs: frozenset[str]
    openers: frozenset[str]
    negations: frozenset[str]
    synonyms: dict[str, frozenset[str]]
    cues: dict[str, frozenset[str]]
    numbers: dict[str, int]
    usual_numbers: dict[str, float]
    kinds: dict[str, Kind]
    kind_of_name: dict[str, str]
    formats: dict[str, str]
    format_values: dict[str, tuple[str, ...]]
    languages: dict[str, str]
    currencies: dict[str, str]
    colors: dict[str, str]
    cities: dict[str, Place]


@functools.cache
def known() -> Known:
    """What ``words.toml`` holds; read once, when it is first needed."""
    text = resources.files("strictcall.emulator.sensible").joinpath("words.toml").read_text("utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    kinds = {
        name: Kind(name, frozenset(row["names"].split()), tuple(row["values"]), row.get("free", False))
        for name, row in table["kinds"].items()
    }
    of_name: dict[str, str] = {}
    for kind in kinds.values():
        for name in sorted(kind.names):
            of_name.setdefault(name, kind.name)
    return Known(
        stop_words=frozenset(table["stop_words"].split()),
        verbs=frozenset(stem(word) for word in table["verbs"].split()),
        openers=frozenset(stem(word) for word in table["openers"].split()),
        negations=frozenset(table["negations"].split()),
        synonyms=_synonyms(table["synonyms"]),
        cues={name: frozenset(stem(word) for word in words.split()) for name, words in table["cues"].items()},
        numbers=table["numbers"],
        usual_numbers=table["usual_numbers"],
        kinds=kinds,
        kind_of_name=of_name,
        formats=table["formats"],
        format_values={name: tuple(values) for name, values in table["format_values"].items()},
        languages=table["languages"],
        currencies={stem(name): code for name, code in table["currencies"].items()},
        colors=table["colors"],
        cities={name.lower(): Place(name, *row) for name, row in table["cities"].items()},
    )


def _synonyms(groups: Iterable[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in groups:
        stems = {stem(word) for word in group.split()}
        for item in stems:
            found.setdefault(item, set()).update(stems - {item})
    return {item: frozenset(others) for item, others in found.items()}


def split(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: ``maxItems_per-page`` is max, items, per, page."""
    words: list[str] = []
    for piece in _PIECES.findall(name[:MOST_NAME]):
        words.extend(_HUMPS.findall(piece) or [piece])
    return tuple(word.lower() for word in words)


def stem(word: str) -> str:
    """A word without the endings that change with number and tense; lightly, so that most stems stay readable."""
    word = word.lower().removesuffix("'s").removesuffix("\u2019s")
    if len(word) <= 3:
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    if word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            word = word.removesuffix(ending)
            if word[-1] == word[-2] and word[-1] not in "sl":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > 3 else word


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of the words that carry meaning."""
    stop = known().stop_words
    return frozenset(stem(word) for word in words if word not in stop and len(word) > 1)


@functools.lru_cache(maxsize=4096)
def kind_of(words: tuple[str, ...]) -> str | None:
    """The kind of text that a name means, by its last words first: ``page_id`` is an id, ``user_email`` an e-mail."""
    words = words[-6:]
    names = known().kind_of_name
    if len(words) > 1 and words[-1] in VAGUE_HEADS and "_".join(words[-2:]) not in names:
        inner = kind_of(words[:-1])
        if inner is not None:
            return inner
    for end in range(len(words), 0, -1):
        for start in range(end):
            phrase = "_".join(words[start:end])
            if end < len(words) and phrase in _ONLY_LAST:
                continue
            found = names.get(phrase) or names.get(_singular(phrase))
            if found is not None:
                return found
    return None


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
