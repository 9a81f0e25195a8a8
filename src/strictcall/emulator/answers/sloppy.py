"""Arguments of loose tools, broken at a chosen rate in the ways in which models really break schemas."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any, Final

from strictcall.emulator.answers.broken_texts import IN_THE_TEXT
from strictcall.emulator.answers.broken_values import (
    ANYWHERE,
    AT_THE_ROOT,
    EVEN_IF_ADMITTED,
    KEEP,
    compact,
    places,
    replaced,
)
from strictcall.emulator.answers.loosely import Loosely, loosely

KINDS: Final[tuple[str, ...]] = (*ANYWHERE, *AT_THE_ROOT, *IN_THE_TEXT)
"""The names of all ways to break arguments."""
_HOW_MANY: Final = (1, 1, 1, 2, 3)
_PLACES: Final = 60
_TRIES_A_PLACE: Final = 4
_VALUES: Final = 6


def arguments(schema: Any, rng: random.Random, rate: float, kinds: Collection[str] | None = None) -> str:
    """The arguments' text of a call of a loose tool; ``schema`` may be anything that a request holds.

    They fit the schema as far as can be told, but ``rate`` of them (0 to 1) are broken in one or more ways out of
    ``kinds`` (all of ``KINDS``). A way that does not apply is passed over for another; where none applies to any of a
    few values, the arguments stay whole.
    """
    maker = loosely(schema)
    value = maker.arguments(rng)
    if rng.random() >= rate:
        return compact(value)
    chosen = [kind for kind in KINDS if kinds is None or kind in kinds]
    for _ in range(_VALUES):
        broken = _broken(value, maker, rng, chosen)
        if broken is not None:
            return broken
        value = maker.arguments(rng)
    return compact(value)


def _broken(value: Any, maker: Loosely, rng: random.Random, kinds: list[str]) -> str | None:
    """The text of a value broken in one to three ways, of which one at most breaks the text itself."""
    left = rng.choice(_HOW_MANY)
    in_text = None
    done = False
    for kind in rng.sample(kinds, len(kinds)):
        if not left:
            break
        if kind in IN_THE_TEXT:
            if in_text is None and IN_THE_TEXT[kind](compact(value), rng) is not None:
                in_text = kind
                left -= 1
            continue
        changed = _broken_value(value, maker, rng, kind)
        if changed is not KEEP:
            value, done = changed, True
            left -= 1
    text = compact(value)
    broken = IN_THE_TEXT[in_text](text, rng) if in_text is not None and isinstance(value, dict) else None
    if broken is not None:
        return broken
    return text if done else None


def _broken_value(value: Any, maker: Loosely, rng: random.Random, kind: str) -> Any:
    """The value broken in one way, such that the schema refuses it where a validator can tell; else ``KEEP``."""
    if kind in AT_THE_ROOT:
        return AT_THE_ROOT[kind](value, rng)
    found = list(places(value))
    passed = KEEP
    for path, item in rng.sample(found, min(len(found), _PLACES)):
        for _ in range(_TRIES_A_PLACE):
            new = ANYWHERE[kind](item, rng)
            if new is KEEP or (not path and not isinstance(new, dict)):
                break
            changed = replaced(value, path, new)
            if maker.fits(changed) is not True:
                return changed
            if kind in EVEN_IF_ADMITTED:
                passed = changed
    return passed
