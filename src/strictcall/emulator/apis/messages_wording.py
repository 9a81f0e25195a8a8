"""What Anthropic says to a body that the specification of Messages does not allow.

The wordings were read from published error reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.emulator.apis.reading import JsonType, Place, Wording
from strictcall.emulator.refusal import Kind, Refusal

_SHOULD_BE: Final[Mapping[JsonType, str]] = {
    "string": "a valid string",
    "integer": "a valid integer",
    "number": "a valid number",
    "boolean": "a valid boolean",
    "array": "a valid array",
    "object": "an object",
    "null": "null",
}
_SHAPES: Final = {
    "metadata": "Input does not match the expected shape.",
    "output_config": "Input does not match the expected shape.",
    "input": "Input should be a valid dictionary",
}
"""Fields that have a sentence of their own."""
_RANGES: Final = {"temperature": "range: 0..1", "top_p": "range: 0..1"}
_TYPES: Final[Mapping[Kind, str]] = {
    "invalid": "invalid_request_error",
    "authentication": "authentication_error",
    "billing": "billing_error",
    "permission": "permission_error",
    "not_found": "not_found_error",
    "timeout": "timeout_error",
    "conflict": "conflict_error",
    "too_large": "request_too_large",
    "unprocessable": "invalid_request_error",
    "rate_limit": "rate_limit_error",
    "server": "api_error",
    "overloaded": "overloaded_error",
}
"""https://docs.anthropic.com/en/api/errors"""


def written(place: Place) -> str:
    """A place as Anthropic writes it: ``messages.0.content.1.text``."""
    return ".".join(map(str, place))


def at(place: Place | str, sentence: str) -> Refusal:
    """A refusal for what stands at a place."""
    shown = place if isinstance(place, str) else written(place)
    return Refusal(f"{shown}: {sentence}" if shown else sentence)


def extra(place: Place | str) -> Refusal:
    """A field that is not known."""
    return at(place, "Extra inputs are not permitted")


def off_pattern(place: Place, pattern: str) -> Refusal:
    """A text that does not match a pattern."""
    return at(place, f"String should match pattern '{pattern}'")


def too_short(place: Place) -> Refusal:
    """An empty text where one is needed."""
    return at(place, "String should have at least 1 character")


def off_tags(place: Place, supported: Sequence[str], given: Any) -> Refusal:
    """An object whose ``type`` is none of those that may stand there."""
    tags = ", ".join(f"'{tag}'" for tag in sorted(supported))
    shown = given if isinstance(given, str) else type(given).__name__
    return at(place, f"Input tag '{shown}' found using 'type' does not match any of the expected tags: {tags}")


def _missing(place: Place) -> Refusal:
    return at(place, "Field required")


def _mistyped(place: Place, wanted: Sequence[JsonType], given: Any) -> Refusal:
    del given
    own = _SHAPES.get(str(place[-1])) if place else None
    return at(place, own or f"Input should be {_SHOULD_BE[wanted[-1]]}")


def _off_list(place: Place, supported: Sequence[str], given: Any) -> Refusal:
    del given
    quoted = [f"'{word}'" for word in supported]
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return at(place, f"Input should be {listed}")


def _out_of_range(place: Place, bound: float, is_least: bool, given: Any) -> Refusal:
    del given
    name = str(place[-1])
    if name in _RANGES:
        return at(place, _RANGES[name])
    side = "greater" if is_least else "less"
    verb = "must be" if name == "max_tokens" else "Input should be"
    return at(place, f"{verb} {side} than or equal to {bound}")


WORDING: Final = Wording(_missing, _mistyped, _off_list, _out_of_range)
"""How Anthropic refuses a body that its specification does not allow."""


def error(refusal: Refusal, request_id: str) -> dict[str, Any]:
    """An error's body."""
    told = {"type": _TYPES[refusal.kind], "message": refusal.message}
    return {"type": "error", "error": told, "request_id": request_id}
