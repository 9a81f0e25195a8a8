"""Other spellings of one JSON text: spaces between its parts, and escapes for what needs none."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final

_PARTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[,:{}\[\]]')


def _spaced(text: str) -> str:
    return _PARTS.sub(lambda found: found[0] + " " if found[0] in ",:" else found[0], text)


def _broken_into_lines(text: str) -> str:
    after = {",": ",\n  ", ":": ": ", "{": "{\n  ", "[": "[\r\n\t", "}": "\n}", "]": " ]"}
    return _PARTS.sub(lambda found: after.get(found[0], found[0]), text)


def _escaped(text: str) -> str:
    return "".join(character if character.isascii() else _escape(character) for character in text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _escaped_slashes(text: str) -> str:
    return re.sub(r"\\.|/", lambda found: "\\/" if found[0] == "/" else found[0], text)


_OTHERS: Final[tuple[Callable[[str], str], ...]] = (_spaced, _spaced, _broken_into_lines, _escaped, _escaped_slashes)


def laid_out(text: str, rng: random.Random, budget_bytes: int, *, often: float = 0.25) -> str:
    """The same JSON, now and then spelt another way, if that fits into the budget. Compact JSON is taken."""
    if rng.random() >= often:
        return text
    other = rng.choice(_OTHERS)(text)
    return other if len(other.encode()) <= budget_bytes else text
