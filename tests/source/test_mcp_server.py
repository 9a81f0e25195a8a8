"""MCP servers started for real over stdio."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path

import pytest

from strictcall.source.mcp_server import read_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "trip_server.py"

# A server that speaks only as much of the protocol as listing takes: it pages, and one of its tools is not a tool.
BARE_SERVER = """
import json, sys
BAD, SECOND = {"name": 5, "inputSchema": []}, {"name": "second", "inputSchema": SCHEMA}
PAGES = {None: ([GOOD], "p2"), "p2": ([BAD, SECOND], NEXT)}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "bare", "version": "1"}}
    elif asked["method"] == "tools/list":
        tools, following = PAGES[asked.get("params", {}).get("cursor")]
        answer["result"] = {"tools": tools} | ({"nextCursor": following} if following else {})
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    print(json.dumps(answer), flush=True)
"""
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 12345678901234567890123}},
    "x-own": [1.5],
}


@pytest.fixture(autouse=True)
def untraced(monkeypatch):
    """Servers are not what coverage is measured of, and start slowly under it."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


def bare_server(tmp_path, following=None):
    path = tmp_path / "bare.py"
    head = f"SCHEMA = {SCHEMA!r}\nNEXT = {following!r}\nGOOD = {{'name': 'first', 'inputSchema': SCHEMA}}\n"
    path.write_text(head + textwrap.dedent(BARE_SERVER))
    return [sys.executable, str(path)]


def test_our_own_server_is_read_with_its_schemas_whole():
    reading = read_server([sys.executable, str(EXAMPLE)])
    assert reading.problems == ()
    tools = {tool.name: tool for tool in reading.tools}
    assert set(tools) == {"plan_trip", "search_places", "rate_place"}
    near = tools["search_places"].parameters["properties"]["near"]
    assert near["anyOf"][0]["prefixItems"] == [{"type": "number"}, {"type": "number"}]
    assert tools["plan_trip"].description == "Plan a trip through several cities."


def test_pages_are_followed_and_a_bad_tool_hides_no_other(tmp_path):
    reading = read_server(bare_server(tmp_path))
    assert [(tool.name, tool.parameters) for tool in reading.tools] == [("first", SCHEMA), ("second", SCHEMA)]
    (problem,) = reading.problems
    assert "tools[1]" in problem.place
    assert "name is 5" in problem.text


def test_pages_that_go_in_a_circle_end(tmp_path):
    (problem,) = read_server(bare_server(tmp_path, following="p2")).problems
    assert "never end" in problem.text


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-command-at-all"], ["could not be started", "No such file"]),
        ([sys.executable, "-c", "import sys; print('no licence', file=sys.stderr); sys.exit(3)"], ["no licence"]),
        ([sys.executable, "-c", "print('not json'); import time; time.sleep(60)"], ["within 2 seconds"]),
    ],
)
def test_a_server_that_fails_is_one_problem_with_its_last_words(command, words, capfd):
    reading = read_server(command, timeout=2)
    assert reading.tools == ()
    (problem,) = reading.problems
    assert all(word in str(problem) for word in words)
    assert "\n" not in str(problem)
    assert "Traceback" not in capfd.readouterr().err


def test_a_server_is_ended_with_what_it_started(tmp_path):
    note = tmp_path / "alive"
    child = (
        f"import time, pathlib\nwhile True: pathlib.Path({str(note)!r}).write_text(str(time.time())); time.sleep(0.1)"
    )
    parent = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    read_server([sys.executable, "-c", parent], timeout=2)
    last = note.read_text()
    time.sleep(0.5)
    assert note.read_text() == last


def test_without_the_extra_a_server_is_a_clear_problem(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    (problem,) = read_server(["server"]).problems
    assert problem.text == "reading an MCP server needs the MCP SDK: pip install 'strictcall[mcp]'"
