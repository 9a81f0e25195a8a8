"""Gemini's generateContent, of the Developer API and of Vertex.

``write`` makes a request's body, ``read`` and ``Stream`` take answers, ``results`` and ``history`` are for the next
request. Bodies are plain dicts: that of the REST API, in camelCase or in snake_case, or the arguments of the
``google-genai`` client, ``{"model": …, "contents": …, "config": {…}}``, whose ``config`` must be there then, if only
empty. What is written has the names' style of the body.

There is no ``strict``: whether schemas are held is the mode of the tool choice, for all functions of a request. So a
loose tool beside strict ones is held to the schema that is sent for it; a dialect whose provider would refuse that says
``all_or_none``.

Sources: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/caching (``Tool``, ``ToolConfig``),
https://ai.google.dev/gemini-api/docs/function-calling#function_calling_modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.api.generate_content_answers import Stream, read
from strictcall.api.generate_content_fields import get, is_snake, key_of, snake
from strictcall.api.generate_content_history import history, results
from strictcall.api.writing import (
    ToolChoice,
    check_output,
    chosen,
    known_name,
    merged,
    parameters,
    with_tools,
)
from strictcall.errors import RequestError
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

__all__ = ["Stream", "history", "read", "results", "write"]

_SCHEMA_FIELDS: Final = {"json_schema": "parametersJsonSchema", "openapi": "parameters"}
_OUTPUT_FIELDS: Final = {"json_schema": "responseJsonSchema", "openapi": "responseSchema"}
_FREE_MODES: Final = frozenset({"", "AUTO", "MODE_UNSPECIFIED"})
"""Modes under which the model calls or not, and no schema is held."""
_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_HELD: Final = "VALIDATED"
_JSON: Final = "application/json"


def write(
    body: Mapping[str, Any],
    toolset: Toolset,
    *,
    tool_choice: ToolChoice = None,
    output: CompiledTool | None = None,
) -> dict[str, Any]:
    """A new body with the tools of a toolset after those that it has, ready to be sent.

    ``tool_choice`` stands in place of the body's; a name in either may be a tool's own. With a strict tool the mode is
    ``VALIDATED`` where it would be ``AUTO``; ``ANY`` holds schemas too, and stays. ``output`` is a schema for the
    answer, compiled for structured output. The contents go through ``history``. With no strict tool nothing is written
    but the tools.

    The order of merging is: the body, then what is written here. What the client would lay over it, the
    ``extra_body`` of ``http_options``, may hold none of the fields that are written.

    Raises ``RequestError`` for that, for a choice that names no tool, for a tool of the body with the name of another,
    and for an output where the body asks for another, or where the provider takes none beside tools.
    """
    place = _Place(body)
    contents = place.body.get("contents")
    ours: dict[str, Any] = {}
    if isinstance(contents, list | tuple):
        ours["contents"] = history(contents, toolset)
    elif isinstance(contents, Mapping):
        ours["contents"] = history([contents], toolset)[0]
    has_tools = bool(place.tools() or len(toolset))
    held = {**_tools(place, toolset), **_choice(place, toolset, tool_choice, has_tools=has_tools)}
    if output is not None:
        check_output(output, place.name("responseSchema"), beside_tools=has_tools)
        held |= _output(place, output)
    place.check_extra(held)
    if place.config is None:
        return merged(body, {**ours, **held})
    return merged(body, {**ours, "config": {**place.config, **held}})


class _Place:
    """Where things stand in a body: at its root, or in the ``config`` that the client takes."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        config = body.get("config")
        if config is not None and not isinstance(config, Mapping):
            raise RequestError("config", "must be a dict")
        self.config: Mapping[str, Any] | None = config
        self.root = body if config is None else config
        configs = (get(self.root, name) for name in ("generationConfig", "toolConfig"))
        within = [held for held in (self.root, *configs, *self.tools()) if isinstance(held, Mapping)]
        is_camel = any(
            key_of(self.root, name) == name for name in ("toolConfig", "generationConfig", "responseMimeType")
        )
        self._snake = not is_camel if config is not None else is_snake(within)

    def key(self, name: str) -> str:
        """The key of a field, named here in camelCase, that is there or to be written."""
        return key_of(self.root, name) or self.name(name)

    def name(self, name: str) -> str:
        """A field's name in the body's style."""
        return snake(name) if self._snake else name

    def table(self, name: str) -> Mapping[str, Any]:
        """A field that is an object; an empty one where it is not there. Raises ``RequestError``."""
        value = get(self.root, name)
        if value is not None and not isinstance(value, Mapping):
            raise RequestError(self.path(self.key(name)), "must be a dict")
        return value or {}

    def tools(self) -> list[Any]:
        """The tools that the body has. Raises ``RequestError``."""
        tools = self.root.get("tools")
        if tools is not None and not isinstance(tools, list | tuple):
            raise RequestError(self.path("tools"), "must be a list")
        return list(tools or ())

    def path(self, name: str) -> str:
        """A field's path from the body."""
        return name if self.config is None else f"config.{name}"

    def check_extra(self, ours: Mapping[str, Any]) -> None:
        """Raises ``RequestError`` where the client would lay something over what is written."""
        options = get(self.root, "httpOptions")
        extra = get(options, "extraBody") if isinstance(options, Mapping) else None
        if not isinstance(extra, Mapping):
            return
        for name in ours:
            if any(name in (key, snake(key)) for key in extra if isinstance(key, str)):
                where = self.path(f"{self.key('httpOptions')}.extra_body.{name}")
                raise RequestError(where, "would be laid over what is written; put it into the body itself")


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(place: _Place, toolset: Toolset) -> dict[str, Any]:
    """The tools of the body and, in the last of them that declares functions or one of their own, the toolset's."""
    ours = [_declaration(compiled, place, toolset) for compiled in toolset]
    if not ours:
        return {}
    tools = place.tools()
    declared = [position for position, tool in enumerate(tools) if _declared(tool)]
    others = [item for position in declared[:-1] for item in _declared(tools[position])]
    # Not a tool of their own beside others that declare functions: some models take only one.
    last = tools[declared[-1]] if declared else {}
    joined = with_tools([*others, *_declared(last)], ours, lambda item: item.get("name"))[len(others) :]
    key = key_of(last, "functionDeclarations") or place.name("functionDeclarations")
    made = {**last, key: joined}
    if declared:
        tools[declared[-1]] = made
    else:
        tools.append(made)
    return {"tools": tools}


def _declared(tool: Any) -> list[Any]:
    """The functions that a tool declares."""
    declared = get(tool, "functionDeclarations") if isinstance(tool, Mapping) else None
    return list(declared) if isinstance(declared, list | tuple) else []


def _declaration(compiled: CompiledTool, place: _Place, toolset: Toolset) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": compiled.name}
    if compiled.description is not None:
        declaration["description"] = compiled.description
    schema = parameters(compiled)
    if toolset.dialect.schema_language == "openapi" and _takes_nothing(schema):
        return declaration  # "For function with no parameters, this can be left unset"; older servers refuse it empty
    declaration[place.name(_SCHEMA_FIELDS[toolset.dialect.schema_language])] = schema
    return declaration


def _takes_nothing(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and not schema.keys() - {"type", "properties"}
        and not schema.get("properties")
    )


# --- the choice -------------------------------------------------------------------------------------------------------


def _choice(place: _Place, toolset: Toolset, tool_choice: ToolChoice, *, has_tools: bool) -> dict[str, Any]:
    """The tool configuration where something of it is to be written: there is none without tools."""
    if not has_tools and tool_choice is not None:
        if tool_choice == "required":
            raise RequestError("tool_choice", "a call is required, and there are no tools")
        chosen(tool_choice, toolset)
        return {}
    whole = place.table("toolConfig")
    inner_key = key_of(whole, "functionCallingConfig") or place.name("functionCallingConfig")
    given = whole.get(inner_key)
    if given is not None and not isinstance(given, Mapping):
        raise RequestError(place.path(f"{place.key('toolConfig')}.{inner_key}"), "must be a dict")
    given = given or {}
    wanted = _wanted(place, given, toolset, tool_choice)
    if wanted == dict(given):
        return {}
    return {place.key("toolConfig"): {**whole, inner_key: wanted}}


def _wanted(place: _Place, given: Mapping[str, Any], toolset: Toolset, tool_choice: ToolChoice) -> dict[str, Any]:
    names_key = key_of(given, "allowedFunctionNames") or place.name("allowedFunctionNames")
    choice = chosen(tool_choice, toolset)
    if choice is None:
        wanted = dict(given)
        if isinstance(given.get(names_key), list | tuple):
            wanted[names_key] = [known_name(name, toolset) for name in given[names_key]]
    else:
        wanted = {name: value for name, value in given.items() if name not in ("mode", names_key)}
        if isinstance(choice, tuple) and choice:
            # A list of names without the duty to call one is taken beside VALIDATED only.
            wanted |= {"mode": "ANY" if isinstance(tool_choice, str) else _HELD, names_key: list(choice)}
        else:
            wanted["mode"] = _MODES["none" if isinstance(choice, tuple) else choice]
    dialect = toolset.dialect
    if toolset.strict and dialect.strict_place == "mode" and _mode(wanted) in _FREE_MODES:
        wanted[dialect.strict_field] = dialect.strict_value
    return wanted


def _mode(config: Mapping[str, Any]) -> str:
    """The mode, as text: clients have enums for it."""
    mode = config.get("mode")
    return str(getattr(mode, "value", mode) or "").upper()


# --- output -----------------------------------------------------------------------------------------------------------


def _output(place: _Place, output: CompiledTool) -> dict[str, Any]:
    """The fields that ask for the output: in the client's config, or in the generation config of the API.

    Raises ``RequestError`` where the body asks for something else.
    """
    within = place.root if place.config is not None else place.table("generationConfig")
    schema = parameters(output)
    field = _OUTPUT_FIELDS[output.dialect.schema_language]
    wanted = {field: schema, "responseMimeType": _JSON}
    for name in ("responseSchema", "responseJsonSchema", "responseMimeType"):
        key = key_of(within, name)
        if key is not None and within[key] != wanted.get(name):
            raise RequestError(place.path(key), "the body asks for another output already")
    made = {key_of(within, name) or place.name(name): value for name, value in wanted.items()}
    if place.config is not None:
        return made
    return {place.key("generationConfig"): {**within, **made}}
