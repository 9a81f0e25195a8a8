"""What reading a stream is for every API whose events are JSON objects."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Final

from strictcall.api.answer import Answer
from strictcall.api.assembly import Assembly
from strictcall.api.events import Event
from strictcall.api.sse import EventReader
from strictcall.errors import StreamError
from strictcall.json_value import excerpt
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

DONE: Final = "[DONE]"
"""What OpenAI's servers, and those like them, send last."""
BETWEEN_THOUGHTS: Final = "\n\n"
"""What is put between two parts of what a model thinks."""


class Feed(ABC):
    """Reads an answer as it comes.

    A chunk is an event, a dict (``.to_dict()`` or ``.model_dump()`` of a client's object), or bytes of the response's
    body, server-sent events cut anywhere. ``ended`` are the events that ``finish`` adds: the ends of the calls.
    """

    def __init__(self, toolset: Toolset, output: CompiledTool | None = None) -> None:
        self._assembly = Assembly(toolset, output)
        self._reader = EventReader()
        self._answer: Answer | None = None
        self._thought: object = None
        self.ended: list[Event] = []

    def feed(self, chunk: dict[str, Any] | bytes) -> list[Event]:
        """Take a chunk; gives what it tells.

        Raises ``StreamError`` for an error that the provider tells, for what is no event, and after ``finish``.
        """
        if self._answer is not None:
            raise StreamError("the stream is finished, and takes no more")
        if isinstance(chunk, bytes | bytearray | memoryview):
            for data in self._reader.feed(bytes(chunk)):
                if data.strip() and data.strip() != DONE:
                    self._take(event_of(data))
        elif isinstance(chunk, dict):
            self._take(chunk)
        else:
            raise StreamError(f"a chunk is a dict or bytes, not {type(chunk).__name__}")
        return self._assembly.taken()

    @property
    def calls(self) -> int:
        """How many calls have come so far, with those of which there is no event yet."""
        return self._assembly.calls

    def finish(self) -> Answer:
        """The whole answer. Asked again, it is the same one. ``ended`` are the events that end its calls.

        Raises ``StreamError`` where the answer cannot be put together.
        """
        if self._answer is None:
            self._settle()
            self._answer = self._assembly.finish(self._native())
            self.ended = self._assembly.taken()
        return self._answer

    @abstractmethod
    def _take(self, event: dict[str, Any]) -> None:
        """Take an event."""

    @abstractmethod
    def _settle(self) -> None:
        """Nothing more comes."""

    @abstractmethod
    def _native(self) -> Any:
        """The assistant's turn in the API's own form."""

    def _think(self, part: object, piece: str) -> None:
        """The model thinks on, in this part of its thoughts."""
        if not piece:
            return
        if self._thought is not None and self._thought != part:
            self._assembly.reasoning(BETWEEN_THOUGHTS)
        self._thought = part
        self._assembly.reasoning(piece)


def event_of(data: str) -> dict[str, Any]:
    """The event whose data this is. Raises ``StreamError``."""
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        raise StreamError(f"an event is not JSON: {excerpt(data)}") from None
    if not isinstance(event, dict):
        raise StreamError(f"an event is no object: {excerpt(data)}")
    return event
