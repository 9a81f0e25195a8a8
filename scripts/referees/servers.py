"""Twenty real MCP servers from npm and PyPI, read through one config file by one command, then once more with Ctrl-C in
the middle, after which no process may be left. Then ten of them are called at once, on asyncio and on trio, while one
is killed and one stopped.

Everything is installed into a throw-away directory (``npm install --ignore-scripts``, ``pip`` in a virtual environment
of its own) that is removed at the end. The tokens are dummies, the endpoints are on this machine, and the ten are asked
for what they can do without a network. Which servers start without one was found by trying; exits with 1 where one of
them does not.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments import AbsentError
from mcp_at_once import Member, Party, on_each_loop

DUMMY = "dummy-token-for-listing"
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Npm:
    """A server from npm: the package, the arguments of its first program, and its environment."""

    package: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


SERVERS = {
    "everything": Npm("@modelcontextprotocol/server-everything"),
    "filesystem": Npm("@modelcontextprotocol/server-filesystem", (".",)),
    "memory": Npm("@modelcontextprotocol/server-memory"),
    "sequential-thinking": Npm("@modelcontextprotocol/server-sequential-thinking"),
    "playwright": Npm("@playwright/mcp"),
    "notion": Npm("@notionhq/notion-mcp-server", (), {"NOTION_TOKEN": DUMMY}),
    "context7": Npm("@upstash/context7-mcp"),
    "circleci": Npm("@circleci/mcp-server-circleci", (), {"CIRCLECI_TOKEN": DUMMY}),
    "antv-chart": Npm("@antv/mcp-server-chart"),
    "kubernetes": Npm("mcp-server-kubernetes"),
    "desktop-commander": Npm("@wonderwhy-er/desktop-commander"),
    "firecrawl": Npm("firecrawl-mcp", (), {"FIRECRAWL_API_KEY": DUMMY, "FIRECRAWL_API_URL": NOWHERE}),
    "datadog": Npm("@winor30/mcp-server-datadog", (), {"DATADOG_API_KEY": DUMMY, "DATADOG_APP_KEY": DUMMY}),
    "hubspot": Npm("@hubspot/mcp-server", (), {"PRIVATE_APP_ACCESS_TOKEN": DUMMY}),
    "shortcut": Npm("@shortcut/mcp", (), {"SHORTCUT_API_TOKEN": DUMMY}),
    "gitlab": Npm("@zereight/mcp-gitlab", (), {"GITLAB_PERSONAL_ACCESS_TOKEN": DUMMY, "GITLAB_API_URL": NOWHERE}),
    "postman": Npm("@postman/postman-mcp-server", (), {"POSTMAN_API_KEY": DUMMY}),
    "time": "mcp-server-time",
    "fetch": "mcp-server-fetch",
    "git": "mcp-server-git",
}


CALLED: dict[str, tuple[str, dict[str, Any]]] = {
    "everything": ("echo", {"message": "hello"}),
    "filesystem": ("list_allowed_directories", {}),
    "memory": ("read_graph", {}),
    "sequential-thinking": (
        "sequentialthinking",
        {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
    ),
    "playwright": ("browser_tabs", {"action": "list"}),
    "kubernetes": ("ping", {}),
    "desktop-commander": ("get_config", {}),
    "time": ("get_current_time", {"timezone": "Europe/Paris"}),
    "fetch": ("fetch", {"url": f"{NOWHERE}/"}),
    "git": ("git_status", {"repo_path": "{work}"}),
}
"""The ten that are called at once: one of the tools of each, and its arguments."""
KILLED, STOPPED = "filesystem", "memory"


def run_once(kept: Path | None) -> int | None:
    """Install, list, interrupt, call; returns the exit code, and ``None`` where it was skipped, which it says.

    With a folder, what is installed there stays and is used.
    """
    try:
        _require("node", "npm", "git", "ps")
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
            return referee(kept.resolve())
        with tempfile.TemporaryDirectory(prefix="referee-") as folder:
            return referee(Path(folder).resolve())
    except AbsentError as error:
        print(f"servers: skipped: {error}", flush=True)
        return None


def _require(*programs: str) -> None:
    for name in programs:
        if shutil.which(name) is None:
            raise AbsentError(f"it needs {name}, which is not installed")


def referee(folder: Path) -> int:
    """The three runs over the servers installed in a folder."""
    config = folder / "mcp.json"
    found = entries(folder)
    config.write_text(json.dumps({"mcpServers": found}, indent=2))
    listed = list_all(config)
    left = interrupt(config)
    print(f"\n{listed} of {len(SERVERS)} servers listed; after Ctrl-C {left} processes were left")
    failures = call_ten(folder, found)
    print(f"\n{len(failures)} failures" + "".join(f"\n  {failure}" for failure in failures))
    return 0 if listed == len(SERVERS) and left == 0 and not failures else 1


def call_ten(folder: Path, found: dict[str, Any]) -> list[str]:
    """Call ten servers at once, one of which is killed and one stopped; what failed."""
    if not sys.platform.startswith("linux"):
        print("\nten at once: skipped: processes are looked up in Linux's /proc")
        return []
    work = folder / "work"
    if not work.is_dir():
        run(["git", "init", "--quiet", str(work)])
    members = {
        name: Member(found[name] | {"cwd": str(work)}, tool, _filled(arguments, work))
        for name, (tool, arguments) in CALLED.items()
    }
    return on_each_loop(Party(members, folder, KILLED, STOPPED))


def _filled(arguments: dict[str, Any], work: Path) -> dict[str, Any]:
    return {name: str(work) if value == "{work}" else value for name, value in arguments.items()}


def entries(folder: Path) -> dict[str, Any]:
    """Install the servers; gives their entries in a config file."""
    npm = {name: server for name, server in SERVERS.items() if isinstance(server, Npm)}
    pypi = {name: server for name, server in SERVERS.items() if isinstance(server, str)}
    modules = folder / "node_modules"
    if not modules.is_dir():
        run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
            + [server.package for server in npm.values()]
        )
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(folder / "venv")])
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pypi.values()])
    found: dict[str, Any] = {
        name: {
            "command": "node",
            "args": [str(program(modules / server.package)), *server.arguments],
            "env": server.environment,
        }
        for name, server in npm.items()
    }
    return found | {
        name: {"command": str(python), "args": ["-m", package.replace("-", "_")]} for name, package in pypi.items()
    }


def run(command: list[str]) -> None:
    """Run an installer; its output is shown only where it fails."""
    print("$", " ".join(command[:4]), "…" if len(command) > 4 else "", flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise AbsentError(f"{command[0]} failed:\n{done.stdout[-2000:]}")


def program(package: Path) -> Path:
    """The program of an npm package: the first that its ``bin`` names."""
    found = json.loads((package / "package.json").read_text())["bin"]
    return package / (found if isinstance(found, str) else next(iter(found.values())))


def check(config: Path, *more: str) -> list[str]:
    """The one command."""
    return [sys.executable, "-m", "strictcall", "check", str(config), "--timeout", "120", *more]


def list_all(config: Path) -> int:
    """How many servers list tools; a table says how many tools."""
    start = time.monotonic()
    done = subprocess.run(  # noqa: S603  our own command
        check(config, "--output-format", "json", "--fail-on", "never"), capture_output=True, text=True, check=False
    )
    took = time.monotonic() - start
    print(done.stderr, end="")
    tools = json.loads(done.stdout or '{"dialects": {"openai": {"tools": []}}}')["dialects"]["openai"]["tools"]
    counts = Counter(tool["name"].partition("/")[0] for tool in tools)
    strict = Counter(tool["name"].partition("/")[0] for tool in tools if tool["strict"])
    print(f"\n{'server':24}{'tools':>6}{'strict':>8}")
    for name in SERVERS:
        print(f"{name:24}{counts[name]:6}{strict[name]:8}")
    print(f"{'all':24}{len(tools):6}{sum(strict.values()):8}   in {took:.1f} s, exit code {done.returncode}")
    return len(counts)


def interrupt(config: Path) -> int:
    """How many processes are left after Ctrl-C in the middle of the same command."""
    with subprocess.Popen(check(config), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        while len(servers_of(config)) < 4 and process.poll() is None:
            time.sleep(0.05)
        running = len(servers_of(config))
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, said = process.communicate()
    left = servers_of(config)
    took = time.monotonic() - start
    print(f"\nCtrl-C with {running} server processes running: exit code {process.returncode} after {took:.1f} s")
    print(said.decode(), end="")
    for line in left.values():
        print(f"left: {line}")
    return len(left)


def servers_of(config: Path) -> dict[int, str]:
    """The processes that run a program installed in the folder, by number."""
    listed = subprocess.run(["ps", "-eo", "pid=,stat=,args="], capture_output=True, text=True, check=True)  # noqa: S607
    installed = [str(config.parent / name) for name in ("node_modules", "venv")]
    found: dict[int, str] = {}
    for line in listed.stdout.splitlines():
        number, state, words = line.split(None, 2)
        if any(place in words for place in installed) and not state.startswith("Z"):
            found[int(number)] = words
    return found
