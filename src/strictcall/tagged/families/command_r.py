"""Command R: a JSON list of ``tool_name`` and ``parameters``.

Sources: the chat templates of https://huggingface.co/CohereLabs/c4ai-command-r7b-12-2024 and of
https://huggingface.co/CohereLabs/c4ai-command-r-08-2024, which writes ``Action:`` and a fenced list.
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block, json_block
from strictcall.tagged.scan import Reading, Scan

_BLOCK: Final = Block("<|START_ACTION|>", "<|END_ACTION|>", True, "", "tool_name", "parameters", "tool_call_id")
_ACTION: Final = "Action:"
_FENCE: Final = "```"


def _fenced(scan: Scan) -> Reading[None]:
    yield from scan.take(_ACTION)
    yield from scan.space()
    yield from scan.take(_FENCE)
    yield from scan.skip("json")
    yield from json_block(scan, (_FENCE,))
    yield from scan.space()
    yield from scan.skip(_FENCE)


COMMAND_R: Final = Family(
    "command_r",
    about="Command R7B, Command A, Command A Reasoning; Command R and R+",
    shape='<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {…}}]<|END_ACTION|>',
    openings=(
        Opening(_BLOCK.opening, _BLOCK.read),
        Opening(_ACTION, _fenced, where="line", certain=False),
    ),
    write=_BLOCK.write,
    models=r"command-?(r|a)",
    also=("cohere_command3", "cohere"),
)
