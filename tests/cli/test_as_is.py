"""``strictcall check --as-is``: what each provider would say to tools as they stand."""

from __future__ import annotations

import json

import pytest

from strictcall.dialect import dialects, judge
from strictcall.dialect.rules import RULES
from strictcall.report.as_is import hear
from strictcall.source.load import read_source
from strictcall.source.options import ReadOptions

CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
OPTIONAL = {"type": "object", "properties": {"a": {"type": "string"}}}
UNION = {"anyOf": [OPTIONAL, CLOSED]}


def written(*schemas, name="t"):
    return "\n".join(json.dumps({"name": f"{name}{n}", "schema": schema}) for n, schema in enumerate(schemas)).encode()


def test_every_dialect_is_asked_unless_some_are_named(inside):
    done = inside("check", "-", "--as-is", "--output-format", "json", stdin=written(CLOSED))
    assert list(done.json["dialects"]) == [dialect.name for dialect in dialects()]
    named = ["--dialect", "gemini", "--dialect", "openai"]
    done = inside("check", "-", "--as-is", *named, "--output-format", "json", stdin=written(CLOSED))
    assert list(done.json["dialects"]) == ["gemini", "openai"]


def test_json_says_all_that_is_said_against_each_tool(inside):
    words = ["--as-is", "--dialect", "openai", "--output-format", "json"]
    found = inside("check", "-", *words, stdin=written(CLOSED, OPTIONAL, UNION)).json["dialects"]["openai"]
    assert [tool["answer"] for tool in found["tools"]] == ["strict", "loose", "refused"]
    assert found["summary"] == found["names_aside"] == {"strict": 1, "loose": 1, "refused": 1}
    assert found["tools"][0] == {"name": "t0", "answer": "strict", "violations": []}
    open_object = next(row for row in found["tools"][1]["violations"] if row["rule"] == "additional-open")
    assert (open_object["refuses_strict"], open_object["refuses_loose"]) == (True, False)
    assert "additionalProperties" in open_object["phrase"]
    assert open_object["source"].startswith("https://")
    root = next(row for row in found["tools"][2]["violations"] if row["rule"] == "root-not-object")
    assert (root["part"], root["pointer"], root["refuses_loose"]) == ("parameters", "", True)
    counts = {(row["rule"], row["keyword"]): row["tools"] for row in found["rules"]}
    assert counts["additional-open", None] == 2  # in the union, under a branch
    assert found["request"] == []


def test_the_two_judgements_are_those_of_the_judge(root):
    """Nothing that the judge says of real tools is lost, marked or unmarked, and nothing is added."""
    tools = read_source(str(root / "tests/data/tools_sample.jsonl"), ReadOptions()).tools
    assert len(tools) == 40
    for dialect in dialects():
        for tool in tools:
            remarks = [remark for remark in hear(tool, dialect).remarks if remark.part == "parameters"]
            for strict in (True, False):
                mine = {
                    (remark.violation.pointer, remark.violation.rule)
                    for remark in remarks
                    if (remark.strict if strict else remark.loose)
                }
                judged = judge(tool.parameters, dialect, strict=strict)
                assert mine == {(violation.pointer, violation.rule) for violation in judged}, (dialect.name, tool.name)


def test_names_are_judged_and_told_apart_from_the_rest(inside):
    words = ["--as-is", "--dialect", "openai"]
    given = written(CLOSED, OPTIONAL, name="server/tool")
    found = inside("check", "-", *words, "--output-format", "json", stdin=given).json["dialects"]["openai"]
    assert found["summary"] == {"strict": 0, "loose": 0, "refused": 2}
    assert found["names_aside"] == {"strict": 1, "loose": 1, "refused": 0}
    assert [row["part"] for row in found["tools"][0]["violations"]] == ["name"]
    done = inside("check", "-", *words, stdin=given)
    assert "names aside" in done.out
    assert "1 / 1 / 0" in done.out
    assert "names aside" not in inside("check", "-", *words, stdin=written(CLOSED)).out


def test_ceilings_of_one_request_are_said_and_refuse_no_tool(inside):
    given = written(*[CLOSED] * 129)
    words = ["--as-is", "--dialect", "deepseek"]
    done = inside("check", "-", *words, stdin=given)
    assert "in one request, deepseek: tools: 129, 128 at most are taken in one request" in done.out
    found = inside("check", "-", *words, "--output-format", "json", stdin=given).json["dialects"]["deepseek"]
    assert [row["rule"] for row in found["request"]] == ["limit-tools"]
    assert found["summary"]["refused"] == 0


@pytest.mark.parametrize(
    ("schema", "options", "code"),
    [
        (CLOSED, [], 0),
        (OPTIONAL, [], 0),
        (OPTIONAL, ["--fail-on", "loose"], 1),
        (OPTIONAL, ["--fail-on", "refused"], 0),
        (UNION, [], 1),
        (UNION, ["--fail-on", "never"], 0),
        (CLOSED, ["--fail-on", "loose"], 0),
        (None, [], 0),
    ],
)
def test_exit_code_is_about_what_is_refused(inside, schema, options, code):
    done = inside("check", "-", "--as-is", "--dialect", "openai", *options, stdin=written(schema))
    assert done.code == code, done.out + done.err
    assert done.out.splitlines()[-1].startswith("to do: " if code else "fine")


def test_text_has_a_row_a_dialect_then_the_rules_then_the_places(inside):
    words = ["--as-is", "--dialect", "openai", "--dialect", "llama.cpp", "--dialect", "gemini"]
    done = inside("check", "-", *words, stdin=written(CLOSED, OPTIONAL, UNION))
    lines = done.out.splitlines()
    assert lines[0] == "3 tools as they stand, 3 dialects"
    rows = {line.split()[0]: [int(word) for word in line.split()[1:4]] for line in lines[2:5]}
    assert list(rows) == ["openai", "llama.cpp", "gemini"]
    assert rows["openai"] == [1, 1, 1]
    assert all(sum(row) == 3 for row in rows.values())
    told, places = (lines.index(next(line for line in lines if line.startswith(word))) for word in ("what", "where"))
    assert any(f"additional-open in 2 tools under openai: {RULES['additional-open']}" in line for line in lines[told:])
    assert any('openai: "' in line and "https://" in line for line in lines[told:places])
    assert lines[places + 1].startswith("  t2: ")  # what meets most resistance comes first
    assert any("    not strict /properties/a: 'a' must be in required [required-missing]" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_many_tools_are_shown_by_example(inside):
    names = [f"p{number}" for number in range(30)]
    schema = {"type": "object", "properties": {name: {"type": "string", "maxLength": 3} for name in names}}
    done = inside("check", "-", "--as-is", stdin=written(*[schema] * 25))
    assert "and 15 more tools: --output-format json has all of them" in done.out
    assert "more places" in done.out
    assert len(done.out.splitlines()) < 200


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as-is", "--statistics"], "--statistics is about compiled tools, and --as-is compiles nothing"),
        (["--as-is", "--select", "loose"], "--select is about compiled tools, and --as-is compiles nothing"),
        (["--as-is", "--ignore", "loose"], "--ignore is about compiled tools, and --as-is compiles nothing"),
        (["--as-is", "--baseline", "b.json"], "--baseline is about compiled tools, and --as-is compiles nothing"),
        (["--as-is", "--fidelity", "exact"], "a policy is about compiled tools, and --as-is compiles nothing"),
        (
            ["--as-is", "--fail-on", "narrowed"],
            "--fail-on narrowed is about compiled tools; with --as-is it is refused, loose or never",
        ),
        (
            ["--fail-on", "refused"],
            "--fail-on refused goes with --as-is; of compiled tools it is narrowed, loose or never",
        ),
        (["--as-is", "--dialect", "opanai"], "dialect 'opanai': unknown; did you mean 'openai'"),
    ],
)
def test_options_that_do_not_go_together(inside, words, said):
    done = inside("check", "tools.json", *words)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_what_cannot_be_read_is_said_and_the_rest_are_judged(strictcall):
    done = strictcall(
        "check", "nowhere.json", "tools.json", "--as-is", "--dialect", "openai", "--output-format", "json"
    )
    assert done.code == 2
    assert [problem["place"] for problem in done.json["problems"]] == ["nowhere.json"]
    assert len(done.json["dialects"]["openai"]["tools"]) == 3
    assert done.err == "strictcall: nowhere.json: no such file or directory\n"


def test_strangers_text_cannot_steer_the_terminal(inside):
    schema = {"type": "object", "properties": {"\u001b[31m\u202e": {"x\u001b[2J": 1}}}
    done = inside("check", "-", "--as-is", stdin=written(schema, name="a\u001b[31m\nb"))
    assert "\u001b" not in done.out
    assert "\u202e" not in done.out
    assert r"a\x1b[31m\nb0" in done.out
