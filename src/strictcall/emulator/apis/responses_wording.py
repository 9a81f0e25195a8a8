"""What OpenAI says of a Responses request otherwise than of a Chat Completions one; the rest is taken from there.

The wordings were read from published error reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from strictcall.emulator.apis import chat_completions, chat_completions_breaches, chat_completions_wording
from strictcall.emulator.apis.chat_completions_wording import too_long, written
from strictcall.emulator.apis.reading import Place, Wording, json_type
from strictcall.emulator.refusal import Breach, Refusal

_INTEGERS: Final = frozenset({"max_output_tokens", "max_tool_calls", "top_logprobs"})


def listed(words: Sequence[str]) -> str:
    """Texts in quotes, of which one is expected: ``'a', 'b', or 'c'``."""
    quoted = [f"'{word}'" for word in words]
    return " or ".join(quoted) if len(quoted) < 3 else f"{', '.join(quoted[:-1])}, or {quoted[-1]}"


def missing(place: Place) -> Refusal:
    """A field that must be there is not."""
    message = f"Missing required parameter: '{written(place)}'."
    return Refusal(message, param=written(place), code="missing_required_parameter")


def mistyped(place: Place, expected: str, given: Any) -> Refusal:
    """A value of another type than what is expected, which is said in words (``an array of tools``)."""
    kind = json_type(given)
    got = kind if kind == "null" else f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
    message = f"Invalid type for '{written(place)}': expected {expected}, but got {got} instead."
    return Refusal(message, param=written(place), code="invalid_type")


def off_list(place: Place, supported: Sequence[str], given: Any) -> Refusal:
    """A text that is none of those supported; what is no text counts as the empty one."""
    return chat_completions_wording.WORDING.off_list(place, supported, given if isinstance(given, str) else "")


def unknown(place: Place) -> Refusal:
    """A field that is not known."""
    return Refusal(f"Unknown parameter: '{written(place)}'.", param=written(place), code="unknown_parameter")


def bad_length(place: Place, length: int, most: int) -> Refusal:
    """A text that is empty, or longer than is taken."""
    if length > 0:
        return too_long(place, "string", most, length)
    message = "empty string. Expected a string with minimum length 1, but got an empty string instead."
    return Refusal(f"Invalid '{written(place)}': {message}", param=written(place), code="empty_string")


def _out_of_range(place: Place, bound: float, is_least: bool, given: Any) -> Refusal:
    if place[-1] not in _INTEGERS:
        return chat_completions_wording.WORDING.out_of_range(place, bound, is_least, given)
    side, sign, end = ("below minimum", ">=", "below_min") if is_least else ("above maximum", "<=", "above_max")
    message = f"integer {side} value. Expected a value {sign} {bound}, but got {given} instead."
    return Refusal(f"Invalid '{written(place)}': {message}", param=written(place), code=f"integer_{end}_value")


WORDING: Final = Wording(missing, chat_completions_wording.WORDING.mistyped, off_list, _out_of_range)
"""How OpenAI refuses a body that the specification of Responses does not allow."""


def word(breach: Breach, dialect: str) -> Refusal:
    """What the provider whose dialect it is says to a breach of its rules."""
    if breach.kind == "unknown_field":
        return unknown((breach.field,))
    refusal = chat_completions_breaches.word(breach, dialect)
    if breach.output is None:
        return refusal
    return Refusal(refusal.message, refusal.status, param=breach.output.place, code="invalid_json_schema")


def error(refusal: Refusal, request_id: str) -> dict[str, Any]:
    """An error's body. What is not found has no code of its own here: it need not be a model."""
    body: dict[str, Any] = chat_completions.error(refusal, request_id)
    if refusal.kind == "not_found":
        body["error"]["code"] = refusal.code
    return body
