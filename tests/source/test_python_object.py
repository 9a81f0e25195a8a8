"""Tools that Python code holds."""

from __future__ import annotations

import sys
import textwrap

import pytest
from pydantic import BaseModel

from strictcall import compile_tool
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


FUNCTIONS = '''
import functools, re
from typing import Annotated, Literal
from pydantic import BaseModel, Field

class Place(BaseModel):
    """A place."""
    city: str

def search(query: str, /, place: Place, limit: Annotated[int, Field(ge=1, description="At most")] = 3, *rest: int,
           _mode: Literal["fast", "slow"] = "fast", schema=re.compile("x"), **labels: float):
    """Search for it.

    In all places.

    Note:
        It is slow.

    Args:
        query: What to look for,
            in words.
        limit: Not this text
        **labels: Some labels
        nothing: Not there

    Returns:
        What was found.

    Raises:
        ValueError: if not
    """

async def numpy(x: int, y=None):
    """Do x.

    Parameters
    ----------
    x : int
        The x.
    y
        The y.
    """

def sphinx(x: "int", place: "Place | None" = None):
    """:param x: The x
    :param Place place: The place
    :returns: nothing
    """

def bare(): ...

class Tools:
    def method(self, x: int):
        """A method."""
    @staticmethod
    def static(x: int):
        """A static one."""
    @classmethod
    def ofclass(cls, x: int):
        """One of the class."""
    def __call__(self, x: int):
        """Called."""

tools = Tools()
half = functools.partial(search, "given", limit=5)
nameless = lambda x: x
several = [bare, numpy, {"name": "d", "schema": {}}]

def opaque(fine: int, place: Tools): ...
def unknown(x: "Nowhere"): ...

class Property:
    @property
    def broken(self):
        raise ValueError("not today")
broken = Property()
'''


def properties_of(tool):
    return tool.parameters["properties"]


def test_a_function_is_a_tool_with_what_its_docstring_says(module):
    (tool,) = read_source(f"{module('functions_one', FUNCTIONS)}:search").tools
    assert (tool.name, tool.description) == ("search", "Search for it.\n\nIn all places.\n\nNote: It is slow.")
    properties = properties_of(tool)
    assert list(properties) == ["query", "place", "limit", "_mode", "schema"]
    assert properties["query"] == {"title": "Query", "type": "string", "description": "What to look for, in words."}
    assert properties["place"] == {"$ref": "#/$defs/Place"}
    assert properties["limit"] | {"minimum": 1, "default": 3, "description": "At most"} == properties["limit"]
    assert tool.parameters["required"] == ["query", "place"]
    assert tool.parameters["additionalProperties"] == {"type": "number"}
    assert "default" not in properties["_mode"] or properties["_mode"]["default"] == "fast"


@pytest.mark.parametrize(
    ("attribute", "name", "description", "described", "required"),
    [
        ("numpy", "numpy", "Do x.", {"x": "The x.", "y": "The y."}, ["x"]),
        ("sphinx", "sphinx", None, {"x": "The x", "place": "The place"}, ["x"]),
        ("bare", "bare", None, {}, []),
        ("Tools.method", "method", "A method.", {"x": None}, ["x"]),
        ("Tools.static", "static", "A static one.", {"x": None}, ["x"]),
        ("Tools.ofclass", "ofclass", "One of the class.", {"x": None}, ["x"]),
        ("tools.method", "method", "A method.", {"x": None}, ["x"]),
        ("tools", "tools", "Called.", {"x": None}, ["x"]),
        ("nameless", "nameless", None, {"x": None}, ["x"]),
    ],
)
def test_every_kind_of_function(module, attribute, name, description, described, required):
    reading = read_source(f"{module('functions_two', FUNCTIONS)}:{attribute}")
    assert reading.problems == ()
    (tool,) = reading.tools
    assert (tool.name, tool.description) == (name, description)
    assert {key: item.get("description") for key, item in properties_of(tool).items()} == described
    assert tool.parameters.get("required", []) == required
    assert tool.parameters["additionalProperties"] is False


def test_a_partial_function_takes_what_is_left(module):
    (tool,) = read_source(f"{module('functions_three', FUNCTIONS)}:half").tools
    assert tool.name == "search"
    assert list(properties_of(tool)) == ["place", "limit", "_mode", "schema"]
    assert properties_of(tool)["limit"]["default"] == 5


def test_functions_stand_in_lists_with_other_tools(module):
    reading = read_source(f"{module('functions_four', FUNCTIONS)}:several")
    assert [tool.name for tool in reading.tools] == ["bare", "numpy", "d"]


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("opaque", "its parameter 'place' has no JSON Schema"),
        ("unknown", "its signature cannot be read: NameError: name 'Nowhere' is not defined"),
        ("broken.broken", "reading 'broken' failed: ValueError: not today"),
    ],
)
def test_a_function_without_a_schema_is_one_problem(module, attribute, words):
    reading = read_source(f"{module('functions_five', FUNCTIONS)}:{attribute}")
    assert reading.tools == ()
    (problem,) = reading.problems
    assert words in problem.text
    assert "\n" not in str(problem)


@pytest.mark.parametrize("missing", ["griffe", "pydantic"])
def test_without_the_extra_a_function_is_a_clear_problem(module, monkeypatch, missing):
    name = module("functions_six", "def plain(x: int): ...")
    monkeypatch.setitem(sys.modules, missing, None)
    (problem,) = read_source(f"{name}:plain").problems
    assert problem.text == "reading a function needs pydantic and griffelib: pip install 'strictcall[functions]'"


def test_a_functions_tool_compiles_and_takes_its_calls(module):
    (tool,) = read_source(f"{module('functions_seven', FUNCTIONS)}:numpy").tools
    compiled = compile_tool(tool, "openai")
    assert compiled.strict
    assert compiled.decode({"x": 1, "y": None}) in ({"x": 1}, {"x": 1, "y": None})
