"""``make demo``: two MCP servers, their tools compiled for three dialects, and calls as a model would write them.

Offline and without a key: the calls are written here by hand, in the wire form that each dialect's model would use.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from rich.table import Table
from rich.text import Text

from strictcall import ArgumentsError, CompiledTool, Tool, Toolset
from strictcall.report.results import DialectResults
from strictcall.report.table import Paper, check_text

SERVERS = {
    "time": ["-m", "mcp_server_time", "--local-timezone", "Europe/Lisbon"],
    "trips": [str(Path(__file__).with_name("trip_server.py"))],
}
DIALECTS = ("openai", "anthropic", "json_schema")
TIMEOUT = 60


@dataclass(frozen=True)
class Call:
    """A call as a model would write it: the tool, and its arguments as JSON text in a dialect's wire form."""

    about: str
    dialect: str
    tool: str
    arguments: str


CALLS = (
    Call(
        "a tool that needs no rewriting",
        "openai",
        "convert_time",
        '{"source_timezone": "Europe/Lisbon", "time": "09:30", "target_timezone": "Asia/Tokyo"}',
    ),
    Call(
        "nulls for what the model leaves out, and a map as entries",
        "openai",
        "rate_place",
        '{"name": "Alfama", "stars": 5, "comment": null, "labels": [{"key": "season", "value": "spring"}]}',
    ),
    Call(
        "nested objects: a null that means absent, beside a null that the tool is told about",
        "openai",
        "plan_trip",
        '{"traveller": {"name": "Ada", "diet": null}, "stops": [{"city": "Lisbon", "nights": 3, "hotel": null}, '
        '{"city": "Porto", "nights": 2, "hotel": "Casa Azul"}], "budget": [{"key": "food", "value": 200}, '
        '{"key": "trains", "value": 60}], "pace": null, "guide": {"explicit_null": true}}',
    ),
    Call(
        "a recursive filter, and a pair as an object",
        "openai",
        "search_places",
        '{"where": {"field": null, "equals": null, "at_most": null, "any_of": null, "all_of": ['
        '{"field": "kind", "equals": "museum", "at_most": null, "all_of": null, "any_of": null}, '
        '{"field": "price", "equals": null, "at_most": 10, "all_of": null, "any_of": null}]}, '
        '"near": {"item_0": 38.7, "item_1": -9.1}, "limit": null}',
    ),
    Call(
        "the same place rated where optionals may be left out",
        "anthropic",
        "rate_place",
        '{"name": "Ribeira", "stars": 4, "labels": [{"key": "season", "value": "autumn"}]}',
    ),
    Call(
        "a bound that the wire schema does not hold",
        "anthropic",
        "rate_place",
        '{"name": "Alfama", "stars": 9}',
    ),
    Call(
        "an argument that the model made up",
        "openai",
        "rate_place",
        '{"name": "Alfama", "stars": 5, "coment": "lovely", "labels": null}',
    ),
    Call(
        "arguments that fit and a tool that says no",
        "openai",
        "rate_place",
        '{"name": "Atlantis", "stars": 1, "comment": null, "labels": null}',
    ),
)


@asynccontextmanager
async def connect(arguments: list[str]) -> AsyncIterator[Client]:
    """A client of one server of this demo, started over stdio."""
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server, read_timeout_seconds=TIMEOUT) as client:
        yield client


async def tools_of(client: Client) -> list[Tool]:
    """The tools that a server lists, page by page."""
    tools: list[Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [Tool(tool.name, tool.description, tool.input_schema) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools


def heading(text: str) -> None:
    """A line that starts a part of the demo."""
    print(f"\n=== {text} ===\n")


def side_by_side(compiled: CompiledTool, paper: Paper) -> str:
    """A tool's contract beside its wire schema."""
    table = Table(show_lines=True)
    table.add_column("the contract, as the server lists it", ratio=1)
    table.add_column(f"on the wire ({compiled.dialect.name})", ratio=1)
    table.add_row(*(Text(json.dumps(schema, indent=1)) for schema in (compiled.tool.parameters, compiled.parameters)))
    return paper.render(table)


async def run_call(call: Call, toolset: Toolset, clients: dict[str, Client]) -> None:
    """Decode one call, run it on the live server, and print what the model would see."""
    print(f"[{call.dialect}] {call.tool}: {call.about}")
    print(f"  the model says  {call.arguments}")
    try:
        arguments: Any = toolset.decode(toolset[call.tool].name, call.arguments)
    except ArgumentsError as error:
        print(f"  the model sees  Error [INVALID_ARGUMENTS]: {error}\n")
        return
    print(f"  the tool gets   {json.dumps(arguments, ensure_ascii=False)}")
    result = await clients[call.tool].call_tool(call.tool, arguments)
    text = " ".join(getattr(part, "text", "") for part in result.content)
    text = " ".join(text.split())
    print(f"  the model sees  {'Error: ' if result.is_error else ''}{text}\n")


async def main() -> None:
    """Run the demo."""
    columns = shutil.get_terminal_size((120, 24)).columns
    paper = Paper(width=columns, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    async with AsyncExitStack() as stack:
        clients: dict[str, Client] = {}
        tools: list[Tool] = []
        for arguments in SERVERS.values():
            client = await stack.enter_async_context(connect(arguments))
            found = await tools_of(client)
            tools += found
            clients |= {tool.name: client for tool in found}

        heading(f"{len(tools)} tools of {len(SERVERS)} live MCP servers, under {len(DIALECTS)} dialects")
        toolsets = {name: Toolset(tools, dialect=name) for name in DIALECTS}
        results = [DialectResults(next(iter(each)).dialect, tuple(each)) for each in toolsets.values()]
        print(check_text(results, paper))

        heading("a contract beside its wire schema")
        print(side_by_side(toolsets["openai"]["rate_place"], paper))
        for change in toolsets["openai"]["rate_place"].changes:
            print(f"  {change.code} at {change.pointer or '(root)'}: {change.message}")

        heading("calls, as a model would write them")
        for call in CALLS:
            await run_call(call, toolsets[call.dialect], clients)


if __name__ == "__main__":
    anyio.run(main)
