"""Mistral: behind ``[TOOL_CALLS]`` a list of JSON objects, or, from tokenizer v11 on, a name and its arguments.

Source: https://github.com/mistralai/mistral-common (``tokens/tokenizers/instruct.py``)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only, json_block
from strictcall.tagged.scan import Cut, Reading, Scan

_OPEN: Final = "[TOOL_CALLS]"
_ARGUMENTS: Final = "[ARGS]"
_ID: Final = "[CALL_ID]"
_NAME: Final = re.compile(r"[\w.:/-]*")


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_OPEN)
    char = yield from scan.space()
    if char in ("[", "{"):
        yield from json_block(scan, (_OPEN,))
        return
    name = yield from scan.run(_NAME)
    if scan.offered.has(name):
        scan.begin(name)
    yield from scan.space()
    call_id = None
    if (yield from scan.skip(_ID)) is not None:
        call_id = yield from scan.run(_NAME)
        yield from scan.space()
    yield from scan.skip(_ARGUMENTS)
    if not (yield from scan.space()):
        raise Cut
    yield from arguments_only(scan, name, (_OPEN,), call_id)


def _write_list(calls: Sequence[Written]) -> str:
    objects = [
        {"name": call.name, "arguments": call.arguments, **({"id": call.id} if call.id else {})} for call in calls
    ]
    return f"{_OPEN} {compact(objects)}"


def _write(calls: Sequence[Written]) -> str:
    units = []
    for call in calls:
        if not _NAME.fullmatch(call.name):
            raise ValueError(f"this format cannot say the name {call.name!r}")
        units.append(f"{_OPEN}{call.name}{_ARGUMENTS}{compact(call.arguments)}")
    return "".join(units)


MISTRAL: Final = Family(
    "mistral",
    about="Mistral Small 3.1 and later, Ministral, Magistral, Devstral: tokenizer v11 and later",
    shape=f"{_OPEN}f{_ARGUMENTS}{{…}}",
    openings=(Opening(_OPEN, _read),),
    write=_write,
    models=r"(mi|mini|magi|devs|vox|code)stral",
)
MISTRAL_OLD: Final = Family(
    "mistral_old",
    about="Mistral 7B v0.3, Nemo, Large 2407, Mixtral 8x22B: before tokenizer v11",
    shape=f'{_OPEN} [{{"name": "f", "arguments": {{…}}, "id": "…"}}]',
    openings=(Opening(_OPEN, _read),),
    write=_write_list,
    models=r"mistral-(7b|nemo|large-240)|mixtral",
    also=("mistral_v3", "mistral_v7"),
)
