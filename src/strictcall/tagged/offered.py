"""The tools that a text may call, by the names that a model may give them."""

from __future__ import annotations

from collections.abc import Iterable

from strictcall.api.reading import find_tool
from strictcall.errors import Fault
from strictcall.json_value import compact, pointer
from strictcall.tagged.raw import typed
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

TWICE = "is written twice"


class Offered:
    """The tools of a toolset."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset

    def tool(self, name: str) -> CompiledTool | None:
        """The tool that a name stands for."""
        return find_tool(self.toolset, name)

    def has(self, name: str) -> bool:
        """Whether a tool has this name."""
        return self.tool(name) is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names that tools may be called by: those on the wire, and their own."""
        both = ((compiled.name, compiled.tool.name) for compiled in self.toolset)
        return tuple(dict.fromkeys(name for pair in both for name in pair))

    def typed(self, name: str, parameters: Iterable[tuple[str, str]]) -> tuple[str, tuple[Fault, ...]]:
        """Arguments, JSON text, from the raw texts of a call's parameters, each read as the tool's schema types it.

        A parameter that is written twice is a fault, and keeps its first text.
        """
        compiled = self.tool(name)
        found: dict[str, object] = {}
        faults: list[Fault] = []
        for key, raw in parameters:
            if key in found:
                faults.append(Fault(pointer([key]), TWICE))
            else:
                found[key] = raw if compiled is None else typed(raw, compiled, (key,))
        return compact(found), tuple(faults)
