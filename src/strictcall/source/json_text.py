"""JSON text to values: integers exact, whatever is not JSON kept as a flaw in its place."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from strictcall.json_value import MAX_DIGITS
from strictcall.source.flaws import Flaw, object_of


class TextError(ValueError):
    """Text that cannot be read at all; ``line`` counts from 1, 0 where it is not known."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem, line, column)
        self.problem = problem
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.problem}" if self.line else self.problem


def parse_json(text: str) -> Any:
    """The value that a JSON text says, flaws in it kept as ``Flaw`` and ``FlawedObject``. Raises ``TextError``."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise TextError(f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}", error.lineno, error.colno) from None
    except RecursionError:
        raise TextError("the JSON nests too deep to be read") from None


# A string, a comment, or a comma before a closing bracket. A comment that does not end takes the rest of the text, so
# that no text is gone through more than a few times.
_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_EXTRAS = re.compile(rf'"(?:[^"\\\n]|\\.)*"|({_COMMENT}|,(?=(?:\s|{_COMMENT})*+[}}\]]))', re.DOTALL)
_VISIBLE = re.compile(r"\S")


def without_comments(text: str) -> str:
    """JSON with comments and trailing commas, as VS Code has it, as plain JSON: blanks stand where they stood, so that
    lines and columns stay what they were.

    The libraries for this read JSON5, which is a larger language than the clients of config files take, and have no
    place to keep a flaw. (https://code.visualstudio.com/docs/languages/json#_json-with-comments)
    """
    return _EXTRAS.sub(lambda found: _VISIBLE.sub(" ", found.group()) if found.group(1) else found.group(), text)


def _integer(text: str) -> Any:
    if len(text) > MAX_DIGITS:
        return Flaw(f"a number has more than {MAX_DIGITS:,} digits")
    return int(text)


def _number(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else Flaw(f"the number {text[:20]} is too large")


def _constant(name: str) -> Any:
    return Flaw(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_of, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
