"""Where random choices come from: a plain seed here; a test may hand in a source that records and shrinks them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Picker(Protocol):
    """Makes choices; the first item and the smallest number are the simplest."""

    def number(self, least: int, most: int) -> int:
        """A whole number between two bounds, both included."""

    def one(self, items: Sequence[Item]) -> Item:
        """One of some items."""


class Seeded:
    """Choices from a seed: the same seed makes the same ones."""

    def __init__(self, seed: int | str) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - a seed, not a secret

    def number(self, least: int, most: int) -> int:
        """A whole number between two bounds, both included."""
        return self._rng.randint(least, most)

    def one(self, items: Sequence[Item]) -> Item:
        """One of some items."""
        return self._rng.choice(items)


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
