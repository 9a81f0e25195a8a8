"""Reading a Responses request, as the OpenAI specification has it.

Source: the schema ``CreateResponse`` of https://github.com/openai/openai-openapi (2026-08). The order in which faults
are found is that of the API as reported: the fields as such first, then what the server has stored, then the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.emulator.apis.chat_completions_wording import pattern_broken
from strictcall.emulator.apis.reading import Fields
from strictcall.emulator.apis.responses_items import NAME, check_history, read_items
from strictcall.emulator.apis.responses_wording import (
    WORDING,
    bad_length,
    listed,
    missing,
    mistyped,
    off_list,
    unknown,
)
from strictcall.emulator.conversation import Choice, Message, OfferedTool, Request, WantedOutput
from strictcall.emulator.refusal import Refusal

KNOWN: Final = frozenset(
    {
        "access_programs", "background", "background_options", "context_management", "conversation",
        "frequency_penalty", "image", "include", "input", "instructions", "max_output_tokens", "max_tool_calls",
        "metadata", "model", "moderation", "parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt",
        "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier",
        "service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools",
        "top_logprobs", "top_p", "truncation", "user",
    }
)  # fmt: skip
"""The fields of a request's body."""
_NUMBERS: Final = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("presence_penalty", -2, 2),
    ("frequency_penalty", -2, 2),
)
_WHOLE_NUMBERS: Final = (("max_output_tokens", 16, None), ("max_tool_calls", 1, None), ("top_logprobs", 0, 20))
_FLAGS: Final = ("parallel_tool_calls", "stream", "background", "store")
_TEXTS: Final = ("user", "safety_identifier", "prompt_cache_key", "instructions", "previous_response_id")
_LISTED: Final = (
    ("prompt_cache_retention", ("in_memory", "24h")),
    ("truncation", ("auto", "disabled")),
    ("service_tier", ("auto", "default", "fast", "flex", "priority")),
)
_OBJECTS: Final = ("prompt", "prompt_cache_options", "moderation")
_MOST_METADATA: Final = 16
_INCLUDE: Final = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
)
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SUMMARIES: Final = ("concise", "detailed", "auto")
_REASONING: Final = frozenset({"effort", "summary", "generate_summary", "context", "mode"})
_TOOL_TYPES: Final = (
    "function", "file_search", "computer", "computer_use_preview", "web_search", "web_search_2025_08_26", "mcp",
    "code_interpreter", "programmatic_tool_calling", "image_generation", "local_shell", "shell", "custom", "namespace",
    "tool_search", "web_search_preview", "web_search_preview_2025_03_11", "apply_patch",
)  # fmt: skip
_FUNCTION: Final = frozenset(
    {
        "type", "name", "description", "parameters", "strict", "allowed_callers", "defer_loading", "output_schema",
        "async",
    }
)  # fmt: skip
_MODES: Final = ("none", "auto", "required")
_ALLOWED_MODES: Final = ("auto", "required")
_FORMATS: Final = ("json_object", "text", "json_schema")
_JSON_SCHEMA: Final = frozenset({"type", "name", "schema", "strict", "description"})
_VERBOSITIES: Final = ("low", "medium", "high")
_MOST_FORMAT_NAME: Final = 64
_NO_JSON: Final = (
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."
)
_NO_INPUT: Final = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
_MOVED: Final = (
    "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. "
    "Try again with the new parameter. See the API documentation for more information: "
    "https://platform.openai.com/docs/api-reference/responses/create."
)


def read(body: Any, path: Mapping[str, str], query: Mapping[str, str]) -> Request:
    """A body as a request.

    ``options`` of the request hold ``body`` (the request as it came, of which the response repeats much) and
    ``obfuscation``. Tools that are no functions are taken as the specification has them, and never called. Nothing is
    stored: a previous response, a stored item, conversation or prompt is not found, and background mode is refused.
    Raises ``Refusal``.
    """
    del path, query
    fields = Fields.of(body, (), WORDING)
    model = fields.needed_text("model")
    if "messages" in fields.values and "input" not in fields.values:
        raise Refusal(_MOVED, code="unsupported_parameter")
    items = read_items(fields)
    _check_include(fields)
    tools = _tools(fields)
    _check_simple(fields)
    output = _output(fields)
    choice, only = _choice(fields)
    options = fields.child("stream_options")
    _check_stored(fields)
    if not items.messages and not items.given:
        raise Refusal(_NO_INPUT, code="missing_required_parameter")
    check_history(items, store=fields.flag("store") is not False)
    _check_json_wanted(output, items.messages)
    instructions = fields.text("instructions")
    system = () if not instructions else (Message("system", instructions),)
    return Request(
        model=model,
        messages=(*system, *items.messages),
        tools=tools,
        choice=choice,
        only=only,
        tries_strict=True,  # an unmarked tool is strict where its schema can be: openapi.yaml 2.3.0, FunctionToolParam
        parallel=fields.flag("parallel_tool_calls"),
        output=output,
        max_tokens=fields.whole("max_output_tokens"),
        stream=fields.flag("stream") or False,
        unknown_fields=fields.unknown(KNOWN),
        options={
            "body": fields.values,
            "obfuscation": options is None or options.flag("include_obfuscation") is not False,
        },
    )


def _check_simple(fields: Fields) -> None:
    for name, least, most in _NUMBERS:
        fields.number(name, least, most)
    for name in _FLAGS:
        fields.flag(name)
    options = fields.child("stream_options")
    if options is not None:
        _known(options, frozenset({"include_obfuscation"}))
    for name, smallest, largest in _WHOLE_NUMBERS:
        fields.whole(name, smallest, largest)
    for name in _TEXTS:
        fields.text(name)
    for name, supported in _LISTED:
        if not isinstance(fields.values.get(name), str | None):
            raise mistyped((name,), f"one of {listed(supported)}", fields.values[name])
        fields.choice(name, supported)
    for name in _OBJECTS:
        fields.child(name)
    _check_metadata(fields)
    _check_reasoning(fields)
    if fields.flag("background"):
        message = "Unsupported parameter: 'background' is not supported with this model."
        raise Refusal(message, param="background", code="unsupported_parameter")


def _check_include(fields: Fields) -> None:
    for index, name in enumerate(fields.items("include")):
        if name not in _INCLUDE:
            raise off_list(("include", index), _INCLUDE, name)


def _check_metadata(fields: Fields) -> None:
    metadata = fields.values.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise mistyped(("metadata",), "a metadata object", metadata)
    if metadata is not None and len(metadata) > _MOST_METADATA:
        message = (
            f"Invalid 'metadata': too many properties. Expected an object with at most {_MOST_METADATA} properties, "
            f"but got an object with {len(metadata)} properties instead."
        )
        raise Refusal(message, param="metadata", code="object_above_max_properties")


def _check_reasoning(fields: Fields) -> None:
    reasoning = fields.child("reasoning")
    if reasoning is not None:
        _known(reasoning, _REASONING)
        reasoning.choice("effort", _EFFORTS)
        reasoning.choice("summary", _SUMMARIES)


def _check_stored(fields: Fields) -> None:
    """Nothing is stored, so nothing is found."""
    conversation = fields.get("conversation", "string", "object")
    if conversation is not None and fields.has("previous_response_id"):
        message = (
            "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'."
        )
        raise Refusal(message, code="mutually_exclusive_parameters")
    if conversation is not None:
        name = conversation.get("id") if isinstance(conversation, dict) else conversation
        raise Refusal(f"Conversation with id '{name}' not found.", 404)
    prompt = fields.child("prompt")
    if prompt is not None:
        raise Refusal(f"Prompt with id '{prompt.needed_text('id')}' not found.", 404)
    previous = fields.text("previous_response_id")
    if previous is not None:
        message = f"Previous response with id '{previous}' not found."
        raise Refusal(message, param="previous_response_id", code="previous_response_not_found")


def _known(fields: Fields, known: frozenset[str]) -> None:
    for name in fields.unknown(known):
        raise unknown(fields.at(name))


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(fields: Fields) -> tuple[OfferedTool, ...]:
    given = fields.values.get("tools")
    if given is not None and not isinstance(given, list):
        raise mistyped(("tools",), "an array of tools", given)
    return tuple(
        _function(tool)
        for tool in fields.children("tools")
        if tool.choice("type", _TOOL_TYPES, needed=True) == "function"
    )


def _function(tool: Fields) -> OfferedTool:
    name = tool.needed_text("name")
    _known(tool, _FUNCTION)
    place = f"tools[{tool.place[-1]}]"
    return OfferedTool(
        name=name,
        description=tool.text("description"),
        schema=tool.get("parameters", "object"),
        place=place,
        schema_place=f"{place}.parameters",
        strict=tool.flag("strict"),
        strict_place=f"{place}.strict" if tool.has("strict") else None,
    )


def _choice(fields: Fields) -> tuple[Choice, frozenset[str] | None]:
    given = fields.values.get("tool_choice")
    if given is None:
        return "auto", None
    if isinstance(given, str):
        return _mode(fields.choice("tool_choice", _MODES)), None
    if not isinstance(given, dict):
        raise mistyped(("tool_choice",), f"one of an object or {listed(_MODES)}", given)
    wanted = Fields.of(given, ("tool_choice",), WORDING)
    kind = wanted.needed_text("type")
    if kind == "function":
        return "required", frozenset({wanted.needed_text("name")})
    if kind == "allowed_tools":
        mode = wanted.choice("mode", _ALLOWED_MODES, needed=True)
        return _mode(mode), _allowed(wanted, fields)
    _check_built_in(kind, fields)
    return "auto", None


def _allowed(wanted: Fields, fields: Fields) -> frozenset[str]:
    names = set()
    for tool in wanted.children("tools", needed=True):
        kind = tool.needed_text("type")
        if kind == "function":
            names.add(tool.needed_text("name"))
        else:
            _check_built_in(kind, fields)
    return frozenset(names)


def _check_built_in(kind: str, fields: Fields) -> None:
    if not any(tool.values.get("type") == kind for tool in fields.children("tools")):
        raise Refusal(f"Tool choice '{kind}' not found in 'tools' parameter.", param="tool_choice")


def _mode(word: str | None) -> Choice:
    return "none" if word == "none" else "required" if word == "required" else "auto"


# --- structured output ------------------------------------------------------------------------------------------------


def _output(fields: Fields) -> WantedOutput | None:
    text = fields.child("text")
    if text is None:
        return None
    _known(text, frozenset({"format", "verbosity"}))
    text.choice("verbosity", _VERBOSITIES)
    form = text.child("format")
    if form is None:
        return None
    kind = form.choice("type", _FORMATS, needed=True)
    if kind != "json_schema":
        _known(form, frozenset({"type"}))
        return WantedOutput("", None, "text.format") if kind == "json_object" else None
    name = form.needed_text("name")
    if not 0 < len(name) <= _MOST_FORMAT_NAME:
        raise bad_length(form.at("name"), len(name), _MOST_FORMAT_NAME)
    if not NAME.fullmatch(name):
        raise pattern_broken(form.at("name"), f"^{NAME.pattern}$")
    form.text("description")
    _known(form, _JSON_SCHEMA)
    if not form.has("schema"):
        raise missing(form.at("schema"))
    return WantedOutput(name, form.get("schema", "object"), "text.format.schema", form.flag("strict"))


def _check_json_wanted(output: WantedOutput | None, messages: Sequence[Message]) -> None:
    if output is None or output.schema is not None:
        return
    if not any("json" in message.text.lower() for message in messages):
        raise Refusal(_NO_JSON, param="input")
