"""What a stream tells while it arrives."""

from __future__ import annotations

from dataclasses import dataclass

from strictcall.errors import Fault


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of what the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks, where the provider shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The model begins a call: the answer's ``position``-th, from 0. ``name`` is the tool's own."""

    position: int
    id: str | None
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A piece of a call's arguments, as JSON text in contract form. The pieces of a call without faults, one after
    another, are the text of exactly the arguments that the finished call has.
    """

    position: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call is complete, or the answer broke off within it; with ``faults``, what was told of it must not be used.

    Only a call of the finished ``Answer`` may run.
    """

    position: int
    faults: tuple[Fault, ...] = ()


Event = TextDelta | ReasoningDelta | CallStarted | ArgumentsDelta | CallEnded
