"""Answers of links of other APIs, kept for their conversations to go on.

Chat Completions has no place for what only a provider reads: signed thoughts, the very text of a call's arguments. A
client sends a turn back without them. Where it is the turn of an answer that is still known, the answer itself goes
back to its link, as to a program that asks links by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.json_value import LimitError, compact, equal, parse

MOST_ANSWERS: Final = 1_000
"""How many answers are kept, those not heard of for longest forgotten first."""
MOST_CHARACTERS: Final = 32 * 1024 * 1024
"""How many characters they may have in all."""
LONGEST: Final = 512 * 1024
"""An answer with more characters is not kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    link: str
    answer: Answer
    size: int


class Memory:
    """Answers with calls, by the ids under which a client knows their calls."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._size = 0

    def keep(self, link: str, answer: Answer, ids: Sequence[str]) -> None:
        """Keep an answer of a link; ``ids`` are those that the client was given for its calls, in their order."""
        whole = all(call.complete for call in answer.calls)
        if not ids or len(ids) != len(answer.calls) or not whole:
            return
        size = _size(answer)
        if size > LONGEST:
            return
        self._forget(tuple(ids))
        self._kept[tuple(ids)] = _Kept(link, answer, size)
        self._size += size
        while len(self._kept) > MOST_ANSWERS or self._size > MOST_CHARACTERS:
            self._forget(next(iter(self._kept)))

    def _forget(self, ids: tuple[str, ...]) -> None:
        kept = self._kept.pop(ids, None)
        self._size -= 0 if kept is None else kept.size

    def find(self, link: str, message: Mapping[str, Any]) -> Answer | None:
        """The answer of a link that a client's message is the turn of, unless the client changed something of it."""
        calls = message.get("tool_calls")
        ids = call_ids(calls)
        kept = None if ids is None else self._kept.get(ids)
        if ids is None or kept is None or kept.link != link or (message.get("content") or "") != kept.answer.text:
            return None
        if not all(_is_same(said, call) for said, call in zip(calls or (), kept.answer.calls, strict=True)):
            return None
        self._kept.move_to_end(ids)
        return kept.answer


def _size(answer: Answer) -> int:
    """How many characters an answer has, with the form in which its API has it: signed thoughts are in there only."""
    said = len(answer.text) + len(answer.reasoning) + sum(len(call.raw) for call in answer.calls)
    return said + len(compact(answer.native))


def call_ids(calls: Any) -> tuple[str, ...] | None:
    """The ids of the calls of a message; ``None`` where not each has one of its own."""
    if not isinstance(calls, list) or not calls:
        return None
    ids = [call.get("id") if isinstance(call, Mapping) else None for call in calls]
    found = tuple(call_id for call_id in ids if isinstance(call_id, str))
    return found if len(set(found)) == len(ids) else None


def _is_same(said: Mapping[str, Any], call: Call) -> bool:
    """Whether a client's call is the one that it was given; it may have written the arguments anew."""
    function = said.get("function")
    if not isinstance(function, Mapping) or function.get("name") != call.name or call.faults:
        return False
    try:
        return equal(parse(function.get("arguments") or "{}"), call.arguments)
    except (LimitError, TypeError):
        return False
