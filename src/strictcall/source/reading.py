"""What comes of reading a source: the tools that could be read and the problems of what could not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from strictcall.tool import Tool


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read as a tool; ``place`` names the file and the line or row where known."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True, slots=True)
class Reading:
    """The tools of a source in order, and the problems met on the way. One never hides the other.

    ``notes`` say what was left out on purpose, such as a server that its config file disables.
    """

    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def failed(place: str, text: str) -> Reading:
    """A reading that came to nothing, with the one problem that says why."""
    return Reading(problems=(Problem(place, text),))


def joined(readings: Iterable[Reading]) -> Reading:
    """Several readings as one, in order."""
    parts = tuple(readings)
    return Reading(
        tuple(tool for part in parts for tool in part.tools),
        tuple(problem for part in parts for problem in part.problems),
        tuple(note for part in parts for note in part.notes),
    )
