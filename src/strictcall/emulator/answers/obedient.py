"""What a model does that follows its user to the letter: it makes the calls that the prompt writes out, and only the
decoder keeps it back from what their schemas forbid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from strictcall.emulator.answers.loosely import loosely
from strictcall.emulator.conversation import OfferedTool

_CALL: Final = re.compile(r"(?<![\w.:-])([A-Za-z_][\w.:-]*)\((?=\{)")
_FORBIDDEN: Final = re.compile(r"\b(?:do not|don't|never) call\b", re.IGNORECASE)
_JSON: Final = json.JSONDecoder()
Written = tuple[OfferedTool, dict[str, Any]]


def written_calls(prompt: str, tools: Sequence[OfferedTool]) -> list[Written]:
    """The calls of some tools that a prompt writes out, ``name({"city": "Rome"})``, in their order."""
    by_name = {tool.name: tool for tool in tools}
    found: list[Written] = []
    for match in _CALL.finditer(prompt):
        try:
            arguments, end = _JSON.raw_decode(prompt, match.end())
        except (ValueError, RecursionError):
            continue
        if match[1] in by_name and prompt.startswith(")", end):
            found.append((by_name[match[1]], arguments))
    return found


def forbids_calls(prompt: str) -> bool:
    """Whether a prompt says that no tool is to be called: one that must be called is, all the same."""
    return _FORBIDDEN.search(prompt) is not None


def nearest(wanted: dict[str, Any], legal: str, held: Any) -> str:
    """The arguments that are wanted, as far as a decoder lets them through that holds the schema ``held``.

    ``legal`` is the text of arguments that it does let through: of these each argument gives way to the one that is
    wanted, or goes where none is, if what comes of it is still legal.
    """
    fits = loosely(held).fits
    if fits(wanted):
        return _text(wanted)
    value = json.loads(legal)
    if not isinstance(value, dict):
        return legal
    for name in dict.fromkeys([*value, *wanted]):
        if name in wanted:
            changed = {**value, name: wanted[name]}
        else:
            changed = {other: item for other, item in value.items() if other != name}
        if fits(changed):
            value = changed
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
