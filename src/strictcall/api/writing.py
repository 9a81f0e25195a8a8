"""What every API's request needs: how tools are marked, whether calls may be parallel, which names a choice means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from strictcall.api.answer import Answer, Call
from strictcall.api.reading import find_tool
from strictcall.errors import ArgumentsError, RequestError
from strictcall.json_value import LimitError, compact, parse
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

ToolChoice = str | Sequence[str] | None
"""``auto``, ``none``, ``required``, the name of a tool that must be called, names of tools that alone may be, or
``None``: what the body says.
"""
MODES: Final = ("auto", "none", "required")
ONE_TOOL_ONLY: Final = "cannot limit a choice to several tools; leave the others out of the toolset"
"""What is said of an API that has no words for a choice of several tools."""
NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


def marks(toolset: Toolset) -> bool:
    """Whether the tools of a request carry strict markings: without a strict tool only where being loose must be
    said.
    """
    return bool(toolset.strict) or (len(toolset) > 0 and toolset.dialect.strict_default != "loose")


def marking(compiled: CompiledTool, toolset: Toolset) -> dict[str, Any]:
    """The field that marks a tool, empty where it carries none; for dialects that mark each tool."""
    dialect = toolset.dialect
    if dialect.strict_place not in ("function", "tool") or not marks(toolset):
        return {}
    if compiled.strict:
        return {dialect.strict_field: dialect.strict_value}
    return {dialect.strict_field: False} if dialect.strict_marking == "false" else {}


def request_marking(toolset: Toolset) -> dict[str, Any]:
    """The field that marks a whole request, empty where it carries none."""
    dialect = toolset.dialect
    if dialect.strict_place != "request" or not toolset.strict:
        return {}
    return {dialect.strict_field: dialect.strict_value}


def one_call_only(toolset: Toolset) -> bool:
    """Whether calls must not be parallel: decided by the tools that are really strict, and by nothing else."""
    return bool(toolset.strict) and not toolset.dialect.parallel_with_strict


def parameters(compiled: CompiledTool) -> Any:
    """A tool's schema as it is sent: that of a tool without one takes no arguments."""
    return NO_PARAMETERS if compiled.parameters is None else compiled.parameters


def chosen(choice: ToolChoice, toolset: Toolset) -> Literal["auto", "none", "required"] | tuple[str, ...] | None:
    """A choice with wire names. Raises ``RequestError`` for a name that is not among the tools."""
    if choice is None or choice in MODES:
        return choice  # type: ignore[return-value]
    names = (choice,) if isinstance(choice, str) else tuple(choice)
    return tuple(wire_name(name, toolset, "tool_choice") for name in names)


def wire_name(name: str, toolset: Toolset, place: str) -> str:
    """The wire name of a tool named by either of its names. Raises ``RequestError``."""
    compiled = find_tool(toolset, name)
    if compiled is None:
        offered = ", ".join(tool.tool.name for tool in toolset) or "none"
        raise RequestError(place, f"no tool is called {name!r}; there are {offered}")
    return compiled.name


def known_name(name: Any, toolset: Toolset) -> Any:
    """The wire name of a tool that stands in a body by its own name; any other name as it is."""
    compiled = find_tool(toolset, name) if isinstance(name, str) else None
    return name if compiled is None else compiled.name


def check_output(output: CompiledTool, place: str, *, beside_tools: bool) -> None:
    """Raises ``RequestError`` where the provider takes no structured output in a request that has tools."""
    if beside_tools and not output.dialect.output_beside_tools:
        problem = f"{output.dialect.title} takes no schema for the answer in a request with tools"
        raise RequestError(place, f"{problem}; ask for it in a request of its own")


def merged(body: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the fields that are ours laid over it.

    The order is: the body, then what is ours. Whatever a client merges in later under ``extra_body`` (as OpenAI's and
    Anthropic's do) cannot undo it: names that are ours are taken out of there.
    """
    made = {**body, **ours}
    extra = made.get("extra_body")
    if isinstance(extra, Mapping) and not ours.keys().isdisjoint(extra):
        made["extra_body"] = {name: value for name, value in extra.items() if name not in ours}
    return made


def said(body: Mapping[str, Any], name: str) -> Any:
    """What a body says in a field, where ``extra_body``, which a client lays over it, has the last word."""
    extra = body.get("extra_body")
    return extra[name] if isinstance(extra, Mapping) and name in extra else body.get(name)


def listed(body: Mapping[str, Any], name: str) -> list[Any]:
    """A list in a body, where it has one. Raises ``RequestError`` for anything else there."""
    value = said(body, name)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise RequestError(name, "must be a list")
    return list(value)


def with_tools(given: Sequence[Any], ours: Sequence[dict[str, Any]], name_of: Callable[[Any], Any]) -> list[Any]:
    """A body's tools and ours after them; one that is there already, as when a body is written twice, stays as it is.

    Raises ``RequestError`` for a tool of the body that has a name of ours and is another.
    """
    names = {name_of(tool): tool for tool in ours}
    for position, tool in enumerate(given):
        name = name_of(tool) if isinstance(tool, Mapping) else None
        if isinstance(name, str) and name in names and tool != names.pop(name):
            raise RequestError(f"tools[{position}]", f"the toolset has another tool that is called {name!r} too")
    return [*given, *names.values()]


def replayed(call: Call, toolset: Toolset) -> tuple[str, str]:
    """The wire name of a call of the history and the text of its arguments.

    A call that answered the same wire form is said again as it was said, so that a provider's cache stays warm;
    another is written anew, and if it has faults or no longer fits, it stays as it was.
    """
    compiled = find_tool(toolset, call.name)
    if compiled is None:
        return call.wire_name or call.name, call.raw
    if call.raw and (call.fingerprint == compiled.fingerprint or call.faults):
        return compiled.name, call.raw
    try:
        return compiled.name, compact(compiled.encode(call.arguments))
    except ArgumentsError:
        return compiled.name, call.raw or compact(call.arguments)


def as_said(name: str, text: str, toolset: Toolset) -> tuple[str, str]:
    """The same for a call found in a body, of which nothing is known: name and arguments, JSON text.

    Arguments that the contract admits and the wire schema does not are in contract form, and written anew. All others
    stay as they are.
    """
    compiled = find_tool(toolset, name)
    if compiled is None:
        return name, text
    try:
        arguments = parse(text) if text.strip() else {}
    except LimitError:
        return compiled.name, text
    again = encoded(compiled, arguments)
    return compiled.name, text if again is arguments else compact(again)


def encoded(compiled: CompiledTool, arguments: Any) -> Any:
    """Arguments of a call found in a body in wire form; the very same where they are that, or neither."""
    if compiled.identity or compiled.is_wire_form(arguments) or compiled.check(arguments):
        return arguments
    try:
        return compiled.encode(arguments)
    except ArgumentsError:
        return arguments


def no_answers(messages: Iterable[Any]) -> bool:
    """Whether a history holds nothing but the API's own messages."""
    return not any(isinstance(message, Answer) for message in messages)
