"""Qwen3-Coder and Seed-OSS: ``<function=f>`` with a tag for each parameter, whose value is raw text.

Sources: the chat templates of https://huggingface.co/Qwen/Qwen3-Coder-30B-A3B-Instruct and
https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening
from strictcall.tagged.scan import Reading, Scan

_FUNCTION: Final = Tag("<function=")
_PARAMETER: Final = Tag("<parameter=")
_QWEN: Final = Elements(
    _FUNCTION,
    "</function>",
    _PARAMETER,
    "</parameter>",
    opening="<tool_call>",
    closing="</tool_call>",
    pad="\n",
    line="\n",
    noise=("\\n",),  # a line break that was escaped once too often
)
_SEED: Final = Elements(
    _FUNCTION,
    "</function>",
    _PARAMETER,
    "</parameter>",
    opening="<seed:tool_call>",
    closing="</seed:tool_call>",
    line="\n",
)


def _without_wrapper(scan: Scan) -> Reading[None]:
    yield from _QWEN.read_calls(scan)


QWEN3_CODER: Final = Family(
    "qwen3_coder",
    about="Qwen3-Coder, Qwen3.5 and later, Nemotron 3, MiMo v2, Step 3.5",
    shape="<tool_call>\\n<function=f>\\n<parameter=k>\\nv\\n</parameter>\\n</function>\\n</tool_call>",
    openings=(
        Opening(_QWEN.opening, _QWEN.read, follows="<\\"),
        Opening(_FUNCTION.before, _without_wrapper, certain=False),
    ),
    write=_QWEN.write,
    models=r"qwen-?3.*coder|qwen-?3\.[5-9]|nemotron-?3|mimo-?v2|step-?3[._p]5",
    also=("qwen3_xml", "mimo", "step3p5"),
)
SEED_OSS: Final = Family(
    "seed_oss",
    about="Seed-OSS",
    shape="<seed:tool_call>\\n<function=f>\\n<parameter=k>v</parameter>\\n</function>\\n</seed:tool_call>",
    openings=(Opening(_SEED.opening, _SEED.read, follows="<"),),
    write=_SEED.write,
    models=r"seed-?oss",
)
