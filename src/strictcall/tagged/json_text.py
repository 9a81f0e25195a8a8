"""Finding the end of a JSON value in a text that is still arriving, and the members of an object.

Only the structure is kept to: whether strings and numbers are sound is found when their text is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.json_value import LimitError, parse
from strictcall.tagged.scan import Mismatch, Reading, Scan

_IN_STRING: Final = re.compile(r'[^"\\]*')
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR: Final = re.compile(r"[-+.\w]*", re.ASCII)
_SCALAR_STARTS: Final = frozenset("-0123456789tfn")
_CLOSERS: Final = {"{": "}", "[": "]"}
_ESCAPED: Final[Mapping[int, str]] = {number: f"\\u{number:04x}" for number in range(32)}
MAX_SCALAR: Final = 8192
"""A number or word that is longer is none."""


@dataclass(slots=True)
class JsonText:
    """A JSON value as it was written. Of an object, ``members`` are the texts of its values by their names, the last
    of a name; they are there before the object is complete.
    """

    text: str = ""
    members: dict[str, str] = field(default_factory=dict)


class Broken(Mismatch):
    """What began as JSON does not go on as it must."""


def json_text(scan: Scan, found: JsonText | None = None) -> Reading[JsonText]:
    """Take the JSON value that stands here. Raises ``Broken`` at the first character that cannot belong to it.

    ``found`` is filled while the text arrives.
    """
    found = JsonText() if found is None else found
    start = scan.at
    walk = _Walk(scan, found.members)
    while (yield from walk.value()):
        pass
    found.text = scan.between(start, scan.at)
    return found


def lenient(text: str) -> Any:
    """The value of a JSON text in whose strings line breaks and other control characters may stand as they are.

    Raises ``LimitError``.
    """
    try:
        return parse(text)
    except LimitError:
        escaped = escape_controls(text)
        if escaped == text:
            raise
        return parse(escaped)


def escape_controls(text: str) -> str:
    """A JSON text with the control characters within its strings escaped."""
    return _STRING.sub(lambda match: match.group().translate(_ESCAPED), text)


class _Walk:
    """The way through a JSON value. ``members`` is filled where it is an object."""

    def __init__(self, scan: Scan, members: dict[str, str]) -> None:
        self._scan = scan
        self._members = members
        self._opened: list[str] = []
        self._key = ""
        self._start = 0

    def value(self) -> Reading[bool]:
        """Take a value, or what opens one, and what stands after it; gives whether another value must follow."""
        scan = self._scan
        char = yield from self._sign()
        if len(self._opened) == 1:
            self._start = scan.at
        if char in _CLOSERS:
            scan.at += 1
            self._opened.append(char)
            closer = yield from self._sign()
            if closer != _CLOSERS[char]:
                if char == "{":
                    yield from self._member()
                return True
        elif char == '"':
            yield from self._string()
        elif char in _SCALAR_STARTS:
            yield from scan.run(_SCALAR, MAX_SCALAR)
        else:
            raise Broken
        return (yield from self._after())

    def _after(self) -> Reading[bool]:
        """Take what closes containers, up to a comma; gives whether a value must follow."""
        scan = self._scan
        while self._opened:
            if self._opened == ["{"]:
                self._members[self._key] = scan.between(self._start, scan.at)
            char = yield from self._sign()
            if char == ",":
                scan.at += 1
                if self._opened[-1] == "{":
                    yield from self._member()
                return True
            if char != _CLOSERS[self._opened[-1]]:
                raise Broken
            scan.at += 1
            self._opened.pop()
        return False

    def _member(self) -> Reading[None]:
        """Take a member's name and its colon."""
        scan = self._scan
        if (yield from self._sign()) != '"':
            raise Broken
        start = scan.at
        yield from self._string()
        if len(self._opened) == 1:
            self._key = _name(scan.between(start, scan.at))
        if (yield from self._sign()) != ":":
            raise Broken
        scan.at += 1

    def _sign(self) -> Reading[str]:
        """The next character that is not white space, not taken."""
        char = yield from self._scan.space()
        if not char:
            yield from self._scan.wait()
        return char

    def _string(self) -> Reading[None]:
        scan = self._scan
        scan.at += 1
        while True:
            scan.at += len(scan.match(_IN_STRING) or "")
            char = scan.between(scan.at, scan.at + 1)
            if not char:
                yield from scan.wait()
            elif char == '"':
                scan.at += 1
                return
            elif scan.at + 1 < scan.end:
                scan.at += 2
            else:
                yield from scan.wait()


def _name(text: str) -> str:
    try:
        return str(lenient(text))
    except LimitError:
        raise Broken from None
