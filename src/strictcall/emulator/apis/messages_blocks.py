"""Reading the messages of a Messages request: turns, and the blocks that they are made of.

Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.emulator.apis.messages_breaches import NAME
from strictcall.emulator.apis.messages_wording import WORDING, at, extra, off_pattern, off_tags, too_short
from strictcall.emulator.apis.reading import Fields, JsonType
from strictcall.emulator.apis.sealing import is_sealed, seal
from strictcall.emulator.conversation import Message, PastCall
from strictcall.emulator.refusal import Refusal

_ROLES: Final = ("user", "assistant", "system")
_TURN: Final = frozenset({"role", "content"})
_ID: Final = "^[a-zA-Z0-9_-]+$"
THINKING: Final = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class _Shape:
    """The fields of a block besides ``type``."""

    needed: Mapping[str, tuple[JsonType, ...]]
    optional: Mapping[str, tuple[JsonType, ...]] = field(default_factory=dict)


_CACHED: Final[Mapping[str, tuple[JsonType, ...]]] = {"cache_control": ("object",)}
_SHAPES: Final[Mapping[str, _Shape]] = {
    "text": _Shape({"text": ("string",)}, {**_CACHED, "citations": ("array",)}),
    "image": _Shape({"source": ("object",)}, {**_CACHED, "transformations": ("object",)}),
    "document": _Shape(
        {"source": ("object",)}, {**_CACHED, "citations": ("object",), "context": ("string",), "title": ("string",)}
    ),
    "search_result": _Shape(
        {"content": ("array",), "source": ("string",), "title": ("string",)}, {**_CACHED, "citations": ("object",)}
    ),
    "thinking": _Shape({"thinking": ("string",), "signature": ("string",)}),
    "redacted_thinking": _Shape({"data": ("string",)}),
    "tool_use": _Shape(
        {"id": ("string",), "name": ("string",), "input": ("object",)},
        {**_CACHED, "caller": ("object",), "toolset_name": ("string",)},
    ),
    "tool_result": _Shape(
        {"tool_use_id": ("string",)},
        {**_CACHED, "content": ("string", "array"), "is_error": ("boolean",), "toolset_name": ("string",)},
    ),
}
"""The blocks that the emulator reads."""
_PASSED_OVER: Final = (
    "bash_code_execution_tool_result", "browser_state", "code_execution_tool_result", "container_upload",
    "mcp_tool_result", "mcp_tool_use", "server_tool_use", "text_editor_code_execution_tool_result", "tool_reference",
    "tool_search_tool_result", "web_fetch_tool_result", "web_search_tool_result",
)  # fmt: skip
"""Blocks of tools that run at the provider's: they are taken as they are."""
_TAGS: Final = (*_SHAPES, *_PASSED_OVER)
_ONLY_IN: Final = {
    "tool_result": "user",
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}
_SYSTEM_TAGS: Final = frozenset({"text", "tool_addition", "tool_removal"})


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as it came: where it stands, whose it is, and its blocks. A plain text is one block."""

    index: int
    role: str
    blocks: tuple[Fields, ...]

    def of(self, kind: str) -> list[tuple[int, Fields]]:
        """The blocks of a kind, with the places that they have in the message."""
        return [(index, block) for index, block in enumerate(self.blocks) if block.values["type"] == kind]


def read_turns(fields: Fields) -> tuple[Turn, ...]:
    """The messages of a body, each by itself. Raises ``Refusal``."""
    given = fields.items("messages")
    if not given:
        raise at("messages", "at least one message is required")
    return tuple(_turn(turn, index) for index, turn in enumerate(fields.children("messages")))


def _turn(turn: Fields, index: int) -> Turn:
    role = turn.needed_text("role")
    if role not in _ROLES:
        raise at("messages", f'Unexpected role "{role}". Allowed roles are "user" or "assistant"')
    blocks = _blocks(turn, system=role == "system")
    for name in turn.unknown(_TURN):
        raise extra(turn.at(name))
    for block in blocks:
        kind = block.values["type"]
        if _ONLY_IN.get(kind, role) != role:
            raise at(("messages", index), f"`{kind}` blocks can only be in `{_ONLY_IN[kind]}` messages")
    return Turn(index, role, blocks)


def _blocks(turn: Fields, *, system: bool = False) -> tuple[Fields, ...]:
    """The blocks of a field ``content``, which may be a text."""
    content = turn.values.get("content")
    if content is None and "content" not in turn.values:
        raise WORDING.missing(turn.at("content"))
    if isinstance(content, str):
        place = turn.at("content", 0, "text")
        return (Fields({"type": "text", "text": content}, place, WORDING),) if content else ()
    if not isinstance(content, list):
        raise WORDING.mistyped(turn.at("content"), ("array",), content)
    blocks = list(turn.children("content"))
    if system and not _SYSTEM_TAGS.issuperset(block.needed_text("type") for block in blocks):
        raise at(turn.place, "role 'system' supports text, tool_addition, and tool_removal blocks only")
    return tuple(_block(block) for block in blocks)


def _block(block: Fields) -> Fields:
    kind = block.needed_text("type")
    if kind in _PASSED_OVER or kind in _SYSTEM_TAGS - {"text"}:
        return block
    shape = _SHAPES.get(kind)
    if shape is None:
        raise off_tags(block.place, _TAGS, kind)
    inside = Fields(block.values, block.at(kind), WORDING)
    for name, wanted in shape.needed.items():
        if name in block.values and block.values[name] is None:
            raise WORDING.mistyped(inside.at(name), wanted, None)
        inside.get(name, *wanted, needed=True)
    for name, wanted in shape.optional.items():
        inside.get(name, *wanted)
    for name in inside.unknown({"type", *shape.needed, *shape.optional}):
        raise extra(inside.at(name))
    _check_block(inside, kind)
    return inside


def _check_block(block: Fields, kind: str) -> None:
    if kind == "tool_use":
        _check_text(block, "id", _ID)
        _check_text(block, "name", NAME)
    elif kind == "tool_result":
        _check_text(block, "tool_use_id", _ID)
        if isinstance(block.values.get("content"), list):
            _blocks(block)
    elif kind in THINKING:
        _check_seal(block, kind)


def _check_text(block: Fields, name: str, pattern: str) -> None:
    text = block.values[name]
    if not text:
        raise too_short(block.at(name))
    if not re.fullmatch(pattern, text):
        raise off_pattern(block.at(name), pattern)


def _check_seal(block: Fields, kind: str) -> None:
    """What the model thought comes back as it was written: only the server can have signed it."""
    if kind == "redacted_thinking":
        if not is_sealed(block.values["data"]):
            raise at(block.place[:-1], "Invalid `data` in `redacted_thinking` block")
    elif block.values["signature"] != seal(block.values["thinking"]):
        raise at(block.place[:-1], "Invalid `signature` in `thinking` block")


# --- what the turns say -----------------------------------------------------------------------------------------------


def conversation(turns: Sequence[Turn]) -> Iterator[Message]:
    """Turns that are found to make up a history, in the emulator's own words."""
    for turn in turns:
        if turn.role == "system":
            yield Message("system", text_of(turn.blocks))
        elif turn.role == "assistant":
            yield Message("assistant", text_of(turn.blocks), _calls(turn))
        else:
            for _, block in turn.of("tool_result"):
                yield Message("tool", _result(block), call_id=block.values["tool_use_id"])
            if not turn.blocks or len(turn.of("tool_result")) < len(turn.blocks):
                yield Message("user", text_of(turn.blocks))


def text_of(blocks: Sequence[Fields]) -> str:
    """The text of text blocks; a block of another kind has none."""
    return "".join(block.values["text"] for block in blocks if block.values["type"] == "text")


def _calls(turn: Turn) -> tuple[PastCall, ...]:
    used: list[Mapping[str, Any]] = [block.values for _, block in turn.of("tool_use")]
    return tuple(PastCall(values["id"], values["name"], values["input"]) for values in used)


def _result(block: Fields) -> str:
    content = block.values.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def system_messages(fields: Fields) -> tuple[Message, ...]:
    """The system prompt, a text or text blocks. Raises ``Refusal``."""
    given = fields.values.get("system")
    if given is None or isinstance(given, str):
        return (Message("system", given),) if given else ()
    texts = []
    for index, item in enumerate(fields.items("system")):
        if not isinstance(item, dict):
            raise at(("system", index), "Input does not match the expected shape.")
        block = Fields(item, ("system", index), WORDING)
        block.choice("type", ("text",), needed=True)
        texts.append(_checked_text(block))
    return tuple(Message("system", text) for text in texts)


def _checked_text(block: Fields) -> str:
    text = block.needed_text("text")
    for name in block.unknown({"type", "text", "cache_control", "citations"}):
        raise extra(block.at(name))
    if not text:
        raise _empty("system")
    return text


def _empty(name: str) -> Refusal:
    return at(name, "text content blocks must be non-empty")
