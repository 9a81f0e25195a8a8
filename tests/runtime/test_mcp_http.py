"""MCP servers behind URLs, over real sockets on this machine: streamable HTTP and server-sent events."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import anyio
import pytest

from runtime.mcp_helpers import QUICK, alive, plain, tasks_now, until
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import McpSettings, ServerState
from strictcall.runtime.output import model_text
from strictcall.runtime.runnable import Context

# The SDK leaves the generators of its HTTP client to the garbage collector, of which trio complains.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
SERVER = str(Path(__file__).with_name("web_server.py"))
KEY = "key-that-nobody-sees"
KINDS = ["http", "old", "sse"]


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    monkeypatch.setenv("PLAIN_NOTES", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def starter():
    """The process that starts servers."""
    with subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def served(starter, notes):
    """Start a web server in a process of its own; gives the process's number and its port."""
    running = []

    def serve(kind, port=None):
        if port is None:
            with closing(socket.create_server(("127.0.0.1", 0))) as free:
                port = free.getsockname()[1]
        starter.stdin.write(json.dumps([port, kind, str(notes)]) + "\n")
        starter.stdin.flush()
        number = int(starter.stdout.readline())
        running.append(number)
        end = time.monotonic() + 60
        while time.monotonic() < end and alive(number):
            with closing(socket.socket()) as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    return number, port
            time.sleep(0.02)
        raise AssertionError("the web server does not start")

    yield serve
    for number in running:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def web(port, kind, key=KEY):
    url = f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"
    return {
        "type": "sse" if kind == "sse" else "http",
        "url": url,
        "headers": {"Authorization": f"Bearer {key}"},
    }


async def heard(servers, name, arguments=None):
    return model_text(await servers.find(name).run(arguments or {}, Context()))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_behind_a_url_lists_calls_changes_and_cancels(kind, served, notes):
    _, port = served(kind)
    before = tasks_now()
    async with McpServers({"mcpServers": {"web": web(port, kind)}}, settings=QUICK) as servers:
        status = servers.status("web")
        assert status.state is ServerState.UP, status
        if kind != "sse":
            assert status.protocol == ("2025-11-25" if kind == "old" else "2026-07-28")
        assert servers.find("add").tool.parameters["required"] == ["first"]
        assert await heard(servers, "add", {"first": 1, "second": None}) == "1"

        told = []
        context = Context(on_progress=told.append)
        assert model_text(await servers.find("steps").run({}, context)) == "done"
        assert [(each.progress, each.total, each.message) for each in told] == [(1.0, 2.0, "half")]

        with anyio.move_on_after(0.5):
            await heard(servers, "slow")
        await until((notes / "cancelled-slow").exists)

        assert await heard(servers, "change") == "changed"
        await until(lambda: servers.find("added") is not None)
        assert await heard(servers, "added") == "here"
        assert servers.status("web").starts == 1
    await until(lambda: tasks_now() == before)


async def test_a_refusal_is_said_without_the_header(served):
    _, port = served("http")
    servers = {"mcpServers": {"web": web(port, "http", key="wrong-one"), "a": plain("a")}}
    async with McpServers(servers, settings=McpSettings(restarts=0)) as servers:
        status = servers.status("web")
        assert status.state is ServerState.DOWN
        assert status.reason == "the server answered 401 Unauthorized; give it what it asks for in a header"
        assert "wrong-one" not in json.dumps(status.to_json())
        assert servers.status("a").state is ServerState.UP


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_goes_away_and_comes_back_is_reached_again(kind, served):
    number, port = served(kind)
    settings = McpSettings(first_delay=0.05, longest_delay=0.2, restarts=500, patience=20, health_timeout=0.5)
    async with McpServers({"mcpServers": {"web": web(port, kind)}}, settings=settings) as servers:
        assert await heard(servers, "add", {"first": 1}) == "1"
        outputs = []

        async def ask():
            outputs.append(await heard(servers, "slow"))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.sleep(0.5)
            os.kill(number, signal.SIGKILL)
            with anyio.fail_after(10):
                while not outputs:
                    await anyio.sleep(0.02)
        assert outputs[0].startswith("Error [EXECUTION_ERROR]: ")

        await anyio.to_thread.run_sync(served, kind, port)
        texts = []
        with anyio.fail_after(20):
            while "3" not in texts:
                texts.append(await heard(servers, "add", {"first": 1, "second": 2}))
        # Calls that met it while it was away were told so, and nothing else.
        assert all(text.startswith("Error [EXECUTION_ERROR]: ") for text in texts[:-1])
        assert len(texts) < 5
