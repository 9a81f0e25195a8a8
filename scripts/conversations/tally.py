"""What conversations came to: counted, judged, and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tables import table

from strictcall.dialect import load
from strictcall.dialect.model import Dialect, State
from strictcall.emulator.app import Exchange

BOUNDS = {
    "string_too_short": "minLength",
    "string_too_long": "maxLength",
    "too_short": "minItems",
    "too_long": "maxItems",
    "greater_than_equal": "minimum",
    "less_than_equal": "maximum",
}
"""pydantic's words for a broken bound, and the keyword that says the bound."""
REPEATED = "a name twice in a map"
"""What a list of entries may have and a map may not; no decoder holds it."""
NEEDED = (
    "entries of a map",
    "values within bounds",
    "an optional given",
    "an optional left out",
    "a nested optional given",
    "a nested optional left out",
    "a tuple",
    "a name with a dot",
)
"""What must have come to tools for a run to show anything."""


@dataclass(frozen=True, slots=True)
class Way:
    """How conversations were held: ``strict`` and ``stream`` are what the peer was told, ``through`` the gateway."""

    peer: str
    dialect: str
    answers: str
    seed: int
    through: bool
    strict: bool
    stream: bool

    def __str__(self) -> str:
        road = "through the gateway" if self.through else "straight"
        mode = "streamed" if self.stream else "whole"
        return f"{self.peer}, {self.dialect}, {self.answers} {self.seed}, {road}, strict {self.strict}, {mode}"


@dataclass
class Count:
    """Conversations of one way, or of several together.

    ``unbuilt`` were ended by the peer itself before it sent anything. ``bounds`` counts arguments that break nothing
    but bounds that the wire cannot hold, by keyword, ``broken`` the calls; ``faults`` is whatever else was wrong.
    """

    conversations: int = 0
    held: int = 0
    unbuilt: int = 0
    requests: int = 0
    refused: int = 0
    ran: int = 0
    broken: int = 0
    bounds: Counter[str] = field(default_factory=Counter)
    saw: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    def plus(self, other: Count) -> Count:
        """Both together."""
        return Count(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def counted(way: Way, found: dict[str, Any], exchanges: Sequence[Exchange]) -> Count:
    """What one conversation came to: what the worker says of it, and what the emulator was asked."""
    count = Count(conversations=1, requests=len(exchanges), ran=found["ran"], saw=Counter(found["saw"]))
    count.refused = sum(exchange.status >= 400 for exchange in exchanges)
    count.faults = [f"{found['kind']}: {words}" for words in found["wrong"]]
    if any(bool(exchange.body.get("stream")) is not way.stream for exchange in exchanges):
        count.faults.append(f"{found['kind']}: was not asked as it should be, whole or streamed")
    for refusal in found["invalid"]:
        keywords = _loose_bounds(refusal["problems"], load(way.dialect))
        if keywords and way.answers == "random":
            count.broken += 1
            count.bounds.update(keywords)
        else:
            count.faults.append(f"{found['kind']}: {refusal['tool']}: {refusal['problems']}")
    if not found["ended"]:
        count.held = 1
    elif exchanges:
        count.ended.append(f"{found['kind']}: {found['ended']}")
    else:
        count.unbuilt = 1
    return count


def _loose_bounds(problems: Iterable[dict[str, Any]], dialect: Dialect) -> set[str]:
    """The bounds that were broken, if none of them is known to the decoder; empty if anything else is wrong."""
    found: set[str] = set()
    for problem in problems:
        if problem["type"] == "dict_type" and problem["repeats_a_name"]:
            found.add(REPEATED)
            continue
        keyword = BOUNDS.get(problem["type"])
        if keyword is None or dialect.state(keyword) not in (State.REJECTED, State.IGNORED):
            return set()
        found.add(keyword)
    return found


def together(counts: Iterable[Count]) -> Count:
    """The sum."""
    whole = Count()
    for count in counts:
        whole = whole.plus(count)
    return whole


def failures(way: Way, count: Count) -> list[str]:
    """What must not be where the gateway stands between, in words."""
    found = [f"{way}: {words}" for words in (*count.faults, *count.ended)]
    if count.refused:
        found.append(f"{way}: {count.refused} of {count.requests} requests refused")
    if count.unbuilt and not way.strict:
        found.append(f"{way}: {count.unbuilt} conversations in which nothing was sent")
    return found


def missing(title: str, count: Count) -> list[str]:
    """What no tool was called with though the conversations are meant to show it."""
    return [f"{title}: no tool got {thing}" for thing in NEEDED if not count.saw[thing]]


HEAD = (
    "peer",
    "its strict",
    "conversations",
    "held to the end",
    "requests",
    "refused",
    "not sent",
    "calls run",
    "bound broken",
    "otherwise invalid",
)


def figures(counts: Sequence[tuple[str, bool, Count]]) -> str:
    """A row for each peer and what it was told about strict."""
    rows = [
        [
            peer,
            "on" if strict else "off",
            *(str(n) for n in (c.conversations, c.held, c.requests, c.refused, c.unbuilt, c.ran, c.broken)),
            str(len(c.faults)),
        ]
        for peer, strict, c in counts
    ]
    return table([list(HEAD), *rows])


def outcomes(kinds: Sequence[str], found: Sequence[tuple[str, Sequence[Count]]]) -> str:
    """For each peer, what came of the conversations of each kind."""
    return table([["peer", *kinds], *([peer, *map(_outcome, kinds, counts)] for peer, counts in found)])


UNSAID = {"open map": ("entries of a map", "map always empty"), "optionals": ("an optional left out", "none left out")}
"""What a conversation of a kind is about, and what is said where no tool ever got it."""


def _outcome(kind: str, count: Count) -> str:
    thing, unsaid = UNSAID.get(kind, ("", ""))
    parts = {
        f"held, {unsaid}" if unsaid and not count.saw[thing] else "held": count.held,
        "refused": count.conversations - count.held - count.unbuilt,
        "not sent": count.unbuilt,
    }
    return ", ".join(word for word, number in parts.items() if number)
