"""Server-sent events, read from bytes that may be cut anywhere.

The format is https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation. Only ``data``
matters to the APIs read here: what kind of event it is stands in the data too.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Final

from strictcall.errors import StreamError
from strictcall.json_value import MAX_BYTES

MOST_CHARACTERS: Final = 2 * MAX_BYTES
"""An event longer than this is refused: a call's arguments may have half as many bytes."""


class EventReader:
    """Gives the data of each event that is complete. Bytes that are no UTF-8 are read as U+FFFD, as the format says."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._size = 0
        self._after_return = False
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of the events that a chunk completes. Raises ``StreamError`` for an event that is too long."""
        text = self._decoder.decode(chunk)
        if self._first and text:
            self._first = False
            text = text.removeprefix("\ufeff")
        if self._after_return and text:
            text = text.removeprefix("\n")
            self._after_return = False
        self._after_return = self._after_return or text.endswith("\r")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in lines[:-1]:
            self._line.append(line)
            yield from self._take("".join(self._line))
            self._line = []
        self._grow(lines[-1])
        if lines[-1]:
            self._line.append(lines[-1])

    def _take(self, line: str) -> Iterator[str]:
        if not line:
            if self._data:
                yield "\n".join(self._data)
            self._data, self._size = [], 0
            return
        name, _, value = line.partition(":")
        if name == "data":
            value = value.removeprefix(" ")
            self._grow(value)
            self._data.append(value)

    def _grow(self, more: str) -> None:
        self._size += len(more)
        if self._size > MOST_CHARACTERS:
            raise StreamError(f"an event is longer than {MOST_CHARACTERS:,} characters")
