"""Ten real MCP servers from PyPI at once. One is killed and one stopped while all are at work: the others go on, the
model is told, both are started again, and in the end no process and no task is left. On asyncio, then on trio.

    python scripts/mcp_ten.py [FOLDER]

Everything is installed into FOLDER (``.servers``), which is kept: a virtual environment for servers on the SDK of today
and one for those that need the SDK before it, which speak an older revision. No server needs a token or a network: what
it cannot do it says, and that is an answer. Exits with 1 where something is not as it should be, with 2 where the
servers cannot be installed or looked at here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
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

HERE = Path(__file__).resolve().parents[1]
DUMMY = "dummy-token-for-listing"
KILLED, STOPPED = "git", "time"
PATIENCE = 5.0
ENDED = "ended before it answered"
SETTINGS = McpSettings(start_timeout=180, patience=180, call_timeout=60, health_timeout=3, at_once=4, names="all")


@dataclass(frozen=True)
class Server:
    """A server from PyPI: its package, its command line, one of its tools with arguments, its environment, and which
    SDK it needs.
    """

    package: str
    command: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    sdk: str = "new"


NOWHERE = "http://127.0.0.1:9/"
DOCUMENTS = {"directory": "{folder}"}
HOME_ASSISTANT = {"HOMEASSISTANT_URL": NOWHERE, "HOMEASSISTANT_TOKEN": DUMMY}
GOOGLE = {"GOOGLE_OAUTH_CLIENT_ID": DUMMY, "GOOGLE_OAUTH_CLIENT_SECRET": DUMMY}
MAIL = {"user_google_email": "nobody@example.org"}
SUM = {"expression": "6*7"}
DATABASE = "mcp-server-sqlite --db-path {folder}/data.db"
SERVERS = {
    "time": Server("mcp-server-time", "mcp-server-time", "get_current_time", {"timezone": "Europe/Paris"}),
    "git": Server("mcp-server-git", "mcp-server-git", "git_status", {"repo_path": "{folder}"}),
    "fetch": Server("mcp-server-fetch", "mcp-server-fetch", "fetch", {"url": NOWHERE}),
    "excel": Server("excel-mcp-server", "excel-mcp-server stdio", "list_workbooks", DOCUMENTS),
    "word": Server("office-word-mcp-server", "word_mcp_server", "list_available_documents", DOCUMENTS),
    "home": Server("ha-mcp", "ha-mcp", "ha_get_domain_docs", {"domain": "light"}, HOME_ASSISTANT),
    "google": Server("workspace-mcp", "workspace-mcp", "list_calendars", MAIL, GOOGLE),
    "sqlite": Server("mcp-server-sqlite", DATABASE, "list_tables", sdk="old"),
    "powerpoint": Server("office-powerpoint-mcp-server", "ppt_mcp_server", "create_presentation", sdk="old"),
    "calculator": Server(
        "mcp-server-calculator", "mcp-server-calculator", "calculate", {"expression": "6*7"}, sdk="old"
    ),
}
SDKS = {"new": "mcp>=2", "old": "mcp<2"}


class Check:
    """What was found not to be as it should."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def __call__(self, name: str, *, holds: bool) -> None:
        """Note one thing, and say how it is."""
        print(f"  {'ok  ' if holds else 'FAIL'} {name}")
        if not holds:
            self.failures.append(name)


def main() -> int:
    """Both loops; returns the exit code."""
    if not sys.platform.startswith("linux") or shutil.which("git") is None:
        print("servers: needs Linux, where processes are looked up in /proc, and git", file=sys.stderr)
        return 2
    home = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / ".servers"
    if not all(install(home / sdk, sdk) for sdk in SDKS):
        return 2
    failures: list[str] = []
    for loop in ("asyncio", "trio"):
        with tempfile.TemporaryDirectory(prefix="servers-") as folder:
            subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607  whichever git there is
            print(f"\n{loop}")
            failures += anyio.run(partial(ten, home, Path(folder)), backend=loop)
    print(f"\n{len(failures)} failures" + "".join(f"\n  {failure}" for failure in failures))
    return 1 if failures else 0


def install(folder: Path, sdk: str) -> bool:
    """Install the servers for one SDK into a virtual environment, once; says what is wrong where that fails."""
    done = folder / "installed.txt"
    packages = [SDKS[sdk], *sorted(server.package for server in SERVERS.values() if server.sdk == sdk)]
    if done.exists() and done.read_text().split() == packages:
        return True
    print(f"installing {' '.join(packages[1:])}", flush=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
        if run.returncode:
            print(f"servers: the installation failed:\n{run.stdout[-2000:]}", file=sys.stderr)
            return False
    done.write_text("\n".join(packages))
    return True


async def ten(home: Path, folder: Path) -> list[str]:
    """All of it on one loop; what failed."""
    check, before = Check(), len(anyio.get_running_tasks())
    config = {"mcpServers": {name: entry(home, folder, server) for name, server in SERVERS.items()}}
    began = time.monotonic()
    async with McpServers(config, settings=SETTINGS) as servers:
        print(f"  {'server':12}{'state':12}{'revision':12}{'tools':>6}")
        for status in servers.statuses:
            print(
                f"  {status.name:12}{status.state:12}{status.protocol or '':12}{len(status.tools):6}  {status.reason}"
            )
        check(f"all are up after {time.monotonic() - began:.0f} s", holds=all_up(servers))
        await at_work(servers, home, folder, check)
        await again(servers, folder, check)
    left = processes(home)
    check(f"no process is left {list(left.values())[:3] if left else ''}", holds=not left)
    with anyio.move_on_after(5):
        while len(anyio.get_running_tasks()) > before:
            await anyio.sleep(0.05)
    check("no task is left", holds=len(anyio.get_running_tasks()) == before)
    return check.failures


async def at_work(servers: McpServers, home: Path, folder: Path, check: Check) -> None:
    """All are called at once; meanwhile one is stopped and one is killed."""
    numbers = {name: process_of(home, SERVERS[name]) for name in (KILLED, STOPPED)}
    # A stopped process answers nothing, so the call to the one that is to be killed is surely under way then.
    for number in numbers.values():
        os.kill(number, signal.SIGSTOP)
    texts: dict[str, str | None] = {}

    async def strike() -> None:
        await anyio.sleep(1)
        os.kill(numbers[KILLED], signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(strike)
        texts = await called(servers, folder)
    for name, text in texts.items():
        print(f"  {name:12}{' '.join((text or '').split())[:100]}")
    check("the one that was killed is told of", holds=ENDED in (texts[KILLED] or ""))
    check("the one that was stopped is told of", holds=(texts[STOPPED] or "").startswith("Error [TIMEOUT]: "))
    others = [text or "" for name, text in texts.items() if name not in numbers]
    check("the others answer", holds=not any(ENDED in text or "[TIMEOUT]" in text or not text for text in others))


async def again(servers: McpServers, folder: Path, check: Check) -> None:
    """Both are started again, and all answer."""
    with anyio.move_on_after(SETTINGS.start_timeout):
        while not (all_up(servers) and {servers.status(name).starts for name in (KILLED, STOPPED)} == {2}):
            await anyio.sleep(0.1)
    check("both were started again", holds=all_up(servers))
    check("no other was", holds=sum(status.starts for status in servers.statuses) == len(SERVERS) + 2)
    texts = await called(servers, folder)
    check("all answer", holds=not any(ENDED in (text or "") or "[TIMEOUT]" in (text or "") for text in texts.values()))


async def called(servers: McpServers, folder: Path) -> dict[str, str | None]:
    """One call to each server, all at once: what the model hears of each."""
    ended: list[CallEnded] = []

    def listen(event: Event) -> None:
        if isinstance(event, CallEnded):
            ended.append(event)

    calls = [Call(name, f"{name}__{server.tool}", filled(server.arguments, folder)) for name, server in SERVERS.items()]
    tools = [hurried(tool) if tool.name.startswith(f"{STOPPED}__") else tool for tool in servers.tools]
    executor = Executor(tools, Limits(max_parallel_tool_calls=len(calls)), on_event=listen)
    outputs = await executor.run_batch(calls)
    assert len(ended) == len(calls), "every call ends once"  # noqa: S101  it is checked here
    return {name: model_text(output) for name, output in zip(SERVERS, outputs, strict=True)}


def hurried(tool: RunnableTool) -> RunnableTool:
    """The tool with little time."""
    return replace(tool, timeout=PATIENCE)


def all_up(servers: McpServers) -> bool:
    """Whether every server is up."""
    return all(status.state is ServerState.UP for status in servers.statuses)


def entry(home: Path, folder: Path, server: Server) -> dict[str, Any]:
    """A server's entry in the config."""
    _, *arguments = server.command.format(folder=folder).split()
    return {"command": program(home, server), "args": arguments, "env": server.environment, "cwd": str(folder)}


def program(home: Path, server: Server) -> str:
    """The path of a server's program."""
    return str(home / server.sdk / "bin" / server.command.split()[0])


def filled(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A call's arguments, with the folder that there is."""
    return {name: value.format(folder=folder) if isinstance(value, str) else value for name, value in arguments.items()}


def process_of(home: Path, server: Server) -> int:
    """The number of a server's process."""
    return next(number for number, words in processes(home).items() if program(home, server) in words.split())


def processes(home: Path) -> dict[int, str]:
    """The processes that run a program installed by this, with their command lines."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_text().replace("\0", " ").strip()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and f"{home}{os.sep}" in words:
            found[int(folder.name)] = words
    return found


if __name__ == "__main__":
    sys.exit(main())
