"""The JSON Schema Test Suite and SchemaStore: every valid instance comes back, no invalid one passes.

A sample of the suite ships with the tests; all of it, and SchemaStore's schemas, run where the big data is. Each schema
of SchemaStore is large: it runs under one dialect in turn, under each with ``STRICTCALL_TESTS=all``, as in
``make conformance``.
"""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Policy, compile_schema
from strictcall.errors import Fault
from width import ALL

ROOT = Path(__file__).parents[2]


def load(name: str) -> Any:
    """A script as a module. The scripts' folder does not go on the path: a name in it is also that of a library."""
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


rt = load("roundtrips")
SAMPLE = ROOT / "tests" / "data" / "suite_sample"


def holds(tally: Any, dialect: str) -> None:
    """Nothing was missed, and little was excused."""
    missed = [f"{loss.group} / {loss.instance}: {loss.what}" for loss in tally.misses]
    assert not missed, "\n".join(missed[:20])
    assert tally.round_trips + len(tally.excused) == tally.valid
    assert tally.refused == tally.invalid
    assert tally.share <= rt.CAPS[dialect], [(loss.group, loss.code, loss.pointer) for loss in tally.excused]
    assert all(loss.code in rt.EXCUSES and loss.pointer for loss in tally.excused)


@pytest.mark.parametrize("dialect", rt.DIALECTS)
def test_sample_of_the_suite(dialect: str) -> None:
    groups, remote = rt.suite(SAMPLE)
    tally = rt.summed(rt.run(groups, dialect).values())
    holds(tally, dialect)
    assert (tally.schemas, remote) == (125, 3)
    assert (tally.valid, tally.invalid) == (219, 175)


@pytest.mark.parametrize("dialect", rt.DIALECTS)
def test_sample_below_an_optional_property(dialect: str) -> None:
    groups, _ = rt.suite(SAMPLE)
    tally = rt.summed(rt.run(rt.nested(groups), dialect).values())
    holds(tally, dialect)
    assert tally.valid == 329


@pytest.mark.parametrize("dialect", rt.DIALECTS)
def test_sample_with_open_objects_closed(dialect: str) -> None:
    groups, _ = rt.suite(SAMPLE)
    policy = Policy(implied_types=False, open_objects="close")
    tally = rt.summed(rt.run(groups, dialect, policy).values())
    assert not tally.misses
    assert tally.refused == tally.invalid
    assert {loss.code for loss in tally.excused} <= {"object-closed"}


@pytest.mark.parametrize("dialect", rt.DIALECTS)
def test_suite(shared_data: Path, dialect: str) -> None:
    groups, remote = rt.suite(shared_data / "json_schema_test_suite")
    by_draft = rt.run(groups, dialect)
    assert set(by_draft) == set(rt.DRAFTS)
    assert len(groups) > 1_300
    assert remote < 100
    holds(rt.summed(by_draft.values()), dialect)


@pytest.mark.parametrize("dialect", rt.DIALECTS)
def test_schemastore(shared_data: Path, dialect: str) -> None:
    groups = rt.general(shared_data / "general_schemas.jsonl")
    groups = groups if ALL else groups[rt.DIALECTS.index(dialect) :: len(rt.DIALECTS)]
    tally = rt.summed(rt.run(groups, dialect).values())
    holds(tally, dialect)
    assert tally.valid > (250 if ALL else 110)
    assert len(tally.doubtful) <= 6, tally.doubtful
    assert tally.external <= 50


# --- what is found where something is wrong -------------------------------------------------------------------------

CONTRACT = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}


class Crooked:
    """A compiled tool of which one part lies."""

    def __init__(self, compiled: CompiledTool, **lies: Any) -> None:
        self._compiled = compiled
        self._lies = lies

    def __getattr__(self, name: str) -> Any:
        return self._lies.get(name, getattr(self._compiled, name))


def tally(value: Any, valid: bool, **lies: Any) -> Any:
    """What is counted for one instance through a tool that lies."""
    group = rt.Group("draft7", "a group", CONTRACT, "7", (rt.Instance("one", value, valid),))
    return rt.examine(group, Crooked(compile_schema(CONTRACT, "openai", rt.LETTER), **lies))


def refuse(*args: Any, **more: Any) -> Any:
    raise ArgumentsError([Fault("/a", "is odd")])


def fail(*args: Any, **more: Any) -> Any:
    raise KeyError("a")


@pytest.mark.parametrize(
    ("value", "lies", "word"),
    [
        ({"a": 1}, {"encode": refuse}, "cannot be said"),
        ({"a": 1}, {"encode": lambda value: {"b": value}}, "does not admit"),
        ({"a": 1}, {"encode": lambda value: value, "decode": lambda text: {"a": True}}, "came back as"),
        ({"a": 1}, {"decode": refuse}, "wire form is refused"),
        ({"a": 1}, {"decode": fail}, "KeyError"),
        ({"a": 1}, {"decode": lambda text: {}}, "came back as"),
    ],
)
def test_a_valid_instance_that_is_lost_is_missed(value: Any, lies: dict[str, Any], word: str) -> None:
    found = tally(value, True, **lies)
    assert [word in loss.what for loss in found.misses] == [True], found.misses
    assert found.round_trips == 0


@pytest.mark.parametrize(
    ("lies", "word"),
    [
        ({"check": lambda value: ()}, "check"),
        ({"encode": lambda value: value}, "encode"),
        ({"decode": lambda text, form: json.loads(text)}, "decode(wire)"),
        ({"decode": lambda text, form: json.loads(text) if form == "either" else refuse()}, "decode(either)"),
        ({"decode": lambda text, form: {"a": "y"}}, "decode(wire)"),
    ],
)
def test_an_invalid_instance_that_passes_is_missed(lies: dict[str, Any], word: str) -> None:
    found = tally({"a": "x"}, False, **lies)
    assert [word in loss.what for loss in found.misses] == [True], found.misses
    assert found.refused == 0


def test_a_wire_that_admits_too_much_is_missed() -> None:
    schema = {**CONTRACT, "required": ["a"]}
    group = rt.Group("draft7", "a group", schema, "7", (rt.Instance("one", {"a": "x"}, False),))
    compiled = compile_schema(schema, "openai", rt.LETTER)
    assert compiled.identity
    assert not rt.examine(group, compiled).misses
    found = rt.examine(group, Crooked(compiled, parameters={"type": "object"}))
    assert any("the wire schema, exact, admits" in loss.what for loss in found.misses), found.misses


def test_an_excuse_must_name_what_was_lost() -> None:
    schema = {"properties": {"a": {"type": ["integer", "null"], "default": None}, "b": {"type": ["integer", "null"]}}}
    compiled = compile_schema(schema, "openai", rt.LETTER)
    folded = rt.lost(Crooked(compiled, decode=lambda text: {}), lambda wire: True, {"a": None})
    assert (folded.code, folded.pointer) == ("null-folded", "/properties/a")
    assert rt.lost(Crooked(compiled, decode=lambda text: {}), lambda wire: True, {"b": None}).code == ""
    assert rt.lost(Crooked(compiled, decode=lambda text: {}), lambda wire: True, {"a": 1}).code == ""


def test_a_label_is_doubted_only_where_two_validators_agree() -> None:
    group = rt.Group("general_schemas", "a schema", CONTRACT, "2020-12", ())
    assert rt.wrong_label(group, rt.Instance("valid 0", {"a": "x"}, True))
    assert not rt.wrong_label(group, rt.Instance("valid 0", {"a": 1}, True))
    assert not rt.wrong_label(rt.Group("draft7", "", CONTRACT, "7", ()), rt.Instance("valid 0", {"a": "x"}, True))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (None, False, False),
        ({"a": [1, {"b": "x"}]}, {"a": [1.0, {"b": "x"}]}, True),
        ([0], [False], False),
        ({}, [], False),
        (10**20, 10**20 + 1, False),
    ],
)
def test_json_equality(left: Any, right: Any, equal: bool) -> None:
    assert rt.same(left, right) is equal
