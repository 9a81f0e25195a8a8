"""``make demo``: a whole conversation with tools of two live MCP servers, offline and without a key.

The model is strictcall's emulator: as strict as the provider, reached through the official ``openai`` client, and with
answers that read the user's words. The servers, the decoding and the results are real.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import openai
from mcp import Client, StdioServerParameters
from rich.table import Table
from rich.text import Text

from strictcall import Tool, Toolset
from strictcall.api import chat_completions
from strictcall.api.answer import Answer, Call
from strictcall.errors import ArgumentsError
from strictcall.report.results import DialectResults
from strictcall.report.table import Paper, check_text
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

SERVERS = {
    "time": ["-m", "mcp_server_time", "--local-timezone", "Europe/Lisbon"],
    "trips": [str(Path(__file__).with_name("trip_server.py"))],
}
DIALECTS = ("openai", "anthropic", "gemini", "json_schema")
TIMEOUT = 60
MOST_TURNS = 6
PROMPTS = (
    "Convert the time 09:30 from Lisbon to Tokyo.",
    "Rate the place named Alfama with 5 stars and the comment “lovely”, labels season: spring.",
    "Find places near Lisbon with a price at most 10.",
    "Plan a trip to Lisbon and Porto, budget food 200.",
    "Rate the place named Atlantis with 1 star.",
)


@dataclass
class Demo:
    """What a conversation needs, and the paper that it is printed on."""

    model: openai.OpenAI
    toolset: Toolset
    servers: dict[str, Client]
    paper: Paper

    async def converse(self, prompt: str) -> None:
        """One conversation: the model is asked until it answers in words."""
        print(f"user       {prompt}")
        messages: list[Any] = [{"role": "user", "content": prompt}]
        for _ in range(MOST_TURNS):
            body = chat_completions.write({"model": "emulated", "messages": messages}, self.toolset)
            response = self.model.chat.completions.create(**body)
            answer = chat_completions.read(response.model_dump(), self.toolset)
            self.show(answer)
            if not answer.calls:
                return
            outputs = [await self.run(call) for call in answer.calls]
            messages += [answer, *chat_completions.results(answer.calls, outputs)]

    def show(self, answer: Answer) -> None:
        """What the model says, each call as it stood on the wire beside what the tool gets."""
        if answer.text:
            print(f"assistant  {answer.text}")
        for call in answer.calls:
            table = Table(show_lines=True)
            table.add_column(f"{call.wire_name}: on the wire", ratio=1)
            table.add_column(f"{call.name}: what the tool gets", ratio=1)
            told = ArgumentsError(call.faults) if call.faults else json.dumps(call.arguments, ensure_ascii=False)
            table.add_row(Text(call.raw), Text(str(told)))
            print(self.paper.render(table), end="")

    async def run(self, call: Call) -> str:
        """Run a call on its server; what the model is told of it."""
        if call.faults:
            text = f"Error [INVALID_ARGUMENTS]: {ArgumentsError(call.faults)}"
        else:
            result = await self.servers[call.name].call_tool(call.name, call.arguments)
            said = " ".join(" ".join(getattr(part, "text", "") for part in result.content).split())
            text = f"Error: {said}" if result.is_error else said
        print(f"tool       {text}")
        return text


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


def refusals(model: openai.OpenAI, tools: list[Tool]) -> Iterator[str]:
    """What the provider says to tools that are marked strict as they stand."""
    for tool in tools:
        function = {"name": tool.name, "parameters": tool.parameters, "strict": True}
        body: dict[str, Any] = {"model": "emulated", "messages": [{"role": "user", "content": "Hello"}]}
        body["tools"] = [{"type": "function", "function": function}]
        try:
            model.chat.completions.create(**body)
        except openai.BadRequestError as error:
            yield f"{tool.name}: {error.status_code} {error.body['message']}"  # type: ignore[index]
        else:
            yield f"{tool.name}: taken"


async def main(endpoint: StrictEndpoint) -> None:
    """Run the demo."""
    columns = shutil.get_terminal_size((120, 24)).columns
    paper = Paper(width=columns, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    model = openai.OpenAI(base_url=endpoint.base_url, api_key="none is needed", max_retries=0)
    async with AsyncExitStack() as stack:
        servers: dict[str, Client] = {}
        tools: list[Tool] = []
        for arguments in SERVERS.values():
            client = await stack.enter_async_context(connect(arguments))
            found = await tools_of(client)
            tools += found
            servers |= {tool.name: client for tool in found}

        heading(f"{len(tools)} tools of {len(SERVERS)} live MCP servers, under {len(DIALECTS)} dialects")
        toolsets = [Toolset(tools, dialect=name) for name in DIALECTS]
        print(check_text([DialectResults(each.dialect, tuple(each)) for each in toolsets], paper))

        heading("what a strict endpoint says to them as they stand")
        print("\n".join(refusals(model, tools)))

        heading("compiled: a conversation through the official client")
        demo = Demo(model, toolsets[0], servers, paper)
        for prompt in PROMPTS:
            await demo.converse(prompt)
            print()
    refused = len(endpoint.refused) - sum(1 for line in endpoint.exchanges if line.status == 400)
    print(f"{len(endpoint.exchanges)} requests; of those with compiled tools {refused} were refused")


if __name__ == "__main__":
    with strict_endpoint(dialect="openai", answers="sensible") as running:
        anyio.run(main, running)
