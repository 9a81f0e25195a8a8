"""DeepSeek V3.2, V4 and V4.1: elements in DSML tags. ``string`` says of each value whether it is text or JSON.

Sources: ``encoding/encoding_dsv32.py`` in https://huggingface.co/deepseek-ai/DeepSeek-V3.2; for V4.1
https://github.com/sgl-project/sglang (``test/registered/unit/function_call/test_deepseekv41_detector.py``)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening

_SECTIONS: Final = ("function_calls", "tool_calls")


def _mark(value: Any) -> str:
    return f' string="{"true" if isinstance(value, str) else "false"}"'


def _others(calls: Elements, section: str) -> tuple[Opening, ...]:
    """The sections of other versions: models write these too."""
    names = [name for name in _SECTIONS if name != section] if section in _SECTIONS else []
    tags = ((f"<｜DSML｜{name}>", f"</｜DSML｜{name}>") for name in names)  # noqa: RUF001
    return tuple(Opening(opening, replace(calls, opening=opening, closing=closing).read) for opening, closing in tags)


def _family(name: str, section: str, about: str, models: str, also: tuple[str, ...], space: str = "") -> Family:
    """A family whose calls stand in a section of this name; a ``space`` may stand before the name of each tag."""
    mark = f"｜DSML｜{space}"  # noqa: RUF001 - the vertical bars are wide ones
    calls = Elements(
        Tag(f"<{mark}invoke", name="name"),
        f"</{mark}invoke>",
        Tag(f"<{mark}parameter", name="name"),
        f"</{mark}parameter>",
        opening=f"<{mark}{section}>",
        closing=f"</{mark}{section}>",
        line="\n",
        text_mark=("string", "true"),
        mark=_mark,
    )
    return Family(
        name,
        about,
        calls.write_together([]).replace("\n", "\\n…"),
        (
            Opening(calls.opening, calls.read, follows="<"),
            Opening(calls.call.before, calls.read_calls),
            *_others(calls, section),
        ),
        calls.write_together,
        models,
        also,
    )


DEEPSEEK_V32: Final = _family(
    "deepseek_v32", "function_calls", "DeepSeek V3.2", r"deepseek-?v3\.2(?!-exp)", ("deepseekv32",)
)
DEEPSEEK_V4: Final = _family("deepseek_v4", "tool_calls", "DeepSeek V4", r"deepseek-?v4(?!\.1)", ("deepseekv4",))
DEEPSEEK_V41: Final = _family("deepseek_v41", "calls", "DeepSeek V4.1", r"deepseek-?v4\.1", ("deepseekv41",), " ")
