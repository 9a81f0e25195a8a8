"""Hermes: JSON objects in ``<tool_call>`` tags.

Sources: https://github.com/NousResearch/Hermes-Function-Calling; the chat template of
https://huggingface.co/Qwen/Qwen2.5-7B-Instruct
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block, closed_call

_BLOCK: Final = Block("<tool_call>", "</tool_call>", space="\n")
_TOOLS: Final = Block("<tools>", "</tools>")

HERMES: Final = Family(
    "hermes",
    about="Hermes 2 Pro and later, Qwen2.5, Qwen3, QwQ, EXAONE 4, MiMo, ERNIE 4.5, Granite 4",
    shape='<tool_call>\\n{"name": "f", "arguments": {…}}\\n</tool_call>',
    openings=(
        Opening(_BLOCK.opening, _BLOCK.read, follows="{["),
        Opening("{", closed_call(_BLOCK.closing), where="line", certain=False, named=True, follows='"'),
        # Qwen2.5-Coder, which was not trained to call tools, often answers with the tag that tools are shown in.
        Opening(_TOOLS.opening, _TOOLS.read, where="line", certain=False, named=True, follows="{"),
    ),
    write=_BLOCK.write,
    models=r"hermes|qwen-?2|qwen-?3(?!.*coder|\.[5-9])|qwq|exaone|ernie|granite-?4|mimo(?!.*v2)|smollm3",
    also=("qwen", "qwen25", "qwen3", "ernie45", "granite4"),
)
