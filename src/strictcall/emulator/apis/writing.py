"""What every API's envelope needs to write an answer: text cut into deltas, and the length of a request."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from strictcall.emulator.answer import BYTES_A_TOKEN, tokens
from strictcall.emulator.conversation import Request

_MOST_IN_A_PIECE: Final = 24
_TOKENS_A_MESSAGE: Final = 4
"""What a message costs besides its text, as the tokenizers' own guides count."""


def pieces(text: str, rng: random.Random) -> Iterator[str]:
    """A text cut at random places, none of its pieces empty. A character is never cut; an escape within JSON may be."""
    start = 0
    while start < len(text):
        end = start + rng.randint(1, _MOST_IN_A_PIECE)
        yield text[start:end]
        start = end


def prompt_tokens(request: Request) -> int:
    """The length of a request in tokens: its messages, its tools, and the schema wanted of the answer."""
    messages = sum(
        _TOKENS_A_MESSAGE
        + tokens(message.text)
        + sum(tokens(call.name) + _size(call.arguments) for call in message.calls)
        for message in request.messages
    )
    tools = sum(tokens(tool.name + (tool.description or "")) + _size(tool.schema) for tool in request.tools)
    return messages + tools + (0 if request.output is None else _size(request.output.schema))


def _size(value: Any) -> int:
    """The length in tokens of a JSON value, of any depth."""
    characters = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            characters += len(item) + 2
        elif isinstance(item, dict):
            characters += sum(map(len, item)) + 4 * len(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            characters += len(item) + 2
            waiting.extend(item)
        else:
            characters += BYTES_A_TOKEN
    return -(-characters // BYTES_A_TOKEN)
