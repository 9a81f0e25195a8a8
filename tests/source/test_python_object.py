"""Tools that Python code holds."""

from __future__ import annotations

import sys
import textwrap

import pytest
from pydantic import BaseModel

from strictcall.source.load import read_source
from strictcall.source.python_object import is_reference, read_object
from strictcall.tool import Tool

MODULE = '''
from pydantic import BaseModel, Field
from strictcall.tool import Tool

class Search(BaseModel):
    """Search for it."""
    query: str
    limit: int = Field(default=3, alias="max")

class Plain(BaseModel):
    x: int

class Holder:
    tools = [Search, Tool("t", None, {"type": "object"}), {"name": "d", "input_schema": {}}, (Plain,)]

number = 5
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the working directory, which is not on the path of the process by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in {"", str(tmp_path)}])

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def test_a_model_is_a_tool_with_its_docstring_and_aliases(module):
    name = module("holder_one", MODULE)
    (tool,) = read_source(f"{name}:Search").tools
    assert (tool.name, tool.description) == ("Search", "Search for it.")
    assert list(tool.parameters["properties"]) == ["query", "max"]
    assert tool.parameters["required"] == ["query"]
    (plain,) = read_source(f"{name}:Plain").tools
    assert plain.description is None


def test_lists_hold_every_kind(module):
    name = module("holder_two", MODULE)
    reading = read_source(f"{name}:Holder.tools")
    assert [tool.name for tool in reading.tools] == ["Search", "t", "d", "Plain"]
    assert reading.problems == ()


@pytest.mark.parametrize(
    ("text", "attribute", "words"),
    [
        (MODULE, "number", "of type int"),
        (MODULE, "nothing", "has no 'nothing'"),
        (MODULE, "Search.nothing", "'Search' has no 'nothing'"),
        ("import not_there_at_all", "x", "no module named 'not_there_at_all'"),
        ("raise ValueError('broken\\nhere')", "x", "ValueError: broken here"),
        ("raise SystemExit(3)", "x", "SystemExit: 3"),
        ("def oops(:", "x", "SyntaxError"),
        ("tools = []", "tools", "no tools"),
        ("tools = [5]", "tools", "of type int"),
        ("tool = {'name': 'x', 'schema': {1: 2}}", "tool", "a key that is not text"),
        ("tool = {'name': 'x', 'schema': {}}; tool['schema']['self'] = tool", "tool", "deeper than"),
        ("tools = []; tools.append(tools)", "tools", "of type list"),
    ],
)
def test_what_is_no_tool_is_one_problem(module, text, attribute, words):
    name = module("holder_bad", text)
    reading = read_source(f"{name}:{attribute}")
    assert reading.tools == ()
    (problem,) = reading.problems
    assert words in problem.text
    assert "\n" not in str(problem)


def test_a_missing_module_is_named():
    (problem,) = read_source("there_is.no_such:thing").problems
    assert str(problem) == "there_is.no_such:thing: no module named 'there_is'"


def test_a_model_without_a_schema_is_a_problem():
    class Odd(BaseModel):
        model_config = {"arbitrary_types_allowed": True}
        value: Tool.__class__  # a plain class, of which pydantic knows no schema

    (problem,) = read_object([Odd], "here", "x").problems
    assert problem.place == "here[1]"
    assert "Odd has no JSON Schema" in problem.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b:c", True),
        ("a:b.c", True),
        ("C:\\tools.json", False),
        ("tools.json", False),
        ("a:b/c", False),
        ("a:", False),
    ],
)
def test_what_looks_like_a_reference(text, expected):
    assert is_reference(text) is expected


def test_a_file_that_exists_is_a_file_whatever_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_text('{"name": "x", "schema": {}}')
    assert [tool.name for tool in read_source("a:b").tools] == ["x"]
