"""An answer, before any API's envelope is put around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stop = Literal["stop", "calls", "length", "refusal"]
"""Why the answer ends: it is whole, it calls tools, it ran out of tokens, or the model will not answer."""
BYTES_A_TOKEN = 4
"""What usage figures and token budgets take a token to be."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call of an answer. ``arguments`` is text: cut off where tokens ran out, and not always JSON where the tool is
    loose.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says: text, what it thought before, and calls."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[MadeCall, ...] = ()
    stop: Stop = "stop"

    @property
    def tokens(self) -> int:
        """The answer's length in tokens, one at least."""
        parts = [self.text, self.reasoning, *(call.name + call.arguments for call in self.calls)]
        return max(1, sum(tokens(part) for part in parts))


def tokens(text: str) -> int:
    """The length of a text in tokens."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
