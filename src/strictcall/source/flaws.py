"""Flaws: what JSON or YAML text can say that no JSON value holds.

A flaw is kept in the value, where it stood, so that it spoils the one tool that it belongs to and no other.
"""

from __future__ import annotations

import math
import re
from typing import Any

from strictcall.json_value import escape

_SURROGATE = re.compile("[\ud800-\udfff]")


class Flaw:
    """A scalar that is not JSON, in the place of a value; ``text`` says what is wrong."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class FlawedObject(dict[str, Any]):
    """An object whose text gave one of its keys twice; ``key`` is the first such key."""

    def __init__(self, pairs: list[tuple[str, Any]], key: str) -> None:
        super().__init__(pairs)
        self.key = key


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its pairs, flawed where a key is given twice."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return FlawedObject(pairs, key)
        seen.add(key)
    raise AssertionError("fewer keys than pairs without a repeated key")  # pragma: no cover


def first_flaw(value: Any) -> str | None:
    """The first flaw in a value as one sentence with its JSON Pointer, or ``None``. Walks without recursion."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        pointer, node = pending.pop()
        problem = _flaw(node)
        if problem is not None:
            return f"{problem} at {pointer}" if pointer else problem
        if isinstance(node, dict):
            pending.extend((f"{pointer}/{escape(key)}", item) for key, item in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend((f"{pointer}/{index}", item) for index, item in reversed(list(enumerate(node))))
    return None


def _flaw(node: Any) -> str | None:
    if isinstance(node, Flaw):
        return node.text
    if isinstance(node, FlawedObject):
        return f"the key {node.key!r} is given twice in one object"
    if isinstance(node, str):
        return _surrogate(node)
    if isinstance(node, float) and not math.isfinite(node):
        return "NaN and infinity are not JSON numbers"
    if isinstance(node, dict):
        return next(filter(None, map(_surrogate, node)), None)
    return None


def _surrogate(text: str) -> str | None:
    if not text.isascii() and _SURROGATE.search(text):
        return "a string holds a lone surrogate, which is not a character"
    return None
