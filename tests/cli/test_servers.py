"""The command line on MCP servers: real ones, several at once, behind URLs, and interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import pytest

BARE = str(Path(__file__).parents[1] / "source" / "bare_server.py")
REAL = {"time": "mcp_server_time", "fetch": "mcp_server_fetch", "git": "mcp_server_git"}
EXPECTED = {
    "time": {"get_current_time", "convert_time"},
    "fetch": {"fetch"},
    "git": {"git_status", "git_diff", "git_commit", "git_log"},
}
HIDDEN = "hidden-value-9"


def bare(name, mode="serve", **more):
    return {"command": sys.executable, "args": ["-S", BARE, name, mode], **more}


def missing(name):
    """Why a real server cannot be started here, or ``None``."""
    if not find_spec(REAL[name]):
        return f"{REAL[name].replace('_', '-')} is not installed"
    return "mcp-server-git needs git, which is not installed" if name == "git" and not shutil.which("git") else None


@pytest.fixture(scope="module")
def real_tools(tmp_path_factory):
    """The tools of all real servers that are installed, read from one config file by one command."""
    folder = tmp_path_factory.mktemp("real")
    installed = {name: module for name, module in REAL.items() if missing(name) is None}
    servers = {name: {"command": sys.executable, "args": ["-m", module]} for name, module in installed.items()}
    servers["one more"] = bare("one")
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    env = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    command = [sys.executable, "-m", "strictcall", "check", ".mcp.json", "--output-format", "json", "--timeout", "120"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=280, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = {}
    for tool in json.loads(done.stdout)["dialects"]["openai"]["tools"]:
        server, _, name = tool["name"].partition("/")
        assert tool["strict"], tool
        found.setdefault(server, set()).add(name)
    return found


@pytest.mark.parametrize("name", REAL)
def test_a_real_server_in_a_config_file(real_tools, name):
    reason = missing(name)
    if reason is not None:
        pytest.skip(reason)
    assert real_tools[name] >= EXPECTED[name]


def test_what_servers_are_left_out_or_failed_is_said_and_the_rest_are_checked(strictcall, untraced):
    value = {
        "servers": {
            "works": bare("w"),
            "off": bare("o", disabled=True),
            "fails": bare("f", "fail", env={"ONE": HIDDEN}),
            "asks": bare("a", env={"KEY": "${input:key}"}),
        }
    }
    (strictcall.folder / ".vscode").mkdir()
    (strictcall.folder / ".vscode" / "mcp.json").write_text(f"// servers\n{json.dumps(value)}")
    done = strictcall("check", ".vscode/mcp.json", "--output-format", "json", env=untraced)
    assert done.code == 2
    assert [tool["name"] for tool in done.json["dialects"]["openai"]["tools"]] == ["works/w_tool"]
    lines = done.err.splitlines()
    assert [line.partition(": server ")[2].split(":")[0] for line in lines] == ["'off'", "'fails'", "'asks'"]
    assert lines[1].endswith("(it wrote: starting | cannot go on with *** -)")
    assert HIDDEN not in done.out + done.err


def test_every_command_takes_a_server_of_a_config_file(inside, monkeypatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    value = {"mcpServers": {"a": bare("a"), "b": bare("b", "fail")}}
    (inside.folder / "mcp.json").write_text(json.dumps(value))
    picked = ["mcp.json", "--server", "a"]
    folder = json.dumps({"folder": str(inside.folder)})
    assert inside("compile", *picked).json["properties"]["folder"]["const"] == str(inside.folder)
    assert inside("decode", *picked, folder).json == json.loads(folder)
    assert inside("encode", *picked, folder).json == json.loads(folder)
    assert inside("judge", *picked).out.startswith("a_tool: ")
    assert inside("diff", *picked, "mcp.json").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "tools.json", "--header", "a: b"], "--header goes with the URL of a server"),
        (["check", "--server", "a", "--", "x"], "--server picks servers of an MCP config file; name the file"),
        (["check", "tools.json", "--server", "a"], "tools.json: --server picks servers of an MCP config file"),
        (["check", "http://127.0.0.1:9/", "--header", HIDDEN], "--header takes 'Name: value', which the 1. one is not"),
        (["check", "http://127.0.0.1:9/", "--header", f"a b: {HIDDEN}"], "a header cannot be called 'a b'"),
        (["check", "http://127.0.0.1:9/", "--header", "a: ${NOT_SET_ANYWHERE}"], "the header 'a': ${NOT_SET_ANYWHERE}"),
        (
            ["check", "http://127.0.0.1:9/", "--header", f"a: {HIDDEN}\n"],
            "127.0.0.1:9/: the server could not be reached",
        ),
        (["check", "tools.json", "--timeout", "0"], "--timeout takes a number of seconds above 0"),
        (["check", "tools.json", "--timeout", "nan"], "--timeout takes a number of seconds above 0"),
        (["check", "tools.json", "--timeout", "soon"], "invalid value for '--timeout'"),
    ],
)
def test_wrong_use_is_one_line_without_secrets(inside, words, message):
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert HIDDEN not in done.err


class Refusing(BaseHTTPRequestHandler):
    """Refuses everything, and notes the headers that came."""

    seen: ClassVar[list[dict[str, str]]] = []

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        self.send_error(403)

    def log_message(self, *_):
        pass


def test_headers_are_sent_with_their_variables_filled_in(strictcall, untraced):
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/mcp"
        headers = ["--header", "Authorization: Bearer ${THE_TOKEN}", "--header", "X-More:  one: two"]
        done = strictcall("check", url, *headers, env=untraced | {"THE_TOKEN": HIDDEN})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert Refusing.seen
    assert {head["authorization"] for head in Refusing.seen} == {f"Bearer {HIDDEN}"}
    assert {head["x-more"] for head in Refusing.seen} == {"one: two"}
    assert (done.code, done.out) == (2, "")
    assert done.err == f"strictcall: {url}: the server answered 403 Forbidden; give it what it asks for in a header\n"


def running(folder):
    """The servers that run: each leaves a file called by its number."""
    found = []
    for note in folder.iterdir():
        state = Path(f"/proc/{note.name}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
            found.append(note.name)
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in Linux's /proc")
def test_an_interrupt_in_the_middle_of_twenty_servers_is_quiet_and_leaves_no_process(strictcall, untraced):
    modes = ["serve", "spawn", "hang", "serve"]
    servers = {f"s{row}": bare(f"s{row}", modes[row % 4]) for row in range(20)}
    (strictcall.folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    notes = strictcall.folder / "notes"
    notes.mkdir()
    command = [sys.executable, "-m", "strictcall", "check", "mcp.json"]
    env = untraced | {"BARE_NOTES": str(notes)}
    with subprocess.Popen(command, stdout=-1, stderr=-1, cwd=strictcall.folder, env=env) as process:
        end = time.monotonic() + 60
        while len(list(notes.iterdir())) < 6 and time.monotonic() < end:
            time.sleep(0.02)
        assert running(notes)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert 6 <= len(list(notes.iterdir())) < 25
    assert running(notes) == []


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
def test_a_terminal_shows_how_many_servers_are_read(strictcall, untraced):
    value = {"mcpServers": {"a": bare("a"), "b": bare("b")}}
    (strictcall.folder / "mcp.json").write_text(json.dumps(value))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "strictcall", "check", "mcp.json"]
    env = untraced | {"TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, stdout=-1, stderr=theirs, cwd=strictcall.folder, env=env) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=60)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert process.returncode == 0
    assert b"servers read: " in shown
    assert b"a/a_tool" in out
    assert b"servers read" not in out
