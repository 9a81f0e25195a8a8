"""Chat Completions: OpenAI's API, and that of the many who speak it.

``write`` makes a request's body, ``read`` and ``Stream`` take answers, ``results`` and ``history`` are for the next
request. Bodies, answers and chunks are plain dicts, as ``response.model_dump()`` of the ``openai`` client gives them.

Sources: ``CreateChatCompletionRequest`` of https://github.com/openai/openai-openapi; ``strict_tools`` of
https://docs.cohere.com/docs/structured-outputs. Where each dialect marks strict tools is in its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strictcall.api.chat_completions_answers import Stream, read
from strictcall.api.chat_completions_history import history, results
from strictcall.api.writing import (
    ToolChoice,
    check_output,
    chosen,
    known_name,
    listed,
    marking,
    merged,
    one_call_only,
    parameters,
    request_marking,
    said,
    with_tools,
)
from strictcall.errors import RequestError
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

__all__ = ["Stream", "history", "read", "results", "write"]


def write(
    body: Mapping[str, Any],
    toolset: Toolset,
    *,
    tool_choice: ToolChoice = None,
    output: CompiledTool | None = None,
) -> dict[str, Any]:
    """A new body with the tools of a toolset after those that it has, ready to be sent.

    ``tool_choice`` stands in place of the body's; a name in either may be a tool's own. ``output`` is a schema for the
    answer, compiled for structured output. The messages go through ``history``. With no strict tool nothing is written
    but the tools, unless the provider must be told that they are loose. A marking of the whole request, which is no
    field of OpenAI's, stands in ``extra_body`` where the body has one, for OpenAI's client takes it there only.

    The order of merging is: the body, what stands in its ``extra_body``, then what is written here. So
    ``parallel_tool_calls`` stays false where strict tools must be called one at a time, whatever else says.

    Raises ``RequestError`` for a choice that names no tool, for a tool of the body with the name of another, and for an
    output where the body asks for another, or where the provider takes none beside tools.
    """
    ours: dict[str, Any] = {}
    messages = said(body, "messages")
    if isinstance(messages, list | tuple):
        ours["messages"] = history(messages, toolset)
    tools = with_tools(listed(body, "tools"), [_tool(compiled, toolset) for compiled in toolset], _name)
    if tools:
        ours["tools"] = tools
    choice = _choice(said(body, "tool_choice"), toolset, tool_choice, has_tools=bool(tools))
    if choice is not None:
        ours["tool_choice"] = choice
    if one_call_only(toolset):
        ours["parallel_tool_calls"] = False
    if output is not None:
        check_output(output, "response_format", beside_tools=bool(tools))
        ours["response_format"] = _response_format(said(body, "response_format"), output)
    return _marked(merged(body, ours), request_marking(toolset))


def _marked(body: dict[str, Any], marking: dict[str, Any]) -> dict[str, Any]:
    """A body with the marking of a whole request: where it has ``extra_body`` it is a client's, which takes fields
    that are not OpenAI's there only.
    """
    extra = body.get("extra_body")
    if marking and isinstance(extra, Mapping):
        return {**body, "extra_body": {**extra, **marking}}
    return {**body, **marking}


def _name(tool: Any) -> str | None:
    """The name of a tool in a body, where it has one."""
    function = tool.get("function") if isinstance(tool, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else None


def _tool(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    function: dict[str, Any] = {"name": compiled.name}
    if compiled.description is not None:
        function["description"] = compiled.description
    function["parameters"] = parameters(compiled)
    mark = marking(compiled, toolset)
    if toolset.dialect.strict_place == "tool":
        return {"type": "function", "function": function, **mark}
    return {"type": "function", "function": {**function, **mark}}


def _choice(given: Any, toolset: Toolset, tool_choice: ToolChoice, *, has_tools: bool) -> Any:
    """The choice that is sent; ``None`` where none is: the API takes none in a request without tools."""
    choice = chosen(tool_choice, toolset)
    if choice is None:
        return _with_wire_names(given, toolset)
    if not has_tools:
        if choice == "required":
            raise RequestError("tool_choice", "a call is required, and there are no tools")
        return None
    if isinstance(choice, str):
        return choice
    functions = [{"type": "function", "function": {"name": name}} for name in choice]
    if isinstance(tool_choice, str):
        return functions[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": functions}} if functions else "none"


def _with_wire_names(choice: Any, toolset: Toolset) -> Any:
    """A choice of the body's, its names those of the wire."""
    if not isinstance(choice, Mapping):
        return choice
    changed = dict(choice)
    function, allowed = choice.get("function"), choice.get("allowed_tools")
    if isinstance(function, Mapping):
        changed["function"] = {**function, "name": known_name(function.get("name"), toolset)}
    if isinstance(allowed, Mapping) and isinstance(allowed.get("tools"), list | tuple):
        tools = [_with_wire_names(tool, toolset) for tool in allowed["tools"]]
        changed["allowed_tools"] = {**allowed, "tools": tools}
    return changed


def _response_format(given: Any, output: CompiledTool) -> dict[str, Any]:
    """What asks for the output. Raises ``RequestError`` where the body asks for something else."""
    schema: dict[str, Any] = {"name": output.name}
    if output.description is not None:
        schema["description"] = output.description
    schema["schema"] = parameters(output)
    dialect = output.dialect
    if dialect.strict_place != "none" and output.strict:
        schema["strict"] = True
    elif dialect.strict_place != "none" and dialect.strict_default != "loose" and dialect.strict_marking == "false":
        schema["strict"] = False
    wanted = {"type": "json_schema", "json_schema": schema}
    if given is not None and given != wanted:
        raise RequestError("response_format", "the body asks for another output already")
    return wanted
