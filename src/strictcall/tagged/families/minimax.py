"""MiniMax M2: ``<invoke>`` elements whose parameters are raw text.

Source: the chat template of https://huggingface.co/MiniMaxAI/MiniMax-M2
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening

_CALLS: Final = Elements(
    Tag("<invoke", name="name"),
    "</invoke>",
    Tag("<parameter", name="name"),
    "</parameter>",
    opening="<minimax:tool_call>",
    closing="</minimax:tool_call>",
    line="\n",
)

MINIMAX_M2: Final = Family(
    "minimax_m2",
    about="MiniMax M2 and M2.5",
    shape='<minimax:tool_call>\\n<invoke name="f">\\n<parameter name="k">v</parameter>\\n</invoke>\\n'
    "</minimax:tool_call>",
    openings=(
        Opening(_CALLS.opening, _CALLS.read, follows="<"),
        Opening(_CALLS.call.before, _CALLS.read_calls, certain=False, named=True),
    ),
    write=_CALLS.write_together,
    models=r"minimax-?m2",
    also=("minimax-m2",),
)
