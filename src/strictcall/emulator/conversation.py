"""A request for an answer, in words that no provider owns: what every API's envelope is read into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Choice = Literal["auto", "none", "required"]
"""``auto``: the model may call; ``required``: it must."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of a request, as it came.

    ``place`` is where it stands in the request, as the API's own errors write it (``tools[0].function``), and
    ``schema_place`` where its schema does. ``strict`` is how it is marked; ``None`` where it says nothing.
    ``strict_place`` is where the marking stands. ``schema`` is ``None`` where the tool has none.
    """

    name: str
    description: str | None
    schema: Any
    place: str
    schema_place: str
    strict: bool | None = None
    strict_place: str | None = None


@dataclass(frozen=True, slots=True)
class WantedOutput:
    """The schema that the answer's text must have; ``schema`` is ``None`` where any JSON object will do."""

    name: str
    schema: Any
    place: str
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that an assistant's turn in the history made; ``arguments`` is JSON text or a JSON value."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the history. A ``tool`` message answers the call ``call_id``."""

    role: Role
    text: str = ""
    calls: tuple[PastCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request, read and found well formed, its history included. Whether its dialect takes it is asked afterwards.

    ``only`` names the tools that the choice allows; ``None`` is all of them. ``constrained`` says whether the choice
    by itself makes the decoder hold schemas (Gemini's modes). ``strict`` is a marking for the whole request;
    ``tries_strict`` says that the API takes an unmarked tool for strict where its schema allows.
    ``parallel`` is what the request says of parallel calls. ``max_tokens`` bounds the answer. ``fields`` are the
    names of the body's own fields that the API does not know.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...] = ()
    choice: Choice = "auto"
    only: frozenset[str] | None = None
    constrained: bool = False
    strict: bool | None = None
    tries_strict: bool = False
    parallel: bool | None = None
    output: WantedOutput | None = None
    max_tokens: int | None = None
    stream: bool = False
    seed: int | None = None
    unknown_fields: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    """What only the API that read the request needs to write its answer (``include_usage`` and the like)."""

    @property
    def turn(self) -> int:
        """How many answers the assistant gave before this one: runs of assistant messages count once each."""
        before = (None, *(message.role for message in self.messages))
        return sum(
            message.role == "assistant" and last != "assistant"
            for last, message in zip(before, self.messages, strict=False)
        )

    @property
    def rounds(self) -> int:
        """How many times tools answered since the user last spoke."""
        rounds = 0
        last: str | None = None
        for message in reversed(self.messages):
            if message.role == "user":
                break
            rounds += message.role == "tool" and last != "tool"
            last = message.role
        return rounds

    @property
    def calls_made(self) -> int:
        """How many calls the assistant made since the user last spoke; those in its texts are told by their results."""
        calls = results = 0
        for message in reversed(self.messages):
            if message.role == "user":
                break
            calls += len(message.calls)
            results += message.role == "tool"
        return max(calls, results)

    @property
    def prompt(self) -> str:
        """What the user said last."""
        return next((message.text for message in reversed(self.messages) if message.role == "user"), "")

    @property
    def callable_tools(self) -> tuple[OfferedTool, ...]:
        """The tools that the choice allows to be called."""
        if self.choice == "none":
            return ()
        return tuple(tool for tool in self.tools if self.only is None or tool.name in self.only)
