"""What goes to Amazon Bedrock's Converse API: requests, histories and the results of calls."""

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
    parameters,
    with_tools,
)
from strictcall.errors import RequestError
from strictcall.json_value import compact
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

LEGAL_ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
"""``ToolUseId`` of the API's model."""


def write(
    body: Mapping[str, Any], toolset: Toolset, *, tool_choice: ToolChoice = None, output: CompiledTool | None = None
) -> dict[str, Any]:
    """A new body with the tools in it, and with calls of its history in the form that they have for the model.

    A tool is a ``toolSpec`` of ``toolConfig.tools`` with the dialect's strict marking beside its name; it stands after
    those that the body has. ``tool_choice`` is ``auto``, ``required`` (``any``) or a tool's name; the API has neither
    ``none`` nor a choice of several. ``output`` is put under ``outputConfig.textFormat``, its schema as text.

    The API has no documented way to forbid parallel calls, so nothing is said of them: no dialect of a model on Bedrock
    needs it.

    Raises ``RequestError`` for a name that no tool has, a choice that the API has not, a tool that the body has already
    otherwise, another schema for the answer, and an ``output`` that could not be compiled strict.
    Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    """
    made = dict(body)
    if isinstance(body.get("messages"), list | tuple):
        made["messages"] = history(listed(body, "messages"), toolset)
    given = _mapping(body, "toolConfig")
    config = dict(given)
    if len(toolset):
        tools = [_tool(compiled, toolset) for compiled in toolset]
        config["tools"] = with_tools(listed(given, "tools"), tools, _name)
    choice = _choice(given.get("toolChoice"), toolset, tool_choice)
    if choice is not None:
        config["toolChoice"] = choice
    if config != given:
        made["toolConfig"] = config
    if output is not None:
        check_output(output, "outputConfig.textFormat", beside_tools=bool(config.get("tools")))
        made["outputConfig"] = _output(_mapping(body, "outputConfig"), output)
    return made


def history(messages: Iterable[Any], toolset: Toolset) -> list[Any]:
    """Messages for a body from the API's own ones and ``Answer`` objects.

    An answer becomes the assistant's message: that of this API as it came, thoughts with their signatures, its calls
    as ``replayed_object`` has them; that of another from its text and calls. An answer that says nothing and calls
    nothing is left out, as the API takes no empty message. In messages of the API itself only names and arguments of
    calls are looked at; what need not change is the same object.
    """
    ids = CallIds(LEGAL_ID, "tooluse_")
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
    named = CallIds(LEGAL_ID, "tooluse_").answered(calls, outputs)
    content = [{"toolResult": {"toolUseId": call_id, "content": [{"text": output}]}} for call_id, output in named]
    return [{"role": "user", "content": content}] if content else []


# --- requests ---------------------------------------------------------------------------------------------------------


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if not isinstance(value, Mapping | None):
        raise RequestError(name, "must be an object")
    return {} if value is None else value


def _name(tool: Any) -> Any:
    spec = tool.get("toolSpec")
    return spec.get("name") if isinstance(spec, Mapping) else None


def _tool(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": compiled.name}
    if compiled.description:  # an empty one is refused
        spec["description"] = compiled.description
    return {"toolSpec": {**spec, "inputSchema": {"json": parameters(compiled)}, **marking(compiled, toolset)}}


def _choice(given: Any, toolset: Toolset, choice: ToolChoice) -> dict[str, Any] | None:
    """The choice that results; ``None`` where the body's own stays as it is."""
    place = "toolConfig.toolChoice"
    wanted = chosen(choice, toolset)
    if isinstance(wanted, tuple):
        if not isinstance(choice, str):
            raise RequestError(place, f"the API {ONE_TOOL_ONLY}")
        return {"tool": {"name": wanted[0]}}
    if wanted == "none":
        raise RequestError(place, "the API cannot forbid calls; write the request without tools")
    if wanted is not None:
        return {"any": {}} if wanted == "required" else {"auto": {}}
    forced = given.get("tool") if isinstance(given, Mapping) else None
    if not isinstance(forced, Mapping):
        return None
    name = known_name(forced.get("name"), toolset)
    return None if name == forced.get("name") else {"tool": {**forced, "name": name}}


def _output(config: Mapping[str, Any], output: CompiledTool) -> dict[str, Any]:
    place = "outputConfig.textFormat"
    if not output.strict:
        raise RequestError(place, f"the API holds every schema, and this one cannot be held: {output.reason}")
    schema = {"schema": compact(output.parameters), "name": output.name}
    form = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    if config.get("textFormat") not in (None, form):
        raise RequestError(place, "the body has another schema for the answer")
    return {**config, "textFormat": form}


# --- histories --------------------------------------------------------------------------------------------------------


def _answered(answer: Answer, toolset: Toolset, ids: CallIds) -> list[dict[str, Any]]:
    blocks = _own_blocks(answer)
    calls = zip(ids.of(answer.calls), answer.calls, strict=True)
    if blocks is None:
        spoken = [{"text": answer.text}] if answer.text.strip() else []
        return spoken + [_tool_use({"toolUse": {}}, call, call_id, toolset) for call_id, call in calls]
    made = []
    for block in blocks:
        if _is_call(block):
            call_id, call = next(calls)
            made.append(_tool_use(block, call, call_id, toolset))
        elif not _is_blank(block):
            made.append(block)
    return made


def _own_blocks(answer: Answer) -> list[dict[str, Any]] | None:
    """The blocks of an answer of this API; ``None`` for that of another, whose parts have a type, or are no list."""
    native = answer.native
    if not isinstance(native, dict) or native.get("role") != "assistant" or "tool_calls" in native:
        return None
    blocks = native.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) and "type" not in block for block in blocks):
        return None
    return blocks if sum(map(_is_call, blocks)) == len(answer.calls) else None


def _is_call(block: dict[str, Any]) -> bool:
    use = block.get("toolUse")
    return isinstance(use, dict) and use.get("type") != "server_tool_use"


def _is_blank(block: dict[str, Any]) -> bool:
    """Whether the API would refuse a block: ``The text field in the ContentBlock object ... is blank``."""
    return "text" in block and not text(block["text"]).strip()


def _tool_use(block: dict[str, Any], call: Call, call_id: str, toolset: Toolset) -> dict[str, Any]:
    name, arguments = replayed_object(call, toolset)
    return {**block, "toolUse": {**block["toolUse"], "toolUseId": call_id, "name": name, "input": arguments}}


def _said_block(block: Any, toolset: Toolset, ids: CallIds) -> Any:
    if not isinstance(block, dict):
        return block
    result = block.get("toolResult")
    if isinstance(result, dict):
        call_id = text(result.get("toolUseId"))
        now = ids.current(call_id)
        return block if now == call_id else {**block, "toolResult": {**result, "toolUseId": now}}
    use = block.get("toolUse")
    if not isinstance(use, dict) or not _is_call(block) or not isinstance(use.get("name"), str):
        return block
    name, arguments = as_said_object(use["name"], use.get("input"), toolset)
    if name == use["name"] and arguments is use.get("input"):
        return block
    return {**block, "toolUse": {**use, "name": name, "input": arguments}}
