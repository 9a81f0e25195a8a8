"""Toolset: the tools of one request, compiled together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strictcall.dialect.model import Dialect, Limit
from strictcall.dialect.registry import load
from strictcall.errors import NameClashError
from strictcall.policy import Policy
from strictcall.tool import Tool
from strictcall.wire.budget import NAMES
from strictcall.wire.compile import compile_tool, demoted, left_loose, refitted
from strictcall.wire.compiled import CompiledTool, Form
from strictcall.wire.names import legal_name


class Toolset:
    """The tools of one request, in the order they were given.

    ``priority`` names tools, by contract name, that come first when a request's limits cannot hold them all: a tool
    that does not fit beside those before it is rewritten to fit into what they left, or else it is loose, with the
    limit as its reason. What the first tools get never depends on those after them. Where the dialect wants all tools
    strict or none, one loose tool makes all of them loose.

    ``policies`` holds policies of single tools, by contract name, in place of ``policy``. ``unmarked`` names tools that
    are not to be strict even where they could be.

    Raises ``NameClashError`` for two tools that would have the same name.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        dialect: str | Dialect = "openai",
        policy: Policy | None = None,
        priority: Iterable[str] = (),
        *,
        policies: Mapping[str, Policy] | None = None,
        unmarked: Iterable[str] = (),
    ) -> None:
        self.dialect = load(dialect) if isinstance(dialect, str) else dialect
        self.policy = policy or Policy()
        self.priority = tuple(priority)
        self.policies = dict(policies or {})
        self.unmarked = frozenset(unmarked)
        listed = list(tools)
        by_name = self._by_distinct_name(listed)
        first = [by_name[name] for name in self.priority if name in by_name]
        room = _Room(self.dialect)
        placed = {tool.name: self._placed(tool, room) for tool in {t.name: t for t in first + listed}.values()}
        self._tools = {tool.name: placed[tool.name] for tool in listed}
        self._by_wire_name = {compiled.name: compiled for compiled in self}
        if self.dialect.all_or_none and self.loose:
            loose = self.loose[0].tool.name
            for compiled in self.strict:
                reason = f"the provider takes strict tools only if all are, and {loose!r} is not"
                self._put(demoted(compiled, reason))

    def _by_distinct_name(self, tools: list[Tool]) -> dict[str, Tool]:
        """The tools by contract name. Raises ``NameClashError``."""
        on_wire: dict[str, Tool] = {}
        for tool in tools:
            name = legal_name(tool.name, self.dialect.tool_name)
            if name in on_wire:
                raise NameClashError(name, (on_wire[name].name, tool.name))
            on_wire[name] = tool
        return {tool.name: tool for tool in tools}

    def _put(self, compiled: CompiledTool) -> None:
        self._tools[compiled.tool.name] = compiled
        self._by_wire_name[compiled.name] = compiled

    def _placed(self, tool: Tool, room: _Room) -> CompiledTool:
        """A tool as it fits into what is left of the request's limits."""
        policy = self.policies.get(tool.name, self.policy)
        full = room.full() if tool.name not in self.unmarked else "it is not to be strict"
        if full is not None:
            # Whether it could be strict does not matter, and finding out may take long.
            return left_loose(tool, self.dialect, policy, full)
        compiled = compile_tool(tool, self.dialect, policy)
        if not compiled.strict or room.take(compiled):
            return compiled
        again = refitted(compiled, room.left)
        if again is not None and room.take(again):
            return again
        return demoted(compiled, room.shortage(compiled))

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


class _Room:
    """What is left of a request's limits for its strict tools. ``left`` is by the limits' names."""

    def __init__(self, dialect: Dialect) -> None:
        # How many tools there may be at all is not for this to settle: a loose tool counts as much.
        self._limits = [limit for limit in dialect.limits if limit.per == "request" and limit.name != "tools"]
        self.left = {limit.name: limit.most for limit in self._limits}

    def take(self, compiled: CompiledTool) -> bool:
        """Take room for a strict tool, if there is enough."""
        if self._first_over(compiled.counts) is not None:
            return False
        self.left = {name: left - compiled.counts[name] for name, left in self.left.items()}
        return True

    def full(self) -> str | None:
        """Why no further tool at all can be strict, if none can."""
        return self.shortage_of({"strict_tools": 1}) if self.left.get("strict_tools") == 0 else None

    def shortage(self, compiled: CompiledTool) -> str:
        """Why a tool does not fit."""
        return self.shortage_of(compiled.counts)

    def shortage_of(self, counts: Mapping[str, int]) -> str:
        """The first limit that these counts exceed, in words."""
        over = self._first_over(counts)
        if over is None:
            return "it could not be made to fit beside the tools before it"
        total = over.most - self.left[over.name] + counts[over.name]
        return f"with the tools before it {total:,} {NAMES[over.name]}, where the provider's limit is {over.most:,}"

    def _first_over(self, counts: Mapping[str, int]) -> Limit | None:
        return next((limit for limit in self._limits if counts.get(limit.name, 0) > self.left[limit.name]), None)
