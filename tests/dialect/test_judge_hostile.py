"""Whatever comes in, the judge answers: in bounded time, without recursing, and without an exception."""

import dataclasses
import sys
import time

import pytest

from strictcall.dialect import judge, load, measure
from strictcall.dialect.build import MEASURES
from strictcall.dialect.findings import MOST_VIOLATIONS
from strictcall.dialect.model import Limit, NameRule
from strictcall.dialect.rules import RULES
from width import ALL

TEXT = {"type": "string"}
THREE = ("openai", "anthropic", "json_schema")
"""The parents of most dialects; what others are particular about, one dialect is all at once."""
PARTICULAR = dataclasses.replace(
    load("openai"),
    name="particular",
    conflicts=((frozenset({"pattern"}), frozenset({"minLength"})),),
    type_lists="none",
    list_siblings=frozenset(),
    stray_keywords=False,
    type_case="any",
    pattern_anchoring="must",
    empty_literals=False,
    union_siblings=frozenset(),
    first_keys="distinct",
    empty_objects="nowhere",
    required_always=True,
    some_required=True,
    recursion="optional",
    definitions_at="root",
    definition_name=NameRule("[a-z]+", 8),
    reference_targets="named",
    property_description_limit=10,
    limits=tuple(Limit(name, 2) for name in MEASURES),
)
DIALECTS = (*map(load, THREE), PARTICULAR)
SECONDS = 15
"""Processor time: several times what the slowest needs on a busy machine while it is traced for coverage."""
LEVELS = 10_000


def nested(wrap, levels=LEVELS):
    schema = TEXT
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def many(count, each):
    return {f"p{number}": each(number) for number in range(count)}


def chain(count, last):
    defs = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(count)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, f"d{count}": last}}


def fan(levels):
    link = "#/$defs/d{}".format
    pair = {f"d{n}": {"type": "object", "properties": {"l": {"$ref": link(n + 1)}, "r": {"$ref": link(n + 1)}}}
            for n in range(levels)}  # fmt: skip
    return {"type": "object", "properties": {"a": {"$ref": link(0)}}, "$defs": {**pair, f"d{levels}": TEXT}}


def shared(levels):
    schema = TEXT
    for _ in range(levels):
        schema = {"anyOf": [schema, schema]}
    return schema


def containing_itself():
    schema = {"type": "object", "properties": {}}
    schema["properties"]["a"] = schema
    return schema


SCHEMAS = {
    "nested items": lambda: nested(lambda schema: {"type": "array", "items": schema}),
    "nested properties": lambda: nested(lambda schema: {"type": "object", "properties": {"a": schema}}),
    "nested anyOf": lambda: nested(lambda schema: {"anyOf": [schema]}),
    "nested allOf": lambda: nested(lambda schema: {"allOf": [schema]}),
    "nested not": lambda: nested(lambda schema: {"not": schema}),
    "nested $defs": lambda: nested(lambda schema: {"$defs": {"a": schema}}),
    "nested unknown": lambda: nested(lambda schema: {"x": schema}),
    "nested const": lambda: {"type": "object", "properties": {"a": {"const": nested(lambda value: [value])}}},
    "many properties": lambda: {"type": "object", "properties": many(20_000, lambda _: {"type": "string"})},
    "many flaws": lambda: {"type": "object", "properties": many(20_000, lambda _: {"minLength": "1"})},
    "many false": lambda: {
        "type": "object",
        "properties": many(20_000, lambda _: False),
        "required": [*many(20_000, str)],
    },
    "many keywords": lambda: many(20_000, lambda number: number),
    "long enum of texts": lambda: {"enum": [f"value {number}" for number in range(300_000)]},
    "long enum of numbers": lambda: {"enum": list(range(500_000))},
    "long enum of all kinds": lambda: {"enum": [number if number % 2 else str(number) for number in range(300_000)]},
    "long pattern": lambda: {"type": "string", "pattern": "(a|[b\\d])" * 500_000},
    "pattern within the limit": lambda: {"type": "string", "pattern": "((a|[b\\d]){2})^$" * 6_000},
    "pattern of brackets": lambda: {"type": "string", "pattern": "[" * 100_000},
    "pattern of backslashes": lambda: {"type": "string", "pattern": "\\" * 99_999},
    "long name": lambda: {"type": "object", "properties": {"n" * 5_000_000: {"type": "any", "minLength": "1"}}},
    "long reference": lambda: {"$ref": "#/" + "a/" * 400_000},
    "chain of references": lambda: chain(10_000, TEXT),
    "ring of references": lambda: chain(10_000, {"$ref": "#/$defs/d0"}),
    "fan of references": lambda: fan(1_000),
}
HEAVY = {
    "a hundred thousand levels": lambda: nested(lambda schema: {"type": "array", "items": schema}, 100_000),
    "shared parts": lambda: shared(60),
    "containing itself": containing_itself,
}
"""Asked of one dialect only, for they take their time."""


def asked(name):
    """The dialects that are asked about a schema: the particular one always, one of the others in turn."""
    if name in HEAVY:
        return (PARTICULAR,)
    return DIALECTS if ALL else (PARTICULAR, load(THREE[list(SCHEMAS).index(name) % len(THREE)]))


@pytest.mark.parametrize("name", [*SCHEMAS, *HEAVY])
def test_an_answer_in_time_without_recursion(name):
    schema = {**SCHEMAS, **HEAVY}[name]()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        for dialect in asked(name):
            for strict in (True, False):
                start = time.process_time()
                violations = judge(schema, dialect, strict=strict)
                assert time.process_time() - start < SECONDS
                assert len(violations) <= MOST_VIOLATIONS
                assert {violation.rule for violation in violations} <= RULES.keys()
                assert sum(len(violation.pointer) for violation in violations) < 15_000_000
                assert all(len(violation.message) < 300 for violation in violations)
            start = time.process_time()
            measure(schema, dialect)
            assert time.process_time() - start < SECONDS
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    ("name", "dialect", "rule"),
    [
        ("a hundred thousand levels", "openai", "limit-depth"),
        ("nested properties", "json_schema", "limit-json-depth"),
        ("many properties", "openai", "limit-properties"),
        ("chain of references", "openai", "additional-open"),
        ("ring of references", "json_schema", "recursion"),
        ("fan of references", "openai", "limit-depth"),
        ("shared parts", "anthropic", "too-large"),
        ("containing itself", "json_schema", "not-json"),
    ],
)
def test_the_hostile_are_refused_for_what_they_are(name, dialect, rule):
    assert rule in {violation.rule for violation in judge({**SCHEMAS, **HEAVY}[name](), dialect)}


class Odd:
    """An object of a program, no JSON."""


NOT_JSON = [
    ({1: 2}, ["/1"]),
    ({None: 1, "a": 1}, ["/a NoneType of the program"]),
    ({"const": float("nan")}, ["/const"]),
    ({"maximum": float("inf")}, ["/maximum"]),
    ({"enum": [1, 10**5_000]}, ["/enum/1"]),
    ({"enum": ["a", "\ud800"]}, ["/enum/1"]),
    ({"properties": {"\udfff": {}}}, ["/properties/?"]),
    ({"type": ("object",)}, ["/type"]),
    ({"default": {"a": [b"bytes", {1, 2}, Odd()]}}, ["/default/a/0", "/default/a/1", "/default/a/2"]),
    ({"a/b": {"c~d": Odd()}}, ["/a~1b/c~0d"]),
    (Odd(), [""]),
    (float("nan"), [""]),
    ("\ud800", [""]),
]


@pytest.mark.parametrize(("value", "pointers"), NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_is_not_json_is_said_and_nothing_else(value, pointers):
    for dialect in DIALECTS:
        for strict in (True, False):
            violations = judge(value, dialect, strict=strict)
            assert [violation.pointer for violation in violations] == pointers
            assert {violation.rule for violation in violations} == {"not-json"}


def test_a_value_within_itself_is_found_where_it_comes_again():
    inner = []
    inner.append({"again": inner})
    assert [(v.pointer, v.rule) for v in judge({"default": inner}, "openai")] == [("/default/0/again", "not-json")]


def test_a_part_that_occurs_twice_is_no_circle():
    part = {"type": "string"}
    schema = {"type": "object", "properties": {"a": part, "b": part}, "required": ["a", "b"]}
    assert judge(schema | {"additionalProperties": False}, "openai") == []


WRONG = [None, True, False, 0, -1, 1.5, 10**400, "", "text", [], [None], [[]], {}, {"a": None}, {"type": 3}]


@pytest.mark.parametrize("keyword", sorted({*load("openai").keywords, *load("json_schema").keywords}))
def test_any_value_under_any_keyword_is_answered(keyword):
    for value in WRONG:
        for schema in ({keyword: value}, {"type": "object", "properties": {"a": {keyword: value}}}):
            for dialect in DIALECTS:
                for strict in (True, False):
                    violations = judge(schema, dialect, strict=strict)
                    assert {violation.rule for violation in violations} <= RULES.keys()
                measure(schema, dialect)


@pytest.mark.parametrize("value", WRONG)
def test_any_value_at_the_root_is_answered(value):
    for dialect in DIALECTS:
        assert isinstance(judge(value, dialect), list)
        assert isinstance(judge(value, dialect, strict=False), list)
