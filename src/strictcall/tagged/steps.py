"""What reading a text gives, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from strictcall.errors import Fault
from strictcall.wire.mend import Repair


@dataclass(frozen=True, slots=True)
class Said:
    """A call as it was written: ``arguments`` is JSON text. ``faults``: what is wrong with how it was written."""

    name: str
    arguments: str
    id: str | None = None
    faults: tuple[Fault, ...] = ()
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Plain:
    """Text for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that is being read; ``place`` is where what follows its name begins."""

    name: str
    id: str | None
    place: int


Step = Said | Plain | Thought
