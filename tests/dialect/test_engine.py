"""The ``json_schema`` dialect against the engine that it is modelled on: what the judge takes, the engine compiles."""

import json
import random

import pytest

from strictcall.dialect import judge

llguidance = pytest.importorskip("llguidance", reason="llguidance is not installed (extra: emulator)")

CAUTIOUS = {
    # the judge refuses what the engine would take in some cases
    "keyword-rejected",  # oneOf, where provably disjoint
    "counts-with-optional",  # minProperties 1 beside optional properties of a closed object
    "patterns-many",  # patterns that are disjoint
    "reference-external",  # a reference through an $id
    "reference-siblings",  # constraints beside a reference that is not recursive
    "regex-construct",  # syntax that the engine reads in another way than ECMA-262
    "root-not-object",  # a tool's arguments are an object; the engine takes any root
    "unsatisfiable",  # in an optional place
    "not-a-schema",  # the engine overlooks what it does not hold, and takes the forms of older drafts
    "value-rejected",
    "boolean-schema",
    "reference-dangling",
    "recursion",
    "empty-enum",
}


def engine_takes(schema):
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
    wrong, _ = llguidance.LLMatcher.validate_grammar_with_warnings(grammar)
    return not wrong


TEXT = {"type": "string"}
COMBINATIONS = [
    {"type": "object", "patternProperties": {"^x": TEXT}},
    {"type": "object", "patternProperties": {"^x": TEXT}, "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": TEXT}, "patternProperties": {"^x": TEXT}, "additionalProperties": False},
    {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT},
    {"type": "object", "patternProperties": {"^x": TEXT}, "minProperties": 1, "additionalProperties": False},
    {"type": "object", "properties": {"a": TEXT}, "required": ["a"], "minProperties": 2, "maxProperties": 4},
    {"type": "object", "maxProperties": 0},
    {"type": "object", "properties": {"t": {"type": "array", "prefixItems": [TEXT, {}], "items": False}}},
    {"type": "object", "properties": {"n": {"type": "number", "minimum": -1e18, "exclusiveMaximum": 1e18}}},
    {"type": "object", "properties": {"n": {"type": "number", "multipleOf": 1e-9}}},
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 999999999}}},
    {"type": "object", "properties": {"s": {"type": "string", "maxLength": 4294967295}}},
    {"type": "object", "properties": {"j": {"$ref": "#", "description": "again"}}},
    {"type": "object", "x-unknown": {}, "properties": {"a": {"type": "integer", "format": "int32"}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", COMBINATIONS, ids=range(len(COMBINATIONS)))
def test_what_the_judge_takes_the_engine_compiles(schema):
    assert judge(schema, "json_schema") == []
    assert engine_takes(schema)


REFUSED = [
    {"type": "object", "properties": {"a": TEXT}, "minProperties": 2},
    {"type": "object", "properties": {"a": TEXT}, "maxProperties": 2},
    {"type": "object", "patternProperties": {"^x": TEXT, "^xy": TEXT}},
    {"type": "object", "properties": {"a": {"type": "string", "format": "json-pointer"}}},
    {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 1e-20}}},
    {"type": "object", "properties": {"a": {"type": "integer", "minimum": 2**64}}},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
    {"type": "object", "properties": {}, "required": ["a"], "additionalProperties": False},
    {"type": "object", "properties": {"a": {"$ref": "#", "minProperties": 1}}},
    {"type": "object", "properties": {"a": {"$ref": "#", "deprecated": True}}},
    *[{"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
      for pattern in ("(?=a)", "(?<!a)b", "(a)\\1", "\\ba", "x(^a)", "a$b", "{a}", "a{,3}", "[^]", "\\cJ", "\\Z")],
]  # fmt: skip


@pytest.mark.parametrize("schema", REFUSED, ids=range(len(REFUSED)))
def test_what_the_engine_refuses_the_judge_refuses(schema):
    assert not engine_takes(schema)
    assert judge(schema, "json_schema") != []


def test_real_schemas_as_they_are(shared_data):
    rng = random.Random(7)  # noqa: S311
    missed, cautious = [], set()
    for path in sorted(shared_data.glob("*.jsonl")):
        if path.name == "recorded_verdicts.jsonl":
            continue
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rng.sample(rows, min(40, len(rows))):
            violations = judge(row["schema"], "json_schema")
            takes = engine_takes(row["schema"])
            if not violations and not takes:
                missed.append((path.name, row["name"]))
            if violations and takes:
                cautious |= {violation.rule for violation in violations}
    assert missed == []
    assert cautious <= CAUTIOUS
