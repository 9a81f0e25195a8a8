"""What a model's answer holds, in words that no API owns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from strictcall.errors import Fault
from strictcall.wire.mend import Repair


class StopReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    """The model was done."""
    TOOL_CALLS = "tool_calls"
    """It waits for the results of its calls."""
    LENGTH = "length"
    """It ran out of tokens, or of context."""
    STOP_SEQUENCE = "stop_sequence"
    """It wrote a text at which it was told to stop."""
    REFUSAL = "refusal"
    """The model would not answer."""
    CONTENT_FILTER = "content_filter"
    """The provider cut the answer off."""
    PAUSE = "pause"
    """The provider's own tools are at work; the answer goes on when it is sent back."""
    ERROR = "error"
    """The provider failed, or says so."""
    INCOMPLETE = "incomplete"
    """The answer broke off: no reason was given before the connection ended."""
    OTHER = "other"
    """A reason that is not known here."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the provider counts them; ``None`` where it does not say.

    ``input`` counts those read from a cache too, and ``output`` those of reasoning.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model made.

    ``name`` is the tool's own name and ``arguments`` are those that it declared; ``None`` where there are ``faults``.
    ``repairs`` were made to arguments that no decoder held to the schema. ``raw`` is the arguments as the model wrote
    them, JSON text, and ``wire_name`` the name that it called. ``fingerprint`` is that of the wire form that the call
    answered: ``None`` where no tool has the name. A call that is not ``complete`` was cut off, and must never run.
    """

    id: str | None
    name: str
    arguments: Any
    faults: tuple[Fault, ...] = ()
    repairs: tuple[Repair, ...] = ()
    raw: str = ""
    wire_name: str = ""
    fingerprint: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer.

    ``text`` is what it said, ``reasoning`` what it thought before, as far as the provider shows it. ``output`` is the
    value of the text where a schema was asked of it, decoded; ``None`` where none was, or where ``output_faults`` say
    what is wrong with it. ``native`` is the assistant's turn in the API's own form, which history replays: signatures
    and items that only the provider reads are in there.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    output: Any = None
    stop_reason: StopReason = StopReason.STOP
    usage: Usage = Usage()
    output_faults: tuple[Fault, ...] = ()
    native: Any = field(default=None, repr=False, compare=False)
