"""Which tool a call means: the tool of that name, else the one tool that is also known by it."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from strictcall.api.answer import Call
from strictcall.api.reading import CUT_OFF
from strictcall.errors import NameClashError, SettingsError, cut
from strictcall.runtime.output import ErrorCode, RespondToModel, ToolError
from strictcall.runtime.python_tool import MethodTool
from strictcall.runtime.runnable import RunnableTool
from strictcall.wire.compile import compile_tool

_SHOWN: Final = 80
_COMPARED: Final = 200
"""How many characters of a name that no tool has are looked at: comparing takes time."""


Tools = Iterable[RunnableTool] | Callable[[], Iterable[RunnableTool]]
"""Tools that can be called, or a function that gives those that there are now."""


def given(tools: Any) -> tuple[RunnableTool, ...] | Callable[[], Iterable[RunnableTool]]:
    """The tools that an executor was given. Raises ``NameClashError`` for two of one name, and ``SettingsError`` for
    what is no tool.
    """
    if isinstance(tools, RunnableTool) or not (callable(tools) or isinstance(tools, Iterable)):
        kind = type(tools).__name__
        raise SettingsError("tools", f"must be a list of tools, or a function that gives those of now, not {kind}")
    if callable(tools):
        live: Callable[[], Iterable[RunnableTool]] = tools
        return live
    found = tuple(map(_a_tool, tools))
    names: set[str] = set()
    for tool in found:
        if tool.name in names:
            raise NameClashError(tool.name, (tool.name, tool.name))
        names.add(tool.name)
    return found


def _a_tool(tool: Any) -> RunnableTool:
    if isinstance(tool, RunnableTool):
        return tool
    hint = "; give that of an instance, instance.method" if isinstance(tool, MethodTool) else ""
    kind = type(tool).__name__
    raise SettingsError("tools", f"must be RunnableTool objects, such as @tool makes, not {kind}{hint}")


class Lookup(Mapping[str, RunnableTool]):
    """The tools that can be called, by their own names. Of two of one name the first counts.

    Raises ``SettingsError`` for what is no tool.
    """

    def __init__(self, tools: Iterable[RunnableTool]) -> None:
        self._tools: dict[str, RunnableTool] = {}
        for tool in map(_a_tool, tools):
            self._tools.setdefault(tool.name, tool)

    def __getitem__(self, name: str) -> RunnableTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def known_as(self, name: str) -> list[RunnableTool]:
        """The tools that a name may mean besides that of their own name."""
        return [tool for tool in self._tools.values() if name in tool.also]

    def meant(self, call: Call) -> Call:
        """The call as one of the tool that it means; as it is where that is the tool of its name, none, or several.

        Whoever read the answer did not know the name, so the arguments are read here: in contract form, or in the wire
        form of the dialect that tools are compiled for unless another is named.
        """
        if call.name in self._tools:
            return call
        known = self.known_as(call.name)
        if len(known) != 1:
            return call
        (tool,) = known
        if not call.complete:
            return dataclasses.replace(call, name=tool.name, arguments=None, faults=(CUT_OFF,))
        if not call.faults:
            return dataclasses.replace(call, name=tool.name)
        reading = compile_tool(tool.tool, policy=tool.policy).read(call.raw, "either")
        arguments = None if reading.faults else reading.arguments
        return dataclasses.replace(
            call, name=tool.name, arguments=arguments, faults=reading.faults, repairs=reading.repairs
        )

    def unknown(self, name: str) -> RespondToModel:
        """What the model is told of a name that means no tool, or more than one."""
        shown = cut(name, _SHOWN)
        near = [tool.name for tool in self.known_as(name)]
        near = near[:3] or difflib.get_close_matches(name[:_COMPARED], list(self._tools), n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return RespondToModel(ToolError(ErrorCode.TOOL_NOT_FOUND, f"no tool is called {shown!r}{hint}"))
