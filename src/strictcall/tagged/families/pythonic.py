"""Llama's Python lists, LFM2, Olmo 3 and Llama's ``<|python_tag|>``: calls written as Python writes them.

Sources: https://github.com/meta-llama/llama-models (``models/llama3_2/text_prompt_format.md``),
https://docs.liquid.ai/lfm/key-concepts/tool-use, the chat template of https://huggingface.co/allenai/Olmo-3-7B-Instruct
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import Final

from strictcall.tagged.families.common import alone
from strictcall.tagged.family import Family, Opening, Reader, Written
from strictcall.tagged.json_calls import json_block
from strictcall.tagged.literals import NAME, Call, listed, written
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Said

_PYTHON: Final = ("<|python_start|>", "<|python_end|>")
_LFM2: Final = ("<|tool_call_start|>", "<|tool_call_end|>")
_OLMO3: Final = ("<function_calls>", "</function_calls>")
_TAG: Final = "<|python_tag|>"
_DOT_CALL: Final = ".call"
_LETTERS: Final = f"{string.ascii_letters}_"
_BARE_HEAD: Final = re.compile(r"\[\s*[\w.\-]*\(?")


def _bare(scan: Scan) -> Reading[None]:
    """Take a list of calls that nothing marks."""
    head = scan.match(_BARE_HEAD) or ""
    if not head.endswith("(") and scan.at + len(head) < scan.end:
        raise Mismatch  # brackets are common in prose, and this is seen at once
    yield from listed(scan)


def _wrapped_list(opening: str, closing: str) -> Reader:
    """A reader of a list of calls, or of JSON objects, between two tokens."""

    def read(scan: Scan) -> Reading[None]:
        yield from scan.take(opening)
        if (yield from scan.space()) == "{":
            yield from json_block(scan, (closing, opening))
            yield from scan.space()
            yield from scan.skip(closing)
            return
        place = scan.at
        yield from scan.take("[")
        sign = yield from scan.space()
        scan.at = place
        if sign == "{":
            yield from json_block(scan, (closing, opening))
        else:
            given: list[Said] = []
            yield from _noted(_list_or_fault(scan, closing), given)
            yield from scan.space()
            if (yield from scan.skip(closing)) is not None:
                yield from _echo(scan, closing, given)
            return
        yield from scan.space()
        yield from scan.skip(closing)

    return read


def _noted(reading: Reading[None], given: list[Said], *, silent: bool = False) -> Reading[None]:
    """Read on, and note the calls; where it is ``silent``, they are not given."""
    for step in reading:
        if isinstance(step, Said):
            given.append(step)
        if not (silent and isinstance(step, Said)):
            yield step


def _echo(scan: Scan, closing: str, given: list[Said]) -> Reading[None]:
    """Take the same list again, which LFM2 may say twice, and means once."""
    place, again = scan.at, list[Said]()
    try:
        if (yield from scan.char()) == "[":
            yield from _noted(listed(scan), again, silent=True)
            yield from scan.take(closing)
    except (Mismatch, Cut):
        pass
    scan.begun = None
    if again != given:
        scan.at = place


def _list_or_fault(scan: Scan, closing: str) -> Reading[None]:
    """Take a list of calls. What is none behind a tool's name is that call's fault, up to the closing token."""
    reading = listed(scan)
    try:
        yield from reading
    except Mismatch:
        if scan.begun is None:
            raise
        yield from _rest(scan, closing)


def _rest(scan: Scan, *closing: str) -> Reading[None]:
    """Give what stands behind the name of the call that was begun as its arguments, which are then at fault."""
    begun = scan.begun
    assert begun is not None  # noqa: S101 - asked before
    scan.at = begun.place
    text, _ = yield from scan.until(*closing, take=False)
    yield Said(begun.name, text)


def _lines(scan: Scan) -> Reading[None]:
    """Take calls, one a line, between Olmo's tags."""
    opening, closing = _OLMO3
    yield from scan.take(opening)
    while True:
        yield from scan.space()
        if (yield from scan.skip(closing)) is not None or scan.at >= scan.end:
            return
        name = yield from scan.run(NAME)
        scan.begin(name)
        try:
            call = yield from Call(scan, ",\n<").read(name)
        except Mismatch:
            yield from _rest(scan, closing, "\n")
        else:
            yield call
        if (yield from scan.space()) == ",":
            scan.at += 1


def _dot_call(scan: Scan) -> Reading[None]:
    """Take Llama's call of a built-in tool: ``<|python_tag|>f.call(k="v")``."""
    yield from scan.take(_TAG)
    yield from scan.space()
    name = yield from scan.run(NAME)
    if not name.endswith(_DOT_CALL):
        raise Mismatch
    scan.begin(name.removesuffix(_DOT_CALL))
    yield (yield from Call(scan, "").read(name.removesuffix(_DOT_CALL)))


def _writer(opening: str, between: str, closing: str) -> Callable[[Sequence[Written]], str]:
    def write(calls: Sequence[Written]) -> str:
        return f"{opening}{between.join(written(call.name, call.arguments) for call in calls)}{closing}"

    return write


def _write_dot(calls: Sequence[Written]) -> str:
    return "".join(f"{_TAG}{written(f'{call.name}{_DOT_CALL}', call.arguments)}" for call in calls)


PYTHONIC: Final = Family(
    "pythonic",
    about="Llama 3.2 1B and 3B, Llama 4, ToolACE",
    shape="[f(a='x', b=1), g()]",
    openings=(
        Opening(_PYTHON[0], _wrapped_list(*_PYTHON)),
        Opening("[", _bare, certain=False, named=True, follows=_LETTERS),
        Opening("[", alone(_bare), where="start", certain=False, follows=_LETTERS),
    ),
    write=_writer("[", ", ", "]"),
    models=r"llama-?(3\.2|4)|toolace",
    also=("llama4_pythonic", "llama_pythonic"),
)
LFM2: Final = Family(
    "lfm2",
    about="LFM2 and LFM2.5",
    shape=f"{_LFM2[0]}[f(a='x')]{_LFM2[1]}",
    openings=(
        Opening(_LFM2[0], _wrapped_list(*_LFM2)),
        Opening("[", _bare, certain=False, named=True, follows=_LETTERS),
    ),
    write=_writer(f"{_LFM2[0]}[", ", ", f"]{_LFM2[1]}"),
    models=r"lfm-?2",
)
OLMO3: Final = Family(
    "olmo3",
    about="Olmo 3",
    shape=f"{_OLMO3[0]}f(a='x')\\ng(){_OLMO3[1]}",
    openings=(Opening(_OLMO3[0], _lines),),
    write=_writer(_OLMO3[0], "\n", _OLMO3[1]),
    models=r"olmo-?3",
)
LLAMA_PYTHON_TAG: Final = Family(
    "llama_python_tag",
    about="Llama 3.1 and later, for the built-in tools",
    shape=f'{_TAG}f.call(k="v")<|eom_id|>',
    openings=(Opening(_TAG, _dot_call),),
    write=_write_dot,
    models=r"llama-?3",
)
