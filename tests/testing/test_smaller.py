"""Making values and schemas smaller while they stay of interest."""

from __future__ import annotations

import copy
import json

import pytest

from strictcall.testing.smaller import reduce, smaller_schemas, smaller_values


@pytest.mark.parametrize(
    ("value", "interesting", "expected"),
    [
        ({"a": 1, "b": {"c": [1, 2, {"d": "needle"}]}}, lambda v: "needle" in json.dumps(v), {"c": [{"d": "needle"}]}),
        ([5, 90, 7, 1000], lambda v: isinstance(v, list) and any(type(x) is int and x > 60 for x in v), [62]),
        ({"x": "haystack"}, lambda v: isinstance(v, dict) and len(v.get("x", "")) >= 3, {"x": "ays"}),
        ({"x": 250.5}, lambda v: isinstance(v, dict) and v.get("x", 0) > 100, {"x": 125}),
        (["a", None, True], lambda v: isinstance(v, list) and None in v, [None]),
        ("as it is", lambda v: v == "as it is", "as it is"),
    ],
)
def test_values_get_small_and_stay_of_interest(value, interesting, expected) -> None:
    before = copy.deepcopy(value)
    assert reduce(value, interesting, smaller_values) == expected
    assert value == before


SCHEMA = {
    "type": "object",
    "description": "What it is.",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "inner": {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"properties": {"const": 7}, "b": {}}, "required": ["b"]},
            ]
        },
    },
    "required": ["kind", "inner"],
    "$defs": {"unused": {"type": "object"}},
}


def test_a_schema_gives_way_to_the_part_of_it_that_matters() -> None:
    found = reduce(SCHEMA, lambda node: isinstance(node, dict) and '{"const": 7}' in json.dumps(node), smaller_schemas)
    assert found == {"const": 7}

    def declares(node: object) -> bool:
        return isinstance(node, dict) and '"properties": {"const": 7}' in json.dumps(node)

    assert reduce(SCHEMA, declares, smaller_schemas) == {"properties": {"properties": {"const": 7}}}


def test_what_is_proposed_for_a_schema_is_a_schema() -> None:
    def only_schemas(node: object) -> bool:
        """Each place that holds a schema holds one still: a map of properties is never taken for one."""
        if not isinstance(node, dict):
            return False
        assert isinstance(node.get("type", ""), str)
        assert all(isinstance(child, dict) for child in node.get("properties", {}).values())
        assert isinstance(node.get("required", []), list)
        assert all(isinstance(branch, dict) for branch in node.get("anyOf", []))
        return False

    assert reduce(SCHEMA, only_schemas, smaller_schemas) == SCHEMA


def test_a_property_is_no_longer_required_where_it_is_gone() -> None:
    def interesting(node: object) -> bool:
        # A schema that requires what it does not declare is of no interest.
        return (
            isinstance(node, dict)
            and "inner" in node.get("properties", {})
            and set(node.get("required", [])) <= set(node["properties"])
        )

    assert "kind" not in json.dumps(reduce(SCHEMA, interesting, smaller_schemas))
