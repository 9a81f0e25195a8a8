"""What goes to Anthropic's Messages API: requests, histories and the results of calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.fields import text
from strictcall.api.ids import CallIds
from strictcall.api.object_calls import as_said_object, block_history, replayed_object
from strictcall.api.writing import (
    ONE_TOOL_ONLY,
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

LEGAL_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
"""The API's own error: ``tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'``."""
_MODES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "required": "any"}
_PARALLEL: Final = "disable_parallel_tool_use"


def write(
    body: Mapping[str, Any], toolset: Toolset, *, tool_choice: ToolChoice = None, output: CompiledTool | None = None
) -> dict[str, Any]:
    """A new body with the tools in it, and with calls of its history in the form that they have for the model.

    A tool is ``{name, description, input_schema}`` with the dialect's strict marking; it stands after those that the
    body has. ``tool_choice`` is ``auto``, ``none``, ``required`` (``any``) or a tool's name; the API cannot limit a
    choice to several tools. Where calls must not be parallel, the choice that results says so
    (``disable_parallel_tool_use``), whatever the body or its ``extra_body`` say. ``output`` is put under
    ``output_config.format``, which is always held.

    Raises ``RequestError`` for a name that no tool has, a tool that the body has already otherwise, another schema for
    the answer, and an ``output`` that could not be compiled strict.
    Source: https://docs.anthropic.com/en/api/messages
    """
    ours: dict[str, Any] = request_marking(toolset)
    if isinstance(said(body, "messages"), list | tuple):
        ours["messages"] = history(listed(body, "messages"), toolset)
    if len(toolset):
        tools = [_tool(compiled, toolset) for compiled in toolset]
        ours["tools"] = with_tools(listed(body, "tools"), tools, lambda tool: tool.get("name"))
    choice = _choice(said(body, "tool_choice"), toolset, tool_choice)
    if choice is not None:
        ours["tool_choice"] = choice
    if output is not None:
        check_output(output, "output_config.format", beside_tools=bool(ours.get("tools") or listed(body, "tools")))
        ours["output_config"] = _output(body, output)
    return merged(body, ours)


def history(messages: Iterable[Any], toolset: Toolset) -> list[Any]:
    """Messages for a body from the API's own ones and ``Answer`` objects.

    An answer becomes the assistant's message: that of this API as it came, thoughts with their signatures, its calls
    as ``replayed_object`` has them; that of another from its text and calls. An answer that says nothing and calls
    nothing is left out, as the API takes no empty message. In messages of the API itself only names and arguments of
    calls are looked at; what need not change is the same object.
    """
    ids = CallIds(LEGAL_ID, "toolu_")
    return block_history(
        messages,
        lambda answer: _answered(answer, toolset, ids),
        lambda block: _said_block(block, toolset, ids),
    )


def results(calls: Sequence[Call], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The message that answers an answer's calls, with one text for each, in their order; none where nothing was
    called.

    Raises ``RequestError`` where there are not as many texts as calls.
    """
    named = CallIds(LEGAL_ID, "toolu_").answered(calls, outputs)
    content = [{"type": "tool_result", "tool_use_id": call_id, "content": output} for call_id, output in named]
    return [{"role": "user", "content": content}] if content else []


# --- requests ---------------------------------------------------------------------------------------------------------


def _tool(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": compiled.name}
    if compiled.description is not None:
        tool["description"] = compiled.description
    return {**tool, "input_schema": parameters(compiled), **marking(compiled, toolset)}


def _choice(given: Any, toolset: Toolset, choice: ToolChoice) -> dict[str, Any] | None:
    """The choice that results; ``None`` where the body's own stays as it is."""
    wanted = chosen(choice, toolset)
    made: dict[str, Any] | None = None
    if isinstance(wanted, tuple):
        if not isinstance(choice, str):
            raise RequestError("tool_choice", f"the API {ONE_TOOL_ONLY}")
        made = {"type": "tool", "name": wanted[0]}
    elif wanted is not None:
        made = {"type": _MODES[wanted]}
    elif isinstance(given, Mapping) and given.get("type") == "tool":
        name = known_name(given.get("name"), toolset)
        made = None if name == given.get("name") else {**given, "name": name}
    if made is not None and isinstance(given, Mapping) and _PARALLEL in given and made["type"] != "none":
        made[_PARALLEL] = given[_PARALLEL]
    if not one_call_only(toolset):
        return made
    if made is None:
        made = dict(given) if isinstance(given, Mapping) else {"type": "auto"}
    return made if made.get("type") == "none" else {**made, _PARALLEL: True}


def _output(body: Mapping[str, Any], output: CompiledTool) -> dict[str, Any]:
    place = "output_config.format"
    if not output.strict:
        raise RequestError(place, f"the API holds every schema, and this one cannot be held: {output.reason}")
    given = said(body, "output_config")
    config = dict(given) if isinstance(given, Mapping) else {}
    form = {"type": "json_schema", "schema": output.parameters}
    if said(body, "output_format") is not None:
        raise RequestError("output_format", "the body has another schema for the answer")
    if config.get("format") not in (None, form):
        raise RequestError(place, "the body has another schema for the answer")
    return {**config, "format": form}


# --- histories --------------------------------------------------------------------------------------------------------


def _answered(answer: Answer, toolset: Toolset, ids: CallIds) -> list[dict[str, Any]]:
    blocks = _own_blocks(answer)
    calls = zip(ids.of(answer.calls), answer.calls, strict=True)
    if blocks is None:
        spoken = [{"type": "text", "text": answer.text}] if answer.text.strip() else []
        return spoken + [_tool_use({"type": "tool_use"}, call, call_id, toolset) for call_id, call in calls]
    made = []
    for block in blocks:
        if block["type"] == "tool_use":
            call_id, call = next(calls)
            made.append(_tool_use(block, call, call_id, toolset))
        elif not _is_blank(block):
            made.append(block)
    return made


def _own_blocks(answer: Answer) -> list[dict[str, Any]] | None:
    """The blocks of an answer of this API; ``None`` for that of another.

    A message of Chat Completions may have a list of contents with types as well, but calls elsewhere.
    """
    native = answer.native
    if not isinstance(native, dict) or native.get("role") != "assistant" or "tool_calls" in native:
        return None
    blocks = native.get("content")
    if not isinstance(blocks, list) or not all(_is_block(block) for block in blocks):
        return None
    uses = sum(block["type"] == "tool_use" for block in blocks)
    return blocks if uses == len(answer.calls) else None


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or not text(block.get("type")):
        return False
    return block["type"] != "thinking" or isinstance(block.get("thinking"), str)


def _is_blank(block: dict[str, Any]) -> bool:
    """Whether the API would refuse a block: ``text content blocks must contain non-whitespace text``."""
    return block["type"] == "text" and not text(block.get("text")).strip()


def _tool_use(block: dict[str, Any], call: Call, call_id: str, toolset: Toolset) -> dict[str, Any]:
    name, arguments = replayed_object(call, toolset)
    return {**block, "id": call_id, "name": name, "input": arguments}


def _said_block(block: Any, toolset: Toolset, ids: CallIds) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "tool_result":
        call_id = text(block.get("tool_use_id"))
        now = ids.current(call_id)
        return block if now == call_id else {**block, "tool_use_id": now}
    if block.get("type") != "tool_use" or not isinstance(block.get("name"), str):
        return block
    name, arguments = as_said_object(block["name"], block.get("input"), toolset)
    if name == block["name"] and arguments is block.get("input"):
        return block
    return {**block, "name": name, "input": arguments}
