"""What of an answer only its provider reads: kept for the history, within bounds."""

from __future__ import annotations

from typing import Any, Final

from strictcall.errors import StreamError
from strictcall.json_value import MAX_BYTES

MOST_KEPT: Final = 2 * MAX_BYTES
"""How much an answer may hold beside its text and calls, in characters, with a few for each value."""
_EACH: Final = 8


class Keeper:
    """Counts what is kept of an answer."""

    def __init__(self) -> None:
        self._size = 0

    def text(self, piece: str) -> str:
        """A piece of a text that is kept, counted likewise."""
        self._size += len(piece)
        self._check()
        return piece

    def kept(self, value: Any) -> Any:
        """A value that is kept, counted. Raises ``StreamError`` where all together is more than ``MOST_KEPT``."""
        pending = [value]
        while pending:
            item = pending.pop()
            self._size += _EACH + (len(item) if isinstance(item, str | bytes) else 0)
            self._check()
            if isinstance(item, dict):
                pending += item
                pending += item.values()
            elif isinstance(item, list):
                pending += item
        return value

    def _check(self) -> None:
        if self._size > MOST_KEPT:
            raise StreamError(f"the answer holds more than {MOST_KEPT:,} characters that are kept for its provider")
