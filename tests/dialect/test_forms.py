"""One row: what a dialect is particular about, a schema, and every place where it is refused for that."""

import dataclasses
import json

import pytest

from strictcall.dialect import judge, judge_description, judge_name, judge_request, load, measure
from strictcall.dialect.model import Baseline, Keyword, Limit, NameRule, RootRule, State

ENGINE = load("json_schema")
"""A dialect that is particular about little, so that what it is made particular about shows alone."""
TEXT = {"type": "string"}
TREE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}}
GROUPS = ((frozenset({"pattern", "format"}), frozenset({"minLength", "maxLength"})),)


def of(**properties):
    return {"type": "object", "properties": properties}


def found(schema, dialect, **options):
    return [(violation.pointer, violation.rule) for violation in judge(schema, dialect, **options)]


ROWS = [
    ({"conflicts": GROUPS}, of(a={"type": "string", "format": "date", "maxLength": 9}),
     [("/properties/a/format", "keyword-conflict")]),
    ({"conflicts": GROUPS}, of(a={"type": "string", "format": "date", "pattern": "a"}), []),
    ({"type_lists": "none"}, of(a={"type": ["string", "null"]}), [("/properties/a/type", "type-list")]),
    ({"type_lists": "scalars"}, of(a={"type": ["string", "null"]}), []),
    ({"type_lists": "scalars"}, of(a={"type": ["array", "null"]}), [("/properties/a/type", "type-list")]),
    ({"list_siblings": frozenset({"description"})}, of(a={"type": ["string", "null"], "minLength": 1}),
     [("/properties/a/minLength", "list-siblings")]),
    ({"list_siblings": frozenset({"description"})}, of(a={"type": ["string", "null"], "description": "b"}), []),
    ({"stray_keywords": False}, of(a={"type": "integer", "minLength": 1}),
     [("/properties/a/minLength", "keyword-stray")]),
    ({"stray_keywords": False}, of(a={"type": "integer", "minimum": 1}), []),
    ({"type_case": "any"}, {"type": "OBJECT", "properties": {"a": {"type": ["STRING", "Null"]}}}, []),
    ({}, {"type": "OBJECT"}, [("/type", "not-a-schema"), ("", "root-not-object")]),
    ({"untyped": False}, of(a={}), [("/properties/a", "type-missing")]),
    ({"untyped": False, "empty_schemas": True}, of(a={}, b={"title": "b"}), [("/properties/b", "type-missing")]),
    ({"untyped": False, "kinds": frozenset({"properties"})}, of(a={"properties": {}}), []),
    ({"pattern_anchoring": "must"}, of(a={"type": "string", "pattern": "^a"}),
     [("/properties/a/pattern", "pattern-unanchored")]),
    ({"pattern_anchoring": "must"}, of(a={"type": "string", "pattern": "^a$"}), []),
    ({"other_formats": "ignored"}, of(a={"type": "string", "format": "regex"}), []),
    ({"empty_literals": False}, of(a={"enum": ["a", ""]}), [("/properties/a/enum/1", "literal-empty")]),
    ({"empty_literals": False}, of(a={"const": ""}), [("/properties/a/const", "literal-empty")]),
    ({"empty_literals": False}, of(a={"enum": [0, False, None, " "]}), []),
    ({"union_siblings": frozenset({"title"})}, of(a={"anyOf": [TEXT], "title": "b", "type": "string"}),
     [("/properties/a/type", "union-siblings")]),
    ({"union_siblings": frozenset(), "root": RootRule(object_only=False)}, {"anyOf": [TREE], "$defs": {"t": TREE}}, []),
    ({"first_keys": "distinct"}, of(a={"anyOf": [of(b=TEXT, c=TEXT), of(b=TEXT)]}),
     [("/properties/a/anyOf/1", "first-key-shared")]),
    ({"first_keys": "distinct"}, of(a={"anyOf": [of(b=TEXT), of(c=TEXT, b=TEXT), TEXT]}), []),
    ({"empty_objects": "root"}, {"type": "object"}, []),
    ({"empty_objects": "nowhere"}, {"type": "object"}, [("", "object-empty")]),
    ({"empty_objects": "root"}, of(a={"type": "object"}, b={"type": ["object", "null"]}),
     [("/properties/a", "object-empty"), ("/properties/b", "object-empty")]),
    ({"empty_objects": "root"}, of(a={"type": "object", "additionalProperties": {}}), []),
    ({"required_always": True}, of(a=TEXT), [("", "required-absent")]),
    ({"required_always": True}, {**of(a=TEXT), "required": []}, []),
    ({"required_always": True}, {"type": "object"}, [("", "required-absent")]),
    ({"root": RootRule(properties_required=True)}, {"type": "object"}, [("", "properties-missing")]),
    ({"root": RootRule(properties_required=True)}, of(a={"type": "object"}), []),
    ({"required_declared": True}, {**of(a=TEXT), "required": ["a", "b"]}, [("/required", "required-unknown")]),
    ({"some_required": True}, {**of(a=TEXT, b=of(c=TEXT)), "required": ["b"]}, [("/properties/b", "required-none")]),
    ({"some_required": True}, of(), []),
    ({"definitions_at": "root"}, of(a={"$defs": {"t": TEXT}}), [("/properties/a/$defs", "definitions-place")]),
    ({"definition_name": NameRule("[^/]+")}, {**of(), "$defs": {"a/b": TEXT}}, [("/$defs/a~1b", "definition-name")]),
    ({"reference_targets": "definitions"}, of(a={"$ref": "#/properties/b"}, b=TEXT),
     [("/properties/a/$ref", "reference-target")]),
    ({"reference_targets": "definitions"}, of(a={"$ref": "#"}), []),
    ({"reference_targets": "named"}, of(a={"$ref": "#"}), [("/properties/a/$ref", "reference-target")]),
    ({"reference_targets": "named"}, {**of(a={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}, []),
    ({"recursion": "optional"}, {**of(a={"$ref": "#/$defs/t"}), "$defs": {"t": TREE}}, []),
    ({"recursion": "optional"}, {**of(a={"$ref": "#/$defs/t"}), "$defs": {"t": {**TREE, "required": ["next"]}}},
     [("/$defs/t/properties/next/$ref", "recursion")]),
    ({"recursion": "optional"}, {**of(), "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}},
     [("/$defs/t/items/$ref", "recursion")]),
    ({"property_name": NameRule(forbidden=frozenset({"$ref"}))}, {"type": "object", "properties": {"$ref": TEXT}},
     [("/properties/$ref", "property-name")]),
    ({"property_description_limit": 3}, of(a={"description": "four"}),
     [("/properties/a/description", "description-long")]),
    ({"additional_default": "closed"}, {**of(a=TEXT), "required": ["b"]}, [("/required", "required-unknown")]),
    ({"additional_default": "closed"}, {**of(a=TEXT), "required": ["b"], "additionalProperties": True}, []),
    ({"root": RootRule(object_union=True)}, {"anyOf": [of(a=TEXT), {"type": "object"}]}, []),
    ({"root": RootRule(object_union=True)}, {"type": "object", "anyOf": [{"required": ["a"]}]},
     [("", "root-not-object")]),
]  # fmt: skip


@pytest.mark.parametrize(("particular", "schema", "places"), ROWS)
def test_a_dialect_that_is_particular(particular, schema, places):
    assert found(schema, dataclasses.replace(ENGINE, **particular)) == places


@pytest.mark.parametrize(("particular", "schema", "places"), [row for row in ROWS if row[2]])
def test_a_dialect_that_is_not(particular, schema, places):
    allowed = {"type-missing", "root-not-object", "not-a-schema"}
    assert {rule for _, rule in found(schema, ENGINE)} <= allowed
    silent = dataclasses.replace(ENGINE, **particular, silent=frozenset(rule for _, rule in places))
    assert found(schema, silent) == []
    assert found(schema, silent, silent=True) == places


@pytest.mark.parametrize(
    ("baseline", "schema", "places"),
    [
        (Baseline(same_as_strict=True), of(a={"uniqueItems": True}),
         [("/properties/a/uniqueItems", "keyword-rejected")]),
        (Baseline(), of(a={"uniqueItems": True}), []),
        (Baseline(forbidden=frozenset({"contains"})), of(a={"contains": {}}),
         [("/properties/a/contains", "keyword-rejected")]),
        (Baseline(root_keywords=frozenset({"type", "properties"})), {**of(a={"title": "b"}), "title": "a"},
         [("/title", "root-keyword")]),
        (Baseline(required_needs_properties=True), {"type": "object", "required": []}, [("", "properties-missing")]),
        (Baseline(required_needs_properties=True), {"type": "object"}, []),
        (Baseline(typed_schemas=True), of(a={"type": "array", "items": {"items": TEXT}}, b={"enum": [1]}),
         [("/properties/a/items", "type-missing")]),
        (Baseline(literals=True), of(a={"enum": ["b", None]}), [("/properties/a/enum/1", "literal-type")]),
        (Baseline(literals=True), of(a={"enum": ["b"]}), []),
    ],
)  # fmt: skip
def test_what_holds_without_strict(baseline, schema, places):
    dialect = dataclasses.replace(ENGINE, baseline=baseline, literals=frozenset({"string"}))
    assert found(schema, dialect, strict=False) == places


def test_where_a_closing_keyword_is_not_taken_it_is_not_asked_for():
    closed = dataclasses.replace(ENGINE, open_objects=False)
    assert found(of(), closed) == [("", "additional-open")]
    ignored = {**ENGINE.keywords, "additionalProperties": Keyword("additionalProperties", State.IGNORED)}
    assert found(of(), dataclasses.replace(closed, keywords=ignored)) == []


def test_names_of_the_providers_own():
    dialect = dataclasses.replace(ENGINE, tool_name=NameRule(forbidden=frozenset({"search"})))
    assert [violation.rule for violation in judge_name("search", dialect)] == ["tool-name"]
    assert judge_name("search_all", dialect) == []


def test_a_long_description():
    dialect = dataclasses.replace(ENGINE, description_limit=4)
    assert [violation.rule for violation in judge_description("12345", dialect)] == ["description-long"]
    assert judge_description("1234", dialect) == []
    assert judge_description(None, dialect) == []


def test_loose_tools_count_where_all_do():
    dialect = dataclasses.replace(ENGINE, limits=(Limit("tools", 2, "request"),))
    assert judge_request([{}, {}], dialect) == []
    assert [violation.rule for violation in judge_request([{}], dialect, tools=3)] == ["limit-tools"]
    assert [violation.rule for violation in judge_request([{}] * 3, dialect)] == ["limit-tools"]


@pytest.mark.parametrize(
    ("name", "count"),
    [("object_depth", 2), ("depth", 3), ("union_branches", 3), ("longest_enum", 2), ("item_bounds", 12),
     ("longest_enum_characters", 3), ("characters", 277), ("bytes", 278)],
)  # fmt: skip
def test_measures(name, count):
    schema = of(
        a={"type": "array", "maxItems": 5, "items": of(b={"enum": ["x", "yz"]})},
        c={"anyOf": [TEXT, {"type": "null"}, {"type": "array", "items": TEXT, "maxItems": 7}]},
        d={"description": "é\n", "enum": [None]},
    )
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    assert (len(text), len(text.encode())) == (277, 278)
    dialect = dataclasses.replace(ENGINE, limits=(Limit(name, count - 1),), long_enum=1)
    assert measure(schema, dialect)[name] == count
    assert found(schema, dialect) == [("", f"limit-{name.replace('_', '-')}")]
    assert found(schema, dataclasses.replace(dialect, limits=(Limit(name, count),))) == []
