"""Ten real MCP servers at once: five from PyPI, five of our own. One is killed and one hangs while all are at work."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from runtime.mcp_helpers import QUICK, call, children, config, hurried, none_left, tasks_now, until
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import ServerState
from strictcall.runtime.output import model_text
from strictcall.runtime.runnable import Context
from strictcall.serving import serving

pytestmark = [
    pytest.mark.anyio,
    # The SDK waits a while for a process that it killed, and not for ever; whether it is gone is looked at by number.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in Linux's /proc"),
    pytest.mark.skipif(shutil.which("git") is None, reason="the git server needs git, which is not installed"),
]
SETTINGS = replace(QUICK, start_timeout=120, patience=120, health_timeout=1)


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    hurried(monkeypatch)
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("PLAIN_NOTES", str(folder))
    return folder


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)  # noqa: S607  whichever git there is
    return str(folder)


@pytest.fixture(scope="module")
def page():
    """The URL of a page on this machine."""
    application = Starlette(routes=[Route("/page.txt", lambda request: PlainTextResponse("a page to fetch"))])
    with serving(application) as address:
        yield f"{address}/page.txt"


def module(name, *arguments):
    return {"command": sys.executable, "args": ["-m", name, *arguments]}


def ten():
    return config(
        *(f"own_{number}" for number in range(1, 6)),
        time_1=module("mcp_server_time", "--local-timezone", "UTC"),
        time_2=module("mcp_server_time", "--local-timezone", "Europe/Oslo"),
        git_1=module("mcp_server_git"),
        git_2=module("mcp_server_git"),
        fetch=module("mcp_server_fetch", "--ignore-robots-txt"),
    )


async def test_one_is_killed_and_one_hangs_and_the_others_go_on(repository, page, notes):
    before = tasks_now()
    async with McpServers(ten(), settings=SETTINGS) as servers:
        assert [status.state for status in servers.statuses] == [ServerState.UP] * 10
        started = children()
        assert len(started) >= 10

        clock = {"timezone": "Europe/Paris"}
        calls = {
            "own_1__echo": {"n": 1},
            "own_2__echo": {"n": 2},
            "own_3__echo": {"n": 3},
            "own_4__echo": {"n": 4},
            "own_5__slow": {},
            "time_1__get_current_time": clock,
            "time_2__get_current_time": clock,
            "git_1__git_status": {"repo_path": repository},
            "git_2__git_status": {"repo_path": repository},
            "fetch": {"url": page},
        }
        tools = [replace(tool, timeout=60.0 if "time_2" not in tool.name else 1.5) for tool in servers.tools]

        async def batch():
            answered = [call(name, arguments, number) for number, (name, arguments) in enumerate(calls.items())]
            outputs = await Executor(tools, Limits(max_parallel_tool_calls=10)).run_batch(answered)
            return dict(zip(calls, map(model_text, outputs), strict=True))

        async def strike():
            """Stop a server from PyPI for good, and kill one in the middle of its call."""
            os.kill(hung, signal.SIGSTOP)
            await anyio.sleep(0.3)
            os.kill(killed, signal.SIGKILL)

        killed = int(model_text(await servers.find("own_5.pid").run({}, Context())))
        (hung,) = [number for number, command in started.items() if "Europe/Oslo" in command]
        async with anyio.create_task_group() as group:
            group.start_soon(strike)
            texts = await batch()

        for number in range(1, 5):
            assert json.loads(texts[f"own_{number}__echo"]) == {"n": number}
        assert json.loads(texts["time_1__get_current_time"])["timezone"] == "Europe/Paris"
        assert "No commits yet" in texts["git_1__git_status"] == texts["git_2__git_status"]
        # Whether it fetches from this machine or refuses to, the server says what it was asked for.
        assert page in texts["fetch"]
        assert texts["time_2__get_current_time"].startswith("Error [TIMEOUT]: ")
        assert texts["own_5__slow"].startswith(
            "Error [EXECUTION_ERROR]: the MCP server 'own_5' ended before it answered"
        )

        # Both are started anew, and all ten answer again.
        anew = {"own_5": 2, "time_2": 2}

        def all_up():
            starts = {status.name: status.starts for status in servers.statuses if status.starts > 1}
            return starts == anew and all(status.state is ServerState.UP for status in servers.statuses)

        await until(all_up, 120)
        calls = {**calls, "own_5__echo": {"n": 5}}
        del calls["own_5__slow"]
        texts = await batch()
        assert [name for name, text in texts.items() if text.startswith("Error") and name != "fetch"] == []
        assert page in texts["fetch"]
        assert all_up()
        assert {killed, hung}.isdisjoint(children())
    assert none_left(notes, 0)
    assert children().keys().isdisjoint(started)
    assert not [command for command in children().values() if "mcp_server" in command or "plain_server" in command]
    assert tasks_now() == before
