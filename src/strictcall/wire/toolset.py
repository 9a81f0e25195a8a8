"""Toolset: the tools of one request, compiled together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.errors import NameClashError
from strictcall.policy import Policy
from strictcall.tool import Tool
from strictcall.wire.budget import NAMES
from strictcall.wire.compile import compile_tool, demoted
from strictcall.wire.compiled import CompiledTool, Form


class Toolset:
    """The tools of one request, in the order they were given.

    ``priority`` names tools, by contract name, that come first when a request's limits cannot hold them all: a tool
    that does not fit beside those before it is loose, with the limit as its reason. What the first tools get never
    depends on those after them. Where the dialect wants all tools strict or none, one loose tool makes all of them
    loose.

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
        self._keep_limits()
        if self.dialect.all_or_none and self.loose:
            first = self.loose[0].tool.name
            for compiled in self.strict:
                self._put(demoted(compiled, f"the provider takes strict tools only if all are, and {first!r} is not"))

    def _add(self, compiled: CompiledTool) -> None:
        other = self._by_wire_name.get(compiled.name)
        if other is not None:
            raise NameClashError(compiled.name, (other.tool.name, compiled.tool.name))
        self._put(compiled)

    def _put(self, compiled: CompiledTool) -> None:
        self._tools[compiled.tool.name] = compiled
        self._by_wire_name[compiled.name] = compiled

    def _keep_limits(self) -> None:
        """Take tools strict while the request's limits hold them, in priority order and then as they were given."""
        # How many tools there may be at all is not for this to settle: a loose tool counts as much.
        limits = [limit for limit in self.dialect.limits if limit.per == "request" and limit.name != "tools"]
        if not limits:
            return
        spent = dict.fromkeys((limit.name for limit in limits), 0)
        first = [self._tools[name] for name in self.priority if name in self._tools]
        for compiled in {tool.tool.name: tool for tool in [*first, *self]}.values():
            if not compiled.strict:
                continue
            counts = compiled.counts
            over = next((limit for limit in limits if spent[limit.name] + counts[limit.name] > limit.most), None)
            if over is None:
                spent = {name: used + counts[name] for name, used in spent.items()}
                continue
            total = spent[over.name] + counts[over.name]
            reason = (
                f"with the tools before it {total:,} {NAMES[over.name]}, where the provider's limit is {over.most:,}"
            )
            self._put(demoted(compiled, reason))

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
        """The arguments of a call, in contract form. Raises ``KeyError`` for an unknown tool, else as
        ``CompiledTool.decode``.
        """
        return self._by_wire_name[wire_name].decode(arguments, form)

    @property
    def strict(self) -> tuple[CompiledTool, ...]:
        """The tools that may be marked strict."""
        return tuple(tool for tool in self if tool.strict)

    @property
    def loose(self) -> tuple[CompiledTool, ...]:
        """The tools that may not."""
        return tuple(tool for tool in self if not tool.strict)
