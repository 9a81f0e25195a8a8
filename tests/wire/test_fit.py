"""A tool that exceeds a provider's limit is rewritten to fit, the cheapest way first, and its calls still come back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Policy, Tool, compile_tool, judge
from strictcall.dialect.measure import measure
from strictcall.dialect.model import Dialect, Limit
from strictcall.dialect.registry import load

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def record(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def limited(name: str, **most: int) -> Dialect:
    """A dialect with these limits and no others."""
    return dataclasses.replace(load(name), limits=tuple(Limit(limit, count) for limit, count in most.items()))


def fitted(schema: dict[str, Any], dialect: Dialect, **policy: Any) -> CompiledTool:
    tool = compile_tool(Tool("t", None, schema), dialect, Policy(**policy))
    assert tool.strict, tool.reason
    assert judge(tool.parameters, dialect, silent=True) == []
    counts = measure(tool.parameters, dialect)
    assert all(counts[limit.name] <= limit.most for limit in dialect.limits), counts
    return tool


def codes(tool: CompiledTool) -> set[str]:
    return {change.code for change in tool.changes}


def comes_back(tool: CompiledTool, arguments: Any) -> Any:
    """The wire form of arguments, once they were seen to come back from it, and in either form."""
    wire = tool.encode(arguments)
    assert tool.decode(json.dumps(wire)) == arguments
    assert tool.decode(wire, form="either") == arguments
    return wire


def options(count: int) -> dict[str, Any]:
    return {f"o{index}": TEXT if index % 2 else INTEGER for index in range(count)}


def test_optionals_become_nullable_while_unions_have_room() -> None:
    tool = fitted(record({"q": TEXT, **options(4)}, "q"), limited("anthropic", optional=2, unions=2))
    assert tool.parameters["required"] == ["q", "o0", "o1"]
    assert codes(tool) == {"optional-null"}
    assert comes_back(tool, {"q": "x", "o1": "y", "o3": "z"}) == {"q": "x", "o0": None, "o1": "y", "o3": "z"}


def test_optionals_that_are_unions_already_cost_no_further_union() -> None:
    either = {"anyOf": [INTEGER, {"type": "array", "items": INTEGER}]}
    tool = fitted(record({"a": TEXT, "b": either}), limited("anthropic", optional=1, unions=1))
    assert tool.parameters["required"] == ["b"]
    assert comes_back(tool, {"a": "x"}) == {"a": "x", "b": None}


def test_further_optionals_are_gathered_the_last_ones_first() -> None:
    tool = fitted(record({"q": TEXT, **options(6)}, "q"), limited("anthropic", optional=2, unions=1))
    assert list(tool.parameters["properties"]) == ["q", "o0", "o1", "o2", "more_options"]
    assert "optional-gathered" in codes(tool)
    wire = comes_back(tool, {"q": "x", "o1": "y", "o4": 4, "o5": "z"})
    assert wire["more_options"] == [{"name": "o4", "value": 4}, {"name": "o5", "value": "z"}]
    assert comes_back(tool, {"q": "x"})["more_options"] == []


@pytest.mark.parametrize(
    ("entries", "place", "expected"),
    [
        ([{"name": "o4", "value": 1}, {"name": "o4", "value": 2}], "/o4", "is written twice"),
        ([{"name": "o4", "value": "one"}], "/o4", "must be an integer"),
        ([{"name": "nothing", "value": 1}], "", "each entry must be an object of a listed 'name' and its 'value'"),
        ({"o4": 1}, "", "must be a list of entries, each an object of 'name' and 'value'"),
    ],
)
def test_a_gathered_property_that_is_not_right_is_a_fault(entries: Any, place: str, expected: str) -> None:
    tool = fitted(record(options(6)), limited("anthropic", optional=2, unions=0))
    with pytest.raises(ArgumentsError) as caught:
        tool.decode({"more_options": entries})
    assert (place, expected) in [(fault.pointer, fault.expected) for fault in caught.value.faults]


def test_null_that_only_repeats_the_default_is_left_out_of_unions() -> None:
    maybe = {"anyOf": [TEXT, {"type": "null"}], "default": None}
    tool = fitted(record({"a": maybe, "b": maybe}), limited("anthropic", optional=9, unions=1))
    assert tool.parameters["properties"]["a"]["type"] == "string"
    assert codes(tool) == {"null-folded"}
    assert tool.decode(tool.encode({"a": None, "b": None})) == {"b": None}


def test_without_folding_a_union_is_written_as_text() -> None:
    maybe = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
    tool = fitted(record({"a": maybe, "b": maybe}, "a", "b"), limited("anthropic", unions=1))
    assert codes(tool) == {"part-text"}
    assert comes_back(tool, {"a": ["x"], "b": ["y"]}) == {"a": ["x"], "b": '["y"]'}


def test_what_is_too_deep_is_text_from_there_on() -> None:
    schema = record({"a": record({"b": record({"c": record({"d": INTEGER}, "d")}, "c")}, "b"), "x": INTEGER}, "a", "x")
    tool = fitted(schema, limited("openai", depth=3))
    assert tool.parameters["properties"]["a"]["properties"]["b"]["properties"]["c"]["type"] == "string"
    assert comes_back(tool, {"a": {"b": {"c": {"d": 1}}}, "x": 2})["a"]["b"]["c"] == '{"d":1}'


def test_equal_parts_are_shared_before_anything_is_lost() -> None:
    point = record({"x": {"type": "number"}, "y": {"type": "number"}, "label": TEXT}, "x", "y", "label")
    tool = fitted(
        record({"from": point, "to": point, "via": point}, "from", "to", "via"), limited("openai", properties=6)
    )
    assert tool.parameters["properties"]["to"] == {"$ref": "#/$defs/from"}
    assert tool.verdict == "exact"
    one = {"x": 1, "y": 2.5, "label": "a"}
    comes_back(tool, {"from": one, "to": one, "via": one})


def test_a_part_is_text_where_sharing_is_not_enough() -> None:
    schema = record({"small": record({"a": TEXT}, "a"), "large": record(options(6)), "x": TEXT}, "small", "large", "x")
    tool = fitted(schema, limited("openai", properties=5))
    assert tool.parameters["properties"]["large"]["type"] == "string"
    comes_back(tool, {"small": {"a": "b"}, "large": {"o0": 1, "o3": "c"}, "x": "y"})


def test_the_largest_enum_is_only_checked() -> None:
    zones = {"enum": [f"zone_{index}" for index in range(20)]}
    tool = fitted(
        record({"zone": zones, "unit": {"enum": ["c", "f"]}}, "zone", "unit"), limited("openai", enum_values=5)
    )
    assert codes(tool) == {"enum-unlisted"}
    assert "enum" in tool.parameters["properties"]["unit"]
    assert "one of" in tool.parameters["properties"]["zone"]["description"]
    comes_back(tool, {"zone": "zone_7", "unit": "c"})
    with pytest.raises(ArgumentsError, match="must be one of"):
        tool.decode({"zone": "elsewhere", "unit": "c"})


def test_exact_fidelity_never_drops_an_enum() -> None:
    zones = {"enum": [f"zone_{index}" for index in range(20)]}
    dialect = limited("openai", enum_values=5)
    tool = compile_tool(Tool("t", None, record({"zone": zones}, "zone")), dialect, Policy(fidelity="exact"))
    assert not tool.strict
    assert tool.reason == "20 enum values, where the provider's limit is 5"


def test_the_longest_arrays_are_only_checked() -> None:
    schema = record({name: {"type": "array", "items": TEXT, "maxItems": most} for name, most in (("a", 90), ("b", 9))})
    tool = fitted(schema, limited("gemini-json", item_bounds=10))
    assert "maxItems" not in tool.parameters["properties"]["a"]
    assert tool.parameters["properties"]["b"]["maxItems"] == 9
    with pytest.raises(ArgumentsError, match="at most 90"):
        tool.decode({"a": ["x"] * 91})


def test_a_tool_that_cannot_be_made_to_fit_is_loose_with_the_count_that_it_had() -> None:
    tool = compile_tool(Tool("t", None, record(options(6), *options(6))), limited("openai", properties=3))
    assert not tool.strict
    assert tool.reason == "6 properties, where the provider's limit is 3"


def test_a_tool_within_the_limits_is_not_rewritten() -> None:
    schema = record({"q": TEXT, **options(4)}, "q")
    usual = compile_tool(Tool("t", None, schema), load("anthropic"))
    assert fitted(schema, limited("anthropic", optional=4, unions=0)).parameters == usual.parameters
