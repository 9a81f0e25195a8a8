"""What tests of MCP servers share."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import anyio

from strictcall.api.answer import Call
from strictcall.runtime.mcp_settings import McpSettings

PLAIN = str(Path(__file__).with_name("plain_server.py"))
QUICK = McpSettings(start_timeout=30, first_delay=0.05, health_timeout=0.5, patience=20, call_timeout=20, at_once=10)


def hurried(monkeypatch):
    """Have the SDK wait for less time than it does, two seconds each, before it ends a process that does not end by
    itself, and before it kills it.
    """
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.3)
    monkeypatch.setattr("mcp.client.stdio.FORCE_KILL_TIMEOUT", 0.3)


def plain(name="plain", revision="2025-11-25", **more):
    """The config entry of a plain server."""
    return {"command": sys.executable, "args": ["-S", PLAIN, name, revision], **more}


def config(*names, **entries):
    return {"mcpServers": {**{name: plain(name) for name in names}, **entries}}


def call(name, arguments=None, number=1):
    """A call as an answer's reader gives it."""
    return Call(f"call_{number}", name, {} if arguments is None else arguments)


def alive(number):
    """Whether a process runs; one that only waits to be noticed by its parent does not."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat")
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def processes(notes):
    return sorted(int(path.name.removeprefix("pid-")) for path in notes.glob("pid-*"))


def none_left(notes, seconds=5):
    """Whether all processes that were noted have ended, after a while at most."""
    end = time.monotonic() + seconds
    while any(map(alive, processes(notes))) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, processes(notes)))


async def until(condition, seconds=20):
    """Wait for a condition; the test fails where it does not come true."""
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.02)


def tasks_now():
    """How many tasks the event loop has."""
    return len(anyio.get_running_tasks())


def children():
    """The processes that this one started and that run still, each with its command line."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if folder.name.isdigit() and int(parent) == os.getpid() and state != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ").strip()
        except (OSError, ValueError):
            continue
    return found
