"""DeepSeek V3, R1 and V3.1: a name and JSON between tokens. V3 puts the JSON in a fence, after the word ``function``.

Sources: the chat templates of https://huggingface.co/deepseek-ai/DeepSeek-V3-0324 and
https://huggingface.co/deepseek-ai/DeepSeek-V3.1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan

_OPEN: Final = "<｜tool▁calls▁begin｜>"  # noqa: RUF001 - the vertical bars are wide ones
_CLOSE: Final = "<｜tool▁calls▁end｜>"  # noqa: RUF001
_UNIT: Final = "<｜tool▁call▁begin｜>"  # noqa: RUF001
_UNIT_END: Final = "<｜tool▁call▁end｜>"  # noqa: RUF001
_SEP: Final = "<｜tool▁sep｜>"  # noqa: RUF001
_FENCE: Final = "```"
_WORD: Final = re.compile(r"[\w.:/-]*")
_STOPS: Final = (_FENCE, _UNIT_END, _CLOSE, _UNIT)


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_OPEN, _UNIT)
    while True:
        yield from scan.space()
        yield from scan.skip(_UNIT)
        yield from _call(scan)
        yield from scan.space()
        yield from scan.skip(_UNIT_END)
        yield from scan.space()
        if (yield from scan.peek(_UNIT)) is None:
            break
    yield from scan.skip(_CLOSE)


def _call(scan: Scan) -> Reading[None]:
    """Take a call: its name stands before the separator, or after it where the word ``function`` stands before."""
    yield from scan.space()
    name = yield from scan.run(_WORD)
    yield from scan.space()
    yield from scan.take(_SEP)
    if (yield from scan.space()) != "{":
        name = yield from scan.run(_WORD)
    if not _WORD.fullmatch(name):
        raise Mismatch
    scan.begin(name)
    yield from scan.space()
    if (yield from scan.skip(_FENCE)) is not None:
        yield from scan.skip("json")
    if not (yield from scan.space()):
        raise Cut
    yield from arguments_only(scan, name, _STOPS)
    yield from scan.space()
    yield from scan.skip(_FENCE)


def _writer(form: str, between: str) -> Callable[[Sequence[Written]], str]:
    def write(calls: Sequence[Written]) -> str:
        units = []
        for call in calls:
            if not _WORD.fullmatch(call.name):
                raise ValueError(f"this format cannot say the name {call.name!r}")
            units.append(f"{_UNIT}{form.format(name=call.name, arguments=compact(call.arguments))}{_UNIT_END}")
        return f"{_OPEN}{between.join(units)}{_CLOSE}"

    return write


DEEPSEEK_V3: Final = Family(
    "deepseek_v3",
    about="DeepSeek V3-0324, R1 and R1-0528",
    shape=f"{_OPEN}{_UNIT}function{_SEP}f\\n```json\\n{{…}}\\n```{_UNIT_END}{_CLOSE}",
    openings=(Opening(_OPEN, _read), Opening(_UNIT, _read)),
    write=_writer(f"function{_SEP}{{name}}\n```json\n{{arguments}}\n```", "\n"),
    models=r"deepseek-?(v3(?!\.)|r1)",
    also=("deepseekv3",),
)
DEEPSEEK_V31: Final = Family(
    "deepseek_v31",
    about="DeepSeek V3.1 and V3.2-Exp, Cogito",
    shape=f"{_OPEN}{_UNIT}f{_SEP}{{…}}{_UNIT_END}{_CLOSE}",
    openings=(Opening(_OPEN, _read), Opening(_UNIT, _read)),
    write=_writer(f"{{name}}{_SEP}{{arguments}}", ""),
    models=r"deepseek-?v3\.(1|2-exp)|cogito",
    also=("deepseekv31",),
)
