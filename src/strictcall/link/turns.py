"""A conversation in words that no API owns, so that any link can take it up.

A turn is a message as Chat Completions has them (``{"role": "user", "content": "…"}``; ``system`` and ``developer``,
``assistant`` with or without calls, ``tool``), an ``Answer`` as a link gave it, or the ``Results`` of an answer's
calls. Arguments in messages are the tools' own. A message of Chat Completions goes to links of that API as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strictcall.api.answer import Answer, Call
from strictcall.errors import RequestError
from strictcall.json_value import LimitError, compact, parse


@dataclass(frozen=True, slots=True)
class Results:
    """What the calls of the answer before gave: one text for each call, in their order."""

    calls: tuple[Call, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What a person or a program says: ``role`` is ``system``, ``developer`` or ``user``."""

    role: str
    texts: tuple[str, ...]


Turn = Mapping[str, Any] | Answer | Results
Item = Said | Answer | Results


def neutral(turns: Sequence[Turn]) -> Iterator[Item]:
    """The turns, messages of Chat Completions taken apart. Raises ``RequestError`` for what no other API could be told
    of.
    """
    calls: dict[str, Call] = {}
    pending: list[tuple[Call, str]] = []
    for position, turn in enumerate(turns):
        place = f"messages[{position}]"
        if isinstance(turn, Mapping) and turn.get("role") == "tool":
            pending.append(_result(turn, calls, place))
            continue
        if pending:
            yield _gathered(pending)
            pending = []
        item = turn if isinstance(turn, Answer | Results) else _item(turn, place)
        if isinstance(item, Answer):
            calls.update({call.id: call for call in item.calls if call.id})
        yield item
    if pending:
        yield _gathered(pending)


def as_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """The turns as messages of Chat Completions that are JSON, to be kept and gone on with later.

    Arguments are the tools' own; those of a call that did not fit are left out, its result says what was wrong. What
    only the provider reads (signatures, encrypted reasoning) is left out as well. Calls without an id get one.
    """
    made: list[dict[str, Any]] = []
    ids: list[str] = []
    for turn in turns:
        if isinstance(turn, Answer):
            ids = [call.id or f"call_{len(made)}_{number}" for number, call in enumerate(turn.calls)]
            made.append(_assistant(turn, ids))
        elif isinstance(turn, Results):
            made += [
                {"role": "tool", "tool_call_id": call_id, "content": output}
                for call_id, output in zip(ids, turn.outputs, strict=True)
            ]
        else:
            made.append(dict(turn))
    return made


def _assistant(answer: Answer, ids: Sequence[str]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact({} if call.faults else call.arguments)},
            }
            for call_id, call in zip(ids, answer.calls, strict=True)
        ]
    return message


def _gathered(pending: list[tuple[Call, str]]) -> Results:
    return Results(tuple(call for call, _ in pending), tuple(output for _, output in pending))


def _item(turn: Any, place: str) -> Item:
    role = turn.get("role") if isinstance(turn, Mapping) else None
    if role in ("system", "developer", "user"):
        return Said(role, tuple(_texts(turn.get("content"), f"{place}.content")))
    if role == "assistant":
        calls = turn.get("tool_calls") or ()
        made = [_call(call, f"{place}.tool_calls[{number}]") for number, call in enumerate(calls)]
        return Answer("".join(_texts(turn.get("content") or "", f"{place}.content")), calls=tuple(made))
    raise RequestError(f"{place}.role", "must be system, developer, user, assistant or tool")


def _texts(content: Any, place: str) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    if not isinstance(content, list | tuple):
        raise RequestError(place, "must be a text or a list of parts")
    for number, part in enumerate(content):
        text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise RequestError(f"{place}[{number}]", "only text is sent to links of another API than Chat Completions")
        yield text


def _call(call: Any, place: str) -> Call:
    function = call.get("function") if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str):
        raise RequestError(place, "must be a call of a function")
    raw = function.get("arguments")
    try:
        arguments = parse(raw) if isinstance(raw, str) and raw.strip() else raw or {}
    except LimitError as error:
        raise RequestError(f"{place}.function.arguments", str(error)) from None
    call_id = call.get("id")
    return Call(call_id if isinstance(call_id, str) else None, name, arguments, raw=raw if isinstance(raw, str) else "")


def _result(turn: Mapping[str, Any], calls: Mapping[str, Call], place: str) -> tuple[Call, str]:
    call = calls.get(str(turn.get("tool_call_id")))
    if call is None:
        raise RequestError(f"{place}.tool_call_id", "no call before has this id")
    return call, "".join(_texts(turn.get("content"), f"{place}.content"))
