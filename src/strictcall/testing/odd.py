"""Names and values on which converters fail: empty and reserved names, numbers at the edges, texts that read as
JSON.
"""

from __future__ import annotations

from typing import Any, Final

NAMES: Final = (
    "a",
    "b",
    "kind",
    "value",
    "key",
    "entries",
    "option_1",
    "explicit_null",
    "item_0",
    "properties",
    "$ref",
    "__proto__",
    "",
    "a/b~c",
    "ключ",
    "a b",
    "n" * 70,
)
"""Names of members: those that encodings reserve, that JSON Pointers escape, that other languages treat apart."""
WORDS: Final = ("x", "", "yes", "null", "1", "é😀", 'quo"te', "two words", "[]", "a\nb")
NUMBERS: Final[tuple[Any, ...]] = (0, 1, -1, 2, 7, 1.5, -0.25, 100, 10**20, 1e3)
LITERALS: Final[tuple[Any, ...]] = (
    *WORDS[:5],
    *(0, 1, 1.5, True, False, None),
    *([], [1, "x"], {}, {"a": 1}, {"key": None}),
    10**20,
)
NESTED: Final[tuple[Any, ...]] = (
    {"a": None},
    [None],
    {"__proto__": {"x": [1]}},
    [[], {}],
    {"value": {"key": "k"}},
)
ANY: Final[tuple[Any, ...]] = (*LITERALS, *NUMBERS, *NESTED)
"""Values of every kind."""
STRINGS: Final = (*WORDS, "ab", "abc", "x-1", "a1", "12", "2024-01-02", "1b")
