"""Reading the messages of a Chat Completions request, and whether each result answers a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from strictcall.emulator.apis.chat_completions_wording import empty_array, null_content
from strictcall.emulator.apis.reading import Fields
from strictcall.emulator.conversation import Message, PastCall, Role
from strictcall.emulator.refusal import Refusal

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "assistant": "assistant",
    "user": "user",
    "function": "tool",
    "tool": "tool",
    "developer": "system",
}
"""What each role is to the emulator. ``function`` is deprecated and still in the specification."""
_TEXT_ONLY: Final = ("text",)
_PARTS: Final = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}
"""The content parts of each role; other roles have text only."""
_HELD_IN: Final = {"text": "text", "refusal": "refusal"}
_OTHER_PARTS: Final = {"image_url": "image_url", "input_audio": "input_audio", "file": "file"}


def read_messages(fields: Fields, *, styled: bool) -> tuple[Message, ...]:
    """The messages of a request. Raises ``Refusal`` also where results do not match the calls before them; those after
    an assistant's text answer, if ``styled``, the calls in it.
    """
    if fields.get("messages", "array", needed=True) == []:
        raise empty_array(("messages",))
    given = list(fields.children("messages"))
    messages = tuple(_message(item, index) for index, item in enumerate(given))
    _check_order(messages, [item.values["role"] for item in given], styled=styled)
    return messages


def _message(fields: Fields, index: int) -> Message:
    given = fields.choice("role", tuple(_ROLES), needed=True) or ""
    role = _ROLES[given]
    fields.text("name")
    calls = _calls(fields) if role == "assistant" else ()
    refusal = (fields.text("refusal") or "") if role == "assistant" else ""
    text = _content(fields, given, index, may_be_null=bool(calls or refusal))
    if given == "function":
        fields.needed_text("name")
    call_id = fields.text("tool_call_id")
    if given == "tool" and call_id is None:
        message = "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
        raise Refusal(message, param=f"messages.[{index}].tool_call_id")
    return Message(role, text + refusal, calls, call_id if given == "tool" else None)


def _content(fields: Fields, role: str, index: int, *, may_be_null: bool) -> str:
    content: str | list[Any] | None = fields.get("content", "string", "array")
    if content is None:
        if may_be_null:
            return ""
        raise null_content(index)
    if isinstance(content, str):
        return content
    if not content:
        raise empty_array(fields.at("content"))
    return "".join(_part(part, role, index) for part in fields.children("content"))


def _part(part: Fields, role: str, index: int) -> str:
    """A content part's text; what is not text has none."""
    supported = _PARTS.get(role, _TEXT_ONLY)
    if part.values.get("type") == "image_url" and "image_url" not in supported:
        message = (
            f"Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', "
            f"but this message with role '{role}' contains an image URL."
        )
        raise Refusal(message, param=f"messages[{index}]", code="invalid_value")
    kind = part.choice("type", supported, needed=True) or ""
    if kind in _HELD_IN:
        return part.needed_text(_HELD_IN[kind])
    held = part.needed_child(_OTHER_PARTS[kind])
    if kind == "image_url":
        held.needed_text("url")
    if kind == "input_audio":
        held.needed_text("data")
        held.choice("format", ("wav", "mp3"), needed=True)
    return ""


def _calls(fields: Fields) -> tuple[PastCall, ...]:
    if fields.get("tool_calls", "array") == []:
        raise empty_array(fields.at("tool_calls"))
    calls = [_call(call) for call in fields.children("tool_calls")]
    old = fields.child("function_call")
    if old is not None:
        calls.append(PastCall("", old.needed_text("name"), old.needed_text("arguments")))
    return tuple(calls)


def _call(call: Fields) -> PastCall:
    call_id = call.needed_text("id")
    if call.choice("type", ("function", "custom"), needed=True) == "custom":
        custom = call.needed_child("custom")
        return PastCall(call_id, custom.needed_text("name"), custom.needed_text("input"))
    function = call.needed_child("function")
    return PastCall(call_id, function.needed_text("name"), function.needed_text("arguments"))


# --- order ------------------------------------------------------------------------------------------------------------


def _check_order(messages: Sequence[Message], roles: Sequence[str], *, styled: bool) -> None:
    """Every call is answered before the conversation goes on, and every result answers a call, once."""
    answered: dict[str, int] = {}
    asked: dict[str, int] = {}
    in_text = False
    for index, (message, role) in enumerate(zip(messages, roles, strict=True)):
        if role == "tool":
            if not in_text:
                _check_result(message.call_id or "", index, asked, answered)
            continue
        in_text = styled and role == "assistant" and not message.calls
        _check_answered(asked, answered, index)
        asked = {call.id: index for call in message.calls if call.id}
        answered = {}
    _check_answered(asked, answered, len(messages) - 1)


def _check_result(call_id: str, index: int, asked: dict[str, int], answered: dict[str, int]) -> None:
    if not asked:
        message = (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
        raise Refusal(message, param=f"messages.[{index}].role")
    if call_id not in asked:
        message = f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
        raise Refusal(message, param=f"messages.[{index}].tool_call_id")
    if call_id in answered:
        message = (
            f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', "
            f"in messages[{answered[call_id]}] and messages[{index}]."
        )
        raise Refusal(message, param=f"messages.[{index}].tool_call_id")
    answered[call_id] = index


def _check_answered(asked: dict[str, int], answered: dict[str, int], index: int) -> None:
    unanswered = [call_id for call_id in asked if call_id not in answered]
    if unanswered:
        message = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(unanswered)
        )
        raise Refusal(message, param=f"messages.[{index}].role")
