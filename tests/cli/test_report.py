"""Results as tables and as totals."""

from __future__ import annotations

from strictcall import Tool, Verdict, compile_tool
from strictcall.dialect.registry import load
from strictcall.report.plain import plain
from strictcall.report.results import DialectResults, worst
from strictcall.report.table import Paper, check_text

FINE = {"type": "object", "properties": {}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {}}
UNIQUE = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}, "additionalProperties": False}


def elsewhere(name):
    return {"$ref": f"https://example.com/{name}.json"}


def results(*schemas):
    tools = [Tool(f"t{number}", None, schema) for number, schema in enumerate(schemas)]
    return DialectResults(load("openai"), tuple(compile_tool(tool, "openai") for tool in tools))


def test_totals_name_every_verdict():
    found = results(FINE, FINE, OPEN, UNIQUE, elsewhere("a"))
    assert found.summary == {
        Verdict.EXACT: 2,
        Verdict.CLOSED: 1,
        Verdict.CHECKED: 1,
        Verdict.NARROWED: 0,
        Verdict.LOOSE: 1,
    }


def test_costs_are_ordered_and_reasons_of_one_kind_are_one():
    costs = results(FINE, OPEN, UNIQUE, elsewhere("first"), elsewhere("second")).costs()
    assert [(cost.verdict, cost.tools) for cost in costs[:1]] == [(Verdict.LOOSE, 2)]
    assert "first" in costs[0].cause
    assert list(dict.fromkeys(cost.verdict for cost in costs)) == [Verdict.LOOSE, Verdict.CHECKED, Verdict.CLOSED]
    assert results(FINE).costs() == []
    assert len(results(FINE, OPEN, UNIQUE, elsewhere("a")).costs(most=2)) == 2


def test_the_worst_verdict():
    assert worst([results(FINE)]) is Verdict.EXACT
    assert worst([results(FINE, OPEN), results(UNIQUE)]) is Verdict.CHECKED
    assert worst([]) is Verdict.EXACT


def test_a_file_has_one_line_a_row_whatever_its_length():
    long = Tool("x" * 300, None, OPEN)
    text = check_text([DialectResults(load("openai"), (compile_tool(long, "openai"),))], Paper())
    assert [line for line in text.splitlines() if line.startswith("x" * 300 + "  closed")]


def test_a_terminal_is_kept_to_its_width_and_may_have_colour():
    found = results(OPEN, elsewhere("a" * 100))
    text = check_text([found], Paper(width=60))
    rows = text.split("what costs most")[0].splitlines()[1:-2]
    assert max(map(len, rows)) <= 60
    assert "\x1b[" not in text
    assert "\x1b[" in check_text([found], Paper(width=60, colour=True))


def test_plain_shows_what_would_steer_a_terminal():
    assert plain("a\x1b[2J\r\n\u202e\ud800é") == r"a\x1b[2J\r\n\u202e\ud800é"
