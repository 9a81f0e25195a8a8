"""The benchmark on a few tools and without peers, and the words it has for what a converter did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "scripts" / "bench"
DATA = ROOT / "tests" / "data"
sys.path.append(str(BENCH))

import growth  # noqa: E402
import outcomes  # noqa: E402
import peers  # noqa: E402
import tables  # noqa: E402
from outcomes import Outcome  # noqa: E402


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(BENCH / "bench.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, env=variables, check=False)


def test_five_tools_without_peers() -> None:
    done = bench(
        *("--data", str(DATA), "--file", "tools_sample.jsonl", "--most", "5"),
        *("--rounds", "1", "--repeats", "1", "--no-peers", "--no-growth"),
    )
    assert done.returncode == 0, done.stderr
    assert "5 tools of `tools_sample.jsonl`" in done.stdout
    ours = [line for line in done.stdout.splitlines() if line.startswith("| **strictcall, openai** | this tree | 5 |")]
    assert len(ours) == 1, done.stdout
    assert "| all | " in done.stdout


@pytest.mark.parametrize("script", ["bench.py", "peers.py"])
def test_absent_data_is_said(script: str, tmp_path: Path) -> None:
    option = ("--data", str(tmp_path)) if script == "bench.py" else ("--probes", str(tmp_path / "probes.json"))
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(BENCH / script), *option]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path) in done.stderr


def test_growth_tables_have_a_line_for_each_size() -> None:
    assert len(growth.schema_growth((2_000,)).splitlines()) == 2 + len(growth.SCHEMAS)
    assert len(growth.argument_growth((1_000,)).splitlines()) == 2 + len(growth.ARGUMENTS)


def test_quantiles_and_spread() -> None:
    assert tables.median([3, 1, 2]) == 2
    assert tables.quantile([0, 10], 0.9) == 9
    assert tables.spread([1.0, 2.0, 4.0]) == "2.00 (1.00-4.00)"


# --- outcomes -------------------------------------------------------------------------------------------------------

OPTIONAL = {
    "id": "optional",
    "title": "an optional",
    "schema": {"type": "object", "properties": {"a": {"type": "string"}, "u": {"enum": ["c", "f"]}}, "required": ["a"]},
    "valid": [{"a": "x"}, {"a": "x", "u": "c"}],
    "invalid": [{"a": 1}, {"a": "x", "u": "k"}],
}
NULLABLE = {
    "id": "nullable",
    "title": "an optional that takes null",
    "schema": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    "valid": [{}, {"a": "x"}],
    "invalid": [],
}


def strict(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {"status": "converted", "strict": True, "schema": schema}


TEXT, ENUM = {"type": "string"}, {"type": "string", "enum": ["c", "f"]}
OR_NULL = {"anyOf": [ENUM, {"type": "null"}]}
OPEN = {"status": "converted", "strict": True, "schema": OPTIONAL["schema"]}


@pytest.mark.parametrize(
    ("answer", "probe", "outcome", "word"),
    [
        ({"status": "crashed", "message": "KeyError"}, OPTIONAL, Outcome.CRASHED, "KeyError"),
        ({"status": "hung", "message": "no answer"}, OPTIONAL, Outcome.CRASHED, "no answer"),
        ({"status": "refused", "message": "no"}, OPTIONAL, Outcome.REFUSED, "no"),
        ({"status": "converted", "strict": False, "schema": {}}, OPTIONAL, Outcome.LOOSE, ""),
        (OPEN, OPTIONAL, Outcome.REJECTED, ""),
        (strict(a=TEXT, u=ENUM), OPTIONAL, Outcome.WRONG, "is lost"),
        (strict(a=TEXT, u=OR_NULL), OPTIONAL, Outcome.WRONG, "as a null"),
        (strict(a={"type": ["string", "null"]}), NULLABLE, Outcome.NULLED, "{}"),
        (strict(a=TEXT), {**OPTIONAL, "valid": [{"a": "x"}]}, Outcome.EXACT, ""),
        (strict(a={**TEXT, "default": "x"}), {**OPTIONAL, "valid": [{"a": "x"}]}, Outcome.EXACT, ""),
    ],
)
def test_outcome_of_a_peer(answer: dict[str, Any], probe: dict[str, Any], outcome: Outcome, word: str) -> None:
    found, _, note = outcomes.judged(answer, probe, "openai")
    assert found is outcome
    assert word in note


def test_an_invalid_call_that_gets_through_is_seen() -> None:
    probe = {**OPTIONAL, "valid": [{"a": "x"}], "invalid": [{"a": ""}]}
    assert outcomes.judged(strict(a=TEXT), probe, "openai")[1]
    assert not outcomes.judged(strict(a=TEXT), OPTIONAL | {"valid": []}, "openai")[1]


def test_writings_reach_optionals_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"v": {"type": ["string", "null"]}}, "required": ["v"]}
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}, "one": {"anyOf": [inner, TEXT]}},
        "$defs": {"row": inner},
    }
    written = outcomes.writings(schema, {"rows": [{}, {"v": "x"}], "one": {}})
    assert {"rows": [{"v": None}, {"v": "x"}], "one": {"v": None}} in written


class Broken:
    """A compiled tool that forgets what it is given."""

    strict, reason, dialect, parameters = True, None, "openai", strict(a=TEXT)["schema"]

    def check(self, value: Any) -> tuple[str, ...]:
        return ("a fault",)

    def encode(self, value: Any) -> Any:
        return {"a": "x"}

    def decode(self, text: Any, form: str = "wire") -> Any:
        return {}


def test_outcome_of_ours_can_be_bad() -> None:
    probe = {**OPTIONAL, "valid": [{"a": "x"}]}
    assert outcomes.ours(Broken, probe)[0] is Outcome.WRONG
    assert outcomes.ours(lambda: 1 // 0, probe)[0] is Outcome.CRASHED


@pytest.mark.parametrize("dialect", peers.OURS)
def test_ours_is_never_silently_wrong_on_the_shipped_probes(dialect: str) -> None:
    probes = json.loads((DATA / "probes.json").read_text(encoding="utf-8"))
    score = peers.score_ours(dialect, probes)
    assert score.outcomes[Outcome.WRONG] == score.outcomes[Outcome.CRASHED] == score.outcomes[Outcome.REJECTED] == 0, (
        score.notes
    )
    assert score.lets_through == score.changes_input == 0, score.notes
    assert score.outcomes[Outcome.EXACT] >= len(probes) - 3, score.notes


@pytest.mark.parametrize("dialect", peers.OURS)
def test_ours_is_never_silently_wrong_on_the_shared_probes(shared_data: Path, dialect: str) -> None:
    probes = peers.probes_of(shared_data / "probes.json")
    score = peers.score_ours(dialect, probes)
    assert score.outcomes[Outcome.WRONG] == score.outcomes[Outcome.CRASHED] == score.outcomes[Outcome.REJECTED] == 0, (
        score.notes
    )
    assert score.lets_through == score.changes_input == 0, score.notes
