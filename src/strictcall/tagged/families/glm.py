"""GLM-4.5 and GLM-4.7: the bare name, then keys and raw values in turn.

Sources: the chat templates of https://huggingface.co/zai-org/GLM-4.5 and https://huggingface.co/zai-org/GLM-4.7
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from strictcall.tagged.elements import cdata, quoted, said, text_of
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Said

_OPEN: Final = "<tool_call>"
_CLOSE: Final = "</tool_call>"
_KEY: Final = "<arg_key>"
_KEY_END: Final = "</arg_key>"
_VALUE: Final = "<arg_value>"
_VALUE_END: Final = "</arg_value>"
_NAME: Final = re.compile(r"[\w.:/-]*")


def _read(scan: Scan) -> Reading[None]:
    yield from _call(scan)


def _with_arguments(scan: Scan) -> Reading[None]:
    """Take a call that has arguments: a name alone within a line may be no more than mentioned."""
    yield from _call(scan, bare=False)


def _call(scan: Scan, *, bare: bool = True) -> Reading[None]:
    yield from scan.take(_OPEN)
    yield from scan.space()
    name = yield from scan.run(_NAME)
    if not (yield from scan.space()):
        raise Cut
    if (yield from scan.peek(_KEY, _CLOSE)) is None and not scan.may_begin(_KEY):
        raise Mismatch
    if not bare and (yield from scan.peek(_KEY)) is None:
        raise Mismatch
    scan.begin(name)
    start = scan.at
    found: list[tuple[str, str, bool]] = []
    try:
        while (yield from scan.peek(_KEY)):
            yield from _pair(scan, found)
            yield from scan.space()
        yield from scan.take(_CLOSE)
    except Mismatch:
        scan.at = start
        body, _ = yield from scan.until(_CLOSE, _OPEN, take=False)
        yield from scan.skip(_CLOSE)
        yield Said(name, body)
        return
    yield said(scan, name, found)


def _pair(scan: Scan, found: list[tuple[str, str, bool]]) -> Reading[None]:
    """Take a key and its value. A key that is not closed ends where its value begins."""
    yield from scan.take(_KEY)
    key, ended = yield from scan.until(_KEY_END, _VALUE)
    if ended == _KEY_END:
        yield from scan.space()
        yield from scan.take(_VALUE)
    start = scan.at
    value = yield from cdata(scan)
    if value is None or (yield from scan.skip(_VALUE_END)) is None:
        scan.at = start
        value = yield from _value(scan)
    found.append((key.strip(), value, False))


def _value(scan: Scan) -> Reading[str]:
    """Take a raw value and what closes it: only where another key or the end of the call follows."""
    start = scan.at
    while True:
        yield from scan.until(_VALUE_END)
        after = scan.at
        follows = not (yield from scan.space()) or (yield from scan.peek(_KEY, _CLOSE)) is not None
        scan.at = after
        if follows:
            return scan.between(start, after - len(_VALUE_END))


def _writer(line: str) -> Callable[[Sequence[Written]], str]:
    def write(calls: Sequence[Written]) -> str:
        return "\n".join(f"{_OPEN}{_named(call)}{line}{_pairs(call, line)}{_CLOSE}" for call in calls)

    return write


def _named(call: Written) -> str:
    if not _NAME.fullmatch(call.name) or any(mark in key for key in call.arguments for mark in (_KEY_END, _VALUE)):
        raise ValueError(f"this format cannot say the name {call.name!r}, or that of one of its arguments")
    return call.name


def _pairs(call: Written, line: str) -> str:
    closers = (_VALUE_END, _KEY, _CLOSE)
    return "".join(
        f"{_KEY}{key}{_KEY_END}{line}{_VALUE}{quoted(text_of(value), closers)}{_VALUE_END}{line}"
        for key, value in call.arguments.items()
    )


_OPENINGS: Final = (
    Opening(_OPEN, _read, where="line"),
    Opening(_OPEN, _read, named=True),
    Opening(_OPEN, _with_arguments),
)

GLM45: Final = Family(
    "glm45",
    about="GLM-4.5 and GLM-4.6, Laguna",
    shape="<tool_call>f\\n<arg_key>k</arg_key>\\n<arg_value>v</arg_value>\\n</tool_call>",
    openings=_OPENINGS,
    write=_writer("\n"),
    models=r"glm-?4\.[56]|glm4[56]|laguna",
    also=("glm4_moe", "glm", "poolside_v1"),
)
GLM47: Final = Family(
    "glm47",
    about="GLM-4.7 and GLM-5",
    shape="<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>",
    openings=_OPENINGS,
    write=_writer(""),
    models=r"glm-?(4\.7|5)|glm47",
    also=("glm47_moe", "glm5"),
)
