"""``strictcall diff``: two sources compared."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from strictcall.report.difference import differences

BARE = str(Path(__file__).parents[1] / "source" / "bare_server.py")


def tool(name, properties, required=(), description=None, **more):
    schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    if required:
        schema["required"] = list(required)
    return {"name": name, "schema": schema} | ({"description": description} if description else {})


TEXT = {"type": "string"}
BEFORE = [
    tool("same", {"a": TEXT}),
    tool("old", {}),
    tool("search", {"q": TEXT, "max": {"type": "integer", "maximum": 10}}, ["q", "max"], "Find"),
]
AFTER = [
    tool(
        "search",
        {"q": TEXT, "max": {"type": "integer", "maximum": 20}, "m": {"additionalProperties": TEXT}},
        ["q", "m"],
    ),
    tool("same", {"a": {"type": "string"}}),
    tool("new", {}),
]


@pytest.fixture
def diff(inside):
    def run(before, after, *words):
        (inside.folder / "a.json").write_text(json.dumps(before))
        (inside.folder / "b.json").write_text(json.dumps(after))
        return inside("diff", "a.json", "b.json", *words)

    return run


def test_sources_that_say_the_same_are_no_difference(diff):
    done = diff(BEFORE, list(reversed(BEFORE)))
    assert (done.code, done.err) == (0, "")
    assert done.out == "0 added, 0 removed, 0 changed, 3 the same\n"


def test_json_has_what_came_went_and_changed(diff):
    done = diff(BEFORE, AFTER, "--output-format", "json", "--dialect", "openai", "--dialect", "anthropic")
    assert done.code == 1
    found = done.json
    assert (found["added"], found["removed"], found["same"]) == (["new"], ["old"], 1)
    (search,) = found["changed"]
    assert search["name"] == "search"
    assert search["description"] == {"before": "Find", "after": None}
    assert search["contract"] == [
        {"pointer": "/properties/max/maximum", "kind": "changed", "before": 10, "after": 20},
        {"pointer": "/properties/m", "kind": "added", "after": {"additionalProperties": TEXT}},
        {
            "pointer": "/required",
            "kind": "changed",
            "before": ["q", "max"],
            "after": ["q", "m"],
            "added": ["m"],
            "removed": ["max"],
        },
    ]
    assert list(search["dialects"]) == ["openai", "anthropic"]
    openai = search["dialects"]["openai"]
    assert openai["verdict"] == {"before": "exact", "after": "checked"}
    assert "map-entries" in openai["codes"]["added"]
    assert openai["codes"]["removed"] == []
    wire = {place["pointer"]: place for place in openai["wire"]}
    assert wire["/required"]["added"] == ["m"]
    assert wire["/properties/max/maximum"]["after"] == 20
    assert "/properties/max/maximum" not in {place["pointer"] for place in search["dialects"]["anthropic"]["wire"]}


def test_text_has_a_sign_a_line(diff):
    lines = diff(BEFORE, AFTER).out.splitlines()
    assert lines[:5] == [
        "+ new: only in the second",
        "- old: only in the first",
        "~ search",
        '  ~ description: "Find" -> null',
        "  ~ /properties/max/maximum: 10 -> 20",
    ]
    assert '  + /properties/m: {"additionalProperties":{"type":"string"}}' in lines
    assert '  ~ /required (+"m", -"max")' in lines
    assert any(line.startswith("  ~ openai: exact -> checked (+") for line in lines)
    assert "    ~ /properties/max/maximum: 10 -> 20" in lines
    assert lines[-1] == "1 added, 1 removed, 1 changed, 1 the same"


def test_a_tool_that_became_loose_is_said_with_its_reason(diff):
    away = [{"name": "t", "schema": {"$ref": "https://example.com/x.json"}}]
    out = diff([tool("t", {})], away).out
    (line,) = [line for line in out.splitlines() if line.startswith("  ~ openai")]
    assert line.startswith("  ~ openai: exact -> loose: ")
    assert "example.com" in line


def test_the_second_source_may_be_a_server(inside, monkeypatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    (inside.folder / "a.json").write_text(json.dumps([tool("x", {})]))
    done = inside("diff", "a.json", "--", sys.executable, "-S", BARE, "x")
    assert done.code == 1
    assert done.out.splitlines()[:2] == ["+ x_tool: only in the second", "- x: only in the first"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["diff"], "diff takes two sources"),
        (["diff", "tools.json"], "diff takes two sources"),
        (["diff", "a", "b", "c"], "diff takes two sources"),
        (["diff", "a", "b", "--", "server"], "diff takes two sources"),
        (["diff", "-", "-"], "standard input (-) can be read once only"),
        (["diff", "tools.json", "nowhere.json"], "nowhere.json: no such file"),
        (["diff", "tools.json", "tools.json", "--dialect", "opnai"], "did you mean 'openai'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(inside, words, message):
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_what_cannot_be_read_makes_the_code_2_and_the_rest_is_compared(diff):
    done = diff([tool("t", {})], [tool("t", {}), {"name": "bad"}], "--output-format", "json")
    assert done.code == 2
    assert (done.json["changed"], done.json["same"]) == ([], 1)
    assert "problems" in done.json


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, 1.0, []),
        (True, 1, [("", "changed")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"enum": [1, 2]}, {"enum": [2, 1]}, []),
        ({"enum": [1, "x"]}, {"enum": [True, "x"]}, [("/enum", "changed")]),
        ({"enum": [1]}, {}, [("/enum", "removed")]),
        ({"required": ["a"]}, {"required": ["a", "a"]}, []),
        ({}, {"required": []}, [("/required", "added")]),
        ({}, {"required": ["a"]}, [("/required", "added")]),
        ({"type": "string"}, {"type": ["string", "null"]}, [("/type", "changed")]),
        ({"properties": {"required": TEXT}}, {"properties": {}}, [("/properties/required", "removed")]),
        ({"anyOf": [TEXT, {}]}, {"anyOf": [TEXT]}, [("/anyOf/1", "removed")]),
        ({"a/b~": {"x": 1}}, {"a/b~": {"x": None}}, [("/a~1b~0/x", "changed")]),
        ({"a": {}}, {"a": []}, [("/a", "changed")]),
        (True, {}, [("", "changed")]),
    ],
)
def test_values_differ_where_json_says_so(before, after, expected):
    assert [(place.pointer, place.kind) for place in differences(before, after)] == expected


def test_values_may_be_deep_or_lead_back_to_themselves():
    def nested(end):
        value = end
        for _ in range(100_000):
            value = {"not": value}
        return value

    assert len(differences(nested(1), nested(2))) == 1
    loop, other = {}, {}
    loop["self"], other["self"] = loop, other
    assert len(differences(loop, other)) == 1
