"""A schema that was compiled before is recognised by its content, and by nothing else."""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Policy, Tool, compile_schema, compile_tool
from strictcall.wire import compile as compiling


def schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 2}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
    }


def compiled(parameters: Any, **more: Any) -> CompiledTool:
    return compile_tool(Tool("forecast", "d", parameters), **more)


def hits() -> int:
    return compiling._kept.cache_info().hits


def test_equal_content_in_another_object_is_recognised() -> None:
    first = compiled(schema())
    before = hits()
    second = compiled(json.loads(json.dumps(schema())))
    assert hits() == before + 1
    assert (second.parameters, second.changes, second.verdict) == (first.parameters, first.changes, first.verdict)


def test_a_dict_changed_in_place_is_compiled_anew() -> None:
    given = schema()
    assert "days" in compiled(given).parameters["properties"]
    del given["properties"]["days"]
    assert list(compiled(given).parameters["properties"]) == ["city"]
    given["properties"]["city"]["description"] = "where"
    assert compiled(given).parameters["properties"]["city"]["description"].startswith("where")


@pytest.mark.parametrize(
    ("one", "two"),
    [(1, True), (0, False), (1, 1.0), ("1", 1), (None, False), ([1], [True]), ({"a": 0}, {"a": False})],
)
def test_values_that_only_python_takes_for_equal_are_told_apart(one: Any, two: Any) -> None:
    for value in (one, two, one):
        given = {"type": "object", "properties": {"x": {"enum": [value, "other"]}}, "required": ["x"]}
        assert compiled(given).decode(compiled(given).encode({"x": value})) == {"x": value}
        default = {"type": "object", "properties": {"x": {"default": value}}}
        assert json.dumps(compiled(default, dialect="json_schema").parameters["properties"]["x"]["default"]) == (
            json.dumps(value)
        )


@pytest.mark.parametrize("deep", [False, True])
def test_the_order_of_properties_is_content(deep: bool) -> None:
    inner: dict[str, Any] = {"a": {"type": "string"}, "b": {"type": "string"}}
    for names in (inner, dict(reversed(inner.items())), inner):
        given = {"type": "object", "properties": names}
        if deep:
            given = {"type": "object", "properties": {"in": given}, "required": ["in"]}
        found = compiled(given).parameters
        found = found["properties"]["in"] if deep else found
        assert list(found["properties"]) == list(names)


def test_what_is_handed_out_may_be_changed_without_harm() -> None:
    first = compiled(schema())
    first.parameters["properties"].clear()
    assert list(compiled(schema()).parameters["properties"]) == ["city", "days"]
    assert first.parameters is first.parameters


def test_a_schema_changed_after_compiling_does_not_change_the_check() -> None:
    given = schema()
    tool = compiled(given)
    given["properties"]["city"]["minLength"] = 100
    assert tool.decode('{"city": "Rome", "days": null}') == {"city": "Rome"}
    again = compiled(schema())
    assert again.decode('{"city": "Rome", "days": null}') == {"city": "Rome"}
    with pytest.raises(ArgumentsError):
        again.decode('{"city": "R", "days": null}')


def test_a_loose_tool_keeps_the_very_object_each_time() -> None:
    for _ in range(2):
        given = schema()
        tool = compiled(given, policy=Policy(open_objects="refuse"))
        assert not tool.strict
        assert tool.parameters is given


def test_everything_else_that_compiling_depends_on_tells_apart() -> None:
    given = {"type": "object", "properties": {"n": {"type": "integer"}}}
    results = [
        compiled(given),
        compiled(given, dialect="anthropic"),
        compiled(given, policy=Policy(open_objects="carry")),
        compile_tool(Tool("other name", None, given)),
        compile_schema({**given, "items": [{"type": "string"}]}, draft="7"),
    ]
    assert len({(tool.name, json.dumps(tool.parameters), tool.dialect.name) for tool in results}) == len(results)


@pytest.mark.parametrize("levels", [60, 2_000])
def test_shared_and_deep_objects_end_fast(levels: int) -> None:
    shared: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        shared = {"type": "object", "properties": {"a": shared, "b": shared}}
    for _ in range(2):
        assert not compiled(shared).strict


def test_nothing_is_kept_where_recursion_may_go_deep() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        before = hits()
        for _ in range(2):
            assert compiled({**schema(), "title": "deep"}).strict
        assert hits() == before
    finally:
        sys.setrecursionlimit(limit)


def test_a_copy_of_a_tool_is_the_same_tool() -> None:
    assert copy.deepcopy(compiled(schema()).parameters) == compiled(schema()).parameters
