"""Hints: constraints that the wire does not hold, said in a description for the model to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from strictcall.shape.model import Residue

MOST_CHARACTERS: Final = 200
"""How long the suffix may be."""

NEEDED: Final = frozenset({"json-text", "part-text", "recursion-text"})
"""Codes of the hints without which a value cannot be written rightly, whatever the policy says of hints."""

_SUFFIX: Final = re.compile(r"(?:^| )\[constraints: [^\n]*\]\Z")
_BLANKS: Final = re.compile(r"\s+")


def described(description: str | None, residue: Iterable[Residue]) -> str | None:
    """A description with the constraints as its suffix, sorted, in place of an earlier such suffix.

    ``None`` where there is neither. A schema's text is data here: it is folded to one line and cut, never interpreted.
    """
    texts = sorted({_BLANKS.sub(" ", item.text).strip() for item in residue if item.text})
    if not texts:
        return description
    suffix = _fitting(texts)
    before = _SUFFIX.sub("", description) if description else ""
    return f"{before} {suffix}" if before else suffix


def said(residue: tuple[Residue, ...], *, hints: bool) -> tuple[Residue, ...]:
    """The residue that is said in a description; ``hints``: whether the policy wants more than what is needed."""
    return residue if hints else tuple(item for item in residue if item.code in NEEDED)


def _fitting(texts: list[str]) -> str:
    room = MOST_CHARACTERS - len(" [constraints: ]")
    text = "; ".join(texts)
    if len(text) > room:
        text = text[: room - 1] + "…"
    return f"[constraints: {text}]"
