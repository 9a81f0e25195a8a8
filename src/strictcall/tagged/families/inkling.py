"""Inkling: a JSON object with a name and ``args``, in a message that a header with the name opens.

Source: https://github.com/sgl-project/sglang (``srt/function_call/inkling_detector.py``)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import json_call
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan

_HEADER: Final = "<|message_model|>"
_KIND: Final = "<|content_invoke_tool_json|>"
_END: Final = "<|end_message|>"
_AUTHOR: Final = re.compile(r"[^<{]*")


def _read(scan: Scan) -> Reading[None]:
    """Take a message. The name in its header is its author's, and says nothing: the object has the tool's."""
    if (yield from scan.take(_HEADER, _KIND)) == _HEADER:
        if (yield from scan.peek(_KIND)) is None:
            yield from scan.run(_AUTHOR)
        yield from scan.take(_KIND)
    char = yield from scan.space()
    if char != "{":
        raise Mismatch if char else Cut
    yield from json_call(scan, (_END, _HEADER))
    yield from scan.space()
    yield from scan.skip(_END)


def _write(calls: Sequence[Written]) -> str:
    messages = []
    for call in calls:
        if not re.fullmatch(r"[^<{]+", call.name):
            raise ValueError(f"a header of this format cannot say the name {call.name!r}")
        messages.append(f"{_HEADER}{call.name}{_KIND}{compact({'name': call.name, 'args': call.arguments})}{_END}")
    return "".join(messages)


INKLING: Final = Family(
    "inkling",
    about="Inkling",
    shape=f'{_HEADER}f{_KIND}{{"name": "f", "args": {{…}}}}{_END}',
    openings=(Opening(_HEADER, _read), Opening(_KIND, _read)),
    write=_write,
    models=r"inkling",
)
