"""Functionary: the name in a tag, or on a line of its own, and a JSON object of arguments.

Source: https://github.com/MeetKai/functionary (prompt templates v3.1 and v3.2)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.scan import Reading, Scan

NAME: Final = re.compile(r"[\w.:/-]*")
"""What a tool's name is made of."""
_OPEN: Final = "<function="
_CLOSE: Final = "</function>"
_LINE: Final = ">>>"


def _tagged(scan: Scan) -> Reading[None]:
    yield from scan.take(_OPEN)
    name = yield from scan.run(NAME)
    yield from scan.take(">")
    yield from arguments_only(scan, name, (_CLOSE, _OPEN))
    yield from scan.space()
    yield from scan.skip(_CLOSE)


def _lined(scan: Scan) -> Reading[None]:
    yield from scan.take(_LINE)
    name = yield from scan.run(NAME)
    yield from scan.take("\n")
    yield from arguments_only(scan, name, (_LINE,))


def _write(calls: Sequence[Written]) -> str:
    return "".join(f"{_OPEN}{call.name}>{compact(call.arguments)}{_CLOSE}" for call in calls)


FUNCTIONARY: Final = Family(
    "functionary",
    about="Functionary v3.1 and v3.2; Llama 3.1 with custom tools",
    shape="<function=f>{…}</function>",
    openings=(Opening(_OPEN, _tagged), Opening(_LINE, _lined, where="line", certain=False, named=True)),
    write=_write,
    models=r"functionary",
    lacks="v2's <|recipient|>: no server leaves those tokens in a text. v3.2's >>>f only where the format is named",
)
