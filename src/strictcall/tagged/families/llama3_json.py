"""Llama 3: JSON objects, bare or after ``<|python_tag|>``. xLAM: a list of them, bare or in a code fence.

A bare object is a call only where it names an offered tool and gives its arguments. Without the format or the model
being named it must be all that the answer is.

Source: https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.families.common import alone
from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block, all_or_none, bare_calls
from strictcall.tagged.scan import Reading, Scan

_BLOCK: Final = Block("", arguments="parameters")
_TAG: Final = Block("<|python_tag|>", arguments="parameters")
_LIST: Final = Block("[TOOL_CALLS]", listed=True)
_TAGGED: Final = Block("<tool_call>", "</tool_call>", listed=True)
_FENCE: Final = "```"

LLAMA3_JSON: Final = Family(
    "llama3_json",
    about="Llama 3.1, 3.2, 3.3 and 4; what servers write under a forced choice, for any model",
    shape='<|python_tag|>{"name": "f", "parameters": {…}}',
    openings=(
        Opening(_TAG.opening, _TAG.read),
        Opening("{", bare_calls, certain=False, named=True, follows='"'),
        Opening("[", bare_calls, where="line", certain=False, named=True, follows="{"),
        Opening("{", alone(bare_calls), where="start", certain=False, follows='"'),
        Opening("[", alone(bare_calls), where="start", certain=False, follows="{"),
    ),
    write=_TAG.write,
    models=r"llama-?(3|4)",
    also=("llama4_json", "llama3", "llama32", "json"),
)


def _fenced(scan: Scan) -> Reading[None]:
    """Take calls that are all that a code fence holds."""
    yield from scan.take(_FENCE)
    yield from scan.skip("json")
    yield from all_or_none(bare_calls(scan), _fence_end(scan))


def _fence_end(scan: Scan) -> Reading[None]:
    yield from scan.space()
    yield from scan.take(_FENCE)


XLAM: Final = Family(
    "xlam",
    about="xLAM",
    shape='[{"name": "f", "arguments": {…}}, …]',
    openings=(
        Opening(_FENCE, _fenced, where="line", certain=False, named=True),
        Opening(_LIST.opening, _LIST.read, named=True, follows="[{"),
        Opening(_TAGGED.opening, _TAGGED.read, named=True, follows="[{"),
        Opening("[", bare_calls, certain=False, named=True, follows="{"),
        Opening("{", bare_calls, where="line", certain=False, named=True, follows='"'),
    ),
    write=Block("", listed=True).write,
    models=r"xlam",
)
