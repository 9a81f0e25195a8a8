"""Reading a Messages request, as Anthropic's specification has it: https://docs.anthropic.com/en/api/messages"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from strictcall.emulator.apis.messages_blocks import conversation, read_turns, system_messages
from strictcall.emulator.apis.messages_history import check_history
from strictcall.emulator.apis.messages_wording import WORDING, at, extra, off_tags, too_short
from strictcall.emulator.apis.reading import Fields, JsonType, fits
from strictcall.emulator.conversation import Choice, OfferedTool, Request, WantedOutput
from strictcall.emulator.refusal import Refusal

_FIELDS: Final[tuple[tuple[str, tuple[JsonType, ...]], ...]] = (
    ("model", ("string",)),
    ("tool_choice", ("object",)),
    ("tools", ("array",)),
    ("messages", ("array",)),
    ("system", ("string", "array")),
    ("thinking", ("object",)),
    ("output_config", ("object",)),
    ("output_format", ("object", "null")),
    ("cache_control", ("null", "object")),
    ("max_tokens", ("integer",)),
    ("metadata", ("object",)),
    ("stop_sequences", ("array",)),
    ("temperature", ("number",)),
    ("top_k", ("integer",)),
    ("top_p", ("number",)),
    ("stream", ("boolean",)),
    ("inference_geo", ("null", "string")),
)
"""The fields of a body that have a type, in the order in which the API is reported to look at them."""
_NEEDED: Final = ("model", "messages", "max_tokens")
_UNTYPED: Final = ("container", "diagnostics", "service_tier", "speed", "user_profile_id", "workspace_id")
KNOWN: Final = frozenset({name for name, _ in _FIELDS} | set(_UNTYPED))
"""The fields of a request's body."""
_BETA: Final = frozenset({"betas", "context_management", "fallbacks", "mcp_servers"})
"""More fields that are taken where the beta surface is asked for."""
_TOOL: Final = frozenset(
    {
        "allowed_callers", "cache_control", "defer_loading", "description", "eager_input_streaming", "input_examples",
        "input_schema", "name", "strict", "type",
    }
)  # fmt: skip
_BUILT_IN: Final = re.compile(
    r"(bash|browser_toolset|code_execution|computer|computer_toolset|memory|text_editor|tool_search_tool_bm25"
    r"|tool_search_tool_regex|web_fetch|web_search)_\d{8}"
)
_TOOL_TAGS: Final = ("bash_20250124", "custom", "memory_20250818", "text_editor_20250728", "web_search_20260318")
_CHOICES: Final[Mapping[str, Choice]] = {"auto": "auto", "any": "required", "tool": "required", "none": "none"}
_THINKING: Final[Mapping[str, frozenset[str]]] = {
    "adaptive": frozenset({"type", "display"}),
    "between_tools": frozenset({"type"}),
    "disabled": frozenset({"type"}),
    "enabled": frozenset({"type", "budget_tokens", "display"}),
}
_LEAST_THINKING: Final = 1024
_EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
_DEPRECATED: Final = "This field is deprecated. Use 'output_config.format' instead."
_BUDGET: Final = (
    "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"
)


def read(body: Any, path: Mapping[str, str], query: Mapping[str, str]) -> Request:
    """A body as a request.

    Tools that run at the provider's are taken as the specification has them, and never called. ``output_format`` is
    taken on the beta surface (``?beta=true``) only, as clients of before 2026 send it. Thoughts in the history must be
    signed as the emulator signs them. Raises ``Refusal``.
    """
    del path
    fields = Fields.of(body, (), WORDING)
    beta = query.get("beta") == "true"
    _check_types(fields)
    choice, only, parallel = _choice(fields)
    tools = _tools(fields)
    turns = read_turns(fields)
    system = system_messages(fields)
    thinks = _thinks(fields, forced=choice == "required")
    output = _output(fields, beta=beta)
    _check_simple(fields)
    if choice == "auto" and fields.has("tool_choice") and not fields.has("tools"):
        raise Refusal("tool_choice.auto may only be specified while providing tools")
    check_history(turns, thinks=thinks)
    return Request(
        model=fields.needed_text("model"),
        messages=(*system, *conversation(turns)),
        tools=tools,
        choice=choice,
        only=only,
        parallel=parallel,
        output=output,
        max_tokens=fields.whole("max_tokens"),
        stream=fields.flag("stream") or False,
        unknown_fields=fields.unknown(KNOWN | _BETA if beta else KNOWN),
    )


def _check_types(fields: Fields) -> None:
    """A null is no more taken than another value of a wrong type."""
    for name, wanted in _FIELDS:
        if name in fields.values:
            if not fits(fields.values[name], wanted):
                raise WORDING.mistyped((name,), wanted, fields.values[name])
        elif name in _NEEDED:
            raise WORDING.missing((name,))
    if not fields.values["model"]:
        raise too_short(("model",))


def _check_simple(fields: Fields) -> None:
    fields.whole("max_tokens", 0)
    metadata = fields.child("metadata")
    if metadata is not None:
        metadata.text("user_id")
        _known(metadata, frozenset({"user_id"}))
    for index, text in enumerate(fields.items("stop_sequences")):
        if not isinstance(text, str):
            raise WORDING.mistyped(("stop_sequences", index), ("string",), text)
        if not text.strip():
            raise at(("stop_sequences",), "each stop sequence must contain non-whitespace")
    fields.number("temperature", 0, 1)
    if fields.values.get("service_tier", "auto") not in ("auto", "standard_only"):
        raise WORDING.off_list(("service_tier",), ("auto", "standard_only"), None)
    fields.whole("top_k", 0)
    fields.number("top_p", 0, 1)


def _known(fields: Fields, known: frozenset[str]) -> None:
    for name in fields.unknown(known):
        raise extra(fields.at(name))


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(fields: Fields) -> tuple[OfferedTool, ...]:
    tools = [_tool(tool, index) for index, tool in enumerate(fields.children("tools"))]
    return tuple(tool for tool in tools if tool is not None)


def _tool(tool: Fields, index: int) -> OfferedTool | None:
    kind = tool.values.get("type") or "custom"
    if isinstance(kind, str) and _BUILT_IN.fullmatch(kind):
        return None
    if kind != "custom":
        raise off_tags(tool.place, _TOOL_TAGS, kind)
    place = f"tools.{index}.custom"
    inside = Fields(tool.values, tool.at("custom"), WORDING)
    name = inside.needed_text("name")
    schema = inside.get("input_schema", needed=True)
    _known(inside, _TOOL)
    return OfferedTool(
        name=name,
        description=inside.text("description"),
        schema=schema,
        place=place,
        schema_place=f"{place}.input_schema",
        strict=inside.flag("strict"),
        strict_place=f"{place}.strict" if inside.has("strict") else None,
    )


def _choice(fields: Fields) -> tuple[Choice, frozenset[str] | None, bool | None]:
    """The choice, the tools that it allows, and whether calls may be parallel."""
    wanted = fields.child("tool_choice")
    if wanted is None:
        return "auto", None, None
    kind = wanted.needed_text("type")
    if kind not in _CHOICES:
        raise off_tags(wanted.place, tuple(_CHOICES), kind)
    inside = Fields(wanted.values, wanted.at(kind), WORDING)
    only = frozenset({inside.needed_text("name")}) if kind == "tool" else None
    alone = inside.flag("disable_parallel_tool_use")
    known = {"type"} | ({"name"} if kind == "tool" else set())
    _known(inside, frozenset(known if kind == "none" else known | {"disable_parallel_tool_use"}))
    return _CHOICES[kind], only, None if alone is None else not alone


# --- thinking and structured output -----------------------------------------------------------------------------------


def _thinks(fields: Fields, *, forced: bool) -> bool:
    """Whether the request tells the model to think with a budget."""
    thinking = fields.child("thinking")
    if thinking is None:
        return False
    kind = thinking.needed_text("type")
    if kind not in _THINKING:
        raise off_tags(thinking.place, tuple(_THINKING), kind)
    inside = Fields(thinking.values, thinking.at(kind), WORDING)
    budget = inside.whole("budget_tokens", _LEAST_THINKING) if kind == "enabled" else None
    if kind == "enabled" and budget is None:
        raise WORDING.missing(inside.at("budget_tokens"))
    _known(inside, _THINKING[kind])
    if budget is not None and budget >= fields.values["max_tokens"]:
        raise Refusal(_BUDGET)
    if forced and kind in ("adaptive", "enabled"):
        raise Refusal("Thinking may not be enabled when tool_choice forces tool use.")
    return kind == "enabled"


def _output(fields: Fields, *, beta: bool) -> WantedOutput | None:
    old = fields.child("output_format")
    if old is not None and not beta:
        raise at(("output_format",), _DEPRECATED)
    config = fields.child("output_config")
    form = old
    if config is not None:
        _known(config, frozenset({"effort", "format", "task_budget"} if beta else {"effort", "format"}))
        config.choice("effort", _EFFORTS)
        form = config.child("format") or old
    if form is None:
        return None
    form.choice("type", ("json_schema",), needed=True)
    _known(form, frozenset({"type", "schema"}))
    place = ".".join(map(str, form.at("schema")))
    return WantedOutput("", form.get("schema", needed=True), place)
