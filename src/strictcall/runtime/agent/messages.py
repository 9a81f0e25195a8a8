"""What a run begins with: a question, or a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strictcall.api.answer import Answer
from strictcall.errors import RequestError
from strictcall.link.turns import Results, Turn

Messages = str | Iterable[Turn]
"""A question, or a conversation: messages as Chat Completions has them, and what earlier runs gave."""


def turns_of(messages: Messages) -> list[Turn]:
    """The turns of a question or a conversation. Raises ``RequestError`` for what is neither.

    What stands in a message is for the link's API to judge: Chat Completions knows kinds that are not known here.
    """
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping | bytes) or not isinstance(messages, Iterable):
        raise RequestError("messages", f"must be a text or a list of messages, not {type(messages).__name__}")
    turns = list(messages)
    if not turns:
        raise RequestError("messages", "there are none")
    for position, turn in enumerate(turns):
        if not _is_turn(turn):
            problem = f"must be a message with its role, an Answer or Results, not {type(turn).__name__}"
            raise RequestError(f"messages[{position}]", problem)
    return turns


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, Answer | Results) or (isinstance(turn, Mapping) and isinstance(turn.get("role"), str))
