"""Families that write JSON calls between an opening and a closing text, and differ in nothing but those.

Sources: https://docs.vllm.ai/en/latest/features/tool_calling.html; https://github.com/sgl-project/sglang
(``python/sglang/srt/function_call``); https://lmstudio.ai/docs/developer/openai-compat/tools; and the chat templates of
the models on https://huggingface.co
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.families.glm import LONGCAT_LITE
from strictcall.tagged.family import Family, Opening
from strictcall.tagged.json_calls import Block
from strictcall.tagged.scan import Reading, Scan


def _family(
    name: str, block: Block, about: str, models: str | None, also: tuple[str, ...] = (), *more: Opening
) -> Family:
    """A family of one block, which may be written otherwise too."""
    body = f'{{"{block.name}": "f", "{block.arguments}": {{…}}}}'
    shape = f"{block.opening}{f'[{body}, …]' if block.listed else body}{block.closing}".replace("\n", "\\n")
    openings = (Opening(block.opening, block.read, follows="{["), *more)
    return Family(name, about, shape, openings, block.write, models, also)


_GRANITE_TEXT: Final = Block("<tool_call>", "</tool_call>", listed=True)
_GRANITE: Final = Block("<|tool_call|>", "<|/tool_call|>", listed=True)
_GRANITE_20B: Final = Block("<function_call>", "</function_call>")
_GIGACHAT: Final = Block("<|function_call|>")
_GIGACHAT_OLD: Final = Block("function call<|role_sep|>\n")
_GIGACHAT_MESSAGE: Final = "<|message_sep|>"


def _next_message(scan: Scan) -> Reading[None]:
    """Take GigaChat's call with the token that ends the message before it."""
    yield from scan.take(_GIGACHAT_MESSAGE)
    yield from scan.space()
    block = _GIGACHAT if (yield from scan.peek(_GIGACHAT.opening)) else _GIGACHAT_OLD
    yield from block.read(scan)


JSON_LISTS: Final[tuple[Family, ...]] = (
    _family(
        "granite",
        _GRANITE,
        "Granite 3.0 to 3.3; Phi-4-mini's own template",
        r"granite-?3",
        (),
        Opening(_GRANITE_TEXT.opening, _GRANITE_TEXT.read, named=True, follows="{["),
    ),
    _family("granite_20b", _GRANITE_20B, "Granite 20B function calling", r"granite-20b", ("granite-20b-fc",)),
    _family(
        "tool_calls",
        Block("<tool_calls>", "</tool_calls>", listed=True),
        "Jamba, Hunyuan A13B, Apriel 1.5, MiniMax M1",
        r"jamba|hunyuan-a|apriel|minimax.?m1",
        ("jamba", "hunyuan_a13b", "apriel", "minimax"),
    ),
    _family(
        "nemotron",
        Block("<TOOLCALL>", "</TOOLCALL>", listed=True),
        "Llama Nemotron, Nemotron Nano 2",
        r"llama.*nemotron|nemotron-nano.*v2",
        ("llama_nemotron_json",),
    ),
    _family(
        "longcat",
        Block("<longcat_tool_call>", "</longcat_tool_call>", space="\n"),
        "LongCat Flash",
        r"longcat",
        (),
        *LONGCAT_LITE.openings(),
    ),
    _family(
        "gigachat3",
        _GIGACHAT,
        "GigaChat 3",
        r"gigachat",
        (),
        Opening(_GIGACHAT_OLD.opening, _GIGACHAT_OLD.read),
        Opening(_GIGACHAT_MESSAGE, _next_message, follows="f<"),
    ),
    _family(
        "lm_studio",
        Block("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
        "LM Studio's default prompt, for models without a template for tools",
        None,
        ("lmstudio",),
    ),
)
