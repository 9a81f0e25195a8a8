"""Real MCP servers at work at once, of which one is killed and one stopped: the others go on, the model is told, both
are started again, and in the end no process and no task is left.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from strictcall.api.answer import Call
from strictcall.runtime.events import CallEnded, Event
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import McpSettings, ServerState
from strictcall.runtime.output import model_text
from strictcall.runtime.runnable import RunnableTool

PATIENCE = 5.0
ENDED = "ended before it answered"
SETTINGS = McpSettings(start_timeout=180, patience=180, call_timeout=60, health_timeout=3, at_once=4, names="all")


@dataclass(frozen=True)
class Member:
    """A server that takes part: its entry in a config, one of its tools, and what that is called with."""

    entry: dict[str, Any]
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Party:
    """The servers by name, the folder that their programs are in, the one to be killed and the one to be stopped."""

    members: dict[str, Member]
    home: Path
    killed: str
    stopped: str


class Check:
    """What was found not to be as it should."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def __call__(self, name: str, *, holds: bool) -> None:
        """Note one thing, and say how it is."""
        print(f"  {'ok  ' if holds else 'FAIL'} {name}", flush=True)
        if not holds:
            self.failures.append(name)


def on_each_loop(party: Party) -> list[str]:
    """All of it on asyncio, then on trio; what failed."""
    failures: list[str] = []
    for loop in ("asyncio", "trio"):
        print(f"\n{loop}")
        failures += anyio.run(partial(at_once, party), backend=loop)
    return failures


async def at_once(party: Party) -> list[str]:
    """All of it on one loop; what failed."""
    check, before = Check(), len(anyio.get_running_tasks())
    config = {"mcpServers": {name: member.entry for name, member in party.members.items()}}
    began = time.monotonic()
    async with McpServers(config, settings=SETTINGS) as servers:
        print(f"  {'server':20}{'state':12}{'revision':12}{'tools':>6}")
        for status in servers.statuses:
            print(
                f"  {status.name:20}{status.state:12}{status.protocol or '':12}{len(status.tools):6}  {status.reason}"
            )
        check(f"all {len(party.members)} are up after {time.monotonic() - began:.0f} s", holds=all_up(servers))
        if not check.failures:
            await at_work(servers, party, check)
            await again(servers, party, check)
    left = processes(party.home)
    check(f"no process is left {list(left.values())[:3] if left else ''}", holds=not left)
    with anyio.move_on_after(5):
        while len(anyio.get_running_tasks()) > before:
            await anyio.sleep(0.05)
    check("no task is left", holds=len(anyio.get_running_tasks()) == before)
    return check.failures


async def at_work(servers: McpServers, party: Party, check: Check) -> None:
    """All are called at once; meanwhile one is stopped and one is killed."""
    struck = (party.killed, party.stopped)
    numbers = {name: process_of(party, name) for name in struck}
    # A stopped process answers nothing, so the call to the one that is to be killed is surely under way then.
    for number in numbers.values():
        os.kill(number, signal.SIGSTOP)
    texts: dict[str, str | None] = {}

    async def strike() -> None:
        await anyio.sleep(1)
        os.kill(numbers[party.killed], signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(strike)
        texts = await called(servers, party)
    for name, text in texts.items():
        print(f"  {name:20}{' '.join((text or '').split())[:100]}")
    check("the one that was killed is told of", holds=ENDED in (texts[party.killed] or ""))
    check("the one that was stopped is told of", holds=(texts[party.stopped] or "").startswith("Error [TIMEOUT]: "))
    others = [text or "" for name, text in texts.items() if name not in struck]
    check("the others answer", holds=not any(ENDED in text or "[TIMEOUT]" in text or not text for text in others))


async def again(servers: McpServers, party: Party, check: Check) -> None:
    """Both are started again, and all answer."""
    struck = (party.killed, party.stopped)
    with anyio.move_on_after(SETTINGS.start_timeout):
        while not (all_up(servers) and {servers.status(name).starts for name in struck} == {2}):
            await anyio.sleep(0.1)
    check("both were started again", holds=all_up(servers))
    check("no other was", holds=sum(status.starts for status in servers.statuses) == len(party.members) + 2)
    texts = await called(servers, party)
    check("all answer", holds=not any(ENDED in (text or "") or "[TIMEOUT]" in (text or "") for text in texts.values()))


async def called(servers: McpServers, party: Party) -> dict[str, str | None]:
    """One call to each server, all at once: what the model hears of each."""
    ended: list[CallEnded] = []

    def listen(event: Event) -> None:
        if isinstance(event, CallEnded):
            ended.append(event)

    calls = [Call(name, f"{name}__{member.tool}", member.arguments) for name, member in party.members.items()]
    tools = [hurried(tool) if tool.name.startswith(f"{party.stopped}__") else tool for tool in servers.tools]
    executor = Executor(tools, Limits(max_parallel_tool_calls=len(calls)), on_event=listen)
    outputs = await executor.run_batch(calls)
    assert len(ended) == len(calls), "every call ends once"  # noqa: S101  it is checked here
    return {name: model_text(output) for name, output in zip(party.members, outputs, strict=True)}


def hurried(tool: RunnableTool) -> RunnableTool:
    """The tool with little time."""
    return replace(tool, timeout=PATIENCE)


def all_up(servers: McpServers) -> bool:
    """Whether every server is up."""
    return all(status.state is ServerState.UP for status in servers.statuses)


def process_of(party: Party, name: str) -> int:
    """The number of a server's process: the one whose command line ends as its entry says."""
    entry = party.members[name].entry
    said = " ".join([entry["command"], *entry.get("args", ())])
    return next(number for number, words in processes(party.home).items() if words.endswith(said))


def processes(home: Path) -> dict[int, str]:
    """The processes that run a program in a folder, with their command lines."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_text().replace("\0", " ").strip()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and f"{home}{os.sep}" in words:
            found[int(folder.name)] = words
    return found
