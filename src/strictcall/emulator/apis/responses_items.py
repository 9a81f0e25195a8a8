"""Reading the input of a Responses request: its items, and whether they make up a history.

Source: the schema ``InputItem`` of https://github.com/openai/openai-openapi (2026-08), and the refusals that the API
is reported to answer with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strictcall.emulator.apis.chat_completions_wording import pattern_broken, written
from strictcall.emulator.apis.reading import Fields
from strictcall.emulator.apis.responses_wording import WORDING, bad_length, mistyped, off_list, unknown
from strictcall.emulator.apis.sealing import is_sealed
from strictcall.emulator.conversation import Message, PastCall, Role
from strictcall.emulator.refusal import Refusal

NAME: Final = re.compile("[a-zA-Z0-9_-]+")
_MOST_CALL_ID: Final = 64
_KINDS: Final = (
    "additional_tools", "agent_message", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call",
    "compaction", "compaction_trigger", "computer_call", "computer_call_output", "custom_tool_call",
    "custom_tool_call_output", "file_search_call", "function_call", "function_call_output", "image_generation_call",
    "item_reference", "local_shell_call", "local_shell_call_output", "mcp_approval_request", "mcp_approval_response",
    "mcp_call", "mcp_list_tools", "message", "multi_agent_call", "multi_agent_call_output", "program",
    "program_output", "reasoning", "shell_call", "shell_call_output", "tool_search_call", "tool_search_output",
    "web_search_call",
)  # fmt: skip
_ROLES: Final[Mapping[str, Role]] = {
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "user": "user",
}
_PARTS: Final = (
    "input_text", "input_image", "input_audio", "output_text", "refusal", "input_file", "computer_screenshot",
    "summary_text", "encrypted_content",
)  # fmt: skip
_OUTPUT_PARTS: Final = ("output_text", "refusal")
_INPUT_PARTS: Final = ("input_text", "input_image", "input_file", "scoped_content", "input_audio")
_TEXT_IN: Final = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
"""The field that holds a part's text; the other kinds have none."""
_STATUSES: Final = ("in_progress", "completed", "incomplete")
_PHASES: Final = ("commentary", "final_answer")
_ANSWERING: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_CALLING: Final = frozenset({"function_call", "custom_tool_call"})


@dataclass(frozen=True, slots=True)
class Items:
    """The input of a request. ``given`` says whether there is any; a plain text has no ``fields``."""

    given: bool
    fields: tuple[Fields, ...]
    messages: tuple[Message, ...]


def read_items(fields: Fields) -> Items:
    """The input, a text or items. Raises ``Refusal`` for an item that the specification does not allow."""
    given = fields.get("input", needed=True)
    if isinstance(given, str):
        return Items(bool(given), (), (Message("user", given),) if given else ())
    if not isinstance(given, list):
        raise mistyped(("input",), "one of a string or array of input items", given)
    for index, item in enumerate(given):
        if not isinstance(item, dict):
            raise mistyped(("input", index), "an input item", item)
    items = tuple(Fields(item, ("input", index), WORDING) for index, item in enumerate(given))
    messages = [message for item in items for message in _READERS.get(_kind(item), _nothing)(item)]
    return Items(bool(items), items, tuple(messages))


def _kind(item: Fields) -> str:
    if "type" not in item.values:
        return "message"
    kind = item.values["type"]
    if kind not in _KINDS:
        raise off_list(item.place, _KINDS, kind)
    return str(kind)


def _message(item: Fields) -> Iterator[Message]:
    role = item.values.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise off_list(item.place, tuple(_ROLES), role)
    own = {"phase"} if role == "assistant" else set()
    _check(item, {"type", "role", "content", "id", "status"} | own)
    if role == "assistant":
        item.choice("phase", _PHASES)
        _check_id(item, "msg")
    yield Message(_ROLES[role], _content(item, "content", _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS))


def _content(item: Fields, name: str, supported: Sequence[str]) -> str:
    content = item.get(name, needed=True)
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise mistyped(item.at(name), "one of a string or array of objects", content)
    return "".join(_part(part, supported) for part in item.children(name))


def _part(part: Fields, supported: Sequence[str]) -> str:
    kind = part.needed_text("type")
    if kind not in supported:
        if kind not in _PARTS:
            raise off_list(part.at("type"), _PARTS, kind)
        raise off_list(part.place, supported, kind)
    return part.needed_text(_TEXT_IN[kind]) if kind in _TEXT_IN else ""


def _function_call(item: Fields) -> Iterator[Message]:
    call_id = _call_id(item)
    name = item.needed_text("name")
    arguments = item.needed_text("arguments")
    if not NAME.fullmatch(name):
        raise pattern_broken(item.at("name"), f"^{NAME.pattern}$")
    _check_id(item, "fc")
    _check(item, {"type", "id", "call_id", "name", "arguments", "status", "namespace", "caller", "async"})
    yield Message("assistant", calls=(PastCall(call_id, name, arguments),))


def _custom_call(item: Fields) -> Iterator[Message]:
    call_id = _call_id(item)
    call = PastCall(call_id, item.needed_text("name"), item.needed_text("input"))
    _check_id(item, "ctc")
    yield Message("assistant", calls=(call,))


def _call_output(item: Fields) -> Iterator[Message]:
    call_id = _call_id(item)
    text = _content(item, "output", _INPUT_PARTS)
    _check(item, {"type", "id", "call_id", "output", "status", "caller", "name", "namespace"})
    yield Message("tool", text, call_id=call_id)


def _reasoning(item: Fields) -> Iterator[Message]:
    item.needed_text("id")
    for part in item.children("summary", needed=True):
        part.choice("type", ("summary_text",), needed=True)
        part.needed_text("text")
    _check_id(item, "rs")
    _check(item, {"type", "id", "summary", "content", "encrypted_content", "status"})
    sealed = item.text("encrypted_content")
    if sealed is not None and not is_sealed(sealed):
        shown = sealed if len(sealed) < 12 else f"{sealed[:4]}...{sealed[-4:]}"
        message = (
            f"The encrypted content {shown} could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        )
        raise Refusal(message, code="invalid_encrypted_content")
    return iter(())


def _reference(item: Fields) -> Iterator[Message]:
    item.needed_text("id")
    _check(item, {"type", "id"})
    return iter(())


def _nothing(item: Fields) -> Iterator[Message]:
    """Items of tools that the emulator does not have say nothing to it."""
    del item
    return iter(())


_READERS: Final[Mapping[str, Callable[[Fields], Iterator[Message]]]] = {
    "message": _message,
    "function_call": _function_call,
    "function_call_output": _call_output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _call_output,
    "reasoning": _reasoning,
    "item_reference": _reference,
}


def _call_id(item: Fields) -> str:
    call_id = item.needed_text("call_id")
    if not 0 < len(call_id) <= _MOST_CALL_ID:
        raise bad_length(item.at("call_id"), len(call_id), _MOST_CALL_ID)
    return call_id


def _check(item: Fields, known: set[str]) -> None:
    for name in item.unknown(known):
        raise unknown(item.at(name))
    item.choice("status", _STATUSES)


def _check_id(item: Fields, prefix: str) -> None:
    given = item.text("id")
    if given is not None and not given.startswith(prefix):
        place = written(item.at("id"))
        message = f"Invalid '{place}': '{given}'. Expected an ID that begins with '{prefix}'."
        raise Refusal(message, param=place, code="invalid_value")


# --- history ----------------------------------------------------------------------------------------------------------


def check_history(items: Items, *, store: bool) -> None:
    """Refuse references to what is not stored, thoughts that lead to nothing, and results that match no calls.

    A result must stand after its call, and each call has one result. Raises ``Refusal``.
    """
    _check_references(items.fields, store=store)
    _check_thoughts(items.fields)
    _check_calls(items.fields)


def _check_references(items: Sequence[Fields], *, store: bool) -> None:
    for item in items:
        kind, name = _kind(item), item.values.get("id")
        if kind == "item_reference":
            raise _not_found(name, "")
        if kind == "reasoning" and not store and not item.has("encrypted_content"):
            more = (
                " Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input."
            )
            raise _not_found(name, more)


def _not_found(name: object, more: str) -> Refusal:
    return Refusal(f"Item with id '{name}' not found.{more}", 404, param="input")


def _check_thoughts(items: Sequence[Fields]) -> None:
    """What the model thought is followed by what it then said or did."""
    for item, after in zip(items, (*items[1:], None), strict=False):
        if _kind(item) == "reasoning" and (after is None or not _is_made_by_model(after)):
            message = (
                f"Item '{item.values['id']}' of type 'reasoning' was provided without its required following item."
            )
            raise Refusal(message, param="input")


def _is_made_by_model(item: Fields) -> bool:
    kind = _kind(item)
    if kind == "message":
        return item.values.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


def _check_calls(items: Sequence[Fields]) -> None:
    open_calls: dict[str, None] = {}
    for item in items:
        kind = _kind(item)
        if kind in _CALLING:
            open_calls[item.values["call_id"]] = None
        elif kind in _ANSWERING:
            call_id = item.values["call_id"]
            if call_id not in open_calls:
                message = f"No tool call found for function call output with call_id {call_id}."
                raise Refusal(message, param="input")
            del open_calls[call_id]
    for call_id in open_calls:
        raise Refusal(f"No tool output found for function call {call_id}.", param="input")
