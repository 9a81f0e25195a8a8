"""The tables in docs/dialects.md say what the data says."""

from pathlib import Path

import pytest

from dialect.recorded import EXCEPTIONS
from strictcall.dialect import load
from strictcall.dialect.rules import RULES

TEXT = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text(encoding="utf-8")
NAMES = ("openai", "anthropic", "json_schema")
KEYWORDS = sorted({keyword for name in NAMES for keyword in load(name).keywords})


def cell(name, keyword):
    rule = load(name).keyword(keyword)
    few = rule.values is not None and len(rule.values) < 4
    return f"{rule.state.value} ({', '.join(map(str, rule.values))})" if few else rule.state.value


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keyword(keyword):
    assert f"| `{keyword}` | {' | '.join(cell(name, keyword) for name in NAMES)} |\n" in TEXT


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    assert f"| `{rule}` | {RULES[rule]} |\n" in TEXT


@pytest.mark.parametrize("row", EXCEPTIONS)
def test_exception(row):
    assert f"| `{row}` | {' | '.join(EXCEPTIONS[row])} |\n" in TEXT
