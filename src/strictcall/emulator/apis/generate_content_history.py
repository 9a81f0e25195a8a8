"""The contents of a Gemini request as messages, and whether each turn may stand where it does.

Sources: https://ai.google.dev/gemini-api/docs/function-calling, https://ai.google.dev/gemini-api/docs/thought-signatures,
and the API's own errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.emulator.apis.generate_content_proto import ONE_OF
from strictcall.emulator.apis.generate_content_wording import invalid_field
from strictcall.emulator.conversation import Message, PastCall
from strictcall.emulator.refusal import Refusal

_CALLS_AFTER: Final = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_RESPONSES_AFTER: Final = "Please ensure that function response turn comes immediately after a function call turn."
_EQUAL: Final = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_NAMES: Final = (
    "Please ensure that the function response parts answer the function call parts of the function call turn."
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A content: who speaks, and its calls or results."""

    role: str
    parts: list[dict[str, Any]]
    calls: tuple[PastCall, ...]
    responses: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """What is said aloud: thoughts are not."""
        return "".join(part.get("text", "") for part in self.parts if not part.get("thought"))


def read_contents(contents: Sequence[dict[str, Any]], *, signed: bool) -> tuple[Message, ...]:
    """The contents of a request, its fields read, as messages.

    ``signed`` says whether calls must carry the signature that they came with. A call without an id gets one here.
    Raises ``Refusal``.
    """
    if not contents:
        raise invalid_field("contents", "contents is not specified")
    turns = [_turn(content, index) for index, content in enumerate(contents)]
    _check_order(turns)
    if signed:
        _check_signatures(turns)
    last: tuple[PastCall, ...] = ()
    messages: list[Message] = []
    for turn in turns:
        messages.extend(_messages(turn, last))
        last = turn.calls
    return tuple(messages)


def said(content: dict[str, Any]) -> str:
    """The text of a content's parts."""
    return "".join(part.get("text", "") for part in content.get("parts", []))


def _turn(content: dict[str, Any], index: int) -> _Turn:
    role = content.get("role") or "user"
    if role not in ("user", "model"):
        raise Refusal("Please use a valid role: user, model.")
    parts = content.get("parts") or []
    if not parts:
        raise invalid_field(f"contents[{index}].parts", "contents.parts must not be empty.")
    calls: list[PastCall] = []
    responses: list[dict[str, Any]] = []
    for at, part in enumerate(parts):
        place = f"contents[{index}].parts[{at}]"
        if ONE_OF["Part"].isdisjoint(part):
            raise invalid_field(f"{place}.data", "required oneof field 'data' must have one initialized field")
        call, response = part.get("function_call"), part.get("function_response")
        for name, held in (("function_call", call), ("function_response", response)):
            if held is not None and not held.get("name"):
                raise invalid_field(f"{place}.{name}.name", "Name cannot be empty.")
        if call is not None:
            calls.append(PastCall(call.get("id") or f"{index}-{at}", call["name"], call.get("args") or {}))
        if response is not None:
            responses.append(response)
    return _Turn(role, parts, tuple(calls), responses)


def _check_order(turns: Sequence[_Turn]) -> None:
    before: _Turn | None = None
    for turn in turns:
        if turn.calls and (turn.role != "model" or before is None or before.role != "user"):
            raise Refusal(_CALLS_AFTER)
        if turn.responses and (turn.role != "user" or before is None or not before.calls):
            raise Refusal(_RESPONSES_AFTER)
        if before is not None and len(before.calls) != len(turn.responses):
            raise Refusal(_EQUAL)
        before = turn
    if before is not None and before.calls:
        raise Refusal(_EQUAL)


def _messages(turn: _Turn, calls: Sequence[PastCall]) -> Iterator[Message]:
    if turn.role == "model":
        yield Message("assistant", turn.text, turn.calls)
        return
    waiting = list(calls)
    for response in turn.responses:
        answered = _answered(response, waiting)
        waiting.remove(answered)
        yield Message("tool", _written(response.get("response") or {}), call_id=answered.id)
    if turn.text or not turn.responses:
        yield Message("user", turn.text)


def _answered(response: dict[str, Any], waiting: Sequence[PastCall]) -> PastCall:
    """The call that a response answers: by its id where it has one, by its name in any case."""
    named = [call for call in waiting if call.name == response["name"]]
    by_id = [call for call in named if call.id == response.get("id")]
    if not named or (response.get("id") and not by_id):
        raise Refusal(_NAMES)
    return (by_id or named)[0]


def _written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise Refusal("Message too deep. Max recursion depth reached for key 'response'") from None


def _check_signatures(turns: Sequence[_Turn]) -> None:
    """Of each step since the user last spoke, the first call must be signed."""
    spoken = max((index for index, turn in enumerate(turns) if turn.role == "user" and not turn.responses), default=0)
    for index, turn in enumerate(turns[spoken:], spoken):
        if not turn.calls:
            continue
        first = next(part for part in turn.parts if "function_call" in part)
        if not first.get("thought_signature"):
            raise Refusal(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{turn.calls[0].name}` , position {index + 1}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
