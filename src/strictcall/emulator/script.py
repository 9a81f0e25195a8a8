"""A script: exact replies for a conversation, read from YAML.

    conversations:
      - when: Lisbon                     # a text within the user's first message; without it, any conversation
        replies:                         # the nth answers the conversation's nth turn
          - text: Let me look.
            calls:
              - name: get_weather
                arguments: {city: Lisbon}       # or the text itself, valid or not
          - text: It is sunny in Lisbon.
          - fault: "429"

``replies`` at the top level is a conversation of its own that comes last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from strictcall.emulator.answer import Answer, MadeCall, Stop
from strictcall.emulator.conversation import Request
from strictcall.emulator.faults import FAULTS
from strictcall.errors import ScriptError


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One reply: an answer, whose calls may have no id yet, and the fault that befalls it, if any."""

    answer: Answer
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedConversation:
    """The replies of a conversation whose first user message holds ``when``."""

    when: str
    replies: tuple[ScriptedReply, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """Conversations in the order in which they are looked through."""

    conversations: tuple[ScriptedConversation, ...]

    def reply(self, request: Request) -> ScriptedReply | None:
        """The reply to a request: that of the first conversation it belongs to, by its turn; ``None`` where the
        script says nothing.
        """
        opening = next((message.text for message in request.messages if message.role == "user"), "")
        for conversation in self.conversations:
            if conversation.when in opening:
                turn = request.turn
                return conversation.replies[turn] if turn < len(conversation.replies) else None
        return None


def read_script(path: Path) -> Script:
    """A script from a YAML file (JSON is YAML too).

    Raises ``ScriptError`` naming the file and the place in it.
    """
    import yaml  # noqa: PLC0415 - only those who have a script need it

    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ScriptError(str(path), f"no YAML: {' '.join(str(error).split())[:200]}") from None
    return script_of(value, str(path))


def script_of(value: Any, name: str = "script") -> Script:
    """A script from the value that a file holds. Raises ``ScriptError``, in which ``name`` stands for the file."""
    reader = _Reader(name)
    table = reader.table("", value, ("conversations", "replies"))
    found = [
        reader.conversation(f"conversations[{index}]", item)
        for index, item in enumerate(reader.items("conversations", table.get("conversations", [])))
    ]
    if "replies" in table:
        found.append(ScriptedConversation("", reader.replies("replies", table["replies"])))
    if not found:
        raise ScriptError(name, "has neither conversations nor replies")
    return Script(tuple(found))


_REPLY: Final = ("text", "reasoning", "calls", "stop", "fault")
_CALL: Final = ("name", "arguments", "id")


class _Reader:
    """Checks each value at its place."""

    def __init__(self, name: str) -> None:
        self.name = name

    def conversation(self, place: str, value: Any) -> ScriptedConversation:
        table = self.table(place, value, ("when", "replies"))
        when = self.text(f"{place}.when", table.get("when", ""))
        return ScriptedConversation(when, self.replies(f"{place}.replies", table.get("replies")))

    def replies(self, place: str, value: Any) -> tuple[ScriptedReply, ...]:
        return tuple(self.reply(f"{place}[{index}]", item) for index, item in enumerate(self.items(place, value)))

    def reply(self, place: str, value: Any) -> ScriptedReply:
        table = self.table(place, value, _REPLY)
        calls = tuple(
            self.call(f"{place}.calls[{index}]", item)
            for index, item in enumerate(self.items(f"{place}.calls", table.get("calls", [])))
        )
        stop: Any = table.get("stop", "calls" if calls else "stop")
        if stop not in get_args(Stop):
            raise self.error(f"{place}.stop", f"{stop!r} is not one of {', '.join(get_args(Stop))}")
        fault = table.get("fault")
        if fault is not None and str(fault) not in FAULTS:
            raise self.error(f"{place}.fault", f"{fault!r} is not one of {', '.join(FAULTS)}")
        answer = Answer(
            self.text(f"{place}.text", table.get("text", "")),
            self.text(f"{place}.reasoning", table.get("reasoning", "")),
            calls,
            stop,
        )
        return ScriptedReply(answer, None if fault is None else str(fault))

    def call(self, place: str, value: Any) -> MadeCall:
        table = self.table(place, value, _CALL)
        name = self.text(f"{place}.name", table.get("name", ""))
        if not name:
            raise self.error(f"{place}.name", "missing")
        arguments = table.get("arguments", {})
        if not isinstance(arguments, str):
            try:
                arguments = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise self.error(f"{place}.arguments", f"no JSON: {error}") from None
        return MadeCall(self.text(f"{place}.id", table.get("id", "")), name, arguments)

    def table(self, place: str, value: Any, known: Iterable[str]) -> Mapping[str, Any]:
        known = tuple(known)
        if not isinstance(value, dict):
            raise self.error(place, f"must be a table of {', '.join(known)}")
        for key in value:
            if key not in known:
                raise self.error(f"{place}.{key}".lstrip("."), f"unknown key; known are {', '.join(known)}")
        return value

    def items(self, place: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.error(place, "must be a list")
        return value

    def text(self, place: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.error(place, f"{value!r:.60} is not a text; quote it")
        return value

    def error(self, place: str, problem: str) -> ScriptError:
        return ScriptError(self.name, f"{place}: {problem}" if place else problem)
