"""What Responses says to a breach of a dialect, and that no body whatever breaks it."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from emulator.mutations import mutations
from emulator.responses_bodies import FULL, OPEN, OPTIONAL, PATTERN, SCHEMA, read
from strictcall.dialect import judge, judge_name, judge_request, load
from strictcall.emulator import rules
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.responses import API
from strictcall.emulator.conversation import OfferedTool, WantedOutput
from strictcall.emulator.interface import Reply
from strictcall.emulator.refusal import Breach, Refusal

ANSWER = Answer("hm", calls=(MadeCall("call_1", "f", "{}"),), stop="calls")


# --- breaches and errors ----------------------------------------------------------------------------------------------


def tool(schema=None, name="f"):
    return OfferedTool(name, None, SCHEMA if schema is None else schema, "tools[3]", "tools[3].parameters", True)


def schema_breach(schema):
    return Breach("schema", tool(schema), violation=judge(schema, "openai")[0])


BREACHES = [
    (
        schema_breach(OPEN),
        "tools[3].parameters",
        "invalid_function_parameters",
        (
            "Invalid schema for function 'f': In context=('properties', 'a'), 'additionalProperties' is required to be "
            "supplied and to be false."
        ),
    ),
    (
        schema_breach(OPTIONAL),
        "tools[3].parameters",
        "invalid_function_parameters",
        (
            "Invalid schema for function 'f': In context=(), 'required' is required to be supplied and to be an array "
            "including every key in properties. Missing 'b'."
        ),
    ),
    (
        Breach(
            "output", output=WantedOutput("n", OPEN, "text.format.schema", True), violation=judge(OPEN, "openai")[0]
        ),
        "text.format.schema",
        "invalid_json_schema",
        (
            "Invalid schema for response_format 'n': In context=('properties', 'a'), 'additionalProperties' "
            "is required to be supplied and to be false."
        ),
    ),
    (
        Breach("tool_name", tool(name="a.b"), violation=judge_name("a.b", "openai")[0]),
        "tools[3].name",
        "invalid_value",
        f"Invalid 'tools[3].name': {PATTERN}",
    ),
    (
        Breach("limit", violation=judge_request([], load("deepseek"), tools=129)[0]),
        "tools",
        "array_above_max_length",
        (
            "Invalid 'tools': array too long. Expected an array with maximum length 128, "
            "but got an array with length 129 instead."
        ),
    ),
    (Breach("unknown_field", field="seed"), "seed", "unknown_parameter", "Unknown parameter: 'seed'."),
    (
        Breach("strict_field", tool(), field="tools[3].strict"),
        "tools[3].strict",
        "unknown_parameter",
        "Unknown parameter: 'tools[3].strict'.",
    ),
    (Breach("choice"), "tool_choice", None, "Tool choice 'required' must be specified with 'tools' parameter."),
    (Breach("choice", field="g"), "tool_choice", None, "Tool choice 'function' not found in 'tools' parameter."),
]


@pytest.mark.parametrize(("breach", "param", "code", "message"), BREACHES)
def test_a_breach_is_told_in_openais_words(breach, param, code, message):
    refusal = API.word(breach, "openai")
    assert (refusal.status, refusal.message, refusal.param, refusal.code) == (400, message, param, code)


@pytest.mark.parametrize("kind", ["duplicate_name", "parallel", "mixed_strict", "description"])
def test_every_other_breach_is_told_too(kind):
    violation = judge_name("", "openai")[0]
    assert API.word(Breach(kind, tool(), violation=violation), "openai").status == 400


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
