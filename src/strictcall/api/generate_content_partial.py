"""Arguments of a call that Gemini streams value by value, as ``partialArgs``.

Each value has a path within the arguments, and a text may come in pieces. Sources: ``FunctionCall`` and ``PartialArg``
of https://github.com/googleapis/python-genai/blob/main/google/genai/types.py; paths are those of RFC 9535 that name
one place.
"""

from __future__ import annotations

import re
from typing import Any, Final

from strictcall.api.fields import tables, text
from strictcall.api.generate_content_fields import get
from strictcall.api.keeping import Keeper
from strictcall.api.reading import raw_text
from strictcall.errors import StreamError

MOST_LEVELS: Final = 200
"""No path leads deeper: arguments may not nest so deep."""
MOST_ITEMS: Final = 100_000
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]'"]+)|\[(?P<index>\d{1,6})\]|\[(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]""", re.DOTALL
)
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class PartialArguments:
    """The arguments of a call in the making."""

    def __init__(self) -> None:
        self._root: dict[str, Any] = {}
        self._open: tuple[str, list[str]] | None = None
        self._keeper = Keeper()

    def take(self, pieces: Any) -> None:
        """Take the values of a part. Raises ``StreamError`` for a path that names no place."""
        for piece in tables(pieces):
            self._take(self._keeper.kept(piece))

    def _take(self, piece: dict[str, Any]) -> None:
        path = text(get(piece, "jsonPath"))
        said = get(piece, "stringValue")
        goes_on = get(piece, "willContinue") is True
        if isinstance(said, str):
            if self._open is not None and self._open[0] == path:
                self._open[1].append(said)
            else:
                self._close()
                self._open = (path, [said])
            if not goes_on:
                self._close()
            return
        if self._open is not None and self._open[0] == path and not _has_value(piece):
            self._close()  # the text ends with a piece that adds nothing
            return
        self._close()
        if _has_value(piece):
            self._put(path, _value(piece))

    def _close(self) -> None:
        """The text that was open is whole."""
        if self._open is not None:
            path, pieces = self._open
            self._open = None
            self._put(path, "".join(pieces))

    def _put(self, path: str, value: Any) -> None:
        steps = _steps(path)
        holder: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            made: Any = value if following is None else [] if isinstance(following, int) else {}
            holder = _entered(holder, step, made, path, is_last=following is None)

    def whole(self) -> str:
        """The arguments as text."""
        self._close()
        return raw_text(self._root)

    def broken_off(self) -> str:
        """The arguments as text where no more of them came: no whole object."""
        return self.whole()[:-1]


def _has_value(piece: dict[str, Any]) -> bool:
    return any(get(piece, name) is not None for name in ("numberValue", "boolValue", "nullValue"))


def _value(piece: dict[str, Any]) -> Any:
    number, flag = get(piece, "numberValue"), get(piece, "boolValue")
    if isinstance(number, int | float) and not isinstance(number, bool):
        # Numbers are doubles on this road; one without a fraction is written as the whole number that it is.
        return int(number) if isinstance(number, float) and number.is_integer() else number
    return flag if isinstance(flag, bool) else None


def _steps(path: str) -> list[str | int]:
    """The names and indices of a path, which begins with ``$``."""
    steps: list[str | int] = []
    position = 1
    while path.startswith("$") and position < len(path) and len(steps) <= MOST_LEVELS:
        match = _STEP.match(path, position)
        if match is None:
            break
        position = match.end()
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"] if match["name"] is not None else _unquoted(match["quoted"][1:-1]))
    if not steps or position < len(path) or len(steps) > MOST_LEVELS:
        raise StreamError(f"a call's argument has no place: its path is {path[:100]!r}")
    return steps


def _unquoted(name: str) -> str:
    return _ESCAPED.sub(lambda found: _character(found[1]), name)


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)


def _entered(holder: Any, step: str | int, made: Any, path: str, *, is_last: bool) -> Any:
    """What a step leads to, made where it is not there yet."""
    if isinstance(holder, list) and isinstance(step, int) and step <= min(len(holder), MOST_ITEMS):
        if step == len(holder):
            holder.append(made)
        elif is_last:
            holder[step] = made
        return holder[step]
    if isinstance(holder, dict) and isinstance(step, str):
        if is_last or step not in holder:
            holder[step] = made
        return holder[step]
    raise StreamError(f"a call's argument has no place: its path is {path[:100]!r}")
