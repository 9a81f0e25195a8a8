"""Where in prose a place is: at the beginning of a line, in a code fence, in a quotation.

A tag that is quoted is no call. Quotation marks and back quotes count up to the end of their line, fences until they
are closed.
"""

from __future__ import annotations

import re
from typing import Final

_SIGNS: Final = re.compile(r"""\n|`+|~+|["“”„«»>\\']|[^\n`~"“”„«»>\\']+""")
_OPENERS: Final = frozenset("“„«")
_CLOSERS: Final = frozenset("”»")

_SINGLE: Final = frozenset("'‘")  # noqa: RUF001 - the mark is meant


class Prose:
    """What was written so far, as far as it tells how to take what follows. ``began``: not only white space was."""

    __slots__ = ("_block", "_code", "_escaped", "_fence", "_indent", "_last", "_quote", "_ticks", "began")

    def __init__(self) -> None:
        self.began = False
        self._fence = ""
        self._last = "\n\n"
        self._ticks = ""
        self._escaped = False
        self._new_line()

    def _new_line(self) -> None:
        self._indent = 0
        self._code = 0
        self._quote = ""
        self._block = False

    @property
    def line_start(self) -> bool:
        """Whether nothing but white space stands before on the line."""
        return self._indent >= 0 and not self._ticks

    @property
    def in_word(self) -> bool:
        """Whether the last character belongs to a word."""
        return self._last[-1].isalnum() or self._last[-1] == "_"

    @property
    def quoted(self) -> bool:
        """Whether what follows is within code or a quotation."""
        self._settle()
        if self._last[-1] in _SINGLE and not self._last[0].isalnum():
            return True  # a single mark, which may be an apostrophe, quotes only what stands directly behind it
        return bool(self._fence or self._code or self._quote or self._block)

    def feed(self, text: str) -> None:
        """More was written."""
        for match in _SIGNS.finditer(text):
            sign = match.group()
            if self._ticks and sign[0] == self._ticks[0]:
                self._ticks += sign
            else:
                self._settle()
                self._take(sign)
            self._last = (self._last + sign)[-2:]

    def after_call(self) -> None:
        """A call stood here: what follows begins anew, as a line does."""
        self._settle()
        self._new_line()
        self._last = "\n\n"

    def _take(self, sign: str) -> None:
        escaped, self._escaped = self._escaped, sign == "\\"
        if sign == "\n":
            self._new_line()
            return
        if not sign.strip(" \t\r"):
            self._indent += len(sign) if self._indent >= 0 else 0
            return
        self.began = True
        if sign[0] in "`~":
            self._ticks = sign
            return
        if sign == ">" and self._indent >= 0:
            self._block = True
        if not escaped:
            self._mark(sign)
        self._indent = -1

    def _mark(self, sign: str) -> None:
        """Take what may open or close a quotation."""
        if sign == '"':
            if self._quote:
                self._quote = ""
            elif not self._last[-1].isalnum():
                self._quote = sign
        elif sign in _OPENERS:
            self._quote = self._quote or sign
        elif sign in _CLOSERS and self._quote != '"':
            self._quote = ""

    def _settle(self) -> None:
        """Take a run of back quotes or tildes, which is complete."""
        ticks, self._ticks = self._ticks, ""
        if not ticks:
            return
        if self._indent >= 0 and len(ticks) >= 3:
            if not self._fence:
                self._fence = ticks
            elif ticks.startswith(self._fence):
                self._fence = ""
        elif ticks[0] == "`":
            if not self._code:
                self._code = len(ticks)
            elif self._code == len(ticks):
                self._code = 0
        self._indent = -1
