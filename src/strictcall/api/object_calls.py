"""Calls whose arguments must be JSON objects, or the text of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import is_not
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.reading import find_tool
from strictcall.api.writing import encoded, replayed
from strictcall.json_value import LimitError, compact, parse
from strictcall.wire.toolset import Toolset

INVALID: Final = "INVALID_JSON"
"""Where an object must stand, a text that is none stands under this name. The name is Anthropic's:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
"""


def as_object(raw: str) -> dict[str, Any]:
    """The object that the text of a call's arguments says, its keys in their order; blank text and null say ``{}``."""
    try:
        value = parse(raw) if raw.strip() else None
    except LimitError:
        return {INVALID: raw}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {INVALID: raw}


def replayed_object(call: Call, toolset: Toolset) -> tuple[str, dict[str, Any]]:
    """The wire name of a call of the history and its arguments, as ``writing.replayed`` has them."""
    name, raw = replayed(call, toolset)
    return name, as_object(raw)


def replayed_text(call: Call, toolset: Toolset) -> tuple[str, str]:
    """The wire name of a call of the history and the text of its arguments, as ``writing.replayed`` has them, where a
    text must be that of an object: servers read it to render their chat template, and one of llama.cpp's or vLLM's
    fails for the whole request on a call that was cut off.
    """
    name, raw = replayed(call, toolset)
    is_sound = not call.faults and bool(raw.strip())
    return name, raw if is_sound or _is_object(raw) else compact(as_object(raw))


def _is_object(raw: str) -> bool:
    try:
        return isinstance(parse(raw), dict)
    except LimitError:
        return False


def as_said_object(name: str, arguments: Any, toolset: Toolset) -> tuple[str, Any]:
    """Name and arguments of a call found in a body, as ``writing.as_said`` has them; the same object where they stay
    as they are.
    """
    compiled = find_tool(toolset, name)
    if compiled is None or not isinstance(arguments, dict):
        return name if compiled is None else compiled.name, arguments
    return compiled.name, encoded(compiled, arguments)


def block_history(
    messages: Iterable[Any], answered: Callable[[Answer], list[Any]], changed: Callable[[Any], Any]
) -> list[Any]:
    """A history of messages that hold blocks: an ``Answer`` becomes the assistant's message with the blocks that
    ``answered`` gives, none where there are none, and in the API's own each block is as ``changed`` has it.
    """
    made: list[Any] = []
    for message in messages:
        if isinstance(message, Answer):
            content = answered(message)
            if content:
                made.append({"role": "assistant", "content": content})
        else:
            made.append(_with_content(message, changed))
    return made


def _with_content(message: Any, changed: Callable[[Any], Any]) -> Any:
    """A message with each block of its content as ``changed`` has it; the very one where none changes."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list | tuple):
        return message
    made = [changed(block) for block in content]
    return {**message, "content": made} if any(map(is_not, made, content)) else message
