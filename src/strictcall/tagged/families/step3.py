"""Step 3: ``<steptml:invoke>`` elements in DeepSeek's kind of tokens.

Source: the chat template of https://huggingface.co/stepfun-ai/step3
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.scan import Mismatch, Reading, Scan

_UNIT: Final = "<｜tool_call_begin｜>"  # noqa: RUF001 - the vertical bars are wide ones
_SEP: Final = "<｜tool_sep｜>"  # noqa: RUF001
_UNIT_END: Final = "<｜tool_call_end｜>"  # noqa: RUF001
_INVOKE: Final = Tag("<steptml:invoke", name="name")
_CALLS: Final = Elements(
    _INVOKE,
    "</steptml:invoke>",
    Tag("<steptml:parameter", name="name"),
    "</steptml:parameter>",
    opening="<｜tool_calls_begin｜>",  # noqa: RUF001
    closing="<｜tool_calls_end｜>",  # noqa: RUF001
)
_WORD: Final = re.compile(r"[\w.:-]*")


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_CALLS.opening, _UNIT)
    yield from _to_invoke(scan)
    while True:
        yield from _CALLS.read_call(scan)
        yield from _to_invoke(scan)
        if (yield from scan.peek(_INVOKE.before)) is None:
            break
    yield from scan.skip(_CALLS.closing)


def _to_invoke(scan: Scan) -> Reading[None]:
    """Take what stands before an element: tokens, and the word and the name between them, which the element repeats."""
    while True:
        yield from scan.space()
        token = yield from scan.skip(_UNIT, _SEP, _UNIT_END)
        if token is None:
            return
        if token == _UNIT_END:
            continue
        yield from scan.space()
        try:
            yield from scan.run(_WORD)
        except Mismatch:
            continue


def _write(calls: Sequence[Written]) -> str:
    units = (f"{_UNIT}function{_SEP}{_CALLS.element(call)}{_UNIT_END}" for call in calls)
    return f"{_CALLS.opening}{''.join(units)}{_CALLS.closing}"


STEP3: Final = Family(
    "step3",
    about="Step 3",
    shape='<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">'  # noqa: RUF001
    '<steptml:parameter name="k">v</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',  # noqa: RUF001
    openings=(Opening(_CALLS.opening, _read), Opening(_UNIT, _read)),
    write=_write,
    models=r"step-?3(?![._p]5)",
)
