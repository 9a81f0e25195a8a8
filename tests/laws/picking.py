"""Where random choices come from: Hypothesis, which shrinks, or a plain seed, which is fast."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item")


class Picker(Protocol):
    """Makes choices; the first item and the smallest number are the simplest."""

    def number(self, least: int, most: int) -> int:
        """A whole number between two bounds, both included."""

    def one(self, items: Sequence[Item]) -> Item:
        """One of some items."""


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int | str) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - a seed, not a secret

    def number(self, least: int, most: int) -> int:
        return self._rng.randint(least, most)

    def one(self, items: Sequence[Item]) -> Item:
        return self._rng.choice(items)


class Drawn:
    """Choices that Hypothesis makes, records and shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def one(self, items: Sequence[Item]) -> Item:
        return items[self._draw(st.integers(0, len(items) - 1))]


def chance(pick: Picker, percent: int) -> bool:
    """True so many times in a hundred; false is the simpler outcome."""
    return pick.number(0, 99) >= 100 - percent


def some(pick: Picker, items: Sequence[Item], most: int) -> list[Item]:
    """Up to ``most`` different items, in the order in which they were picked."""
    chosen: list[Item] = []
    for _ in range(pick.number(0, most)):
        item = pick.one(items)
        if item not in chosen:
            chosen.append(item)
    return chosen
