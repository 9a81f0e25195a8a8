"""Where llguidance 1.9 and validators of the standard are known to differ: none of it is the compiler's doing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from strictcall.json_value import objects_in

EXCLUSIVE_BOUND: Final = "llguidance may write an exclusive bound"
"""A number that equals an exclusive bound is written."""
DOT: Final = "llguidance's dot in a pattern is not that of ECMA 262"
"""In llguidance ``.`` stands for all but a line feed, in ECMA 262 for no line terminator at all."""
SPACE: Final = "\\s in a pattern is not that of ECMA 262"
"""llguidance takes U+0085 for a space, as Unicode does; Python takes that and four more, and U+FEFF for none."""
WORD: Final = "\\d or \\w in a pattern is not that of ECMA 262"
"""ECMA 262 means ASCII, Unicode and Python do not."""
_TERMINATOR: Final = re.compile("[\r\u2028\u2029]")
_ODD_SPACE: Final = re.compile("[\x1c-\x1f\x85\ufeff]")
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_DOT_IN: Final = re.compile(r"(?:[^\\\[.]|\\.|\[(?:[^\]\\]|\\.)*\])*\.", re.DOTALL)
_SPACE_IN: Final = re.compile(r"(?:[^\\]|\\[^sS])*\\[sS]", re.DOTALL)
_WORD_IN: Final = re.compile(r"(?:[^\\]|\\[^dDwWbB])*\\[dDwWbB]", re.DOTALL)
_IN_PATTERNS: Final = ((DOT, _DOT_IN, _TERMINATOR), (SPACE, _SPACE_IN, _ODD_SPACE), (WORD, _WORD_IN, _BEYOND_ASCII))
"""A flaw, what a pattern holds that has it, and what a text must hold for it to show."""


def known_flaw(schema: Any, written: str) -> str | None:
    """The name of the flaw for which judges may differ about this JSON text under a schema; ``None`` without one."""
    plain = "\n".join(_texts(json.loads(written)))
    for name, pattern_has, text_has in _IN_PATTERNS:
        if text_has.search(plain) and any(map(pattern_has.match, _patterns(schema))):
            return name
    bounded = any("exclusiveMinimum" in node or "exclusiveMaximum" in node for node in objects_in(schema))
    return EXCLUSIVE_BOUND if bounded else None


def _patterns(schema: Any) -> list[str]:
    found: list[Any] = []
    for node in objects_in(schema):
        named = node.get("patternProperties")
        found += [node.get("pattern"), *(named if isinstance(named, dict) else ())]
    return [pattern for pattern in found if isinstance(pattern, str)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)
