"""What the systems behind the project do right, and the gaps they name, under the policy ``fidelity="exact"``."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from laws.contracts import KEYWORDS
from laws.harness import DIALECTS
from strictcall import ArgumentsError, CompiledTool, Policy, Tool, Verdict, compile_tool, judge
from strictcall.dialect.model import State
from strictcall.testing.comparing import same, text

EXACT = Policy(fidelity="exact")
STRING = {"type": "string"}


def build(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """A closed object with these properties."""
    schema = {"type": "object", "properties": properties, "required": required or [], "additionalProperties": False}
    return {**schema, **more}


def compile_exact(schema: Any, dialect: str = "openai") -> CompiledTool:
    return compile_tool(Tool("tool", "Does it.", schema), dialect=dialect, policy=EXACT)


def absent(compiled: CompiledTool, wire: Any) -> Any:
    """What a model writes for optionals that it leaves out: null, or nothing at all where the dialect has optionals."""
    if compiled.dialect.optional == "null":
        return wire
    if isinstance(wire, list):
        return [absent(compiled, item) for item in wire]
    if not isinstance(wire, dict):
        return wire
    return {name: absent(compiled, item) for name, item in wire.items() if item is not None or name == "must"}


NULLABLE = {
    "type": {"type": ["string", "null"]},
    "enum": {"enum": ["a", "b", None]},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "null"}]},
}
WIDENED = {
    "plain": ({"type": "string"}, "x"),
    "type list": ({"type": ["string", "integer"]}, 3),
    "enum": ({"type": "string", "enum": ["a", "b"]}, "b"),
    "bare enum": ({"enum": ["a", "b"]}, "a"),
    "const": ({"const": "a"}, "a"),
    "union": ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 1),
    "reference": ({"$ref": "#/$defs/A"}, {"city": "x"}),
    "list": ({"type": "array", "items": {"type": "string"}}, ["x"]),
    "object": ({"type": "object", "properties": {}, "additionalProperties": False}, {}),
}
DEFINITIONS = {"A": build({"city": STRING}, ["city"])}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("spelling", NULLABLE)
def test_a_required_nullable_keeps_its_null_beside_a_widened_optional(spelling: str, dialect: str) -> None:
    schema = build({"must": NULLABLE[spelling], "may": STRING}, ["must"])
    compiled = compile_exact(schema, dialect)
    assert compiled.strict
    assert same(compiled.decode(absent(compiled, {"must": None, "may": None})), {"must": None})
    assert same(compiled.decode({"must": "a", "may": "x"}), {"must": "a", "may": "x"})
    with pytest.raises(ArgumentsError):
        compiled.decode(absent(compiled, {"may": "x"}))


@pytest.mark.parametrize("spelling", NULLABLE)
def test_what_is_nullable_already_is_not_widened_again(spelling: str) -> None:
    compiled = compile_exact(build({"must": NULLABLE[spelling]}, ["must"]))
    again = compile_exact(compiled.parameters)
    assert text(again.parameters) == text(compiled.parameters)
    assert again.identity
    assert text(compiled.parameters["properties"]["must"]).count("null") <= 2


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", WIDENED)
def test_an_optional_of_any_kind_can_be_left_out_and_given(kind: str, dialect: str) -> None:
    schema, value = WIDENED[kind]
    compiled = compile_exact(build({"must": STRING, "may": schema}, ["must"], **{"$defs": DEFINITIONS}), dialect)
    assert compiled.strict
    assert same(compiled.decode(absent(compiled, {"must": "x", "may": None})), {"must": "x"})
    assert same(compiled.decode({"must": "x"}), {"must": "x"})
    for arguments in ({"must": "x"}, {"must": "x", "may": value}):
        assert same(compiled.decode(text(compiled.encode(arguments))), arguments)


def test_an_optional_enum_is_widened_with_null() -> None:
    compiled = compile_exact(build({"unit": {"type": "string", "enum": ["c", "f"]}}))
    assert compiled.parameters["required"] == ["unit"]
    assert None in compiled.parameters["properties"]["unit"].get("enum", []) or "anyOf" in text(compiled.parameters)
    assert same(compiled.encode({}), {"unit": None})
    assert judge(compiled.parameters, "openai") == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nulls_are_undone_in_nested_objects_and_in_list_items(dialect: str) -> None:
    inner = build({"id": {"type": "integer"}, "note": STRING}, ["id"])
    schema = build({"one": inner, "many": {"type": "array", "items": inner}}, ["one", "many"])
    compiled = compile_exact(schema, dialect)
    assert compiled.strict
    wire = {"one": {"id": 1, "note": None}, "many": [{"id": 2, "note": None}, {"id": 3, "note": "n"}]}
    told = {"one": {"id": 1}, "many": [{"id": 2}, {"id": 3, "note": "n"}]}
    assert same(compiled.decode(absent(compiled, wire)), told)
    assert same(compiled.encode(told), absent(compiled, wire))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nulls_are_undone_through_references_and_union_branches(dialect: str) -> None:
    definitions = {"A": build({"kind": {"const": "a"}, "x": STRING}, ["kind"])}
    branches = [
        {"$ref": "#/$defs/A"},
        build({"kind": {"const": "b"}, "y": {"type": ["string", "null"]}}, ["kind", "y"]),
    ]
    schema = build({"v": {"anyOf": branches}}, ["v"], **{"$defs": definitions})
    compiled = compile_exact(schema, dialect)
    assert compiled.strict
    for value in ({"v": {"kind": "a"}}, {"v": {"kind": "a", "x": "1"}}, {"v": {"kind": "b", "y": None}}):
        assert same(compiled.decode(text(compiled.encode(value))), value)


def test_a_loose_tool_keeps_its_nulls() -> None:
    properties = {
        "a": {"type": ["string", "null"]},
        "b": {"type": "string"},
        "c": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    }
    compiled = compile_exact({"type": "object", "properties": properties, "required": ["a"]}, "openai")
    assert compiled.verdict is Verdict.LOOSE
    assert not compiled.baseline
    assert same(compiled.decode({"a": None, "b": "x"}), {"a": None, "b": "x"})
    with pytest.raises(ArgumentsError):
        compiled.decode({"a": None, "b": None})


@pytest.mark.parametrize("name", ["must", "may"])
def test_a_null_that_nobody_added_is_kept_or_refused(name: str) -> None:
    """Where the dialect has real optionals no null is added, so none is taken away."""
    compiled = compile_exact(build({"must": STRING, "may": STRING}, ["must"]), "anthropic")
    with pytest.raises(ArgumentsError):
        compiled.decode({"must": "x", name: None})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_bound_that_the_wire_cannot_hold_makes_the_tool_loose(dialect: str) -> None:
    compiled = compile_exact(build({"l": {"type": "array", "items": STRING, "uniqueItems": True}}, ["l"]), dialect)
    if compiled.dialect.state("uniqueItems", value=True) is State.ENFORCED:
        assert compiled.strict
    else:
        assert compiled.verdict is Verdict.LOOSE
        assert compiled.reason


def nested(depth: int) -> dict[str, Any]:
    """An object in an object, so many levels deep."""
    schema = build({"c": STRING}, ["c"])
    for _ in range(depth - 1):
        schema = build({"c": schema}, ["c"])
    return schema


def arguments_of(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"c": value}
    return value


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("depth", [5, 6, 10, 12, 30])
def test_depth_is_answered(depth: int, dialect: str) -> None:
    compiled = compile_exact(nested(depth), dialect)
    assert compiled.strict or compiled.reason
    arguments = arguments_of(depth)
    assert same(compiled.decode(text(compiled.encode(arguments))), arguments)
    with pytest.raises(ArgumentsError):
        compiled.decode(arguments_of(depth - 1))


SELF = [
    build({"v": STRING, "next": {"$ref": "#"}}, ["v"]),
    build(
        {"head": {"$ref": "#/$defs/N"}},
        ["head"],
        **{"$defs": {"N": build({"v": STRING, "next": {"$ref": "#/$defs/N"}}, ["v"])}},
    ),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("schema", SELF)
def test_a_schema_that_holds_itself_is_answered(schema: dict[str, Any], dialect: str) -> None:
    compiled = compile_exact(schema, dialect)
    arguments: Any = {"v": "a", "next": {"v": "b", "next": {"v": "c"}}}
    if "head" in schema["properties"]:
        arguments = {"head": arguments}
    assert same(compiled.decode(text(compiled.encode(arguments))), arguments)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_python_dict_that_contains_itself_is_answered(dialect: str) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    compiled = compile_exact(schema, dialect)
    assert compiled.verdict is Verdict.LOOSE
    assert compiled.reason


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["__proto__", "constructor", "hasOwnProperty", "__class__", "toString"])
def test_a_name_that_means_something_to_a_program_is_a_name(name: str, dialect: str) -> None:
    compiled = compile_exact(build({name: STRING, "other": STRING}, [name]), dialect)
    assert compiled.strict
    for arguments in ({name: "x"}, {name: "x", "other": "y"}):
        assert same(compiled.decode(text(compiled.encode(arguments))), arguments)
    with pytest.raises(ArgumentsError):
        compiled.decode({"other": "y"})


NODES: dict[str, Any] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "enum": {"enum": ["a", "b"]},
    "const": {"const": "a"},
    "object": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "list": {"type": "array", "items": {"type": "string"}},
    "tuple": {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "items": False},
    "union": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "reference": {"$ref": "#/$defs/A"},
    "untyped": {},
}
ALIEN: dict[str, Any] = {
    "x-own": {"type": 3},
    "discriminator": {"propertyName": "kind"},
    "deprecated": True,
    "$comment": "c",
    "examples": [1],
    "contentMediaType": "text/plain",
    "optional": True,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["property", "item", "branch", "definition", "map value"])
@pytest.mark.parametrize("node", NODES)
def test_no_keyword_rides_out_unconverted(node: str, place: str, dialect: str) -> None:
    """On every kind of node, in every place, only keywords that the dialect accepts leave."""
    strange = {**copy.deepcopy(NODES[node]), **ALIEN}
    holder = {
        "property": strange,
        "item": {"type": "array", "items": strange},
        "branch": {"anyOf": [strange, build({"z": {"const": "other"}}, ["z"])]},
        "definition": {"$ref": "#/$defs/S"},
        "map value": {"type": "object", "additionalProperties": strange},
    }[place]
    definitions = {"A": build({"b": STRING}, ["b"]), "S": strange}
    schema = build({"v": holder}, ["v"], **{"$defs": definitions})
    for policy in (EXACT, Policy()):
        compiled = compile_tool(Tool("t", "d", schema), dialect=dialect, policy=policy)
        if not compiled.strict:
            assert policy is EXACT
            continue
        assert judge(compiled.parameters, dialect) == []
        if compiled.dialect.others is State.REJECTED:
            assert not set(ALIEN) & keywords(compiled.parameters) - compiled.dialect.keywords.keys()


def keywords(schema: Any) -> set[str]:
    """Every key in a JSON value: names of properties too, which these tests keep apart from keywords."""
    if isinstance(schema, dict):
        return set(schema) | {key for item in schema.values() for key in keywords(item)}
    return {key for item in schema for key in keywords(item)} if isinstance(schema, list) else set()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("node", NODES)
def test_input_is_never_changed(node: str, dialect: str) -> None:
    schema = build({"v": {**NODES[node], **ALIEN, "default": None}}, **{"$defs": {"A": build({"b": STRING}, ["b"])}})
    before, shape = text(schema), copy.deepcopy(schema)
    compiled = compile_exact(schema, dialect)
    compiled.decode("{}")
    assert text(schema) == before
    assert schema == shape


def test_flag_off_is_byte_identical() -> None:
    """A tool that stays loose is sent as the very objects that came in."""
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": {}, "uniqueItems": True}}}
    compiled = compile_exact(schema)
    assert compiled.verdict is Verdict.LOOSE
    assert compiled.parameters is schema


def test_required_lists_every_name_in_the_order_of_declaration() -> None:
    compiled = compile_exact(build({"z": STRING, "a": STRING, "m": STRING}, ["m"]))
    assert compiled.parameters["required"] == ["z", "a", "m"]
    assert list(compiled.parameters["properties"]) == ["z", "a", "m"]
    assert compiled.parameters["additionalProperties"] is False


def test_blank_and_null_arguments_are_none() -> None:
    compiled = compile_exact(build({"a": STRING}))
    assert [compiled.decode(blank) for blank in ("", " \n", "null", "{}")] == [{}, {}, {}, {}]


@pytest.mark.parametrize("broken", ["{", "[1]", '"x"', "{'a': 1}", '{"a": "x"} {}', "NaN", '{"a": NaN}'])
def test_what_is_no_argument_object_is_a_fault_without_an_echo(broken: str) -> None:
    compiled = compile_exact(build({"a": STRING}))
    secret = "s3cret" * 100
    with pytest.raises(ArgumentsError):
        compiled.decode(broken)
    with pytest.raises(ArgumentsError) as caught:
        compiled.decode(broken + secret)
    assert secret not in str(caught.value)


def test_an_invented_argument_is_refused_with_the_nearest_name() -> None:
    compiled = compile_exact(build({"query": STRING, "limit": {"type": "integer"}}, ["query"]))
    with pytest.raises(ArgumentsError) as caught:
        compiled.decode({"qurey": "x", "limit": None})
    nearest = {fault.pointer: fault.nearest for fault in caught.value.faults}
    assert nearest["/qurey"] == "query"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("required", [["a", "ghost"], ["ghost"]])
def test_a_required_name_that_is_not_declared_is_not_lost(required: list[str], dialect: str) -> None:
    schema = {"type": "object", "properties": {"a": STRING}, "required": required}
    compiled = compile_tool(Tool("t", "d", schema), dialect=dialect)
    arguments = {"a": "x", "ghost": 1}
    assert same(compiled.decode(text(compiled.encode(arguments))), arguments)
    with pytest.raises(ArgumentsError):
        compiled.decode(json.dumps({"a": "x"}))


def test_the_keyword_list_of_the_generators_is_known_to_the_strictest_dialect() -> None:
    """A guard for the tests above: the strictest dialect rejects some of what is generated, so refusals are tested."""
    states = {keyword: compile_exact(build({})).dialect.state(keyword) for keyword in KEYWORDS}
    assert State.REJECTED in states.values()
    assert State.ENFORCED in states.values()
