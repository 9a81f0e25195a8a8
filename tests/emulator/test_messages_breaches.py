"""What Messages says to a breach of its dialect, and that no body whatever breaks it."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from emulator.messages_bodies import FULL, SCHEMA, TYPES, node, read
from emulator.mutations import mutations
from strictcall.dialect import judge, judge_name, judge_request, load, measure
from strictcall.emulator import rules
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.messages import API
from strictcall.emulator.conversation import OfferedTool, WantedOutput
from strictcall.emulator.interface import Reply
from strictcall.emulator.refusal import STATUS, Breach, Refusal

ANTHROPIC = load("anthropic")
ANSWER = Answer("hm", calls=(MadeCall("toolu_1", "f", "{}"),), stop="calls")


# --- breaches and errors ----------------------------------------------------------------------------------------------


def tool(schema=None, name="f"):
    return OfferedTool(
        name, None, SCHEMA if schema is None else schema, "tools.3.custom", "tools.3.custom.input_schema"
    )


def many(schema, count):
    return {"type": "object", "properties": {f"p{n}": schema for n in range(count)}, "additionalProperties": False}


PLACE = "tools.3.custom"
SCHEMAS = [
    (node({"type": "number", "minimum": 1}), True, f"{PLACE}: For 'number' type, property 'minimum' is not supported"),
    (
        node({"type": "integer", "minimum": 1, "maximum": 2}),
        True,
        f"{PLACE}: For 'integer' type, properties maximum, minimum are not supported",
    ),
    (
        node({"type": "array", "items": {"type": "string"}, "minItems": 2}),
        True,
        f"{PLACE}: For 'array' type, 'minItems' values other than 0 or 1 are not supported (got: [2, ∞])",
    ),
    (node({"oneOf": [{"type": "string"}]}), True, f"{PLACE}: Schema type 'oneOf' is not supported"),
    (node({}), True, f"{PLACE}: Empty schema ({{}}) that accepts any JSON value is not supported."),
    (
        {"type": "object", "properties": {}},
        True,
        f"{PLACE}: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    (
        {"type": "object", "properties": {}, "additionalProperties": True},
        True,
        (
            f"{PLACE}: For 'object' type, 'additionalProperties: true' is not supported. "
            "Please set 'additionalProperties' to false"
        ),
    ),
    ({}, False, f"{PLACE}.input_schema.type: Field required"),
    ({"type": "string"}, False, f"{PLACE}.input_schema.type: Input should be 'object'"),
    (True, False, f"{PLACE}.input_schema: Input does not match the expected shape."),
    (
        {"type": "object", "anyOf": []},
        False,
        f"{PLACE}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "array", "minItems": "x"}}},
        False,
        (
            f"{PLACE}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
            "https://docs.claude.com/en/docs/tool-use."
        ),
    ),
    (
        {"type": "object", "properties": {"a b": {}}},
        False,
        f"{PLACE}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'",
    ),
    (many({"type": "string"}, 24), True, "Schema is too complex for compilation"),
]


@pytest.mark.parametrize(("schema", "strict", "message"), SCHEMAS)
def test_a_schema_is_refused_in_anthropics_words(schema, strict, message):
    breach = Breach("schema", tool(schema), violation=judge(schema, "anthropic", strict=strict)[0])
    assert API.word(breach, "anthropic").message == message


def measured(schema, times):
    return [dict(measure(schema, ANTHROPIC))] * times


LIMITS = [
    (
        measured(SCHEMA, 21),
        (
            "Too many strict tools (21). The maximum number of strict tools supported is 20. "
            "Try reducing the number of tools marked as strict."
        ),
    ),
    (
        measured(many({"type": "string"}, 13), 2),
        (
            "Schemas contains too many optional parameters (26), which would make grammar compilation inefficient. "
            "Reduce the number of optional parameters in your tool schemas (limit: 24)."
        ),
    ),
    (
        measured({**many({"type": ["string", "null"]}, 9), "required": [f"p{n}" for n in range(9)]}, 2),
        (
            "Schemas contains too many parameters with union types (18 parameters with type arrays or anyOf). "
            "This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters "
            "(limit: 16 parameters with unions)."
        ),
    ),
]


@pytest.mark.parametrize(("measures", "message"), LIMITS)
def test_a_ceiling_is_told_in_anthropics_words(measures, message):
    violation = judge_request(measures, ANTHROPIC)[0]
    assert API.word(Breach("limit", violation=violation), "anthropic").message == message


OUTPUT = WantedOutput("", node({"type": "number", "minimum": 1}), "output_config.format.schema")
BREACHES = [
    (
        Breach("output", output=OUTPUT, violation=judge(OUTPUT.schema, load("anthropic", "output"))[0]),
        "output_config.format.schema: For 'number' type, property 'minimum' is not supported",
    ),
    (
        Breach("tool_name", tool(name="a.b"), violation=judge_name("a.b", "anthropic")[0]),
        "tools.3.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    (
        Breach("tool_name", tool(name=""), violation=judge_name("", "anthropic")[0]),
        "tools.3.custom.name: String should have at least 1 character",
    ),
    (Breach("duplicate_name", tool()), "tools: Tool names must be unique."),
    (Breach("choice"), "tool_choice.any may only be specified while providing tools"),
    (Breach("choice", field="x"), "Tool 'x' not found in provided tools"),
    (Breach("unknown_field", field="foo"), "foo: Extra inputs are not permitted"),
    (
        Breach("strict_field", tool(), field="tools.3.custom.strict"),
        "tools.3.custom.strict: Extra inputs are not permitted",
    ),
]


@pytest.mark.parametrize(("breach", "message"), BREACHES)
def test_a_breach_is_told_in_anthropics_words(breach, message):
    refusal = API.word(breach, "anthropic")
    assert (refusal.status, refusal.message) == (400, message)


@pytest.mark.parametrize("kind", ["description", "parallel", "mixed_strict"])
def test_every_other_breach_is_told_too(kind):
    assert API.word(Breach(kind, tool()), "anthropic").status == 400


@pytest.mark.parametrize("status", STATUS)
def test_every_status_has_its_type(status):
    error = API.error(Refusal("words", status), "req_1")
    assert error == {
        "type": "error",
        "error": {"type": TYPES[status], "message": "words"},
        "request_id": "req_1",
    }


# --- whatever stands in a body ----------------------------------------------------------------------------------------


def outcome(value):
    """The words for a body that is refused, in reading or by the dialect; else the events of an answer to it."""
    try:
        request = read(value)
        found = rules.breach(request, load(API.dialect))
        if found is not None:
            raise API.word(found, API.dialect)
    except Refusal as refusal:
        assert_is_error(API.error(refusal, "req_1"))
        return "refused"
    reply = Reply(request, ANSWER, "1", 0, random.Random(1))  # noqa: S311
    assert API.whole(reply)
    assert list(API.frames(reply))
    return "answered"


def assert_is_error(error):
    assert json.loads(json.dumps(error)) == error
    assert error["error"]["message"]


def test_every_body_is_answered_or_refused():
    outcomes = Counter(outcome(value) for value in mutations(FULL))
    assert outcomes["answered"] > 100
    assert outcomes["refused"] > 100
