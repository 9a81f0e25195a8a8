"""What Google says to a request that breaks a rule of Gemini's dialects. The wordings were read from error reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.dialect.model import Violation
from strictcall.dialect.vocabulary import SCHEMA_MAPS
from strictcall.emulator.apis.generate_content_proto import no_field, snake
from strictcall.emulator.apis.schema_place import Spot, spot
from strictcall.emulator.refusal import Breach, Refusal

BAD_NAME: Final = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)
_TYPE: Final = "type.googleapis.com/google.ai.generativelanguage.v1beta.Type"
_LEARN: Final = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"


def invalid_field(place: str, problem: str) -> Refusal:
    """A field of the request has a value that is not taken; the message is a list of one."""
    return Refusal(f"* GenerateContentRequest.{place}: {problem}\n")


def word(breach: Breach, dialect: str) -> Refusal:
    """What Google says to a breach of the dialect's rules."""
    del dialect
    return _WORDED[breach.kind](breach)


# --- schemas ----------------------------------------------------------------------------------------------------------


def _schema(breach: Breach) -> Refusal:
    tool, violation = breach.tool, breach.violation
    if tool is None or violation is None:
        return Refusal("Request contains an invalid argument.")
    return _told(tool.schema, violation, tool.schema_place, tool.name)


def _output(breach: Breach) -> Refusal:
    output, violation = breach.output, breach.violation
    if output is None or violation is None:
        return Refusal("Request contains an invalid argument.")
    return _told(output.schema, violation, output.place, output.name)


def _told(schema: Any, violation: Violation, place: str, name: str) -> Refusal:
    at = spot({} if schema is None else schema, violation.pointer)
    rule = violation.rule
    if rule == "keyword-rejected" and violation.phrase is not None and "Unknown name" not in violation.phrase:
        return Refusal(f"{violation.phrase}.")
    if rule in _PAYLOAD:
        return Refusal(_PAYLOAD[rule](at, place + _by_index(schema, at)))
    if rule in _LISTED:
        return invalid_field(place + _by_name(at) + _LISTED[rule][0], _LISTED[rule][1])
    if rule in _SUBMITTED:
        told = _SUBMITTED[rule]
        parameters = "parameters" + _by_name(at)
        return Refusal(
            f"Unable to submit request because `{name}` functionDeclaration `{parameters}` schema {told}. {_LEARN}"
        )
    if rule in _SILENT:
        return Refusal("Request contains an invalid argument.")
    return invalid_field(place + _by_name(at), (violation.phrase or violation.message).rstrip(".") + ".")


def _by_index(schema: Any, at: Spot) -> str:
    """The way to a schema as the reader of the payload writes it: a map's entries by their number."""
    text = ""
    tokens = list(at.tokens)
    while tokens:
        keyword = tokens.pop(0)
        text += f".{snake(keyword)}"
        held = schema.get(keyword) if isinstance(schema, dict) else None
        if isinstance(held, list):
            index = int(tokens.pop(0))
            text += f"[{index}]"
            schema = held[index]
        elif keyword in SCHEMA_MAPS and isinstance(held, dict):
            name = tokens.pop(0)
            text += f"[{list(held).index(name)}].value"
            schema = held[name]
        else:
            schema = held
    return text


def _by_name(at: Spot) -> str:
    """The way to a schema as the check of the request writes it: a map's entries by their names."""
    text = ""
    tokens = list(at.tokens)
    while tokens:
        keyword = tokens.pop(0)
        text += f".{snake(keyword)}"
        if tokens and (keyword in SCHEMA_MAPS or tokens[0].isdecimal()):
            text += f"[{tokens.pop(0)}]"
    return text


def _unknown_name(at: Spot, where: str) -> str:
    if at.keyword is None and at.tokens:
        # The judge points at the keyword, which here holds a schema: the message is the one above.
        name = at.tokens[-1]
        return no_field(name, where.removesuffix(f".{snake(name)}"))
    return no_field(at.keyword or "", where)


def _list(at: Spot, where: str) -> str:
    del at
    return (
        f"Invalid JSON payload received. Unknown name \"type\" at '{where}': "
        "Proto field is not repeating, cannot start list."
    )


def _bad_value(at: Spot, where: str) -> str:
    if at.keyword == "type":
        return f"Invalid value at '{where}.type' ({_TYPE}), {_json(at.value)}"
    return f"Invalid value at '{where}{_rest(at)}' (type.googleapis.com/google.protobuf.Value), {_json(at.value)}"


def _bad_literal(at: Spot, where: str) -> str:
    return f"Invalid value at '{where}{_rest(at)}' (TYPE_STRING), {_json(at.value)}"


def _rest(at: Spot) -> str:
    return "".join(f"[{token}]" if token.isdecimal() else f".{snake(token)}" for token in at.rest)


def _json(value: Any) -> str:
    return "{...}" if isinstance(value, dict) else "[...]" if isinstance(value, list) else json.dumps(value)


_PAYLOAD: Final[Mapping[str, Callable[[Spot, str], str]]] = {
    "keyword-rejected": _unknown_name,
    "type-list": _list,
    "not-a-schema": _bad_value,
    "literal-type": _bad_literal,
}
"""Rules that the reader of the payload holds, in its words."""
_LISTED: Final[Mapping[str, tuple[str, str]]] = {
    "object-empty": (".properties", "should be non-empty for OBJECT type"),
    "properties-missing": (".properties", "should be non-empty for OBJECT type"),
    "items-missing": (".items", "missing field."),
    "type-missing": (".type", "must be specified when not using one_of, any_of or all_of fields"),
    "literal-contradiction": (".enum", "only allowed for STRING type"),
    "literal-empty": (".enum[0]", "cannot be empty"),
    "format-unknown": (".format", "only 'enum' and 'date-time' are supported for STRING type"),
    "required-unknown": (".required[0]", "property is not defined"),
}
"""Rules that are checked once the payload is read: the field at fault and what is said of it."""
_SUBMITTED: Final[Mapping[str, str]] = {
    "root-not-object": "should be of type OBJECT",
    "root-keyword": "should be of type OBJECT",
    "union-siblings": "specified other fields alongside any_of. When using any_of, it must be the only field set",
}
"""Rules in the words of Vertex."""
_SILENT: Final = frozenset({"limit-item-bounds"})
"""Rules whose breach is not explained."""


# --- the rest ---------------------------------------------------------------------------------------------------------


def _tool_name(breach: Breach) -> Refusal:
    return invalid_field(f"{_place(breach)}.name", BAD_NAME)


def _description(breach: Breach) -> Refusal:
    return invalid_field(f"{_place(breach)}.description", _violated(breach))


def _duplicate(breach: Breach) -> Refusal:
    return Refusal(f"Duplicate function declaration found: {'' if breach.tool is None else breach.tool.name}")


def _of_tools(breach: Breach) -> Refusal:
    return invalid_field("tools", _violated(breach))


def _choice(breach: Breach) -> Refusal:
    if not breach.field:
        return Refusal("Function calling config is set without function_declarations.")
    place = "tool_config.function_calling_config.allowed_function_names"
    return invalid_field(place, f"`{breach.field}` is not one of the function_declarations.")


def _unknown_field(breach: Breach) -> Refusal:
    return Refusal(no_field(breach.field, ""))


def _strict_field(breach: Breach) -> Refusal:
    return Refusal(no_field("strict", _place(breach)))


def _violated(breach: Breach) -> str:
    return "is not supported." if breach.violation is None else breach.violation.message.rstrip(".") + "."


def _place(breach: Breach) -> str:
    return "tools" if breach.tool is None else breach.tool.place


_WORDED: Final[Mapping[str, Callable[[Breach], Refusal]]] = {
    "schema": _schema,
    "tool_name": _tool_name,
    "description": _description,
    "duplicate_name": _duplicate,
    "limit": _of_tools,
    "parallel": _of_tools,
    "mixed_strict": _of_tools,
    "strict_field": _strict_field,
    "choice": _choice,
    "output": _output,
    "unknown_field": _unknown_field,
}
