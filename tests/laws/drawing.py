"""Choices that Hypothesis makes, records and shrinks."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from strictcall.testing.picking import Item


class Drawn:
    """A picker that draws."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def one(self, items: Sequence[Item]) -> Item:
        return items[self._draw(st.integers(0, len(items) - 1))]
