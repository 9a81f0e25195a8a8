"""Llama 3: JSON objects, bare or after ``<|python_tag|>``.

A bare object is a call only where it names an offered tool and gives its arguments. Without the format or the model
being named it must be all that the answer is.

Source: https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.families.common import alone
from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block, bare_calls

_BLOCK: Final = Block("", arguments="parameters")
_TAG: Final = Block("<|python_tag|>", arguments="parameters")

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
    also=("llama4_json", "llama3", "llama32", "json", "xlam"),
)
