"""Servers and what they started are ended, whatever ends the reading."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from strictcall.source.load import read_source
from strictcall.source.mcp_server import read_server

BARE = str(Path(__file__).with_name("bare_server.py"))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes and signals as POSIX has them")
MARKED = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="marks are read from Linux's /proc")
READ = "import sys; from strictcall.source.load import read_source; print(len(read_source(sys.argv[1]).tools))"


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    """The folder where each server's process leaves its number."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("BARE_NOTES", str(folder))
    return folder


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def numbers(notes):
    return sorted(int(path.name) for path in notes.iterdir())


def alive(number):
    """Whether a process runs; one that only waits to be noticed by its parent does not."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat")
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def none_left(notes):
    return wait_for(lambda: not any(map(alive, numbers(notes))), 5)


def command(name, mode="serve"):
    return [sys.executable, "-S", BARE, name, mode]


@MARKED
def test_what_a_server_started_is_ended_with_it_even_in_a_session_of_its_own(notes):
    reading = read_server(command("a", "spawn"))
    assert [tool.name for tool in reading.tools] == ["a_tool"]
    assert len(numbers(notes)) == 2
    assert none_left(notes)


def test_a_server_that_hangs_is_ended_at_its_time_out(notes):
    (problem,) = read_server(command("a", "hang"), timeout=1).problems
    assert "within 1 seconds" in problem.text
    assert len(numbers(notes)) == 1
    assert none_left(notes)


def test_a_thread_may_read_too(notes):
    found = []
    thread = threading.Thread(target=lambda: found.append(read_server(command("a"))))
    thread.start()
    thread.join()
    assert [tool.name for tool in found[0].tools] == ["a_tool"]
    assert none_left(notes)


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, lambda *_: None])
def test_handlers_of_signals_are_put_back(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        read_server(command("a"))
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


@MARKED
@pytest.mark.parametrize(("number", "times"), [(signal.SIGINT, 1), (signal.SIGINT, 4), (signal.SIGTERM, 1)])
def test_a_signal_in_the_middle_of_twenty_servers_leaves_no_process(tmp_path, notes, number, times):
    modes = ["serve", "hang", "spawn", "hang"]
    servers = {
        f"s{row}": {"command": sys.executable, "args": ["-S", BARE, f"s{row}", modes[row % 4]]} for row in range(20)
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with subprocess.Popen(
        [sys.executable, "-c", READ, "mcp.json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert wait_for(lambda: len(numbers(notes)) >= 5)
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.1)
        out, err = process.communicate(timeout=30)
    assert process.returncode == -number, err
    assert out == b""
    assert len(numbers(notes)) < 24  # it was in the middle
    assert none_left(notes)


def test_twenty_servers_in_one_reading(tmp_path, notes):
    servers = {f"s{row}": {"command": sys.executable, "args": ["-S", BARE, f"s{row}"]} for row in range(20)}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    reading = read_source(str(tmp_path / "mcp.json"))
    assert reading.problems == ()
    assert [tool.name for tool in reading.tools] == [f"s{row}/s{row}_tool" for row in range(20)]
    assert len(numbers(notes)) == 20
    assert none_left(notes)
