"""Toolset: the tools of one request, compiled together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.errors import NameClashError
from strictcall.policy import Policy
from strictcall.tool import Tool
from strictcall.wire.compiled import CompiledTool, Form, compile_tool


class Toolset:
    """The tools of one request, in the order they were given.

    ``priority`` names tools, by contract name, that come first when a request's limits cannot hold them all.

    Raises ``NameClashError`` for two tools that would have the same name.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        dialect: str | Dialect = "openai",
        policy: Policy | None = None,
        priority: Iterable[str] = (),
    ) -> None:
        self.dialect = load(dialect) if isinstance(dialect, str) else dialect
        self.policy = policy or Policy()
        self.priority = tuple(priority)
        self._tools: dict[str, CompiledTool] = {}
        self._by_wire_name: dict[str, CompiledTool] = {}
        for tool in tools:
            self._add(compile_tool(tool, self.dialect, self.policy))

    def _add(self, compiled: CompiledTool) -> None:
        other = self._by_wire_name.get(compiled.name)
        if other is not None:
            raise NameClashError(compiled.name, (other.tool.name, compiled.tool.name))
        self._tools[compiled.tool.name] = compiled
        self._by_wire_name[compiled.name] = compiled

    def __getitem__(self, name: str) -> CompiledTool:
        """The tool of a contract name. Raises ``KeyError``."""
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[CompiledTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def by_wire_name(self, name: str) -> CompiledTool:
        """The tool that a call names. Raises ``KeyError``."""
        return self._by_wire_name[name]

    def decode(self, wire_name: str, arguments: Any, form: Form = "wire") -> Any:
        """The arguments of a call, in contract form. Raises ``KeyError`` for an unknown tool, else as ``CompiledTool.decode``."""
        return self._by_wire_name[wire_name].decode(arguments, form)

    @property
    def strict(self) -> tuple[CompiledTool, ...]:
        """The tools that may be marked strict."""
        return tuple(tool for tool in self if tool.strict)

    @property
    def loose(self) -> tuple[CompiledTool, ...]:
        """The tools that may not."""
        return tuple(tool for tool in self if not tool.strict)
