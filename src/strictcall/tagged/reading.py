"""Answers written as text, whole and streamed: both are read in the same way."""

from __future__ import annotations

from strictcall.api.answer import Answer
from strictcall.api.events import Event
from strictcall.errors import StreamError
from strictcall.tagged.engine import Engine
from strictcall.tagged.families.common import opened_thought
from strictcall.tagged.offered import Offered
from strictcall.tagged.registry import openings
from strictcall.wire.toolset import Toolset


def read(
    text: str,
    toolset: Toolset,
    format: str = "auto",  # noqa: A002 - what the user calls it
    *,
    model: str | None = None,
    thinking: bool = False,
) -> Answer:
    """The answer that a text is: what is said, what is thought, and the calls in it, their arguments checked.

    ``format`` is one of ``formats()``, or ``auto``: then every format is looked for, those first that ``model``, the
    model's name, writes. What may be prose is prose: a tag in code or in a quotation, a call that is only mentioned, a
    tool that is not offered (where the tags are unmistakable such a call is there, with a fault and the nearest name).

    ``thinking``: the prompt opened a thought already, so that the answer begins within it.

    Raises ``SettingsError`` for an unknown format, ``StreamError`` for a text of more than 16 Mi characters, or with
    more than 1,024 calls.
    """
    stream = Stream(toolset, format, model, thinking=thinking)
    stream.feed(text)
    return stream.finish()


class Stream:
    """Reads a text as it comes. Text flows on at once, unless a call may be beginning; a call is told when it is
    complete.

    ``ended`` are the events that ``finish`` adds. Only the calls of the finished answer may run, and of those only the
    ``complete`` ones without ``faults``.
    """

    def __init__(
        self,
        toolset: Toolset,
        format: str = "auto",  # noqa: A002 - what the user calls it
        model: str | None = None,
        *,
        thinking: bool = False,
    ) -> None:
        self._engine = Engine(Offered(toolset), openings(format, model), opened_thought if thinking else None)
        self._text: list[str] = []
        self._answer: Answer | None = None
        self.ended: list[Event] = []

    def feed(self, text: str) -> list[Event]:
        """Take a piece of the text; gives what it tells.

        Raises ``StreamError`` for a text that is too long or has too many calls, and after ``finish``.
        """
        if self._answer is not None:
            raise StreamError("the stream is finished, and takes no more")
        if not isinstance(text, str):
            raise StreamError(f"a piece of text is a str, not {type(text).__name__}")
        events = self._engine.feed(text)
        self._text.append(text)
        return events

    def finish(self) -> Answer:
        """The whole answer. Asked again, it is the same one. Its ``native`` is the text as it came."""
        if self._answer is None:
            self._answer, self.ended = self._engine.finish("".join(self._text))
        return self._answer
