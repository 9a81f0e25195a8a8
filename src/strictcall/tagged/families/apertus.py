"""Apertus: a list of objects, each with one member: the tool's name and its arguments.

Source: the chat template of https://huggingface.co/swiss-ai/Apertus-8B-Instruct-2509
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from strictcall.json_value import LimitError, compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.json_text import json_text, lenient
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan

_OPEN: Final = "<|tools_prefix|>"
_CLOSE: Final = "<|tools_suffix|>"


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_OPEN)
    yield from scan.space()
    yield from scan.take("[")
    while True:
        yield from _call(scan)
        if (yield from scan.space()) != ",":
            break
        scan.at += 1
    yield from scan.skip("]")
    yield from scan.space()
    yield from scan.skip(_CLOSE)


def _call(scan: Scan) -> Reading[None]:
    yield from scan.space()
    yield from scan.take("{")
    if (yield from scan.space()) != '"':
        raise Mismatch
    try:
        name = str(lenient((yield from json_text(scan)).text))
    except LimitError:
        raise Mismatch from None
    yield from scan.space()
    yield from scan.take(":")
    scan.begin(name)
    if not (yield from scan.space()):
        raise Cut
    yield from arguments_only(scan, name, (_CLOSE, _OPEN))
    yield from scan.space()
    yield from scan.skip("}")


def _write(calls: Sequence[Written]) -> str:
    return f"{_OPEN}{compact([{call.name: call.arguments} for call in calls])}{_CLOSE}"


APERTUS: Final = Family(
    "apertus",
    about="Apertus",
    shape=f'{_OPEN}[{{"f": {{…}}}}]{_CLOSE}',
    openings=(Opening(_OPEN, _read),),
    write=_write,
    models=r"apertus",
    also=("apertus2509",),
)
