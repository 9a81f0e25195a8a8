"""Every format, and which of them an answer is read as."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from strictcall.errors import SettingsError
from strictcall.shape.check import nearest
from strictcall.tagged.families.apertus import APERTUS
from strictcall.tagged.families.cohere_xml import COHERE_XML
from strictcall.tagged.families.command_r import COMMAND_R
from strictcall.tagged.families.common import COMMON
from strictcall.tagged.families.deepseek import DEEPSEEK_V3, DEEPSEEK_V31
from strictcall.tagged.families.deepseek_dsml import DEEPSEEK_V4, DEEPSEEK_V32, DEEPSEEK_V41
from strictcall.tagged.families.functionary import FUNCTIONARY
from strictcall.tagged.families.gemma import FUNCTIONGEMMA, GEMMA4
from strictcall.tagged.families.glm import GLM45, GLM47, HUNYUAN
from strictcall.tagged.families.harmony import HARMONY
from strictcall.tagged.families.hermes import HERMES
from strictcall.tagged.families.inkling import INKLING
from strictcall.tagged.families.internlm import INTERNLM
from strictcall.tagged.families.json_lists import JSON_LISTS
from strictcall.tagged.families.kimi_k2 import KIMI_K2
from strictcall.tagged.families.kimi_k3 import KIMI_K3
from strictcall.tagged.families.llama3_json import LLAMA3_JSON, XLAM
from strictcall.tagged.families.minicpm5 import MINICPM5
from strictcall.tagged.families.minimax import MINIMAX_M2
from strictcall.tagged.families.minimax_m3 import MINIMAX_M3
from strictcall.tagged.families.mistral import MISTRAL, MISTRAL_OLD
from strictcall.tagged.families.phi4_mini import PHI4_MINI
from strictcall.tagged.families.pythonic import LFM2, LLAMA_PYTHON_TAG, OLMO3, PYTHONIC
from strictcall.tagged.families.qwen3_coder import QWEN3_CODER, SEED_OSS
from strictcall.tagged.families.step3 import STEP3
from strictcall.tagged.family import Family, Opening

FAMILIES: Final[tuple[Family, ...]] = (
    HERMES,
    *JSON_LISTS,
    FUNCTIONARY,
    INTERNLM,
    COMMAND_R,
    PHI4_MINI,
    LLAMA3_JSON,
    XLAM,
    QWEN3_CODER,
    SEED_OSS,
    GLM47,
    GLM45,
    HUNYUAN,
    MINIMAX_M2,
    MINIMAX_M3,
    MINICPM5,
    DEEPSEEK_V31,
    DEEPSEEK_V3,
    DEEPSEEK_V32,
    DEEPSEEK_V4,
    DEEPSEEK_V41,
    KIMI_K2,
    KIMI_K3,
    HARMONY,
    MISTRAL,
    MISTRAL_OLD,
    STEP3,
    COHERE_XML,
    APERTUS,
    INKLING,
    LLAMA_PYTHON_TAG,
    PYTHONIC,
    LFM2,
    OLMO3,
    FUNCTIONGEMMA,
    GEMMA4,
)
"""In the order in which they try what begins alike."""
AUTO: Final = "auto"
NONE: Final = "none"
"""In the place of a format: calls are not looked for."""


def formats() -> list[str]:
    """The names of the formats."""
    return [family.name for family in FAMILIES]


def family(name: str) -> Family:
    """The format of a name, its own or another. Raises ``SettingsError`` for an unknown one, with the nearest."""
    for found in FAMILIES:
        if name == found.name or name in found.also:
            return found
    known = [name for found in FAMILIES for name in (found.name, *found.also)]
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"it is one of {', '.join([AUTO, *formats()])}"
    raise SettingsError("format", f"no format is called {name!r}; {hint}")


def openings(name: str, model: str | None = None) -> tuple[Opening, ...]:
    """What may begin a call in a format. Of ``auto``: all that is unmistakable in any, after all of the model's."""
    if name != AUTO:
        return *family(name).openings, *COMMON
    own = [found for found in FAMILIES if model is not None and _writes(found, model)]
    return tuple(dict.fromkeys([*_all(own, named=True), *_all(FAMILIES, named=False), *COMMON]))


def _writes(family: Family, model: str) -> bool:
    """Whether a model is one of those that write a format."""
    return family.models is not None and re.search(family.models, model, re.IGNORECASE) is not None


def _all(families: Iterable[Family], *, named: bool) -> Iterator[Opening]:
    for family in families:
        yield from (opening for opening in family.openings if named or not opening.named)
