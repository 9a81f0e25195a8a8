"""Cohere's elements: ``<cofl:tool_call>`` with a raw value for each parameter.

Source: https://github.com/mlc-ai/xgrammar (``builtin_structural_tag.py``)
"""

from __future__ import annotations

from typing import Any, Final

from strictcall.tagged.elements import Elements, Tag
from strictcall.tagged.family import Family, Opening


def _mark(_: Any) -> str:
    return ' type="raw"'


_CALLS: Final = Elements(
    Tag("<cofl:tool_call", name="name"),
    "</cofl:tool_call>",
    Tag("<cofl:value", name="name"),
    "</cofl:value>",
    opening="<cofl:tool_calls>",
    closing="</cofl:tool_calls>",
    mark=_mark,
)

COHERE_XML: Final = Family(
    "cohere_xml",
    about="Cohere models that write elements (vLLM's cohere_command4 reads both these and Command R's JSON)",
    shape='<cofl:tool_calls><cofl:tool_call id="0" name="f"><cofl:value name="k" type="raw">v</cofl:value>'
    "</cofl:tool_call></cofl:tool_calls>",
    openings=(Opening(_CALLS.opening, _CALLS.read, follows="<"),),
    write=_CALLS.write_together,
    models=r"command-a.*0[89]-2026|cohere.*command-?4",
    also=("cohere_command4",),
)
