"""InternLM: one JSON object after two special tokens.

Source: ``internlm`` of https://docs.vllm.ai/en/latest/features/tool_calling.html
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block, close, json_block
from strictcall.tagged.scan import Reading, Scan

_START: Final = "<|action_start|>"
_PLUGIN: Final = "<|plugin|>"
_END: Final = "<|action_end|>"
_WRITTEN: Final = Block(f"{_START}{_PLUGIN}\n", f"\n{_END}", arguments="parameters")


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_START)
    yield from scan.space()
    yield from scan.take(_PLUGIN)
    yield from json_block(scan, (_END, _START))
    yield from close(scan, _END)


INTERNLM: Final = Family(
    "internlm",
    about="InternLM 2 and 2.5, Intern-S1",
    shape='<|action_start|><|plugin|>{"name": "f", "parameters": {…}}<|action_end|>',
    openings=(Opening(_START, _read),),
    write=_WRITTEN.write,
    models=r"internlm|intern-s1",
    lacks="the code interpreter (<|interpreter|>): its body is code, no call of a tool that was offered",
)
