"""The tools that an MCP server lists, each as its server sent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from strictcall.runtime.mcp_raw import raw
from strictcall.source.shapes import read_value
from strictcall.tool import Tool

if TYPE_CHECKING:
    from mcp import Client

_MOST_PAGES: Final = 1000
_METHOD_NOT_FOUND: Final = -32601


class ListingError(Exception):
    """A server did not answer as an MCP server does; the text says how."""


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool that a server lists: its contract, and all that the server said of it."""

    tool: Tool
    said: Mapping[str, Any]

    @property
    def read_only(self) -> bool | None:
        """Whether the server says that the tool changes nothing (``readOnlyHint``); ``None`` where it does not say."""
        annotations = self.said.get("annotations")
        hint = annotations.get("readOnlyHint") if isinstance(annotations, Mapping) else None
        return hint if isinstance(hint, bool) else None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server lists: its tools, and the problems of what is none."""

    tools: tuple[ListedTool, ...] = ()
    problems: tuple[str, ...] = ()


async def list_tools(client: Client) -> Listing:
    """All the tools of a connected server, over all pages. A server without tools lists none.

    Raises ``ListingError`` for an answer that is none, else what the SDK raises.
    """
    from mcp import MCPError  # noqa: PLC0415  an extra

    found: dict[str, ListedTool] = {}
    problems: list[str] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while cursor not in seen and len(seen) < _MOST_PAGES:
        seen.add(cursor)
        try:
            result = await client.list_tools(cursor=cursor)
        except MCPError as error:
            if error.code == _METHOD_NOT_FOUND and cursor is None:
                return Listing()
            raise
        page = raw(result)
        if page is None:
            raise ListingError("it answered tools/list without a list of tools")
        _read(page["tools"], {tool.name for tool in result.tools}, found, problems)
        cursor = result.next_cursor
        if cursor is None:
            return Listing(tuple(found.values()), tuple(problems))
    raise ListingError("its pages of tools never end")


def _read(items: list[Any], taken: set[str], found: dict[str, ListedTool], problems: list[str]) -> None:
    """Read the tools of one page. ``taken`` are those that the SDK lets be called."""
    for number, item in enumerate(items, start=1):
        place = f"tools[{number}]"
        reading = read_value(item, place, "tool")
        problems.extend(map(str, reading.problems))
        if not isinstance(item, dict) or len(reading.tools) != 1 or item.get("name") != reading.tools[0].name:
            continue
        tool = reading.tools[0]
        if tool.name in found:
            problems.append(f"{place}: a second tool called {tool.name!r}")
        elif tool.name not in taken:
            problems.append(f"{place}: {tool.name!r} says wrongly which arguments belong into HTTP headers")
        else:
            found[tool.name] = ListedTool(tool, item)
