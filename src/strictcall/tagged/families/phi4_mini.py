"""Phi-4-mini: a JSON list after the word ``functools``.

Source: ``phi4_mini_json`` of https://docs.vllm.ai/en/latest/features/tool_calling.html
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block

_BLOCK: Final = Block("functools", listed=True)

PHI4_MINI: Final = Family(
    "phi4_mini",
    about="Phi-4-mini, Firefunction",
    shape='functools[{"name": "f", "arguments": {…}}, …]',
    openings=(Opening("functools[", Block("functools").read, certain=False),),
    write=_BLOCK.write,
    models=r"phi-?4-?mini|firefunction",
    also=("phi4_mini_json", "firefunction"),
)
