"""What OpenAI says to a body that the specification of Chat Completions does not allow.

The wordings were read from published error reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.emulator.apis.reading import JsonType, Place, Wording, json_type
from strictcall.emulator.refusal import Refusal

_NAMES: Final[Mapping[JsonType, str]] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a decimal",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_HELD: Final = {
    "messages": " of objects",
    "content": " of objects",
    "tools": " of objects",
    "tool_calls": " of objects",
    "stop": " of strings",
}
"""What is in the arrays that fields hold."""
_MOST_SHOWN: Final = 200


# --- the body ---------------------------------------------------------------------------------------------------------


def written(place: Place) -> str:
    """A place as OpenAI's errors write it: ``messages[0].content``."""
    text = "".join(f"[{token}]" if isinstance(token, int) else f".{token}" for token in place)
    return text.removeprefix(".")


def _invalid(message: str, place: Place, code: str | None) -> Refusal:
    return Refusal(message, param=written(place) or None, code=code)


def _missing(place: Place) -> Refusal:
    if place == ("model",):
        return Refusal("you must provide a model parameter")
    return _invalid(f"Missing required parameter: '{written(place)}'.", place, "missing_required_parameter")


def _mistyped(place: Place, wanted: Sequence[JsonType], given: Any) -> Refusal:
    held = _HELD.get(str(place[-1]), "") if place else ""
    names = [_NAMES[name] + (held if name == "array" else "") for name in wanted]
    expected = names[0]
    if len(names) > 1:
        expected = f"one of {names[0]} or {' or '.join(name.partition(' ')[2] for name in names[1:])}"
    got = "a decimal number" if json_type(given) == "number" else _NAMES[json_type(given)]
    subject = f" for '{written(place)}'" if place else ""
    return _invalid(f"Invalid type{subject}: expected {expected}, but got {got} instead.", place, "invalid_type")


def _off_list(place: Place, supported: Sequence[str], given: Any) -> Refusal:
    names = [f"'{name}'" for name in supported]
    if len(names) == 1:
        listed = f"Value must be {names[0]}."
    elif len(names) == 2:
        listed = f"Supported values are: {names[0]} and {names[1]}."
    else:
        listed = f"Supported values are: {', '.join(names[:-1])}, and {names[-1]}."
    return _invalid(f"Invalid value: '{shown(given)}'. {listed}", place, "invalid_value")


def _out_of_range(place: Place, bound: float, is_least: bool, given: Any) -> Refusal:
    kind = "integer" if isinstance(given, int) and isinstance(bound, int) and place[-1] in _INTEGERS else "decimal"
    side, sign, code = ("below minimum", ">=", "below_min") if is_least else ("above maximum", "<=", "above_max")
    message = (
        f"Invalid '{written(place)}': {kind} {side} value. Expected a value {sign} {bound}, but got {given} instead."
    )
    return _invalid(message, place, f"{kind}_{code}_value")


_INTEGERS: Final = frozenset({"max_tokens", "max_completion_tokens", "n", "seed", "top_logprobs"})
WORDING: Final = Wording(_missing, _mistyped, _off_list, _out_of_range)
"""How OpenAI refuses a body that its specification does not allow."""


def empty_array(place: Place) -> Refusal:
    """An array is empty that may not be."""
    message = (
        f"Invalid '{written(place)}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead."
    )
    return _invalid(message, place, "empty_array")


def too_long(place: Place | str, kind: str, most: int, length: int) -> Refusal:
    """An array or a string is longer than is taken."""
    where = place if isinstance(place, str) else written(place)
    article = "an" if kind == "array" else "a"
    message = (
        f"Invalid '{where}': {kind} too long. Expected {article} {kind} with maximum length {most}, "
        f"but got {article} {kind} with length {length} instead."
    )
    return Refusal(message, param=where, code=f"{kind}_above_max_length")


def pattern_broken(place: Place | str, pattern: str) -> Refusal:
    """A string does not match the pattern that it must."""
    where = place if isinstance(place, str) else written(place)
    message = (
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern '{pattern}'."
    )
    return Refusal(message, param=where, code="invalid_value")


def not_allowed_without(name: str, other: str) -> Refusal:
    """A field stands without the one that gives it sense."""
    return Refusal(f"Invalid value for '{name}': '{name}' is only allowed when '{other}' are specified.", param=name)


def unsupported_field(name: str, instead: str) -> Refusal:
    """A field of the specification that today's models do not take."""
    message = f"Unsupported parameter: '{name}' is not supported with this model. Use '{instead}' instead."
    return Refusal(message, param=name, code="unsupported_parameter")


def null_content(index: int) -> Refusal:
    """A message says nothing, in a role that must say something."""
    message = "Invalid value for 'content': expected a string, got null."
    return Refusal(message, param=f"messages.[{index}].content")


def shown(value: Any, *, quote: bool = False) -> str:
    """A value of the request within a message, cut to a few characters; containers by their kind, however deep."""
    if isinstance(value, dict | list) and value:
        return "{...}" if isinstance(value, dict) else "[...]"
    text = repr(value) if quote or not isinstance(value, str) else value
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
