"""What a run comes to: an answer, or an error that holds all that there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Generic, TypeVar

from strictcall.api.answer import Usage
from strictcall.errors import StrictCallError
from strictcall.link.turns import Turn

Output = TypeVar("Output")


class EndReason(StrEnum):
    """Why a run ended without an answer."""

    LINK = "link"
    """No link answered, or the answer broke off after some of it was told. The error's cause is a ``LinkError`` or a
    ``ChainError``, or another one where a link, or a tool, was changed while the run went on.
    """
    STEPS = "steps"
    """The model was asked as often as is allowed, and still made calls."""
    REPAIRS = "repairs"
    """The model was told too often in a row that nothing of its answer could be used."""
    REFUSED = "refused"
    """The model would not answer, or the provider held the answer back."""
    FATAL = "fatal"
    """A tool said that the run cannot go on."""
    ABORTED = "aborted"
    """Somebody ended the run."""
    TIMEOUT = "timeout"
    """The time of the run was over."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    ``messages`` are the whole conversation, what it began with included: given to ``run`` again, it goes on from there.
    Every call in it has its result. ``usage`` adds up the tokens of all answers, ``steps`` counts them, and ``link`` is
    the last that answered.
    """

    messages: tuple[Turn, ...]
    usage: Usage
    steps: int
    link: str | None


@dataclass(frozen=True, slots=True)
class RunResult(Generic[Output]):
    """An answer. ``output`` is what was asked for by ``output_type``, else the ``text``; ``progress`` is the whole of
    the run.
    """

    output: Output
    text: str
    progress: Progress

    @property
    def messages(self) -> tuple[Turn, ...]:
        """The whole conversation, the answer last; given to ``run`` with a next question, it goes on."""
        return self.progress.messages

    @property
    def usage(self) -> Usage:
        """The tokens of all answers of the run."""
        return self.progress.usage


class RunError(StrictCallError):
    """A run ended without an answer: ``reason`` says why, ``words`` say so to people, and ``progress`` is what there
    was until then. What a link or a tool raised is the ``__cause__``.
    """

    def __init__(self, reason: EndReason, words: str, progress: Progress) -> None:
        super().__init__(reason, words)
        self.reason = reason
        self.words = words
        self.progress = progress

    @property
    def messages(self) -> Sequence[Turn]:
        """The conversation until then, every call with its result."""
        return self.progress.messages

    def __reduce__(self) -> tuple[type[RunError], tuple[EndReason, str, Progress]]:
        # Errors are pickled by their args, and to hold the conversation there would show it in every repr.
        return type(self), (self.reason, self.words, self.progress)

    def __str__(self) -> str:
        return f"the run ended without an answer ({self.reason}): {self.words}"


def added(usages: Iterable[Usage]) -> Usage:
    """Tokens added up; ``None`` where no answer says."""
    counted = list(usages)
    sums = {}
    for each in fields(Usage):
        known = [number for usage in counted if (number := getattr(usage, each.name)) is not None]
        sums[each.name] = sum(known) if known else None
    return Usage(**sums)
