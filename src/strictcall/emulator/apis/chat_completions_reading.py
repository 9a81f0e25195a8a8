"""Reading a Chat Completions request, as the OpenAI specification has it.

Source: the schema ``CreateChatCompletionRequest`` of https://github.com/openai/openai-openapi (2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from strictcall.emulator.apis.chat_completions_history import read_messages
from strictcall.emulator.apis.chat_completions_wording import (
    WORDING,
    empty_array,
    not_allowed_without,
    pattern_broken,
    too_long,
    unsupported_field,
)
from strictcall.emulator.apis.reading import Fields
from strictcall.emulator.conversation import Choice, Message, OfferedTool, Request, WantedOutput
from strictcall.emulator.refusal import Refusal

KNOWN: Final = frozenset(
    {
        "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
        "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls",
        "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
        "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
        "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
        "web_search_options",
    }
)  # fmt: skip
"""The fields of a request's body."""
_NUMBERS: Final = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("presence_penalty", -2, 2),
    ("frequency_penalty", -2, 2),
)
_WHOLE_NUMBERS: Final = (
    ("max_tokens", 1, None),
    ("max_completion_tokens", 1, None),
    ("n", 1, 128),
    ("seed", -(2**63), 2**63 - 1),
    ("top_logprobs", 0, 20),
)
_TEXTS: Final = ("user", "safety_identifier", "prompt_cache_key")
_FLAGS: Final = ("stream", "store", "logprobs", "parallel_tool_calls")
_LISTED: Final = (
    ("reasoning_effort", ("none", "minimal", "low", "medium", "high", "xhigh", "max")),
    ("service_tier", ("auto", "default", "flex", "scale", "priority", "fast")),
    ("verbosity", ("low", "medium", "high")),
)
_MAPS: Final = ("metadata", "logit_bias", "stream_options")
_NEED_TOOLS: Final = ("tool_choice", "parallel_tool_calls")
_OLD: Final = (("functions", "tools"), ("function_call", "tool_choice"))
_FORMAT_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
_FORMAT_NAME_LENGTH: Final = 64
_STOPS: Final = 4
_JSON_WANTED: Final = (
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
)


def read(body: Any, path: Mapping[str, str], query: Mapping[str, str]) -> Request:
    """A body as a request.

    ``options`` of the request hold ``include_usage`` and ``obfuscation`` (of a stream), ``forced`` (the choice names
    the function to be called) and ``n``. A marking of a tool is read inside ``function`` and, for providers that have
    it there, beside it; ``strict_tools`` (Cohere) is read as the marking of the whole request, and is listed among the
    unknown fields too. Raises ``Refusal``.
    """
    del path, query
    return _read(body, styled=False)


def read_styled(body: Any, path: Mapping[str, str], query: Mapping[str, str]) -> Request:
    """A body as a request, as ``read`` does, where calls of the history stand in the assistant's texts: results may
    follow a turn without calls.
    """
    del path, query
    return _read(body, styled=True)


def _read(body: Any, *, styled: bool) -> Request:
    fields = Fields.of(body, (), WORDING)
    model = fields.needed_text("model")
    _check_simple(fields)
    messages = read_messages(fields, styled=styled)
    tools = tuple(_tool(item, index) for index, item in enumerate(_tools(fields)))
    choice, only, forced = _choice(fields)
    output = _output(fields, messages)
    stream = fields.flag("stream") or False
    return Request(
        model=model,
        messages=messages,
        tools=tools,
        choice=choice,
        only=only,
        strict=fields.flag("strict_tools"),
        parallel=fields.flag("parallel_tool_calls"),
        output=output,
        max_tokens=fields.whole("max_completion_tokens") or fields.whole("max_tokens"),
        stream=stream,
        seed=fields.whole("seed"),
        unknown_fields=fields.unknown(KNOWN),
        options={"forced": forced, "n": fields.whole("n") or 1, **_stream_options(fields, stream)},
    )


def _check_simple(fields: Fields) -> None:
    for name, least, most in _NUMBERS:
        fields.number(name, least, most)
    for name, smallest, largest in _WHOLE_NUMBERS:
        fields.whole(name, smallest, largest)
    for name in _TEXTS:
        fields.text(name)
    for name in _FLAGS:
        fields.flag(name)
    for name in _MAPS:
        fields.child(name)
    for name, supported in _LISTED:
        fields.choice(name, supported)
    for name, instead in _OLD:
        if fields.has(name):
            raise unsupported_field(name, instead)
    stops = fields.get("stop", "string", "array")
    if isinstance(stops, list) and len(stops) > _STOPS:
        raise too_long(("stop",), "array", _STOPS, len(stops))
    if fields.has("max_tokens") and fields.has("max_completion_tokens"):
        raise Refusal(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            code="invalid_parameter_combination",
        )


def _stream_options(fields: Fields, stream: bool) -> dict[str, Any]:
    options = fields.child("stream_options")
    if options is None:
        return {"include_usage": False, "obfuscation": True}
    if not stream:
        raise Refusal(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    return {
        "include_usage": options.flag("include_usage") or False,
        "obfuscation": options.flag("include_obfuscation") is not False,
    }


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(fields: Fields) -> list[Fields]:
    if fields.get("tools", "array") == []:
        raise empty_array(("tools",))
    if not fields.has("tools"):
        for name in _NEED_TOOLS:
            if fields.has(name):
                raise not_allowed_without(name, "tools")
    return list(fields.children("tools"))


def _tool(tool: Fields, index: int) -> OfferedTool:
    tool.choice("type", ("function",), needed=True)
    function = tool.needed_child("function")
    place = f"tools[{index}].function"
    inside = function.flag("strict")
    beside = tool.flag("strict")
    strict_place = f"{place}.strict" if "strict" in function.values else f"tools[{index}].strict"
    return OfferedTool(
        name=function.needed_text("name"),
        description=function.text("description"),
        schema=function.get("parameters", "object"),
        place=place,
        schema_place=f"{place}.parameters",
        strict=beside if inside is None else inside,
        strict_place=None if inside is None and beside is None else strict_place,
    )


def _choice(fields: Fields) -> tuple[Choice, frozenset[str] | None, bool]:
    """The choice, the tools that it allows, and whether it names the one to be called."""
    given = fields.get("tool_choice", "string", "object")
    if given is None or isinstance(given, str):
        word = fields.choice("tool_choice", ("none", "auto", "required")) if given is not None else "auto"
        return _mode(word), None, False
    wanted = Fields.of(given, ("tool_choice",), WORDING)
    if wanted.choice("type", ("function", "allowed_tools"), needed=True) == "function":
        return "required", frozenset({wanted.needed_child("function").needed_text("name")}), True
    allowed = wanted.needed_child("allowed_tools")
    mode = allowed.choice("mode", ("auto", "required"), needed=True)
    names = frozenset(
        tool.needed_child("function").needed_text("name") for tool in allowed.children("tools", needed=True)
    )
    return _mode(mode), names, False


def _mode(word: str | None) -> Choice:
    return "none" if word == "none" else "required" if word == "required" else "auto"


# --- structured output ------------------------------------------------------------------------------------------------


def _output(fields: Fields, messages: tuple[Message, ...]) -> WantedOutput | None:
    wanted = fields.child("response_format")
    if wanted is None:
        return None
    kind = wanted.choice("type", ("json_object", "json_schema", "text"), needed=True)
    if kind == "text":
        return None
    if kind == "json_object":
        if not any("json" in message.text.lower() for message in messages):
            raise Refusal(_JSON_WANTED, param="messages")
        return WantedOutput("", None, "response_format")
    schema = wanted.needed_child("json_schema")
    name = schema.needed_text("name")
    if len(name) > _FORMAT_NAME_LENGTH:
        raise too_long(schema.at("name"), "string", _FORMAT_NAME_LENGTH, len(name))
    if not _FORMAT_NAME.fullmatch(name):
        raise pattern_broken(schema.at("name"), f"^{_FORMAT_NAME.pattern}$")
    schema.text("description")
    return WantedOutput(name, schema.get("schema", "object", needed=True), "response_format", schema.flag("strict"))
