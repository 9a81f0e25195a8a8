"""Numbers that look natural: those the user named, within the bounds, or usual ones."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, Final, TypeGuard

from strictcall.emulator.sensible.prompt import Mention
from strictcall.emulator.sensible.spoken import Field, Spoken
from strictcall.emulator.sensible.words import known, stem

SETTINGS: Final = frozenset(
    """limit page offset timeout port index skip depth latitude longitude lat lon lng width height top max results
    size interval delay zoom scale opacity quality"""
    .split()
)  # fmt: skip
"""A number of a prompt is one of these only where the user says so."""
COUNTS: Final = frozenset("limit max top count results size num".split())
UNITS: Final = frozenset(stem(word) for word in "milliseconds seconds minutes hours days weeks months years".split())
_AHEAD: Final = frozenset({"me", "first", "top", "last", "latest", "recent", "up"})
_YEARS: Final = range(1000, 2200)
_LARGEST: Final = 2**53


def number(node: dict[str, Any], wanted: Field, spoken: Spoken, *, needed: bool) -> int | float | None:
    """A number that a schema takes; ``None`` where the user named none and none is needed."""
    whole = node.get("type") == "integer"
    named = _named(node, wanted, spoken, whole=whole, needed=needed)
    if named is not None or not needed:
        return named
    for value in (node.get("default"), *_examples(node)):
        if _is_number(value) and admits(node, value, whole=whole):
            return int(value) if whole else value
    usual = _usual(wanted, spoken)
    return fitted(node, usual, whole=whole)


def _examples(node: dict[str, Any]) -> list[Any]:
    examples = node.get("examples")
    return [*(examples[:5] if isinstance(examples, list) else ()), node.get("example")]


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**300


def _named(node: dict[str, Any], wanted: Field, spoken: Spoken, *, whole: bool, needed: bool) -> int | float | None:
    if wanted.words[-1:] == ("year",):
        return _year(node, spoken)
    place = next(spoken.prompt.of("city"), None)
    coordinate = _coordinate(wanted)
    if coordinate and place is not None:
        known_place = known().cities[place.value.lower()]
        degrees = known_place.latitude if coordinate == "latitude" else known_place.longitude
        return degrees if admits(node, degrees, whole=whole) else None
    mention = spoken.near(("number",), wanted) or _measured(wanted, spoken)
    if mention is None and COUNTS.intersection(wanted.words):
        mention = next((item for item in spoken.prompt.of("number") if _counts(item, spoken)), None)
    if mention is None and needed and not SETTINGS.intersection(wanted.words) and not coordinate:
        mention = spoken.any(("number",), wanted)
    if mention is None:
        return None
    value = _read(mention)
    if not admits(node, value, whole=whole):
        return None
    spoken.use(mention)
    return int(value) if whole else value


def _measured(wanted: Field, spoken: Spoken) -> Mention | None:
    """A number with a unit that the field's description names: "3 seconds"."""
    units = UNITS & {stem(word) for word in re.findall(r"[a-z]+", wanted.said.lower())}
    free = (item for item in spoken.prompt.of("number") if item.start not in spoken.used)
    return next((item for item in free if units.intersection(item.after[:1])), None)


def _counts(mention: Mention, spoken: Spoken) -> bool:
    """Whether a number says how many things are wanted: "show me 5 issues"."""
    table = known()
    ahead = mention.before[:1]
    if mention.start in spoken.used or not ahead or not mention.after:
        return False
    return (ahead[0] in table.verbs or ahead[0] in _AHEAD) and not any(
        mention.after[0] in rival.names and not COUNTS.intersection(rival.words) for rival in spoken.rivals
    )


def _coordinate(wanted: Field) -> str | None:
    """Whether a field is a latitude or a longitude: by its name, or by its place in what is said of a pair."""
    if {"latitude", "lat"}.intersection(wanted.words):
        return "latitude"
    if {"longitude", "lon", "lng", "long"}.intersection(wanted.words):
        return "longitude"
    text = wanted.description.lower()
    order = sorted((text.find(word), word) for word in ("latitude", "longitude") if word in text)
    if wanted.position in (0, 1) and len(order) == 2:
        return order[wanted.position][1]
    return None


def _year(node: dict[str, Any], spoken: Spoken) -> int | None:
    for mention in spoken.prompt.of("number", "date"):
        text = mention.value[:4]
        if text.isdigit() and int(text) in _YEARS and admits(node, int(text), whole=True):
            return int(text)
    return None


def _read(mention: Mention) -> int | float:
    value = float(mention.value)
    return int(mention.value) if value.is_integer() and "." not in mention.value else value


def _usual(wanted: Field, spoken: Spoken) -> float:
    table = known().usual_numbers
    coordinate = _coordinate(wanted)
    if coordinate:
        return table[coordinate]
    words = (wanted.words if wanted.words not in ((), ("value",)) else wanted.about)[-4:]
    joined = ["_".join(words[start:]) for start in range(len(words))]
    names = (*joined, *reversed(words))
    found = next((table[name] for name in names if name in table), None)
    return found if found is not None else spoken.rng.randint(1, 5)


def bounds(node: dict[str, Any], *, whole: bool) -> tuple[Fraction, Fraction, bool, bool]:
    """The least and the most that a schema takes, and whether each is itself outside."""
    least, most = Fraction(-_LARGEST), Fraction(_LARGEST)
    open_below = open_above = False
    if _is_number(node.get("minimum")):
        least = Fraction(node["minimum"])
    if _is_number(node.get("maximum")):
        most = Fraction(node["maximum"])
    if _is_number(node.get("exclusiveMinimum")) and Fraction(node["exclusiveMinimum"]) >= least:
        least, open_below = Fraction(node["exclusiveMinimum"]), True
    if _is_number(node.get("exclusiveMaximum")) and Fraction(node["exclusiveMaximum"]) <= most:
        most, open_above = Fraction(node["exclusiveMaximum"]), True
    if whole:
        least = Fraction(math.floor(least) + 1 if open_below else math.ceil(least))
        most = Fraction(math.ceil(most) - 1 if open_above else math.floor(most))
        open_below = open_above = False
    return least, most, open_below, open_above


def admits(node: dict[str, Any], value: float, *, whole: bool) -> bool:
    """Whether a schema's bounds and its divisor let a number in."""
    exact = Fraction(value) if isinstance(value, int) else Fraction(repr(value))
    least, most, open_below, open_above = bounds(node, whole=whole)
    if exact < least or exact > most or (open_below and exact == least) or (open_above and exact == most):
        return False
    step = node.get("multipleOf")
    if _is_number(step) and step > 0 and (exact / Fraction(repr(step))).denominator != 1:
        return False
    return not whole or exact.denominator == 1


def fitted(node: dict[str, Any], value: float, *, whole: bool) -> int | float:
    """The number nearest to a wished one that the bounds and the divisor let in, as far as there is one."""
    least, most, open_below, open_above = bounds(node, whole=whole)
    exact = min(max(Fraction(repr(value)), least), most)
    if (open_below and exact == least) or (open_above and exact == most):
        room = most - least
        inward = min(Fraction(1), room / 2)
        exact += inward if exact == least and open_below else -inward
    divisor = node.get("multipleOf")
    step = Fraction(repr(divisor)) if _is_number(divisor) and divisor > 0 else None
    if whole:
        step = Fraction(step.numerator if step else 1)
    if step:
        up, down = math.ceil(exact / step) * step, math.floor(exact / step) * step
        exact = up if up <= most and not (open_above and up == most) else down
    return int(exact) if exact.denominator == 1 and (whole or abs(exact) < _LARGEST) else float(exact)
