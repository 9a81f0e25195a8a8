"""Changes: what compiling did to a tool, and what that means for its calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from strictcall.value import value


class Effect(StrEnum):
    """What a change does to the arguments that can be said, from harmless to worst."""

    ENCODED = "encoded"
    CLOSED = "closed"
    CHECKED = "checked"
    NARROWED = "narrowed"


class Verdict(StrEnum):
    """How well a compiled tool keeps its contract; the worst effect among its changes, or ``loose``."""

    EXACT = "exact"
    CLOSED = "closed"
    CHECKED = "checked"
    NARROWED = "narrowed"
    LOOSE = "loose"


_SEVERITY = {Effect.ENCODED: 0, Effect.CLOSED: 1, Effect.CHECKED: 2, Effect.NARROWED: 3}
_VERDICTS = (Verdict.EXACT, Verdict.CLOSED, Verdict.CHECKED, Verdict.NARROWED)


@value
class Change:
    """One rewrite: its stable ``code``, a JSON Pointer into the schema as written, the effect, and a sentence about
    it.
    """

    code: str
    pointer: str
    effect: Effect
    message: str


def verdict_of(changes: Iterable[Change]) -> Verdict:
    """The verdict of a strict tool with these changes."""
    return _VERDICTS[max((_SEVERITY[change.effect] for change in changes), default=0)]


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of change or reason, for people: what it is, why it happens, an example and what a tool's author can do.

    ``by_encoding`` marks a change that is part of an encoding itself, which ``fidelity="exact"`` therefore allows.
    """

    name: str
    effect: Effect
    summary: str
    why: str
    example: str
    remedy: str
    by_encoding: bool = False
