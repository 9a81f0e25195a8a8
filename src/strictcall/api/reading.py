"""From what stands in an answer to a ``Call``: every road by which a call comes ends here."""

from __future__ import annotations

from typing import Any

from strictcall.api.answer import Call
from strictcall.errors import Fault, StreamError
from strictcall.json_value import compact
from strictcall.shape.check import nearest
from strictcall.wire.compiled import CompiledTool, Form
from strictcall.wire.toolset import Toolset

CUT_OFF = Fault("", "the call was cut off before its arguments were complete")


def find_tool(toolset: Toolset, name: str) -> CompiledTool | None:
    """The tool that a call names: by its wire name, else by its own; models read both in descriptions and history."""
    for by_name in (toolset.by_wire_name, toolset.__getitem__):
        try:
            return by_name(name)
        except KeyError:
            continue
    return None


def read_call(toolset: Toolset, call_id: str | None, wire_name: str, raw: str, *, complete: bool = True) -> Call:
    """A call from its name and the JSON text of its arguments.

    A strict tool's arguments are read in wire form; those of a loose one, which no decoder held to a schema, in either
    form. A call that names no tool, or does not fit, has faults and no arguments.
    """
    compiled = find_tool(toolset, wire_name)
    if compiled is None:
        fault = _unknown_tool(toolset, wire_name)
        return Call(call_id, wire_name, None, (fault,), (), raw, wire_name, None, complete)
    name, fingerprint = compiled.tool.name, compiled.fingerprint
    if not complete:
        return Call(call_id, name, None, (CUT_OFF,), (), raw, wire_name, fingerprint, complete=False)
    form: Form = "wire" if compiled.strict else "either"
    reading = compiled.read(raw, form)
    arguments = None if reading.faults else reading.arguments
    return Call(call_id, name, arguments, reading.faults, reading.repairs, raw, wire_name, fingerprint)


def read_output(compiled: CompiledTool, text: str) -> tuple[Any, tuple[Fault, ...]]:
    """The value of an answer's text that a schema was asked of, or what is wrong with it."""
    reading = compiled.read(text, "wire" if compiled.strict else "either")
    return (None, reading.faults) if reading.faults else (reading.arguments, ())


def raw_text(arguments: Any) -> str:
    """Arguments that came as a JSON value, as the text that they are kept as.

    Raises ``StreamError`` for what is no JSON value.
    """
    try:
        return compact(arguments)
    except (TypeError, ValueError, RecursionError):
        raise StreamError("a call's arguments are no JSON value") from None


def _unknown_tool(toolset: Toolset, name: str) -> Fault:
    offered = [compiled.tool.name for compiled in toolset]
    return Fault("", "no tool has this name", compact(name)[:80], nearest(name, offered))
