"""Which tools the user's words ask for."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.emulator.conversation import OfferedTool
from strictcall.emulator.sensible.prompt import MOST_READ, Prompt, read
from strictcall.emulator.sensible.schema import Schema, properties_of
from strictcall.emulator.sensible.words import kind_of, known, split, stem, stems

ENOUGH: Final = 1.3
"""The least that a tool must score to be called without need: a noun of its name, or two words said of it."""
_SEEKING: Final = frozenset({"find", "search", "look"})
_NAME: Final = 3.0
_SAID: Final = 1.0
_PROPERTY: Final = 0.8
_MEMBER: Final = 1.0
_VERB: Final = 1 / 3
_SYNONYM: Final = 0.6
_MOST_PROPERTIES: Final = 200
_MOST_SAID: Final = 300
_MOST_CALLS: Final = 4
_CLAUSES: Final = re.compile(
    r"[;!?\n]+|\.(?=\s|$)|,\s*(?:and\s+)?(?:then\s+)?|\b(?:and then|and also|and|then|also)\b", re.IGNORECASE
)
_NAMES_TOOLS: Final[dict[str, str]] = {"url": "url", "email": "email", "path": "path"}


@dataclass(frozen=True, slots=True)
class Wish:
    """A call that the user's words ask for, and the words that are about it."""

    tool: OfferedTool
    words: str


def wishes(
    tools: Sequence[OfferedTool],
    prompt: str,
    rng: random.Random,
    *,
    parallel: bool,
    required: bool = False,
    done: int = 0,
) -> list[Wish]:
    """The calls that a prompt asks for, in the order of its words.

    Without ``parallel`` there is one at most. ``done`` is how many calls earlier turns made for the same prompt: the
    next ones follow. Where nothing fits there is none, unless a call is ``required``: then the best tool is called.
    """
    if not tools:
        return []
    scores = _Scores(tools)
    prompt = prompt[:MOST_READ]
    found = _asked(scores, prompt) or []
    if len({wish.tool.name for wish in found}) == 1:
        found = _each_place(found[0].tool, prompt)
    found = found[:_MOST_CALLS][done:]
    if not found and required:
        found = [Wish(scores.best(prompt) or rng.choice(list(tools)), prompt)]
    return found if parallel else found[:1]


class _Scores:
    """How well each of some tools fits words; a word that many tools have says less."""

    def __init__(self, tools: Sequence[OfferedTool]) -> None:
        self.tools = tools
        self._weights = [_weights(tool) for tool in tools]
        self._frequency = Counter(word for weights in self._weights for word in weights)

    def best(self, text: str, least: float = 0.01) -> OfferedTool | None:
        """The tool that fits best, the first of equals; ``None`` where none scores ``least``."""
        prompt = read(text)
        plain = [_score(weights, prompt) for weights in self._weights]
        ranked = [
            (score * self._rarity(weights, prompt) * _coverage(tool.name, prompt), -index)
            for index, (tool, weights, score) in enumerate(zip(self.tools, self._weights, plain, strict=True))
            if score >= least
        ]
        return self.tools[-max(ranked)[1]] if ranked else None

    def seeking(self, text: str) -> OfferedTool | None:
        """The tool that searches, where the prompt begins by asking for a search."""
        prompt = read(text)
        first = next((stem(word) for word, _ in prompt.words if word.lower() not in known().stop_words), "")
        if first not in _SEEKING:
            return None
        return next((tool for tool in self.tools if not _SEEKING.isdisjoint(map(stem, split(tool.name)))), None)

    def _rarity(self, weights: dict[str, float], prompt: Prompt) -> float:
        said = [word for word in weights if word in prompt.stems]
        count = len(self.tools)
        rarest = max((math.log(1 + count / self._frequency[word]) for word in said), default=math.log(2))
        return rarest * (1 + 0.1 * len(said))


def _coverage(name: str, prompt: Prompt) -> float:
    """How much of a tool's name the prompt has; a verb counts half."""
    table = known()
    parts = {stem(word): 0.5 if stem(word) in table.verbs else 1.0 for word in split(name)}
    said = {part for part in parts if part in prompt.stems or table.synonyms.get(part, frozenset()) & prompt.stems}
    return 0.4 + 0.6 * math.fsum(parts[part] for part in said) / (math.fsum(parts.values()) or 1)


def _weights(tool: OfferedTool) -> dict[str, float]:
    """The stems that a tool is known by, and how much each says."""
    found: dict[str, float] = {}
    verbs = known().verbs

    def put(words: frozenset[str], weight: float, *, weaker: bool = True) -> None:
        for word in words:
            value = weight * (_VERB if weaker and word in verbs else 1)
            found[word] = max(found.get(word, 0), value)

    name = stems(split(tool.name))
    put(name, _NAME, weaker=not name <= verbs)
    put(stems(split_text(tool.description or "")), _SAID)
    for key, child in _properties(tool):
        put(stems(split(key)), _PROPERTY)
        kind = kind_of(split(key))
        if kind in _NAMES_TOOLS:
            put(frozenset({f"<{kind}>"}), _MEMBER)
        members = child.get("enum") if isinstance(child, dict) else None
        for member in members[:40] if isinstance(members, list) else ():
            put(stems(split(member)) if isinstance(member, str) else frozenset(), _MEMBER)
    return found


def split_text(text: str) -> tuple[str, ...]:
    """The words of the beginning of a text, in small letters."""
    return tuple(word.lower() for word in re.findall(r"[^\W_]+", text[:_MOST_SAID]))


def _properties(tool: OfferedTool) -> Iterator[tuple[str, Any]]:
    schema = Schema(tool.schema)
    plain, _ = schema.plain(tool.schema)
    yield from list(properties_of(plain).items())[:_MOST_PROPERTIES]


def _score(weights: dict[str, float], prompt: Prompt) -> float:
    """How much the prompt says of a tool. The sum is exact: it does not depend on the order of a set."""
    table = known()
    parts = [
        weights[word] if word in weights else _SYNONYM * _nearest(weights, word)
        for word in prompt.stems
        if word not in table.stop_words
    ]
    kinds = {mention.kind for mention in prompt.mentions}
    return math.fsum([*parts, *(weights.get(f"<{kind}>", 0.0) for kind in kinds)])


def _nearest(weights: dict[str, float], word: str) -> float:
    return max((weights.get(other, 0.0) for other in known().synonyms.get(word, ())), default=0.0)


def _asked(scores: _Scores, prompt: str) -> list[Wish] | None:
    """The wishes of the prompt's clauses: one that fits no tool belongs to the wish before it."""
    found: list[tuple[OfferedTool, list[str]]] = []
    before: list[str] = []
    for clause in _clauses(prompt):
        tool = scores.best(clause, ENOUGH)
        if tool is None:
            (found[-1][1] if found else before).append(clause)
        elif found and found[-1][0] is tool:
            found[-1][1].append(clause)
        else:
            found.append((tool, [clause]))
    if len({tool.name for tool, _ in found}) <= 1:
        tool = scores.best(prompt, ENOUGH) or scores.seeking(prompt)
        return [Wish(tool, prompt)] if tool else None
    return [
        Wish(tool, ", ".join([*(before if index == 0 else ()), *parts])) for index, (tool, parts) in enumerate(found)
    ]


def _clauses(prompt: str) -> list[str]:
    """The parts of a prompt, quotations kept whole."""
    quoted = [(mention.start, mention.end) for mention in read(prompt).of("quoted", "number", "url", "date")]
    parts = []
    start = 0
    for match in _CLAUSES.finditer(prompt):
        if any(first <= match.start() < last for first, last in quoted):
            continue
        parts.append(prompt[start : match.start()])
        start = match.end()
    parts.append(prompt[start:])
    return [part.strip() for part in parts if part.strip()]


def _each_place(tool: OfferedTool, prompt: str) -> list[Wish]:
    """One wish for each city that is named, where the tool takes one city; else one for all the words."""
    places = list(read(prompt).of("city"))
    takes = [name for name, child in _properties(tool) if kind_of(split(name)) == "city" and _is_text(child)]
    if len(takes) != 1 or not 2 <= len(places) <= _MOST_CALLS or not _listed(prompt, places):
        return [Wish(tool, prompt)]
    first, last = places[0].start, places[-1].end
    return [Wish(tool, prompt[:first] + prompt[place.start : place.end] + prompt[last:]) for place in places]


def _listed(prompt: str, places: Sequence[Any]) -> bool:
    """Whether places stand one after another as a list."""
    between = (prompt[left.end : right.start] for left, right in itertools.pairwise(places))
    return all(stem(text.strip(" ,")) in ("", "and", "or", "in") for text in between)


def _is_text(child: Any) -> bool:
    return isinstance(child, dict) and child.get("type") in ("string", "STRING", ["string", "null"])
