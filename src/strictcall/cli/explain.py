"""``strictcall explain``: what a change's code means, and what a tool's author can do about it."""

from __future__ import annotations

from typing import Annotated

import typer

from strictcall.change import Code
from strictcall.cli.failure import unknown
from strictcall.cli.output import emit, paper
from strictcall.wire.codes import CODES


def explain(code: Annotated[str | None, typer.Argument(metavar="CODE", show_default=False)] = None) -> None:
    """Explain a code: what it is, why it happens, an example, and what to do. Without CODE, list all codes."""
    if code is None:
        sheet = paper()
        table = sheet.grid("code", "effect", "what it is")
        for known in CODES.values():
            table.add_row(known.name, known.effect.value, known.summary)
        emit(sheet.render(table))
        return
    if code not in CODES:
        raise unknown("code", code, CODES)
    emit(_text(CODES[code]))


def _text(code: Code) -> str:
    own = " (part of an encoding itself)" if code.by_encoding else ""
    parts = [
        f"{code.name}: {code.summary}",
        f"Effect: {code.effect.value}{own}",
        f"Why: {code.why}",
        f"Example: {code.example}",
        f"What to do: {code.remedy}",
    ]
    return "\n\n".join(parts) + "\n"
