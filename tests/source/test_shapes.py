"""The shapes that a tool comes in, told by content."""

from __future__ import annotations

import copy

import pytest

from strictcall.source.shapes import read_value
from strictcall.tool import Tool

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
NAMED = {"name": "find", "description": "Find it"}
NO_PARAMETERS = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"type": "function", "function": {**NAMED, "parameters": SCHEMA, "strict": True}},
            Tool("find", "Find it", SCHEMA),
            id="openai-chat",
        ),
        pytest.param(
            {"type": "function", "function": {"name": "now"}},
            Tool("now", None, NO_PARAMETERS),
            id="openai-no-parameters",
        ),
        pytest.param(
            {"type": "function", **NAMED, "parameters": SCHEMA}, Tool("find", "Find it", SCHEMA), id="openai-responses"
        ),
        pytest.param(
            {"type": "function", "name": "now"}, Tool("now", None, NO_PARAMETERS), id="responses-no-parameters"
        ),
        pytest.param({**NAMED, "input_schema": SCHEMA}, Tool("find", "Find it", SCHEMA), id="anthropic"),
        pytest.param({**NAMED, "title": "T", "inputSchema": SCHEMA}, Tool("find", "Find it", SCHEMA), id="mcp"),
        pytest.param({**NAMED, "parameters": SCHEMA}, Tool("find", "Find it", SCHEMA), id="function-declaration"),
        pytest.param(
            {**NAMED, "parametersJsonSchema": SCHEMA}, Tool("find", "Find it", SCHEMA), id="gemini-json-schema"
        ),
        pytest.param({"source": "s", "name": "find", "schema": SCHEMA}, Tool("find", None, SCHEMA), id="row"),
        pytest.param({"name": "odd", "schema": 5}, Tool("odd", None, 5), id="row-whose-schema-is-none"),
        pytest.param(SCHEMA, Tool("stem", None, SCHEMA), id="bare-schema"),
        pytest.param(
            {**SCHEMA, "title": "Find"}, Tool("Find", None, {**SCHEMA, "title": "Find"}), id="bare-with-title"
        ),
        pytest.param({}, Tool("stem", None, {}), id="bare-and-empty"),
        pytest.param(True, Tool("stem", None, True), id="boolean-schema"),
    ],
)
def test_each_shape_is_read(value, expected):
    reading = read_value(value, "here", "stem")
    assert reading.problems == ()
    assert reading.tools == (expected,)


def test_the_schema_is_the_very_object_that_came_in():
    for value in ({**NAMED, "inputSchema": SCHEMA}, {**NAMED, "parameters": SCHEMA}, {"name": "x", "schema": SCHEMA}):
        (tool,) = read_value(value, "here", "stem").tools
        assert tool.parameters is SCHEMA


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda tools: tools,
        lambda tools: {"tools": tools, "nextCursor": "2"},
        lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
        lambda tools: {"model": "m", "tools": tools},
        lambda tools: [{"functionDeclarations": tools}],
        lambda tools: {"tools": [{"function_declarations": tools}]},
    ],
)
def test_lists_are_read_wherever_they_stand(wrapped):
    tools = [{"name": "a", "inputSchema": SCHEMA}, {"name": "b", "input_schema": SCHEMA}]
    reading = read_value(wrapped(tools), "here", "stem")
    assert [tool.name for tool in reading.tools] == ["a", "b"]
    assert reading.problems == ()


def test_a_declared_function_may_have_no_parameters():
    reading = read_value({"functionDeclarations": [{"name": "now", "description": "The time"}]}, "here", "stem")
    assert reading.tools == (Tool("now", "The time", NO_PARAMETERS),)


def test_shapes_mix_freely_and_bare_schemas_are_numbered():
    reading = read_value([{"name": "a", "schema": {}}, SCHEMA, {"type": "function", "name": "c"}], "here", "stem")
    assert [tool.name for tool in reading.tools] == ["a", "stem_2", "c"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (5, "not a tool but 5"),
        ("text", 'not a tool but "text"'),
        (None, "not a tool but null"),
        ({"foo": 1, "bar": 2}, 'its keys are "foo", "bar"'),
        ({"inputSchema": {}}, "without a name"),
        ({"name": 7, "input_schema": {}}, "name is 7"),
        ({"type": "function", "function": {"parameters": {}}}, "without a name"),
        ({"type": "web_search_20250305", "name": "web_search"}, "of the provider's own"),
        ({"name": "a", "schema": {"enum": [float("nan")]}}, "NaN and infinity are not JSON numbers at /schema/enum/0"),
        ({"name": "a", "schema": {"title": "\ud800"}}, "a lone surrogate, which is not a character at /schema/title"),
    ],
)
def test_one_bad_tool_never_hides_the_others(bad, words):
    good = {"name": "good", "inputSchema": SCHEMA}
    reading = read_value([good, bad, good], "here", "stem")
    assert [tool.name for tool in reading.tools] == ["good", "good"]
    (problem,) = reading.problems
    assert problem.place == "here[2]"
    assert words in problem.text


def test_lists_in_lists_end():
    value: object = {"name": "a", "schema": {}}
    for _ in range(5000):
        value = [value]
    reading = read_value(value, "here", "stem")
    assert reading.tools == ()
    assert len(reading.problems) == 1


def test_gemini_spelling_becomes_json_schema_only_where_schemas_stand():
    declaration = {
        "name": "book",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "type": {"type": "STRING", "enum": ["STRING", "OBJECT"], "maxLength": "20"},
                "tags": {
                    "type": "ARRAY",
                    "items": {"type": "INTEGER"},
                    "minItems": "1",
                    "default": [{"type": "STRING"}],
                },
                "either": {"type": ["STRING", "NULL"], "minLength": "many"},
                "any": {"anyOf": [{"type": "NUMBER"}, {"type": "NULL"}]},
                "free": {"type": "TYPE_UNSPECIFIED", "nullable": True},
            },
        },
    }
    before = copy.deepcopy(declaration)
    (tool,) = read_value({"functionDeclarations": [declaration]}, "here", "stem").tools
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["STRING", "OBJECT"], "maxLength": 20},
            "tags": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "default": [{"type": "STRING"}]},
            "either": {"type": ["string", "null"], "minLength": "many"},
            "any": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "free": {"nullable": True},
        },
    }
    assert declaration == before
