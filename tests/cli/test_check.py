"""``strictcall check``."""

from __future__ import annotations

import json
import sys

import pytest

VERDICTS = ["exact", "closed", "checked", "narrowed", "loose"]


def test_json_has_each_tool_under_each_dialect(inside):
    words = ["--dialect", "anthropic", "--dialect", "openai", "--dialect", "anthropic"]
    done = inside("check", "tools.json", *words, "--output-format", "json")
    assert list(done.json) == ["dialects"]
    assert list(done.json["dialects"]) == ["anthropic", "openai"]
    for found in done.json["dialects"].values():
        assert [tool["name"] for tool in found["tools"]] == ["weather", "label", "broken"]
        assert list(found["summary"]) == VERDICTS
        assert sum(found["summary"].values()) == 3
        for tool in found["tools"]:
            assert set(tool) == {"name", "verdict", "strict", "baseline", "reason", "changes"}
            assert tool["strict"] is (tool["verdict"] != "loose")
            assert (tool["reason"] is None) is tool["strict"]
            for change in tool["changes"]:
                assert set(change) == {"code", "pointer", "effect", "message"}
                assert change["effect"] in {"encoded", "closed", "checked", "narrowed"}
    assert done.code == 1  # one tool is loose
    assert done.err == ""


def test_text_has_a_row_a_tool_and_the_totals(strictcall):
    done = strictcall("check", "tools.json")
    rows = {line.split()[0]: line.split()[1] for line in done.out.splitlines()[2:5]}
    assert set(rows) == {"weather", "label", "broken"}
    assert rows["broken"] == "loose"
    assert "3 tools: " in done.out
    assert "what costs most:" in done.out
    assert all(line == line.rstrip() for line in done.out.splitlines())


@pytest.mark.parametrize(
    ("tool", "options", "code"),
    [
        ({"name": "a", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}, [], 0),
        ({"name": "a", "schema": {"$ref": "https://example.com/x"}}, [], 1),
        ({"name": "a", "schema": {"$ref": "https://example.com/x"}}, ["--fail-on", "never"], 0),
        ({"name": "a", "schema": {"$ref": "https://example.com/x"}}, ["--fail-on", "narrowed"], 1),
        # Whatever a client has to check is a reason for the cautious policy to let the tool be.
        (
            {"name": "a", "schema": {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}},
            [],
            0,
        ),
        (
            {"name": "a", "schema": {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}},
            ["--fidelity", "exact"],
            1,
        ),
    ],
)
def test_exit_code_follows_fail_on(inside, tool, options, code):
    done = inside("check", "-", *options, stdin=json.dumps(tool).encode())
    assert done.code == code, done.out + done.err


def test_what_cannot_be_read_is_said_and_the_rest_go_on(inside):
    (inside.folder / "more.jsonl").write_text('{"name": "ok", "schema": {"type": "object"}}\nnot json\n')
    done = inside("check", "nowhere.json", "more.jsonl", "--output-format", "json", "--fail-on", "never")
    assert done.code == 2
    assert [tool["name"] for tool in done.json["dialects"]["openai"]["tools"]] == ["ok"]
    assert [problem["place"] for problem in done.json["problems"]] == ["nowhere.json", "more.jsonl: line 2, column 1"]
    assert done.err.splitlines() == [
        "strictcall: nowhere.json: no such file or directory",
        "strictcall: more.jsonl: line 2, column 1: not valid JSON: expecting value",
    ]


def test_output_goes_to_a_file(inside):
    done = inside("check", "tools.json", "--output-format", "json", "--output", "report.json", "--fail-on", "never")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert list(json.loads((inside.folder / "report.json").read_text())) == ["dialects"]
    failed = inside("check", "tools.json", "--output", "no/such/folder.txt")
    assert failed.code == 2
    assert failed.err == "strictcall: no/such/folder.txt: No such file or directory\n"


def test_a_server_after_two_dashes(strictcall, root, untraced):
    server = ["--", sys.executable, root / "examples/trip_server.py"]
    done = strictcall("check", "--output-format", "json", "--dialect", "json_schema", *server, env=untraced)
    assert [tool["name"] for tool in done.json["dialects"]["json_schema"]["tools"]] == [
        "plan_trip",
        "search_places",
        "rate_place",
    ]
    assert done.code == 0


def test_python_objects(strictcall):
    (strictcall.folder / "mine.py").write_text(
        "from pydantic import BaseModel\nclass Ask(BaseModel):\n    'Ask it'\n    q: str\nall_of_them = [Ask]\n"
    )
    done = strictcall("check", "mine:all_of_them", "--output-format", "json")
    assert [tool["name"] for tool in done.json["dialects"]["openai"]["tools"]] == ["Ask"]


def test_strangers_text_cannot_steer_the_terminal(inside):
    tool = {"name": "a\u001b[31m\nb\u202ec", "schema": {"type": "object"}}
    done = inside("check", "-", stdin=json.dumps(tool).encode())
    assert "\u001b" not in done.out
    assert "\u202e" not in done.out
    assert r"a\x1b[31m\nb\u202ec" in done.out


def test_names_beyond_ascii_whatever_the_locale(strictcall):
    tool = {"name": "über", "schema": {"type": "object"}}
    env = {"PATH": "", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": ":".join(sys.path)}
    done = strictcall("check", "-", stdin=json.dumps(tool).encode(), env=env)
    assert "über" in done.out
