"""Kimi K2: an id that holds the tool's name, ``functions.f:0``, and JSON between tokens.

Source: https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.json_text import json_text
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan

_OPEN: Final = "<|tool_calls_section_begin|>"
_CLOSE: Final = "<|tool_calls_section_end|>"
_UNIT: Final = "<|tool_call_begin|>"
_UNIT_END: Final = "<|tool_call_end|>"
_ARGUMENTS: Final = "<|tool_call_argument_begin|>"
_PREFIX: Final = "functions."
_ID: Final = re.compile(r"[\w.:/-]*")
_COUNTER: Final = re.compile(r":\d+$")


def _section(scan: Scan) -> Reading[None]:
    """Take a section: calls, and what a model says between them by mistake."""
    yield from scan.take(_OPEN)
    while True:
        yield from scan.space()
        stands = yield from scan.peek(_UNIT, _CLOSE)
        if stands is None:
            _, stands = yield from scan.until(_UNIT, _CLOSE, take=False)
        if stands == _CLOSE:
            yield from scan.take(_CLOSE)
            return
        yield from _unit(scan)
        yield from scan.space()
        if scan.at >= scan.end:
            return


def _unit(scan: Scan) -> Reading[None]:
    yield from scan.take(_UNIT)
    yield from scan.space()
    yield from _call(scan)


def _call(scan: Scan) -> Reading[None]:
    call_id = yield from scan.run(_ID)
    yield from scan.space()
    if call_id.isdigit():
        yield from scan.take(_ARGUMENTS)
        name = yield from _only_tool(scan)
    else:
        name = _name(scan, call_id)
        scan.begin(name, call_id)
        yield from scan.skip(_ARGUMENTS)
    if not (yield from scan.space()):
        raise Cut
    yield from arguments_only(scan, name, (_UNIT_END, _CLOSE, _UNIT), call_id)
    yield from scan.space()
    yield from scan.skip(_UNIT_END)


def _name(scan: Scan, call_id: str) -> str:
    """The tool's name that an id holds. Raises ``Mismatch`` for an id without a counter."""
    name = _COUNTER.sub("", call_id)
    if name == call_id and not scan.offered.has(call_id):
        raise Mismatch
    return name if scan.offered.has(name) else name.removeprefix(_PREFIX)


def _only_tool(scan: Scan) -> Reading[str]:
    """The tool of a call whose id is a bare number: the only one, or the only one that takes the arguments here.

    Raises ``Mismatch`` where it may be several or none.
    """
    names = [compiled.name for compiled in scan.offered.toolset]
    if len(names) > 1:
        place = scan.at
        yield from scan.space()
        text = (yield from json_text(scan)).text
        scan.at = place
        names = [tool.name for tool in scan.offered.toolset if not tool.read(text, "either").faults]
    if len(names) != 1:
        raise Mismatch
    return names[0]


def _stray(scan: Scan) -> Reading[None]:
    yield from scan.take(_CLOSE)


def _write(calls: Sequence[Written]) -> str:
    units = []
    for index, call in enumerate(calls):
        if not _ID.fullmatch(call.name):
            raise ValueError(f"this format cannot say the name {call.name!r}")
        units.append(f"{_UNIT}{_PREFIX}{call.name}:{index}{_ARGUMENTS}{compact(call.arguments)}{_UNIT_END}")
    return f"{_OPEN}{''.join(units)}{_CLOSE}"


KIMI_K2: Final = Family(
    "kimi_k2",
    about="Kimi K2, K2 Thinking and K2.5",
    shape=f"{_OPEN}{_UNIT}functions.f:0{_ARGUMENTS}{{…}}{_UNIT_END}{_CLOSE}",
    openings=(
        Opening(_OPEN, _section),
        Opening(_UNIT, _unit),
        Opening(_PREFIX, _call, certain=False, named=True),
        Opening(_CLOSE, _stray),
    ),
    write=_write,
    models=r"kimi-?k2|kimi.*thinking",
    also=("kimik2",),
    lacks="a call whose id is a bare number is text where its arguments fit several tools",
)
