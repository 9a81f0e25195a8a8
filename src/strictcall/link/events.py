"""What happens between a request and the link that serves it. Events hold no key, no header and no body."""

from __future__ import annotations

from dataclasses import dataclass

from strictcall.link.errors import ErrorKind


@dataclass(frozen=True, slots=True)
class LinkChosen:
    """A link is about to be asked; ``why`` says in words why this one."""

    link: str
    why: str


@dataclass(frozen=True, slots=True)
class LinkRetry:
    """The same link is asked again after ``delay`` seconds; ``attempt`` counts those that failed, from 1."""

    link: str
    kind: ErrorKind
    words: str
    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class LinkFailed:
    """A link gave no answer. ``cooldown``: for so many seconds it is not asked again, unless there is no other."""

    link: str
    kind: ErrorKind
    words: str
    cooldown: float


@dataclass(frozen=True, slots=True)
class LinkSkipped:
    """A link was not asked; ``why`` says in words why not."""

    link: str
    why: str


@dataclass(frozen=True, slots=True)
class LinkServed:
    """A link answered, or its answer began to arrive. ``why`` is that of its ``LinkChosen``; ``strict`` are the names
    of the tools that were sent strict, and ``attempts`` how often the link was asked.
    """

    link: str
    why: str
    strict: tuple[str, ...]
    attempts: int


LinkEvent = LinkChosen | LinkRetry | LinkFailed | LinkSkipped | LinkServed
