"""One row: a dialect, a schema, and every place where it is refused with the rule that refuses it."""

import copy
import dataclasses

import pytest

from strictcall.dialect import judge, judge_name, judge_request, load, measure
from strictcall.dialect.rules import RULES

TEXT = {"type": "string"}


def closed(required=None, **properties):
    names = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def found(schema, dialect, *, strict=True):
    return [(violation.pointer, violation.rule) for violation in judge(schema, dialect, strict=strict)]


EVERYWHERE = [
    (closed(), []),
    (closed(a=TEXT), []),
    (closed(a={"type": ["string", "null"]}), []),
    (closed(a={"type": "array", "items": TEXT}), []),
    (closed(a={"anyOf": [TEXT, {"type": "null"}]}), []),
    (closed(a={"type": "string", "enum": ["x", "y"]}), []),
    (closed(a={"type": "string", "const": "x"}), []),
    (closed(a={"type": ["string", "null"], "enum": ["x", None]}), []),
    (closed(a=closed(b=closed(c={"type": "boolean"}))), []),
    ({**closed(a={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}, []),
    ({**closed(a={"$ref": "#/definitions/t~1u"}), "definitions": {"t/u": TEXT}}, []),
    ({**closed(a={"$ref": "#/$defs/a%20b"}), "$defs": {"a b": TEXT}}, []),
    (closed(a=closed(b=TEXT), c={"$ref": "#/properties/a"}), []),
    # names of keywords are names
    (closed(["properties", "enum", "items", "type"], properties=TEXT, enum=TEXT, items=TEXT, type=TEXT), []),
    (closed(a=closed(["required"], required_=TEXT) | {"properties": {"required": TEXT}}), []),
    # data is not a schema
    (closed(a={"type": "string", "enum": ["oneOf", "minLength", "$ref"]}), []),
    # the value as such
    ({**closed(), "properties": []}, [("/properties", "not-a-schema")]),
    (closed(a="string"), [("/properties/a", "not-a-schema")]),
    (closed(a=None), [("/properties/a", "not-a-schema")]),
    (closed(a={"type": "any"}), [("/properties/a/type", "not-a-schema")]),
    (closed(a={"type": []}), [("/properties/a/type", "not-a-schema")]),
    (closed(a={"type": ["string", "string"]}), [("/properties/a/type", "not-a-schema")]),
    (closed(a={"type": ["string", ["null"]]}), [("/properties/a/type", "not-a-schema")]),
    (closed(a={"anyOf": []}), [("/properties/a/anyOf", "not-a-schema")]),
    (closed(a={"anyOf": {"0": TEXT}}), [("/properties/a/anyOf", "not-a-schema")]),
    (closed(a={"type": "string", "description": 3}), [("/properties/a/description", "not-a-schema")]),
    (closed(a={"type": "string", "enum": []}), [("/properties/a/enum", "empty-enum")]),
    ({**closed(a=TEXT), "required": ["a", "a"]}, [("/required", "not-a-schema")]),
    # references
    (closed(a={"$ref": "#/$defs/t"}), [("/properties/a/$ref", "reference-dangling")]),
    (closed(a={"$ref": "#/properties/b/enum/0"}), [("/properties/a/$ref", "reference-dangling")]),
    (closed(a={"$ref": "https://example.com/t"}), [("/properties/a/$ref", "reference-external")]),
    (closed(a={"$ref": "t.json#/x"}), [("/properties/a/$ref", "reference-external")]),
    (closed(a={"$ref": "#/properties/a"}), [("/properties/a/$ref", "recursion")]),
    (closed(a={"$ref": 3}), [("/properties/a/$ref", "not-a-schema")]),
    # the root
    ({"type": "string"}, [("", "root-not-object")]),
    ({"type": ["object"], "properties": {}, "additionalProperties": False}, [("", "root-not-object")]),
    # names that a closed object does not declare
    ({**closed(), "required": ["a"]}, [("/required", "required-unknown")]),
    # contradictions
    (closed(a={"type": "array", "items": TEXT, "minItems": "1"}), [("/properties/a/minItems", "not-a-schema")]),
    (closed(a={"type": "array", "items": TEXT, "minItems": 1.0}), [("/properties/a/minItems", "not-a-schema")]),
]

OPENAI = [
    (closed(required=[], a=TEXT), [("/properties/a", "required-missing")]),
    ({**closed(a=TEXT), "additionalProperties": True}, [("/additionalProperties", "additional-open")]),
    ({**closed(a=TEXT), "additionalProperties": TEXT}, [("/additionalProperties", "additional-open")]),
    ({"type": "object", "properties": {}}, [("", "additional-open")]),
    ({"type": "object", "additionalProperties": False}, [("", "properties-missing")]),
    (
        closed(a={"type": "array", "items": {"type": "object"}}),
        [("/properties/a/items", "additional-open"), ("/properties/a/items", "properties-missing")],
    ),
    (closed(a={"type": ["object", "null"], "properties": {}}), [("/properties/a", "additional-open")]),
    (closed(a={}), [("/properties/a", "type-missing")]),
    (closed(a={"description": "anything"}), [("/properties/a", "type-missing")]),
    (closed(a={"enum": ["x"]}), [("/properties/a", "type-missing")]),
    (closed(a={"const": 1}), [("/properties/a", "type-missing")]),
    (closed(a=True), [("/properties/a", "boolean-schema")]),
    (closed(a={"anyOf": [TEXT, False]}), [("/properties/a/anyOf/1", "boolean-schema")]),
    (closed(a={"type": "array"}), [("/properties/a", "items-missing")]),
    (closed(a={"type": ["array", "null"]}), [("/properties/a", "items-missing")]),
    (closed(a={"type": "array", "items": {}}), [("/properties/a/items", "type-missing")]),
    (closed(a={"type": "string", "minLength": 1}), [("/properties/a/minLength", "keyword-rejected")]),
    (closed(a={"type": "string", "default": "x"}), [("/properties/a/default", "keyword-rejected")]),
    (closed(a={"type": "string", "x-order": 1}), [("/properties/a/x-order", "keyword-rejected")]),
    (closed(a={"type": "integer", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 3}), []),
    (closed(a={"type": "integer", "minimum": 3, "maximum": 2}), [("/properties/a/minimum", "unsatisfiable")]),
    (closed(a={"type": "integer", "minimum": 3, "exclusiveMaximum": 3}), [("/properties/a/minimum", "unsatisfiable")]),
    (closed(a={"type": "integer", "exclusiveMinimum": True}), [("/properties/a/exclusiveMinimum", "not-a-schema")]),
    (closed(a={"type": "array", "items": TEXT, "minItems": 2, "maxItems": 5}), []),
    (closed(a={"type": "array", "items": [TEXT]}), [("/properties/a/items", "not-a-schema")]),
    (closed(a={"type": "string", "pattern": "a|b"}), []),
    (closed(a={"type": "string", "pattern": "^(?=a)"}), [("/properties/a/pattern", "regex-construct")]),
    (closed(a={"type": "string", "pattern": "(a)\\1"}), [("/properties/a/pattern", "regex-construct")]),
    (closed(a={"type": "string", "pattern": "a\\\\1[(?=]"}), []),
    (closed(a={"type": "string", "format": "uuid"}), []),
    (closed(a={"type": "string", "format": "uri"}), [("/properties/a/format", "format-unknown")]),
    (closed(a={"type": "integer", "format": "uint8"}), []),
    (closed(a={"type": ["string", "integer"], "format": "uint8"}), [("/properties/a/format", "format-unknown")]),
    (
        closed(a={"type": "string", "enum": ["x", 1]}),
        [("/properties/a/enum/1", "literal-contradiction"), ("/properties/a/enum", "literal-mixed")],
    ),
    (closed(a={"type": "integer", "const": 1.5}), [("/properties/a/const", "literal-contradiction")]),
    (closed(a={"type": "integer", "enum": [1, 2.0]}), []),
    (closed(a={"type": "boolean", "enum": [1]}), [("/properties/a/enum/0", "literal-contradiction")]),
    (
        closed(a={"type": "object", "properties": {}, "required": [], "additionalProperties": False, "const": {}}),
        [("/properties/a/const", "literal-type")],
    ),
    (
        {**closed(a={"$ref": "#/$defs/t", "description": "x"}), "$defs": {"t": TEXT}},
        [("/properties/a/description", "reference-siblings")],
    ),
    (closed(a={"anyOf": [{"$ref": "#"}, {"type": "null"}]}), []),
    (closed(a=TEXT, b={"type": "array", "items": {"$ref": "#"}}), []),
    # each keyword once, whatever else there is to say of it
    ({**closed(), "anyOf": [closed(), closed()]}, [("/anyOf", "root-keyword")]),
    ({**closed(), "not": {"oneOf": []}}, [("/not", "root-keyword")]),
    (closed(a={"oneOf": [{"minLength": 1}, {}]}), [("/properties/a/oneOf", "keyword-rejected")]),
    # a definition is judged whether or not anything refers to it
    (
        {**closed(), "$defs": {"t": {"type": "object"}}},
        [("/$defs/t", "additional-open"), ("/$defs/t", "properties-missing")],
    ),
    # and a target where it lies
    (
        closed(a={"$ref": "#/$comment/t"}) | {"$comment": {"t": {}}},
        [("/$comment", "keyword-rejected"), ("/$comment/t", "type-missing")],
    ),
]

ANTHROPIC = [
    (closed(required=[], a=TEXT), []),
    (closed(a={"enum": ["x"]}), []),
    (closed(a={"const": 1}), []),
    (closed(a={"type": "string", "default": "x"}), []),
    (closed(a={"allOf": [TEXT, {"enum": ["x"]}]}), []),
    (
        {**closed(a={"allOf": [{"$ref": "#/$defs/t"}]}), "$defs": {"t": TEXT}},
        [("/properties/a/allOf/0", "all-of-reference")],
    ),
    ({"type": "object"}, [("", "additional-open")]),
    ({"type": "object", "additionalProperties": False}, []),
    (closed(a={"type": "array", "items": TEXT, "minItems": 1}), []),
    (closed(a={"type": "array", "items": TEXT, "minItems": 2}), [("/properties/a/minItems", "value-rejected")]),
    (closed(a={"type": "array", "items": TEXT, "minItems": True}), [("/properties/a/minItems", "not-a-schema")]),
    (closed(a={"type": "array", "items": TEXT, "maxItems": 3}), [("/properties/a/maxItems", "keyword-rejected")]),
    (closed(a={"type": "integer", "minimum": 0}), [("/properties/a/minimum", "keyword-rejected")]),
    (closed(a={"type": "string", "format": "uri"}), []),
    (closed(a={"type": "string", "pattern": "\\bx"}), [("/properties/a/pattern", "regex-construct")]),
    (closed(a={"type": "string", "pattern": "x{2,5}"}), []),
    (closed(a={"type": "string", "pattern": "x{2,500}"}), [("/properties/a/pattern", "regex-construct")]),
    (closed(**{"a.b-c_D9": TEXT}), []),
    (closed(**{"a b": TEXT}), [("/properties/a b", "property-name")]),
    (closed(**{"a\n": TEXT}), [("/properties/a\n", "property-name")]),
    (closed(**{"a/b~": TEXT}), [("/properties/a~1b~0", "property-name")]),
    (closed(**{"n" * 64: TEXT}), []),
    (closed(**{"n" * 65: TEXT}), [("/properties/" + "n" * 65, "property-name")]),
    (closed(required=[], a={"$ref": "#"}), [("/properties/a/$ref", "recursion")]),
    (
        {
            **closed(a={"$ref": "#/$defs/t"}),
            "$defs": {
                "t": closed(required=[], u={"$ref": "#/$defs/u"}),
                "u": {"type": "array", "items": {"$ref": "#/$defs/t"}},
            },
        },
        [("/$defs/t/properties/u/$ref", "recursion"), ("/$defs/u/items/$ref", "recursion")],
    ),
    ({**closed(a={"$ref": "#/$defs/t"}, b={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}, []),
    (True, [("", "boolean-schema")]),
]

JSON_SCHEMA = [
    ({"type": "object"}, []),
    ({"type": "object", "properties": {"a": {}, "b": True, "c": False}}, []),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, [("/properties/a", "boolean-schema")]),
    ({"type": "object", "additionalProperties": TEXT}, []),
    ({"type": "object", "required": ["undeclared"]}, []),
    ({"type": "object", "patternProperties": {"^x": TEXT}, "properties": {"a": {}}, "additionalProperties": False}, []),
    ({"type": "object", "patternProperties": {"^x": TEXT, "^y": TEXT}}, [("/patternProperties", "patterns-many")]),
    ({"type": "object", "patternProperties": {"^(?!x)": TEXT}}, [("/patternProperties/^(?!x)", "regex-construct")]),
    ({"type": "object", "minProperties": 1, "maxProperties": 3}, []),
    ({"type": "object", "minProperties": 1, "properties": {"a": {}}}, [("/minProperties", "counts-with-optional")]),
    ({"type": "object", "minProperties": 1, "properties": {"a": {}}, "required": ["a"]}, []),
    (closed(a={"type": "array", "prefixItems": [TEXT, {}], "items": False, "minItems": 2}), []),
    (
        closed(a={"type": "array", "prefixItems": [TEXT], "items": False, "minItems": 2}),
        [("/properties/a/minItems", "unsatisfiable")],
    ),
    (closed(a={"type": "array", "uniqueItems": True}), [("/properties/a/uniqueItems", "keyword-rejected")]),
    (closed(a={"enum": [1, "x", None, [1], {"b": 2}]}), []),
    (closed(a={"type": "boolean", "enum": ["yes"]}), [("/properties/a", "unsatisfiable")]),
    (closed(a={"type": "string", "x-order": 1, "minLength": 2}), []),
    (closed(a={"type": "string", "maxLength": 2**32}), [("/properties/a/maxLength", "value-rejected")]),
    (closed(a={"type": "integer", "maximum": 2**63}), [("/properties/a/maximum", "value-rejected")]),
    (closed(a={"type": "number", "multipleOf": 1e-12}), [("/properties/a/multipleOf", "value-rejected")]),
    (closed(a={"type": "string", "format": "regex"}), [("/properties/a/format", "format-unknown")]),
    (closed(a={"type": "number", "format": "regex"}), []),
    ({**closed(a={"$ref": "#text"}), "$defs": {"t": {"$anchor": "text", "type": "string"}}}, []),
    (
        {**closed(a={"$ref": "#other"}), "$defs": {"t": {"$anchor": "text", "type": "string"}}},
        [("/properties/a/$ref", "reference-dangling")],
    ),
    ({"$id": "https://example.com/t", **closed(a={"$ref": "https://example.com/t#/properties/b"}, b=TEXT)}, []),
    # a reference starts from the nearest $id
    (
        closed(a={"$id": "https://example.com/a", "$ref": "#/$defs/t", "$defs": {"t": TEXT}}),
        [("/properties/a/$id", "reference-siblings")],
    ),
    (closed(a={"$id": "https://example.com/a", "$defs": {"t": TEXT}, "items": {"$ref": "#/$defs/t"}}), []),
    (
        closed(a={"items": {"$ref": "#/$defs/t"}, "$defs": {"t": TEXT}}),
        [("/properties/a/items/$ref", "reference-dangling")],
    ),
    ({"type": "object", "$schema": "https://example.com/mine"}, [("/$schema", "value-rejected")]),
    ({"type": "object", "x-guidance": {"lenient": True}}, [("/x-guidance", "keyword-rejected")]),
]

ROWS = [
    *[("openai", *row) for row in OPENAI],
    *[("anthropic", *row) for row in ANTHROPIC],
    *[("json_schema", *row) for row in JSON_SCHEMA],
]
CONSEQUENCES = {"additional-open", "properties-missing", "type-missing", "root-not-object", "required-missing"}
"""What a flaw brings with it in one dialect and not in another."""


@pytest.mark.parametrize(("dialect", "schema", "places"), ROWS)
def test_strict(dialect, schema, places):
    assert sorted(found(schema, dialect)) == sorted(places)


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "json_schema"])
@pytest.mark.parametrize(("schema", "places"), EVERYWHERE)
def test_strict_everywhere(dialect, schema, places):
    given = found(schema, dialect)
    assert set(places) <= set(given)
    assert {rule for pointer, rule in given if (pointer, rule) not in places} <= (CONSEQUENCES if places else set())


LOOSE = [
    ("openai", {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}, []),
    ("openai", {"type": "object"}, [("", "properties-missing")]),
    ("openai", {"type": "object", "properties": {}, "oneOf": []},
     [("/oneOf", "not-a-schema"), ("/oneOf", "root-keyword")]),
    ("openai", {"type": "object", "properties": {"a": {"oneOf": [{"type": "array"}, {}]}}},
     [("/properties/a/oneOf/0", "items-missing")]),
    ("openai", {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{}]}}},
     [("/properties/a", "items-missing")]),
    ("openai", {"type": "object", "properties": {"a": {}}}, [("/properties/a", "type-missing")]),
    ("openai", {"type": "object", "properties": {"a": {"const": 1}}}, []),
    ("openai", {"type": "object", "properties": {"a": True}}, [("/properties/a", "boolean-schema")]),
    ("openai", {"type": "object", "properties": {}, "additionalProperties": True}, []),
    ("openai", {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
     [("/properties/a/required", "not-a-schema")]),
    ("openai", {"type": "object", "properties": {"a": {"type": "number", "minimum": "0"}}},
     [("/properties/a/minimum", "not-a-schema")]),
    ("openai", {"type": "object", "properties": {"a": {"type": "string", "minLength": 2.0}}}, []),
    ("openai", {"type": "object", "properties": {"a": {"$ref": "https://example.com"}}}, []),
    ("openai", {"properties": {}}, [("", "root-not-object")]),
    ("openai", True, [("", "root-not-object")]),
    ("anthropic", {"type": "object"}, []),
    ("anthropic", {"type": "object", "properties": {"a": True, "b": {}, "c": {"type": "array"}}}, []),
    ("anthropic", {"type": "object", "properties": {"a": {"type": "object", "properties": {"$b": {}}}}},
     [("/properties/a/properties/$b", "property-name")]),
    ("anthropic", {"type": "object", "not": {"required": ["a"]}, "if": {}, "then": {}}, []),
    ("anthropic", {"type": "object", "allOf": [{}]}, [("/allOf", "root-keyword")]),
    ("anthropic", {"type": "object", "properties": {"a": "string"}}, [("/properties/a", "not-a-schema")]),
    ("json_schema", {"type": "anything", "oneOf": 3}, []),
    ("json_schema", {}, []),
    ("json_schema", None, [("", "not-a-schema")]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema", "places"), LOOSE)
def test_not_strict(dialect, schema, places):
    assert sorted(found(schema, dialect, strict=False)) == sorted(places)


LIMITS = [
    ("openai", closed(**{f"p{i}": TEXT for i in range(5_000)}), []),
    ("openai", closed(**{f"p{i}": TEXT for i in range(5_001)}), ["limit-properties"]),
    ("openai", closed(a={"type": "integer", "enum": list(range(1_000))}), []),
    ("openai", closed(a={"type": "integer", "enum": list(range(1_001))}), ["limit-enum-values"]),
    ("openai", closed(a={"type": "string", "enum": [f"{i:060d}" for i in range(250)]}), []),
    ("openai", closed(a={"type": "string", "enum": [f"{i:060d}" for i in range(251)]}),
     ["limit-longest-enum-characters"]),
    ("openai", closed(a={"type": "string", "const": "x" * 119_999}), []),
    ("openai", closed(a={"type": "string", "const": "x" * 120_000}), ["limit-name-characters"]),
    ("anthropic", closed(required=[], **{f"p{i}": TEXT for i in range(23)}), []),
    ("anthropic", closed(required=[], **{f"p{i}": TEXT for i in range(24)}), ["limit-optional"]),
    ("anthropic", closed(**{f"p{i}": {"type": ["string", "null"]} for i in range(15)}), []),
    ("anthropic", closed(**{f"p{i}": {"type": ["string", "null"]} for i in range(16)}), ["limit-unions"]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema", "rules"), LIMITS, ids=[f"{row[0]}-{i}" for i, row in enumerate(LIMITS)])
def test_limits(dialect, schema, rules):
    assert found(schema, dialect) == [("", rule) for rule in rules]


@pytest.mark.parametrize(("levels", "rules"), [(9, []), (10, ["limit-depth"])])
def test_openai_takes_ten_levels(levels, rules):
    schema = TEXT
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    assert found(closed(a=schema), "openai") == [("", rule) for rule in rules]


@pytest.mark.parametrize(
    ("dialect", "name", "taken"),
    [
        ("openai", "get_weather-2", True),
        ("openai", "n" * 64, True),
        ("openai", "n" * 65, False),
        ("openai", "server.tool", False),
        ("openai", "tool\n", False),
        ("openai", "", False),
        ("openai", None, False),
        ("anthropic", "get_weather", True),
        ("anthropic", "mcp/get", False),
        ("anthropic", "tööl", False),
        ("json_schema", "any thing", True),
        ("json_schema", "\ud800", False),
    ],
)
def test_tool_names(dialect, name, taken):
    violations = judge_name(name, dialect)
    assert (violations == []) is taken
    assert {violation.rule for violation in violations} <= {"tool-name", "not-json"}


def test_ceilings_over_a_request():
    anthropic = load("anthropic")
    tool = measure(closed(a={"type": ["string", "null"]}), anthropic)
    assert judge_request([tool] * 16, anthropic) == []
    assert [violation.rule for violation in judge_request([tool] * 17, "anthropic")] == ["limit-unions"]
    empty = measure(closed(), anthropic)
    assert judge_request([empty] * 20, anthropic) == []
    assert [violation.rule for violation in judge_request([empty] * 21, anthropic)] == ["limit-strict-tools"]
    assert judge_request([], anthropic) == []


def test_a_violation_carries_the_providers_words_and_where_they_were_read():
    [violation] = judge(closed(a={"type": "array", "items": TEXT, "minItems": 8}), "anthropic")
    assert violation.phrase == "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    assert violation.source == "https://github.com/ghostlobster/memorize-everything/issues/93"
    [violation] = judge(closed(required=[], a=TEXT), "openai")
    assert violation.phrase.startswith("'required' is required to be supplied")
    assert violation.source.startswith("https://developers.openai.com/")


def test_a_dialect_value_is_as_good_as_a_name():
    lenient = dataclasses.replace(load("openai"), optional="absent")
    assert judge(closed(required=[], a=TEXT), lenient) == []


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "json_schema"])
def test_every_rule_said_is_documented_and_the_schema_stays_as_it_was(dialect):
    for row in EVERYWHERE + OPENAI + ANTHROPIC + JSON_SCHEMA:
        before = copy.deepcopy(row[0])
        assert {violation.rule for violation in judge(row[0], dialect)} <= RULES.keys()
        assert row[0] == before


def test_every_limit_has_a_rule():
    for dialect in ("openai", "anthropic", "json_schema"):
        for limit in load(dialect).limits:
            assert f"limit-{limit.name.replace('_', '-')}" in RULES
