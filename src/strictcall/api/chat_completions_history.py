"""Messages of Chat Completions that go back to the model: its own turns, and the results of its calls.

Source: ``ChatCompletionRequestMessage`` of https://github.com/openai/openai-openapi.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.chat_completions_chunks import is_custom
from strictcall.api.ids import CallIds
from strictcall.api.object_calls import replayed_text
from strictcall.api.reading import find_tool
from strictcall.api.writing import as_said, encoded, known_name
from strictcall.errors import RequestError
from strictcall.wire.toolset import Toolset

_ID: Final = re.compile(r"\S(?:.*\S)?", re.DOTALL)
"""What an id may be: servers take each other's."""


def results(calls: Sequence[Call], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The messages that answer calls, one text for each, in their order.

    A call without an id has the one that ``history`` gives it. Raises ``RequestError`` where there are not as many
    outputs as calls.
    """
    if len(calls) != len(outputs):
        raise RequestError("outputs", f"there are {len(outputs)} for {len(calls)} calls")
    return [
        {"role": "tool", "tool_call_id": call_id, "content": output}
        for call_id, output in zip(CallIds(_ID).of(calls), outputs, strict=True)
    ]


def history(messages: Iterable[Any], toolset: Toolset) -> list[Any]:
    """Messages as they are sent: the API's own, dicts, and ``Answer`` objects among them.

    An answer is the assistant's turn again, each call as it was said where it answered the same wire form, and else
    written anew. In a message of the API's own a call is written anew only if its arguments are in contract form and
    not in wire form; tools that go by their own name get their wire name. Every other message is the very object that
    came in.
    """
    ids = CallIds(_ID)
    return [
        _answered(item, toolset, ids) if isinstance(item, Answer) else _message(item, toolset, ids) for item in messages
    ]


# --- the API's own messages -------------------------------------------------------------------------------------------


def _message(message: Any, toolset: Toolset, ids: CallIds) -> Any:
    if not isinstance(message, Mapping):
        return message
    changed: dict[str, Any] = {}
    match message.get("role"):
        case "assistant":
            changed = _calls(message, toolset)
        case "function":
            changed = {"name": known_name(message.get("name"), toolset)}
        case "tool":
            call_id = message.get("tool_call_id")
            changed = {"tool_call_id": ids.current(call_id) if isinstance(call_id, str) else call_id}
    is_other = any(message.get(name) is not value for name, value in changed.items())
    return {**message, **changed} if is_other else message


def _calls(message: Mapping[str, Any], toolset: Toolset) -> dict[str, Any]:
    """The fields of a turn that hold calls, written anew where one of them is."""
    changed: dict[str, Any] = {}
    calls = message.get("tool_calls")
    if isinstance(calls, list | tuple):
        written = [_call(call, toolset) for call in calls]
        if any(new is not old for new, old in zip(written, calls, strict=True)):
            changed["tool_calls"] = written
    old = message.get("function_call")
    if isinstance(old, Mapping):
        changed["function_call"] = _function(old, toolset)
    return changed


def _call(call: Any, toolset: Toolset) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    written = _function(function, toolset)
    return call if written is function else {**call, "function": written}


def _function(function: Mapping[str, Any], toolset: Toolset) -> Mapping[str, Any]:
    """The name and arguments of a call; the very object that came in where nothing changes."""
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str):
        return function
    wire_name, written = name, arguments
    if isinstance(arguments, str):
        wire_name, written = as_said(name, arguments, toolset)
    else:
        compiled = find_tool(toolset, name)
        if compiled is not None:
            wire_name = compiled.name
            written = encoded(compiled, arguments) if isinstance(arguments, dict) else arguments
    if wire_name == name and written is arguments:
        return function
    return {**function, "name": wire_name, "arguments": written}


# --- answers ----------------------------------------------------------------------------------------------------------


def _answered(answer: Answer, toolset: Toolset, ids: CallIds) -> dict[str, Any]:
    """The assistant's turn: as the API gave it, if it was this one, else from what was said and called."""
    calls = [
        _replayed(call, call_id, toolset) for call, call_id in zip(answer.calls, ids.of(answer.calls), strict=True)
    ]
    if not _is_own(answer.native, len(calls)):
        turn: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        turn = {**turn, "tool_calls": calls} if calls else turn
    else:
        turn = {name: value for name, value in answer.native.items() if name != "tool_calls"}
        listed = [call if is_custom(call) else _again(call, calls.pop(0)) for call in _listed(answer.native)]
        turn = {**turn, "tool_calls": listed} if listed else turn
    if turn.get("content") is None and not turn.keys() & {"tool_calls", "refusal", "audio"}:
        turn["content"] = ""  # a message must have something
    return turn


def _replayed(call: Call, call_id: str, toolset: Toolset) -> dict[str, Any]:
    name, arguments = replayed_text(call, toolset)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _again(native: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """A call with what the provider gave it beside."""
    return {**native, **call}


def _listed(native: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(native.get("tool_calls") or [])


def _is_own(native: Any, calls: int) -> bool:
    """Whether a turn is this API's, with as many calls of functions."""
    if not isinstance(native, dict) or native.get("role") != "assistant" or not _is_content(native.get("content")):
        return False
    listed = native.get("tool_calls") or []
    return (
        isinstance(listed, list)
        and all(isinstance(call, dict) for call in listed)
        and calls == sum(not is_custom(call) for call in listed)
    )


_FOREIGN: Final = frozenset({"citations", "id", "input", "signature"})
"""Fields of parts that this API does not have."""


def _is_content(content: Any) -> bool:
    """Whether content is this API's: text, or parts, which others have too, but with signed thoughts and calls."""
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    return all(isinstance(part, dict) and "type" in part and not part.keys() & _FOREIGN for part in content)
