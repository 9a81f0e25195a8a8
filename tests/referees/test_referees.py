"""Independent judges of our wire schemas: those that need no heavy installation, over the tools shipped with the tests.

Each judge is first shown to refuse: one that refuses nothing proves nothing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
sys.path += [str(ROOT / "scripts" / "referees"), str(ROOT / "scripts" / "bench")]

import hearings  # noqa: E402
import roster  # noqa: E402
import wires  # noqa: E402
from killable import Worker, WorkerError  # noqa: E402
from meaning import canonical, difference, spelled_out  # noqa: E402

LIGHT = ("mcp-strict-check-openai", "mcp-strict-check-anthropic", "anthropic", "llguidance")
SHOWN = {referee.name: referee for referee in roster.REFEREES}


def strict(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


@cache
def contracts() -> list[Any]:
    probes = json.loads((DATA / "probes.json").read_text(encoding="utf-8"))
    return [*wires.contracts([DATA / "tools_sample.jsonl"]), *(probe["schema"] for probe in probes)]


@cache
def wires_of(dialect: str) -> wires.Wires:
    return wires.wires(contracts(), dialect)


def present(name: str) -> roster.Referee:
    referee = SHOWN[name]
    if importlib.util.find_spec(referee.module) is None:
        pytest.skip(f"{referee.requirements[0]} is not installed; `make referee` runs it in an environment of its own")
    return referee


@pytest.fixture(scope="module")
def workers() -> Iterator[Callable[[str], Worker]]:
    """A worker of each referee that is asked for, started once: some take seconds to start."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda name: stack.enter_context(Worker(Path(sys.executable), name, SHOWN[name].seconds)))


@pytest.mark.parametrize("name", LIGHT)
def test_nothing_of_ours_is_refused(name: str) -> None:
    referee = present(name)
    session = hearings.hear(referee, Path(sys.executable), wires_of, referee.dialects)
    assert session.refused == 0, hearings.report(session)
    assert [hearing.dialect for hearing in session.hearings] == [*referee.dialects]
    assert all(hearing.seen > 0.8 * len(contracts()) for hearing in session.hearings), hearings.report(session)


@pytest.mark.parametrize(
    ("name", "schema", "rule"),
    [
        ("mcp-strict-check-openai", {"type": "object", "additionalProperties": True}, "B3-additionalProperties-open"),
        ("mcp-strict-check-openai", {"type": "object", "anyOf": [{"required": ["a"]}]}, "B1-root-anyOf"),
        ("mcp-strict-check-anthropic", strict(a={"type": "string", "maxLength": 3}), "C3-string-constraint:maxLength"),
        (
            "mcp-strict-check-anthropic",
            {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(25)}},
            "CL2-too-many-optional-params:25",
        ),
        ("anthropic", strict(a={"type": "integer", "minimum": 1}), "changed:minimum"),
        ("anthropic", strict(a={"oneOf": [{"type": "string"}, {"type": "null"}]}), "changed:anyOf oneOf"),
        ("anthropic", strict(a={"type": "array", "items": {"type": "string"}, "maxItems": 2}), "changed:maxItems"),
        ("anthropic", strict(a={}), "exception:ValueError"),
        ("anthropic", strict(a={"type": "string", "pattern": "^a"}), "pattern-moved"),
        ("anthropic", strict(a={"type": ["string", "null"]}), "type-list-asserts"),
        ("llguidance", {"type": "array", "uniqueItems": True}, 'Unimplemented keys: ["uniqueItems"]'),
        ("llguidance", {"type": "string", "format": "iban"}, "Unknown format: iban"),
    ],
)
def test_the_referees_refuse(workers: Callable[[str], Worker], name: str, schema: Any, rule: str) -> None:
    worker = workers(present(name).name)
    assert worker.version
    assert rule in [found for found, _ in worker.ask(json.dumps(schema))]
    assert worker.ask(json.dumps(strict(a={"type": "string"}))) == []


# --- equal in meaning -----------------------------------------------------------------------------------------------

NULLABLE = {"type": ["string", "null"], "maxLength": 3}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"type": "string", "title": "A", "default": "x"}, {"type": "string", "description": "b"}),
        ({"const": 1}, {"enum": [1.0]}),
        ({"type": "string", "enum": ["a", 1, None]}, {"enum": ["a"]}),
        ({"type": ["integer", "null"], "enum": [1.0, None, 1.5]}, {"enum": [None, 1]}),
        (NULLABLE, {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 3}]}),
        ({"anyOf": [{"type": "null"}, {"anyOf": [{"type": "string"}]}]}, {"type": ["string", "null"]}),
        ({"type": "array", "minItems": 0, "pattern": "a"}, {"type": "array"}),
        ({"type": "object", "required": ["b", "a"]}, {"type": "object", "required": ["a", "b"]}),
        (strict(title={"type": "string", "title": "T"}), strict(title={"type": "string"})),
        ({"$defs": {"A": {"const": 1}}, "$ref": "#/$defs/A"}, {"$ref": "#/$defs/A", "$defs": {"A": {"enum": [1]}}}),
    ],
)
def test_equal_in_meaning(left: Any, right: Any) -> None:
    assert difference(canonical(left), canonical(right)) is None


@pytest.mark.parametrize(
    ("left", "right", "place"),
    [
        ({"type": "string"}, {"type": "string", "pattern": "a"}, ("", "pattern")),
        ({"enum": [1]}, {"enum": [True]}, ("/enum/0", "0")),
        ({"enum": ["a"]}, {"type": "string"}, ("", "enum type")),
        ({"type": "string"}, {"type": ["string", "null"]}, ("", "anyOf type")),
        (strict(a={"type": "string"}), strict(b={"type": "string"}), ("/properties", "a b")),
        (strict(title={"type": "string"}), {**strict(), "required": ["title"]}, ("/properties", "title")),
        ({"type": "number", "minimum": 1}, {"type": "number", "minimum": 2}, ("/minimum", "minimum")),
        ({"type": "array", "items": {"type": "string"}}, {"type": "array"}, ("", "items")),
        ({"anyOf": [{"$ref": "#/a"}]}, {"anyOf": [{"$ref": "#/b"}]}, ("/$ref", "$ref")),
    ],
)
def test_different_in_meaning(left: Any, right: Any, place: tuple[str, str]) -> None:
    assert difference(canonical(left), canonical(right)) == place
    assert difference(canonical(right), canonical(left)) == place


def test_a_list_of_types_is_spelled_out_and_nothing_else_is_touched() -> None:
    schema = strict(a={**NULLABLE, "title": "A"}, b={"type": ["string", "null"], "enum": ["x", None]})
    assert spelled_out(schema)["properties"] == {
        "a": {"title": "A", "anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        "b": {"type": ["string", "null"], "enum": ["x", None]},
    }


# --- the machinery --------------------------------------------------------------------------------------------------

STUBBORN = """
import json, os, sys, time
print(json.dumps("1.0"), flush=True)
for line in sys.stdin:
    if "sleep" in line:
        time.sleep(60)
    if "die" in line:
        os._exit(7)
    print(json.dumps([["said", line.strip()]]), flush=True)
"""


def test_a_worker_that_hangs_or_dies_is_made_anew(tmp_path: Path) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN, encoding="utf-8")
    with Worker(Path(sys.executable), "stubborn", 0.5, script) as worker:
        assert worker.ask('"one"') == [("said", '"one"')]
        assert [rule for rule, _ in worker.ask('"sleep"')] == ["time-out"]
        assert worker.ask('"two"') == [("said", '"two"')]
        assert worker.ask('"die"') == [("crash", "the process ended with code 7")]
        assert worker.ask('"three"') == [("said", '"three"')]


def test_a_worker_that_does_not_start_says_why(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("raise SystemExit('no such library')", encoding="utf-8")
    with pytest.raises(WorkerError, match="broken does not start: no such library"):
        Worker(Path(sys.executable), "broken", 1, script)


@pytest.mark.parametrize(
    ("referee", "rule", "dialect", "covered"),
    [
        ("mcp-strict-check-openai", "B6-too-deep:7", "openai", True),
        ("mcp-strict-check-openai", "B6-too-deep:7", "azure-openai", False),
        ("mcp-strict-check-openai", "B6-too-deep:6", "azure-openai", True),
        ("mcp-strict-check-openai", "B3-additionalProperties-open", "openai", False),
        ("mcp-strict-check-anthropic", "B6-too-deep:7", "openai", False),
        ("llguidance", "Unknown format: binary", "ollama", True),
        ("llguidance", 'Unimplemented keys: ["uniqueItems"]', "ollama", False),
        ("llguidance", "Unknown format: binary", "vllm", False),
        ("xgrammar", "warning: pattern combined", "vllm", False),
        ("anthropic", "changed:minimum", "anthropic", False),
    ],
)
def test_an_exception_covers_its_rule_and_nothing_else(referee: str, rule: str, dialect: str, covered: bool) -> None:
    assert (roster.allowance(referee, rule, dialect) is not None) is covered


def test_exceptions_name_referees_and_dialects_that_there_are() -> None:
    for known in roster.ALLOWANCES:
        assert set(known.dialects) <= set(SHOWN[known.referee].dialects), known
        assert known.reason


def test_what_no_exception_covers_is_refused_and_told() -> None:
    referee = SHOWN["llguidance"]
    hearing = hearings.Hearing("vllm")
    hearing.add(referee, '{"long": 1}', [("Unknown format: x", "words")])
    hearing.add(referee, "{}", [("Unknown format: x", "words")])
    hearing.add(referee, "[]", [])
    excused = hearings.Hearing("ollama")
    excused.add(referee, "{}", [("Unknown format: x", "words")])
    session = hearings.Session(referee, "1", [hearing, excused])
    assert (hearing.seen, hearing.accepted, hearing.refused, excused.accepted, session.refused) == (3, 1, 2, 1, 2)
    text = hearings.report(session)
    assert "| vllm | 3 | 1 | 0 | 2 |" in text
    assert "| ollama | 1 | 1 | 1 by `Unknown format: *` | 0 |" in text
    assert "`Unknown format: x`, 2 schemas: words\n  {}" in text
    assert hearings.unused([session]) == []
    idle = hearings.unused([hearings.Session(referee, "1", [hearing])])
    assert [known.rule for known in idle] == ["Unknown format: *"]


def test_absent_data_and_unknown_names_are_said(tmp_path: Path) -> None:
    for options, word in ((("anthropic", "--data", str(tmp_path)), str(tmp_path)), (("nobody",), "nobody")):
        command = [sys.executable, str(ROOT / "scripts" / "referee.py"), *options]
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
        assert done.returncode == 2
        assert word in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
