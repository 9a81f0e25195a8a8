"""Where llguidance 1.9 and a validator of the standard are known to differ: neither is the compiler's doing."""

from __future__ import annotations

import re
from typing import Any, Final

from strictcall.emulator.answers.grammar import flawed
from strictcall.json_value import objects_in

EXCLUSIVE_BOUND: Final = "exclusive bound"
"""A number that equals an exclusive bound is written."""
DOT: Final = "dot in a pattern"
"""In llguidance ``.`` stands for all but a line feed, in ECMA 262 for no line terminator at all."""
_OTHER_TERMINATORS: Final = re.compile("[\r\u2028\u2029]|\\\\r|\\\\u202[89]|\\\\u000[dD]")
_BARE_DOT: Final = re.compile(r"(?:[^\\\[.]|\\.|\[(?:[^\]\\]|\\.)*\])*\.", re.DOTALL)


def known_flaw(schema: Any, written: str) -> str | None:
    """The name of the flaw for which llguidance may have written this text, which the schema does not admit."""
    if _OTHER_TERMINATORS.search(written) and _has_dot(schema):
        return DOT
    return EXCLUSIVE_BOUND if flawed(schema) else None


def _has_dot(schema: Any) -> bool:
    patterns: list[Any] = []
    for node in objects_in(schema):
        named = node.get("patternProperties")
        patterns += [node.get("pattern"), *(named if isinstance(named, dict) else ())]
    return any(isinstance(pattern, str) and _BARE_DOT.match(pattern) for pattern in patterns)
