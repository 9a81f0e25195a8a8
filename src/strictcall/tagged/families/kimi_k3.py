"""Kimi K3: elements of tokens. The type of each argument is told: text is raw, everything else JSON.

Source: https://github.com/sgl-project/sglang (``srt/function_call/kimik3_format.py``)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening
from strictcall.tagged.scan import Reading, Scan
from strictcall.tagged.steps import Plain, Thought

_SEP: Final = "<|sep|>"
_RESPONSE: Final = ("<|open|>response<|sep|>", "<|close|>response<|sep|>")
_THINK: Final = ("<|open|>think<|sep|>", "<|close|>think<|sep|>")
_END: Final = "<|close|>message<|sep|>"


def _mark(value: Any) -> str:
    for kind, name in ((str, "string"), (bool, "boolean"), (int, "number"), (float, "number"), (Mapping, "object")):
        if isinstance(value, kind):
            return f' type="{name}"'
    return ' type="array"' if isinstance(value, Sequence) else ' type="null"'


_CALLS: Final = Elements(
    Tag("<|open|>call", _SEP, "tool"),
    "<|close|>call<|sep|>",
    Tag("<|open|>argument", _SEP, "key"),
    "<|close|>argument<|sep|>",
    opening="<|open|>tools<|sep|>",
    closing="<|close|>tools<|sep|>",
    text_mark=("type", "string"),
    mark=_mark,
)


def _response(scan: Scan) -> Reading[None]:
    yield from scan.take(_RESPONSE[0])
    yield from scan.flow(Plain, _RESPONSE[1], _END)


def _thought(scan: Scan) -> Reading[None]:
    yield from scan.take(_THINK[0])
    yield from scan.flow(Thought, _THINK[1])


def _end(scan: Scan) -> Reading[None]:
    yield from scan.take(_END)


KIMI_K3: Final = Family(
    "kimi_k3",
    about="Kimi K3",
    shape='<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="k" type="string"<|sep|>v'
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
    openings=(
        Opening(_CALLS.opening, _CALLS.read, follows="<"),
        Opening(_RESPONSE[0], _response),
        Opening(_THINK[0], _thought),
        Opening(_END, _end),
    ),
    write=_CALLS.write_together,
    models=r"kimi-?k3",
    lacks="the index that a call may have is not written: nothing refers to it",
)
