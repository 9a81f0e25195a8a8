"""The tools of an agent as they are at the moment, and what holds for each on a link."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from strictcall.api.writing import MODES, ToolChoice
from strictcall.errors import NameClashError, RequestError, SettingsError
from strictcall.link.resolved import Links, ResolvedLink, Retries, ToolRules
from strictcall.runtime.python_tool import tool
from strictcall.runtime.runnable import RunnableTool
from strictcall.source.python_function import is_function


@runtime_checkable
class LiveTools(Protocol):
    """Tools that come and go, such as those of ``strictcall.runtime.mcp_servers.McpServers``."""

    @property
    def tools(self) -> Sequence[RunnableTool]:
        """Those that there are now."""

    def find(self, name: str) -> RunnableTool | None:
        """The tool that any of its names means, ``server.tool`` among them; ``None`` where that is no tool, or more
        than one.
        """


ToolLike = RunnableTool | LiveTools | Callable[..., Any]
"""What an agent takes for tools: one that can be run, many that come and go, or a function, of which one is made."""


class AgentTools:
    """The tools of an agent. Called, it gives those that there are now.

    Raises ``NameClashError`` for two of one name among those that do not come and go, ``SettingsError`` for what is no
    tool, and ``SourceError`` for a function that cannot be read as one.
    """

    def __init__(self, tools: Iterable[ToolLike]) -> None:
        if isinstance(tools, str | RunnableTool | LiveTools) or not isinstance(tools, Iterable):
            raise SettingsError("tools", f"must be a list of them, not {type(tools).__name__}")
        self._parts = [_part(each) for each in tools]
        names: set[str] = set()
        for part in self._parts:
            if isinstance(part, RunnableTool):
                if part.name in names:
                    raise NameClashError(part.name, (part.name, part.name))
                names.add(part.name)

    def __call__(self) -> list[RunnableTool]:
        """The tools as they are now. Of two that come to share a name the first counts."""
        found: dict[str, RunnableTool] = {}
        for part in self._parts:
            for each in (part,) if isinstance(part, RunnableTool) else part.tools:
                found.setdefault(each.name, each)
        return list(found.values())

    def find(self, name: str) -> RunnableTool | None:
        """The tool that a name means: its own, else one under which a server knows it."""
        now = {each.name: each for each in self()}
        if name in now:
            return now[name]
        live = [part.find(name) for part in self._parts if not isinstance(part, RunnableTool)]
        meant = [each for each in live if each is not None and each.name in now]
        return meant[0] if len(meant) == 1 else None

    def chosen(self, choice: ToolChoice) -> ToolChoice:
        """A choice with the own names of the tools that it means. Raises ``RequestError`` where there is no such tool,
        or none at all of which to demand a call.
        """
        if choice == "required" and not self():
            raise RequestError("tool_choice", "a call is required, and there are no tools")
        if choice is None or choice in MODES:
            return choice
        if isinstance(choice, str):
            return self._meant(choice)
        if isinstance(choice, Sequence):
            return [self._meant(name) for name in choice]
        raise RequestError("tool_choice", f"must be {', '.join(MODES)}, or names of tools, not {type(choice).__name__}")

    def _meant(self, name: str) -> str:
        meant = self.find(name)
        if meant is None:
            offered = ", ".join(each.name for each in self()) or "none"
            raise RequestError("tool_choice", f"no tool is called {name!r}; there are {offered}")
        return meant.name


def _part(given: Any) -> RunnableTool | LiveTools:
    if isinstance(given, RunnableTool | LiveTools):
        return given
    if is_function(given):
        made: RunnableTool = tool(given)
        return made
    raise SettingsError("tools", f"must be functions, @tool functions or McpServers, not {type(given).__name__}")


@dataclasses.dataclass(frozen=True, slots=True)
class RuledLinks:
    """Links on which each tool has the rules that it brings itself, unless the configuration has some for it.

    A configuration names a tool of a server as it likes (``server.tool``); here its rules stand under the tool's name.
    """

    links: Links
    tools: AgentTools

    def chain(self) -> Sequence[str]:
        """The links that serve, the most wanted first."""
        return self.links.chain()

    def retries(self) -> Retries:
        """How a link is asked again."""
        return self.links.retries()

    def resolve(self, name: str) -> ResolvedLink:
        """The link of a name. Raises ``StrictCallError`` for one that is not known."""
        link = self.links.resolve(name)
        keys = self._keys(link.tools)
        rules = dict(link.tools)
        for each in self.tools():
            key = keys.get(each.name)
            if key is not None or each.strict is not None or each.policy is not None:
                rules[each.name] = _rules(each, link, key)
        return dataclasses.replace(link, tools=rules)

    def _keys(self, configured: Mapping[str, ToolRules]) -> dict[str, str]:
        """By each tool's name, how the configuration calls it. Its own name goes before any other."""
        keys: dict[str, str] = {}
        for key in configured:
            meant = self.tools.find(key)
            if meant is not None and (meant.name not in keys or meant.name == key):
                keys[meant.name] = key
        return keys


def _rules(tool: RunnableTool, link: ResolvedLink, key: str | None) -> ToolRules:
    """The rules of a tool: what is said of it under ``key``, then what it brings, then those of the link."""
    said = ToolRules(link.strict_tools, link.policy) if key is None else link.tools[key]
    strict, policy = said.strict, said.policy
    if tool.strict is not None and not _is_said(link, key, "strict"):
        strict = tool.strict
    if tool.policy is not None and not _is_said(link, key, "policy"):
        policy = tool.policy
    return ToolRules(strict, policy)


def _is_said(link: ResolvedLink, key: str | None, what: str) -> bool:
    """Whether a configuration says something of a tool, and has not only filled in what holds for all."""
    if key is None:
        return False
    path = f"tools.{key}.{what}"
    return not link.origins or any(each == path or each.startswith(f"{path}.") for each in link.origins)
