"""Texts and numbers that trouble programs, in JSON's own spelling, for whoever writes random JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

TEXTS: Final[tuple[str, ...]] = (
    "",
    " ",
    "null",
    "true",
    "0",
    "-1",
    "1e3",
    "[]",
    "{}",
    "[1,2]",
    r"{\"a\":1}",
    r"\"quoted\"",
    "__proto__",
    "constructor",
    "key",
    "value",
    "item_0",
    "a/b~c",
    "$ref",
    "two words",
    " padded ",
    r"line one\nline two",
    r"tab\there\r\n",
    r"back\\slash",
    r"C:\\new\\table",
    r"\u0000",
    r"\b\f\u001f",
    r"\u00e9\u4e2d",
    r"\ud83d\ude00",
    r"\uD83D\uDE00\uDBFF\uDFFF",
    "é",
    "e\u0301",
    "straße ÆØÅ",
    "日本語のテキスト",
    "Привет, мир",
    "שלום مرحبا",
    "😀👩‍👩‍👧‍👦🇫🇷",
    "\U0010ffff",
    "\u2028\u2029\ufeff",
    "\u202edrow",
    "\x7f",
    "'; DROP TABLE users; --",
    "<script>alert(1)</script>",
    "${HOME}/../../etc/passwd",
    "```json",
    "<tool_call>",
    "2024-02-29",
    "user@example.com",
    "https://example.com/?q=a&b=%20#c",
)
"""Contents of JSON strings, escaped as they stand between the quotes."""

NUMBERS: Final[tuple[str, ...]] = (
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "10",
    "100",
    "127",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740991",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "100000000000000000000000000000000000000",
    "-123456789012345678901234567890123456789",
    "0.0",
    "-0.0",
    "1.0",
    "0.1",
    "-0.5",
    "0.30000000000000004",
    "1e0",
    "1E+2",
    "1e-7",
    "-2.5E-3",
    "3.141592653589793238462643383279502884197",
    "1e21",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "2.2250738585072014e-308",
    "5e-324",
    "1e-400",
)
"""JSON numbers; none is beyond what a double holds, though some are nearer to zero."""

BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


@dataclass(frozen=True, slots=True)
class Hints:
    """What one schema says of the values that lie at its edges.

    ``names``: the property names, as JSON strings, in the order in which they are declared. ``numbers``: the bounds and
    their neighbours, as JSON. ``runs``: what stands literally in its patterns.
    """

    names: tuple[bytes, ...] = ()
    numbers: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


def plain_words(pattern: str) -> Iterator[str]:
    """The runs of letters, digits and spaces in a regular expression's source."""
    word = ""
    for character in pattern:
        if character.isalnum() or character in " _":
            word += character
        elif word:
            yield word
            word = ""
    if word:
        yield word


def near(bound: float) -> Iterator[str]:
    """A bound and the numbers around it, as JSON."""
    if isinstance(bound, int):
        yield from (str(bound + step) for step in (0, 1, -1))
    else:
        yield from (repr(number) for number in (bound, bound + 1, bound - 1))


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number: booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
