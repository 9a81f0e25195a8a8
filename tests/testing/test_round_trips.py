"""``assert_round_trips``: good tools pass, a planted breach of each law is found, made small and told."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Policy, Tool, compile_tool
from strictcall.dialect.model import Keyword, State
from strictcall.dialect.registry import load
from strictcall.errors import DialectError, Fault
from strictcall.source.load import read_source
from strictcall.testing import LAWS, LawBroken, assert_round_trips
from strictcall.testing.admits import Wire
from strictcall.wire.codec import Codec

ROOT = Path(__file__).parents[2]
SEARCH = Tool(
    "search",
    "Find things.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to look for", "minLength": 1, "maxLength": 200},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filter": {
                "type": "object",
                "properties": {
                    "since": {"type": "string", "format": "date"},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}},
                    "kind": {"enum": ["a", "b"]},
                },
                "required": ["kind"],
                "additionalProperties": False,
            },
        },
        "required": ["query", "limit"],
        "additionalProperties": False,
    },
)
SMALL = 220
"""A smallest contract has at most so many characters; the one above has three times as many."""


def broken_by(**how: Any) -> LawBroken:
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(SEARCH, **how)
    return caught.value


def tool_files() -> list[Tool]:
    return list(read_source(str(ROOT / "examples" / "tools.json")).tools)


# --- tools that keep the laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "json_schema"])
def test_the_example_tools_keep_every_law(dialect: str) -> None:
    tools = tool_files()
    assert len(tools) >= 3
    for tool in tools:
        report = assert_round_trips(tool, dialect, samples=12)
        assert report.tool.tool == tool
        assert report.unsampled is None
        assert report.disputed == ()


def test_the_report_says_what_was_tried() -> None:
    report = assert_round_trips(SEARCH, samples=30)
    assert report.laws == LAWS
    assert report.tool.strict
    assert {kind: many > 10 for kind, many in report.values.items()} == dict.fromkeys(
        ["wire", "contract", "refused"], True
    )
    assert report.sampled > 10


def test_the_same_seed_tries_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    encode = CompiledTool.encode
    monkeypatch.setattr(
        CompiledTool, "encode", lambda tool, value: (seen.append(json.dumps(value)), encode(tool, value))[1]
    )
    runs = []
    for seed in (1, 1, 2):
        seen.clear()
        assert_round_trips(SEARCH, samples=5, seed=seed)
        runs.append(list(seen))
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"type": "string"}}}]},
        {"type": "object", "properties": {"n": {"type": "number"}}},
        True,
    ],
)
def test_a_bare_schema_may_describe_any_value(schema: Any) -> None:
    report = assert_round_trips(schema, samples=20)
    assert report.values["contract"] > 0


def test_the_tool_is_not_changed() -> None:
    before = copy.deepcopy(SEARCH)
    assert_round_trips(SEARCH, samples=5)
    assert before == SEARCH


def test_a_loose_tool_keeps_the_laws_of_loose_tools_and_fails_where_it_is_to_be_strict() -> None:
    loose = Tool("loose", None, {"type": "object", "properties": {"a": {"$ref": "http://example.test/a"}}})
    report = assert_round_trips(loose, samples=5)
    assert not report.tool.strict
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(loose, samples=5, strict=True)
    assert caught.value.law == "strict"
    assert "http://example.test/a" in caught.value.message
    assert caught.value.message.endswith(report.tool.reason)


def test_an_unknown_dialect_is_no_breach() -> None:
    with pytest.raises(DialectError, match="opneai"):
        assert_round_trips(SEARCH, "opneai")


# --- planted breaches -------------------------------------------------------------------------------------------------


def decode_with(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Every compiled tool's decode, with its result changed."""
    decode = CompiledTool.decode
    monkeypatch.setattr(CompiledTool, "decode", lambda tool, value, form="wire": change(decode(tool, value, form)))


def test_a_member_lost_on_the_way_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_env(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_env(item) for name, item in value.items() if name != "env"}
        return value

    decode_with(monkeypatch, without_env)
    found = broken_by()
    assert found.law == "sayable"
    assert found.form == "contract"
    assert "env" in json.dumps(found.value)
    assert len(json.dumps(found.value)) < 30
    assert set(found.value) <= {"filter"}
    assert len(json.dumps(found.tool.parameters)) < SMALL
    assert dict(found.details)["came back"] != found.value
    assert dict(found.details)["differs at"] == ["/filter/env"]


def test_the_text_shows_the_smallest_case(monkeypatch: pytest.MonkeyPatch) -> None:
    decode_with(
        monkeypatch,
        lambda value: {**value, "limit": 0} if isinstance(value, dict) and value.get("limit") == 7 else value,
    )
    tool = Tool("t", "Does it.", {"type": "object", "properties": {"limit": {"enum": [5, 7]}, "b": {"type": "string"}}})
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(tool, "openai", Policy(nulls="fold"))
    told = str(caught.value)
    assert isinstance(caught.value, AssertionError)
    for part in (
        "the law 'sayable' is broken",
        'value, in contract form: {"limit": 7}',
        'came back: {"limit": 0}',
        "dialect: openai",
        "policy: nulls='fold'",
        "contract: {",
        "wire schema: {",
        "optional-null at /properties/limit",
    ):
        assert part in told
    assert '"b"' not in told
    assert caught.value.__cause__ is None
    assert caught.value.smaller > 5


def test_a_codec_that_raises_something_else_breaks_total_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    init = Codec.__init__

    def faulty(codec: Codec, decode: Any, *rest: Any, **more: Any) -> None:
        def raises(value: Any, *others: Any) -> Any:
            if isinstance(value, list) and value:
                raise KeyError("planted")
            return decode(value, *others)

        init(codec, raises, *rest, **more)

    monkeypatch.setattr(Codec, "__init__", faulty)
    tool = Tool("planted-1", None, SEARCH.parameters)
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(tool)
    assert "raised another exception than ArgumentsError" in caught.value.message
    assert isinstance(dict(caught.value.details)["raised"], KeyError)
    assert "env" in json.dumps(caught.value.value)
    assert len(json.dumps(caught.value.tool.parameters)) < SMALL


def test_decoding_to_what_the_contract_refuses_is_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    decode_with(
        monkeypatch, lambda value: {**value, "limit": 101} if isinstance(value, dict) and "limit" in value else value
    )
    found = broken_by(samples=10)
    assert found.law in ("sound", "sayable")
    monkeypatch.setattr(CompiledTool, "encode", lambda tool, value: dict(value))
    assert broken_by(samples=10).law in ("sound", "sayable")


def test_a_check_that_takes_all_makes_encode_say_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """``encode`` must refuse what the contract does not admit: here it does not look."""
    check = CompiledTool.check
    encode = CompiledTool.encode

    def careless(tool: CompiledTool, value: Any) -> Any:
        return value if check(tool, value) else encode(tool, value)

    monkeypatch.setattr(CompiledTool, "encode", careless)
    found = broken_by()
    assert (found.law, found.message) == ("sayable", "what the contract refuses was encoded")
    assert len(json.dumps(found.value)) <= 2
    assert len(json.dumps(found.tool.parameters)) < SMALL


def from_the_wire_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the contract's values, which are looked at first and break another law where decode refuses them."""
    monkeypatch.setattr("strictcall.testing.values.Values.contract", lambda values: iter(()))


def test_a_refusal_without_faults_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(tool: CompiledTool, value: Any, form: str = "wire") -> Any:
        raise ArgumentsError([])

    monkeypatch.setattr(CompiledTool, "decode", refuse)
    from_the_wire_alone(monkeypatch)
    assert "without a fault" in broken_by(samples=3).message


def test_a_fault_that_names_no_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(tool: CompiledTool, value: Any, form: str = "wire") -> Any:
        raise ArgumentsError([Fault("limit", "an integer")])

    monkeypatch.setattr(CompiledTool, "decode", refuse)
    from_the_wire_alone(monkeypatch)
    found = broken_by(samples=3)
    assert found.message == "a fault names no place or not what is expected there"


def test_an_exact_tool_that_refuses_what_its_wire_admits_is_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = CompiledTool.decode

    def picky(tool: CompiledTool, value: Any, form: Any = "wire") -> Any:
        found = decode(tool, value, form)
        if isinstance(found, dict) and found.get("mode") == "b":
            raise ArgumentsError([Fault("/mode", "not this one")])
        return found

    monkeypatch.setattr(CompiledTool, "decode", picky)
    from_the_wire_alone(monkeypatch)
    schema = {
        "type": "object",
        "properties": {"mode": {"enum": ["a", "b"]}, "text": {"type": "string"}},
        "required": ["mode", "text"],
        "additionalProperties": False,
    }
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(Tool("t", None, schema))
    assert (caught.value.law, caught.value.form) == ("sound", "wire")
    assert caught.value.value == {"mode": "b"}
    assert "text" not in json.dumps(caught.value.tool.parameters)


def test_a_dialect_whose_judge_refuses_what_the_compiler_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler lowers for the dialect; the judge is handed one that knows no ``minimum``."""
    stricter = dataclasses.replace(
        load("openai"), keywords={**load("openai").keywords, "minimum": Keyword("minimum", State.REJECTED)}
    )
    from strictcall.testing import laws

    judge = laws.judge
    monkeypatch.setattr(laws, "judge", lambda schema, _dialect, **more: judge(schema, stricter, **more))
    found = broken_by()
    assert (found.law, found.form) == ("accepted", None)
    assert "keyword-rejected at" in dict(found.details)["violations"][0]
    assert "minimum" in json.dumps(found.tool.parameters)
    assert len(json.dumps(found.tool.parameters)) < SMALL


def test_a_dialect_that_lies_about_what_it_holds_is_unsound() -> None:
    """A bound that the decoder does not hold, said to be held, makes an exact tool that refuses calls."""
    honest = load("json_schema")
    lying = dataclasses.replace(honest, name="lying")
    tool = Tool(
        "t", None, {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]}
    )
    assert_round_trips(tool, lying, samples=20)
    unheld = {**honest.keywords, "minimum": Keyword("minimum", State.IGNORED)}

    class Deaf(Wire):
        def __init__(self, schema: Any, dialect: Any) -> None:
            super().__init__(schema, dataclasses.replace(dialect, keywords=unheld))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("strictcall.testing.case.Wire", Deaf)
        with pytest.raises(LawBroken) as caught:
            assert_round_trips(tool, lying, samples=40)
    assert (caught.value.law, caught.value.dialect) == ("sound", "lying")
    assert "refused a call" in caught.value.message
    assert caught.value.value in ({"n": 0}, {"n": 1})


def test_compiling_twice_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_tool(SEARCH)

    def drifting(tool: Tool, dialect: Any, policy: Any) -> CompiledTool:
        compiled = compile_tool(tool, dialect, policy)
        if "filter" in compiled.parameters.get("properties", {}):
            compiled.parameters["properties"]["filter"]["title"] = (
                compiled.parameters["properties"]["filter"].get("title", "") + "x"
            )
        return compiled

    monkeypatch.setattr("strictcall.testing.case.compile_tool", drifting)
    found = broken_by()
    assert found.law == "idempotent"
    assert set(found.tool.parameters["properties"]) == {"filter"}
    assert first.parameters["properties"]["filter"].get("title") is None


def test_compiling_that_changes_its_input_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(tool: Tool, dialect: Any, policy: Any) -> CompiledTool:
        tool.parameters.setdefault("description", "mine now")
        return compile_tool(tool, dialect, policy)

    monkeypatch.setattr("strictcall.testing.case.compile_tool", careless)
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(Tool("t", None, {"type": "object", "properties": {}}))
    assert (caught.value.law, caught.value.message) == ("total", "compiling changed its input")


def test_compiling_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(tool: Tool, dialect: Any, policy: Any) -> CompiledTool:
        if "maximum" in json.dumps(tool.parameters):
            raise ZeroDivisionError("planted")
        return compile_tool(tool, dialect, policy)

    monkeypatch.setattr("strictcall.testing.case.compile_tool", raising)
    found = broken_by()
    assert (found.law, found.wire, found.changes) == ("total", None, ())
    assert isinstance(dict(found.details)["raised"], ZeroDivisionError)
    assert len(json.dumps(found.tool.parameters)) < SMALL
    assert "ZeroDivisionError: planted" in str(found)


def test_a_loose_tool_that_is_rewritten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = Tool("loose", None, {"type": "object", "properties": {"a": {"$ref": "http://example.test/a"}}})

    def copying(tool: Tool, dialect: Any, policy: Any) -> CompiledTool:
        return compile_tool(Tool(tool.name, tool.description, copy.deepcopy(tool.parameters)), dialect, policy)

    monkeypatch.setattr("strictcall.testing.case.compile_tool", copying)
    with pytest.raises(LawBroken) as caught:
        assert_round_trips(loose)
    assert caught.value.law == "untouched"


# --- what it needs ----------------------------------------------------------------------------------------------------

ALONE = """
import sys
for name in ("hypothesis", "pytest", "numpy", "uvicorn", "jsonschema"):
    sys.modules[name] = None
import strictcall
assert "strictcall.testing" not in sys.modules and "llguidance" not in sys.modules
from strictcall.testing import assert_round_trips
report = assert_round_trips({"type": "object", "properties": {"a": {"type": "string"}}}, samples=5)
print(sorted(report.values))
"""


def test_no_test_framework_is_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == "['contract', 'refused', 'wire']"
