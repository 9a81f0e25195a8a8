"""MiniCPM5: ``<function>`` elements whose parameters are raw text.

Source: https://github.com/sgl-project/sglang (``test/registered/unit/function_call/test_minicpm5_detector.py``)
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening

_CALLS: Final = Elements(
    Tag("<function", name="name"),
    "</function>",
    Tag("<param", name="name"),
    "</param>",
)

MINICPM5: Final = Family(
    "minicpm5",
    about="MiniCPM5",
    shape='<function name="f"><param name="k">v</param></function>',
    openings=(Opening(f"{_CALLS.call.before} ", _CALLS.read_calls, certain=False),),
    write=_CALLS.write_together,
    models=r"minicpm-?5",
    also=("minicpm5xml",),
)
