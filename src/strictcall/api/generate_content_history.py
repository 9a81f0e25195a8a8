"""Contents of Gemini's generateContent that go back to the model: its own turns, and the results of its calls.

Sources: https://ai.google.dev/gemini-api/docs/function-calling and
https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.fields import tables
from strictcall.api.generate_content_fields import get, key_of
from strictcall.api.object_calls import as_said_object, replayed_object
from strictcall.api.writing import known_name
from strictcall.errors import RequestError
from strictcall.json_value import equal
from strictcall.wire.toolset import Toolset

UNSIGNED: Final = "skip_thought_signature_validator"
"""What stands for the signature of a call that another API's model made: newer models refuse a turn without one."""


def results(calls: Sequence[Call], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The content that answers calls, one text for each, in their order: they must all be in one.

    Ids are optional in this API: a call without one is answered by its name. No calls make no content. Raises
    ``RequestError`` where there are not as many outputs as calls.
    """
    if len(calls) != len(outputs):
        raise RequestError("outputs", f"there are {len(outputs)} for {len(calls)} calls")
    parts = [_response(call, output) for call, output in zip(calls, outputs, strict=True)]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(call: Call, output: str) -> dict[str, Any]:
    said = {"name": call.wire_name or call.name, "response": {"output": output}}
    return {"functionResponse": said if call.id is None else {"id": call.id, **said}}


def history(messages: Iterable[Any], toolset: Toolset) -> list[Any]:
    """Contents as they are sent: the API's own, dicts, and ``Answer`` objects among them.

    An answer is the model's content again, each call as it was said where it answered the same wire form, and else
    written anew. In a content of the API's own a call is written anew only if its arguments are in contract form and
    not in wire form; tools that go by their own name get their wire name, results too. Every other content is the very
    object that came in.
    """
    return [_answered(item, toolset) if isinstance(item, Answer) else _content(item, toolset) for item in messages]


# --- the API's own contents -------------------------------------------------------------------------------------------


def _content(content: Any, toolset: Toolset) -> Any:
    parts = content.get("parts") if isinstance(content, Mapping) else None
    if not isinstance(parts, list | tuple):
        return content
    written = [_part(part, toolset) for part in parts]
    if all(new is old for new, old in zip(written, parts, strict=True)):
        return content
    return {**content, "parts": written}


def _part(part: Any, toolset: Toolset) -> Any:
    if not isinstance(part, Mapping):
        return part
    for field in ("functionCall", "functionResponse"):
        key = key_of(part, field)
        held = None if key is None else part[key]
        if key is not None and isinstance(held, Mapping) and isinstance(held.get("name"), str):
            changed = _call(held, toolset) if field == "functionCall" else _named(held, toolset)
            return part if changed is held else {**part, key: changed}
    return part


def _named(held: Mapping[str, Any], toolset: Toolset) -> Mapping[str, Any]:
    name = known_name(held["name"], toolset)
    return held if name == held["name"] else {**held, "name": name}


def _call(call: Mapping[str, Any], toolset: Toolset) -> Mapping[str, Any]:
    given = call.get("args")
    name, args = as_said_object(call["name"], {} if given is None else given, toolset)
    if name == call["name"] and (args is given or (given is None and args == {})):
        return call
    return {**call, "name": name, "args": args}


# --- answers ----------------------------------------------------------------------------------------------------------


def _answered(answer: Answer, toolset: Toolset) -> dict[str, Any]:
    """The model's content: as the API gave it, if it was this one, else from what was said and called."""
    calls = [(call.id, *replayed_object(call, toolset)) for call in answer.calls]
    if not _is_own(answer.native, len(calls)):
        return _foreign(answer.text, calls)
    parts = []
    for part in answer.native["parts"]:
        key = key_of(part, "functionCall")
        if key is not None and isinstance(part[key], dict):
            _, name, args = calls.pop(0)
            part = {**part, key: _again(part[key], name, args)}
        parts.append(part)
    # A content must have a part.
    return {**answer.native, "parts": parts or [{"text": ""}]}


def _again(native: Mapping[str, Any], name: str, args: dict[str, Any]) -> Mapping[str, Any]:
    """A call with what the provider gave it beside; the arguments that came are kept where they say the same."""
    if name == native.get("name") and equal(native.get("args"), args):
        return native
    return {**native, "name": name, "args": args}


def _foreign(said: str, calls: Sequence[tuple[str | None, str, dict[str, Any]]]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": said}] if said or not calls else []
    for position, (call_id, name, args) in enumerate(calls):
        call = {"name": name, "args": args}
        part: dict[str, Any] = {"functionCall": call if call_id is None else {"id": call_id, **call}}
        parts.append(part if position else {**part, "thoughtSignature": UNSIGNED})
    return {"role": "model", "parts": parts}


def _is_own(native: Any, calls: int) -> bool:
    """Whether a turn is this API's, with as many calls."""
    if not isinstance(native, dict) or native.get("role") != "model" or not isinstance(native.get("parts"), list):
        return False
    parts = native["parts"]
    return len(tables(parts)) == len(parts) and calls == sum(
        isinstance(get(part, "functionCall"), dict) for part in parts
    )
