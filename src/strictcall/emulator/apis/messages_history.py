"""Whether the turns of a Messages request make up a history.

Turns of one role that follow each other count as one (https://docs.anthropic.com/en/api/messages). What is refused,
and the words, were read from published error reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Final

from strictcall.emulator.apis.messages_blocks import THINKING, Turn
from strictcall.emulator.apis.messages_wording import at
from strictcall.emulator.apis.reading import Fields
from strictcall.emulator.refusal import Refusal

_SYSTEM_PLACE: Final = (
    "role 'system' must precede an 'assistant' message or end the array; "
    "the directive-only form (content: [] with output_config) is accepted at any position"
)
_SYSTEM_FIRST: Final = (
    "use the top-level 'system' parameter for the initial system prompt; "
    "the directive-only form (content: [] with output_config) is accepted at any position"
)
_MUST_THINK: Final = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
    "set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. "
    "To avoid this requirement, disable `thinking`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A block, with the turn and the place in it where it stands."""

    turn: int
    index: int
    block: Fields

    @property
    def kind(self) -> str:
        return str(self.block.values["type"])


@dataclass(frozen=True, slots=True)
class _Run:
    """Turns of one role that follow each other."""

    role: str
    turns: tuple[Turn, ...]

    @property
    def blocks(self) -> list[_Placed]:
        return [_Placed(turn.index, index, block) for turn in self.turns for index, block in enumerate(turn.blocks)]

    @property
    def first(self) -> int:
        return self.turns[0].index


def check_history(turns: Sequence[Turn], *, thinks: bool) -> None:
    """Refuse turns that do not make up a history; ``thinks`` says that the model is told to think.

    Raises ``Refusal``.
    """
    _check_system(turns)
    runs = [_Run(role, tuple(group)) for role, group in groupby(turns, key=lambda turn: turn.role)]
    _check_contents(runs)
    if turns[0].role != "user":
        raise at("messages", 'first message must use the "user" role')
    _check_texts(turns)
    _check_calls([run for run in runs if run.role != "system"])
    if thinks:
        _check_thoughts(runs)


def _check_system(turns: Sequence[Turn]) -> None:
    for turn, after in zip(turns, (*turns[1:], None), strict=False):
        if turn.role != "system":
            continue
        place = ("messages", turn.index)
        if not turn.blocks:
            raise at(place, "system content must contain at least one block")
        if turn.index == 0:
            raise at(place, _SYSTEM_FIRST)
        if after is not None and after.role == "user":
            raise at(place, _SYSTEM_PLACE)
        if any(not block.values["text"].strip() for _, block in turn.of("text")):
            raise at(place, "system text blocks must contain non-whitespace text")


def _check_contents(runs: Sequence[_Run]) -> None:
    for number, run in enumerate(runs):
        if run.role == "system" or run.blocks:
            continue
        place = ("messages", run.first)
        if run.role == "user":
            raise at(place, "user messages must have non-empty content")
        if number < len(runs) - 1:
            raise at(place, "all messages must have non-empty content except for the optional final assistant message")


def _check_texts(turns: Sequence[Turn]) -> None:
    for turn in turns:
        for _, block in turn.of("text"):
            text = block.values["text"]
            if not text:
                raise at("messages", "text content blocks must be non-empty")
            if not text.strip():
                raise at("messages", "text content blocks must contain non-whitespace text")
    last = turns[-1]
    if last.role == "assistant" and last.blocks and last.blocks[-1].values["type"] == "text":
        text = last.blocks[-1].values["text"]
        if text != text.rstrip():
            raise at("messages", "final assistant content cannot end with trailing whitespace")


# --- calls and results ------------------------------------------------------------------------------------------------


def _check_calls(runs: Sequence[_Run]) -> None:
    known: set[str] = set()
    asked: dict[str, int] = {}
    for run, after in zip(runs, (*runs[1:], None), strict=False):
        if run.role == "assistant":
            asked = _asked(run, known)
            _check_answered(asked, after)
        else:
            _check_results(run, asked)
            asked = {}


def _asked(run: _Run, known: set[str]) -> dict[str, int]:
    """The calls of an assistant's turn by id, each with the turn that it stands in."""
    asked: dict[str, int] = {}
    for placed in run.blocks:
        if placed.kind == "tool_use":
            name = placed.block.values["id"]
            if name in known:
                raise _at_block(placed, "`tool_use` ids must be unique")
            known.add(name)
            asked[name] = placed.turn
    return asked


def _check_answered(asked: dict[str, int], after: _Run | None) -> None:
    """Results come first in the turn after the calls."""
    leading = [] if after is None else list(takewhile(lambda placed: placed.kind == "tool_result", after.blocks))
    answered = {placed.block.values["tool_use_id"] for placed in leading}
    open_calls = [name for name in asked if name not in answered]
    if open_calls:
        sentence = (
            f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(open_calls)}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
        raise at(("messages", asked[open_calls[0]]), sentence)


def _check_results(run: _Run, asked: dict[str, int]) -> None:
    answered: set[str] = set()
    for placed in run.blocks:
        if placed.kind != "tool_result":
            continue
        name = placed.block.values["tool_use_id"]
        if name not in asked:
            sentence = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message."
            )
            raise _at_block(placed, sentence)
        if name in answered:
            sentence = f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {name}"
            raise _at_block(placed, sentence)
        answered.add(name)


def _at_block(placed: _Placed, sentence: str) -> Refusal:
    return at(("messages", placed.turn, "content", placed.index), sentence)


# --- thoughts ---------------------------------------------------------------------------------------------------------


def _check_thoughts(runs: Sequence[_Run]) -> None:
    """A turn that thinks begins with it, and so must the last one that calls tools."""
    last = next((run for run in reversed(runs) if run.role == "assistant"), None)
    for run in runs:
        blocks = run.blocks
        if run.role != "assistant" or not blocks or blocks[0].kind in THINKING:
            continue
        if any(placed.kind in THINKING for placed in blocks):
            sentence = (
                "If an assistant message contains any thinking blocks, the first block must be `thinking` or "
                f"`redacted_thinking`. Found `{blocks[0].kind}`."
            )
            raise _at_block(blocks[0], sentence)
        if run is last and any(placed.kind == "tool_use" for placed in blocks):
            place = ("messages", blocks[0].turn, "content", 0, "type")
            raise at(place, f"Expected `thinking` or `redacted_thinking`, but found `{blocks[0].kind}`. {_MUST_THINK}")
