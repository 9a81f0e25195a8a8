"""What goes to OpenAI's Responses API: requests, histories and the results of calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from strictcall.api.answer import Answer, Call
from strictcall.api.fields import text
from strictcall.api.ids import CallIds
from strictcall.api.object_calls import replayed_text
from strictcall.api.writing import (
    ToolChoice,
    as_said,
    check_output,
    chosen,
    known_name,
    listed,
    marking,
    marks,
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

LEGAL_ID: Final = re.compile(r"(?s:.{1,64})")
"""The API's own error: ``Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64``."""


def write(
    body: Mapping[str, Any], toolset: Toolset, *, tool_choice: ToolChoice = None, output: CompiledTool | None = None
) -> dict[str, Any]:
    """A new body with the tools in it, and with calls of its history in the form that they have for the model.

    A tool is ``{type: function, name, description, parameters}`` with the dialect's strict marking; it stands after
    those that the body has. What is not marked is not loose here, as it is in Chat Completions: the API then tries to
    hold the schema, and may make optional fields required. So where any tool is marked, a loose one says
    ``strict: false``, whatever the dialect has for loose tools elsewhere; where none is, nothing is said.

    ``tool_choice`` is ``auto``, ``none``, ``required``, a tool's name, or names of tools that alone may be called
    (``allowed_tools``). Where calls must not be parallel, ``parallel_tool_calls`` is false, whatever the body or its
    ``extra_body`` say. ``output`` is put under ``text.format``.

    Raises ``RequestError`` for a name that no tool has, a tool that the body has already otherwise, and another schema
    for the answer.
    Source: https://platform.openai.com/docs/api-reference/responses/create and its specification
    (https://github.com/openai/openai-openapi, ``FunctionToolParam``).
    """
    ours: dict[str, Any] = request_marking(toolset)
    if isinstance(said(body, "input"), list | tuple):
        unstored = said(body, "store") is False
        ours["input"] = _items(listed(body, "input"), toolset, unstored=unstored)
    if len(toolset):
        tools = [_tool(compiled, toolset) for compiled in toolset]
        ours["tools"] = with_tools(listed(body, "tools"), tools, lambda tool: tool.get("name"))
    choice = _choice(said(body, "tool_choice"), toolset, tool_choice)
    if choice is not None:
        ours["tool_choice"] = choice
    if one_call_only(toolset):
        ours["parallel_tool_calls"] = False
    if output is not None:
        check_output(output, "text.format", beside_tools=bool(ours.get("tools") or listed(body, "tools")))
        ours["text"] = _output(said(body, "text"), output)
    return merged(body, ours)


def history(messages: Iterable[Any], toolset: Toolset) -> list[Any]:
    """Items for the ``input`` of a body from the API's own ones and ``Answer`` objects.

    An answer becomes its items: those of this API as they came, thoughts before what they led to, its calls as
    ``replayed_text`` has them; that of another from its text and calls. In items of the API itself only names and
    arguments of calls are looked at; what need not change is the same object.

    Where nothing is stored (``store: false``), a reasoning item without ``encrypted_content`` is not found again;
    ``write``, which sees that, leaves it out of an answer's items.
    """
    return _items(messages, toolset, unstored=False)


def results(calls: Sequence[Call], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The items that answer an answer's calls, one text for each, in their order.

    Raises ``RequestError`` where there are not as many texts as calls.
    """
    named = CallIds(LEGAL_ID).answered(calls, outputs)
    return [{"type": "function_call_output", "call_id": call_id, "output": output} for call_id, output in named]


# --- requests ---------------------------------------------------------------------------------------------------------


def _tool(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": "function", "name": compiled.name}
    if compiled.description is not None:
        tool["description"] = compiled.description
    return {**tool, "parameters": parameters(compiled), **_marking(compiled, toolset)}


def _marking(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    dialect = toolset.dialect
    mark = marking(compiled, toolset)
    if mark or compiled.strict or not marks(toolset):
        return mark
    takes_one = dialect.strict_place in ("function", "tool") and dialect.strict_marking != "forbidden"
    return {dialect.strict_field: False} if takes_one else {}


def _choice(given: Any, toolset: Toolset, choice: ToolChoice) -> Any:
    """The choice that results; ``None`` where the body's own stays as it is."""
    wanted = chosen(choice, toolset)
    if isinstance(wanted, tuple):
        named = [{"type": "function", "name": name} for name in wanted]
        return named[0] if isinstance(choice, str) else {"type": "allowed_tools", "mode": "auto", "tools": named}
    if wanted is not None or not isinstance(given, Mapping):
        return wanted
    made = _renamed(given, toolset)
    if isinstance(given.get("tools"), list | tuple):
        made = {**given, "tools": [_renamed(tool, toolset) for tool in given["tools"]]}
    return None if made == given else made


def _renamed(tool: Any, toolset: Toolset) -> Any:
    """What names a function in a choice, by its wire name."""
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        return tool
    name = known_name(tool.get("name"), toolset)
    return tool if name == tool.get("name") else {**tool, "name": name}


def _output(given: Any, output: CompiledTool) -> dict[str, Any]:
    if not isinstance(output.parameters, dict):
        raise RequestError("text.format", f"the schema is no object: {output.reason}")
    config = dict(given) if isinstance(given, Mapping) else {}
    form = {"type": "json_schema", "name": output.name, "schema": output.parameters, **_output_marking(output)}
    if config.get("format") not in (None, {"type": "text"}, form):
        raise RequestError("text.format", "the body has another form for the answer")
    return {**config, "format": form}


def _output_marking(output: CompiledTool) -> dict[str, Any]:
    """The flag of a schema for the answer: the API has one, wherever the dialect marks its tools."""
    dialect = output.dialect
    if dialect.strict_place in ("none", "mode"):
        return {}
    if output.strict:
        return {"strict": True}
    return {"strict": False} if dialect.strict_marking == "false" else {}


# --- histories --------------------------------------------------------------------------------------------------------


def _items(messages: Iterable[Any], toolset: Toolset, *, unstored: bool) -> list[Any]:
    ids = CallIds(LEGAL_ID)
    made: list[Any] = []
    for message in messages:
        if isinstance(message, Answer):
            made += _answered(message, toolset, ids, unstored=unstored)
        else:
            made.append(_said(message, toolset, ids))
    return made


def _answered(answer: Answer, toolset: Toolset, ids: CallIds, *, unstored: bool) -> Iterator[dict[str, Any]]:
    items = _own_items(answer)
    calls = zip(ids.of(answer.calls), answer.calls, strict=True)
    if items is None:
        if answer.text:
            yield {"role": "assistant", "content": answer.text}
        for call_id, call in calls:
            yield _function_call({"type": "function_call"}, call, call_id, toolset)
        return
    for item in _kept(items, unstored=unstored):
        if item.get("type") == "function_call":
            call_id, call = next(calls)
            yield _function_call(item, call, call_id, toolset)
        else:
            yield item


def _own_items(answer: Answer) -> list[dict[str, Any]] | None:
    """The items of an answer of this API; ``None`` for that of another, whose turn is no list."""
    items = answer.native
    if not isinstance(items, list) or not all(isinstance(item, dict) and text(item.get("type")) for item in items):
        return None
    uses = sum(item["type"] == "function_call" for item in items)
    return items if uses == len(answer.calls) else None


def _kept(items: list[dict[str, Any]], *, unstored: bool) -> list[dict[str, Any]]:
    """The items that the API takes back.

    Thoughts that led to nothing are refused (``provided without its required following item``), as are those that are
    not found; then the ids of what they led to go too, by which they would be missed. Fields without a value, which a
    client's object has for all that a response may have, are not all taken.
    """
    while items and items[-1]["type"] == "reasoning":
        items = items[:-1]
    lost = unstored and any(_is_lost(item) for item in items)
    kept = [item for item in items if not (lost and _is_lost(item))]
    return [_taken_back(item, without_id=lost and item["type"] != "reasoning") for item in kept]


def _is_lost(item: dict[str, Any]) -> bool:
    return bool(item["type"] == "reasoning") and not item.get("encrypted_content")


def _taken_back(item: dict[str, Any], *, without_id: bool) -> dict[str, Any]:
    dropped = [name for name, value in item.items() if value is None or (without_id and name == "id")]
    return {name: value for name, value in item.items() if name not in dropped} if dropped else item


def _function_call(item: dict[str, Any], call: Call, call_id: str, toolset: Toolset) -> dict[str, Any]:
    name, arguments = replayed_text(call, toolset)
    return {**item, "call_id": call_id, "name": name, "arguments": arguments}


def _said(item: Any, toolset: Toolset, ids: CallIds) -> Any:
    """An item of the API itself; the very one where nothing in it changes."""
    if not isinstance(item, Mapping):
        return item
    if item.get("type") == "function_call_output":
        call_id = text(item.get("call_id"))
        now = ids.current(call_id)
        return item if now == call_id else {**item, "call_id": now}
    if item.get("type") != "function_call" or item.get("namespace") is not None:
        return item
    if not isinstance(item.get("name"), str) or not isinstance(item.get("arguments"), str):
        return item
    name, arguments = as_said(item["name"], item["arguments"], toolset)
    if name == item["name"] and arguments == item["arguments"]:
        return item
    return {**item, "name": name, "arguments": arguments}
