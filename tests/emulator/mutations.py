"""A JSON value with one of its parts made odd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ODD = (
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    10**40,
    "",
    "x",
    "\ud800",
    [],
    [None],
    [[]],
    {},
    {"": None},
    {"type": 5},
    "{}",
)
"""Values that stand where others are meant; Python's reader of JSON takes NaN and lone surrogates too."""


def mutations(value: Any) -> Iterator[Any]:
    """Every value that has one part replaced by an odd one, or taken out."""
    yield from ODD
    if isinstance(value, dict):
        for name, held in value.items():
            yield {other: item for other, item in value.items() if other != name}
            for changed in mutations(held):
                yield {**value, name: changed}
    elif isinstance(value, list):
        for index, held in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for changed in mutations(held):
                yield [*value[:index], changed, *value[index + 1 :]]
