"""The worked example of CONTRIBUTING.md: a provider is one TOML file and one row."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from strictcall import Tool, compile_tool, judge
from strictcall.dialect import judge_name, load, read

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?:<!-- (\S+) -->\n)?```(toml|python)\n(.*?)```", TEXT, re.DOTALL)


def block(language, place):
    """The one example in a language that is said to stand at a place, or at none."""
    found = [text for where, kind, text in BLOCKS if (kind, where) == (language, place)]
    assert len(found) == 1, f"CONTRIBUTING.md has {len(found)} examples in {language} for {place or 'no place'}"
    return found[0]


@pytest.fixture
def acme(tmp_path):
    file = tmp_path / "acme.toml"
    file.write_text(block("toml", "src/strictcall/dialect/acme.toml"), encoding="utf-8")
    return read(file)


def test_the_file_is_its_parent_and_what_differs(acme):
    parent = load("openai")
    assert (acme.name, acme.parent) == ("acme", "openai")
    differing = {name for name in acme.keywords if acme.keywords[name] != parent.keywords.get(name)}
    assert differing == {"minimum", "maximum"}
    assert {limit.name for limit in parent.limits} - {limit.name for limit in acme.limits} == {"enum_values"}
    assert {limit.name for limit in acme.limits if limit not in parent.limits} == {"depth"}


def test_the_row_is_refused_for_what_differs_in_the_providers_words(acme):
    name, schema, rules = ast.literal_eval(block("python", "tests/dialect/test_each_dialect.py"))
    assert name == acme.name
    violations = judge(schema, acme)
    assert [violation.rule for violation in violations] == rules
    assert violations[0].phrase == "Unsupported keyword: minimum"
    assert violations[0].source == "https://github.com/acme/sdk/issues/17"
    assert judge(schema, "openai") == []


def test_real_tools_compile_to_what_the_provider_takes(acme):
    lines = (ROOT / "tests/data/tools_sample.jsonl").read_text(encoding="utf-8").splitlines()
    tools = [Tool(row["name"], None, row["schema"]) for row in map(json.loads, lines)]
    compiled = [compile_tool(tool, acme) for tool in tools]
    under_parent = [compile_tool(tool, "openai") for tool in tools]
    assert sum(tool.strict for tool in compiled) >= 30
    for tool in compiled:
        assert judge(tool.parameters, acme, strict=tool.strict, silent=tool.strict) == [], tool.tool.name
        assert judge_name(tool.name, acme) == []
    bounded = [index for index, tool in enumerate(under_parent) if '"minimum": ' in json.dumps(tool.parameters)]
    assert any(under_parent[index].strict and compiled[index].strict for index in bounded)  # a bound that had to go
    reasons = [
        acmes.reason for acmes, parents in zip(compiled, under_parent, strict=True) if acmes.strict < parents.strict
    ]
    assert all("the provider's limit is 5" in reason for reason in reasons)


def test_a_circle_is_refused_and_written_in_another_way(acme):
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    phrases = {violation.phrase for violation in judge(schema, acme) if violation.rule == "recursion"}
    assert phrases == {"Circular references are not supported"}
    compiled = compile_tool(Tool("walk", None, schema), acme)
    assert compiled.strict
    assert judge(compiled.parameters, acme, silent=True) == []
    said = {"first": {"next": {"next": {}}}}
    assert compiled.decode(json.dumps(compiled.encode(said))) == said


def test_the_program_runs_as_it_stands(tmp_path, acme):
    (tmp_path / "try.py").write_text(block("python", ""), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "try.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = [line.split() for line in done.stdout.splitlines()]
    assert ["/properties/days/minimum", "keyword-rejected", "Unsupported", "keyword:", "minimum"] in told
    assert ["(root)", "additional-open"] in [line[:2] for line in told]
