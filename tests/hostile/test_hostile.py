"""Hostile schemas and arguments, each in a process that may die without taking the tests along.

Every answer is meant to take at most 2 seconds of processor time. The tests allow three times that, because the machine
that runs them may be slow or busy; ``STRICTCALL_HOSTILE_SECONDS=2`` asks for what is meant. ``STRICTCALL_TESTS=all``
runs every case under each of the dialects, and in the main thread too; without it a large or deep one is run under one
of them, in a thread with a small stack, which is the harder place.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile import cases
from width import ALL

RUNNER = Path(__file__).with_name("runner.py")
SECONDS = float(os.environ.get("STRICTCALL_HOSTILE_SECONDS", "6"))
MEGABYTES = 600
MODES = ["main", "small"] if ALL else ["small"]
PATIENCE = 1_200 if ALL else 280
"""Seconds for all cases of a kind, on a machine that is busy with other things."""
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
"""The environment without what would have the processes traced for coverage, which slows them several times."""


def answers(kind: str, mode: str) -> tuple[list[dict[str, Any]], str]:
    """The answers to the cases of a kind, and what the processes said on stderr."""
    command = [sys.executable, str(RUNNER), kind, mode, "all" if ALL else "some"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, env=UNMEASURED)
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").splitlines()
        pytest.fail(f"no answer after {lines[-1][:300] if lines else 'the start'!r}")
    said = done.stderr[-2_000:].decode(errors="replace")
    assert done.returncode == 0, said
    return [json.loads(line) for line in done.stdout.splitlines()], said


@pytest.mark.timeout(PATIENCE + 20)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", cases.KINDS)
def test_hostile(kind: str, mode: str) -> None:
    """Every case has an answer under its dialects, in time, in little memory, with no surprise."""
    found, said = answers(kind, mode)
    assert [(each["case"], each["dialect"]) for each in found] == cases.runs(kind, everywhere=ALL)
    wrong = [
        {key: each[key] for key in ("case", "dialect", "seconds", "slowest", "peak", "error") if key in each}
        for each in found
        if "error" in each or each["seconds"] > SECONDS or each["peak"] > MEGABYTES
    ]
    assert not wrong, "\n".join(map(str, wrong[:20])) + f"\n{len(wrong)} of {len(found)}\n{said}"


def test_every_costly_case_is_run_somewhere_and_every_dialect_has_some() -> None:
    for kind in cases.KINDS:
        some, every = (cases.runs(kind, everywhere=everywhere) for everywhere in (False, True))
        assert set(some) <= set(every)
        assert {name for name, _ in some} == {name for name, _ in every}
        assert {dialect for _, dialect in some} == set(cases.DIALECTS)


SMALL_AND_BAD = """
import os, time
from hostile import cases, runner
fine = lambda: {"type": "object"}
rows = {"one": fine, "dies": os.abort, "two": fine, "hangs": lambda: time.sleep(60), "three": fine}
cases.odd = lambda: rows
cases.heavy = lambda: rows
cases.DIALECTS = ("openai",)
runner.PATIENCE = 3
runner.main(KIND, "small", "all")
"""


@pytest.mark.parametrize("kind", ["odd", "heavy"])
def test_what_dies_or_hangs_costs_itself_alone(kind: str) -> None:
    command = [sys.executable, "-c", SMALL_AND_BAD.replace("KIND", repr(kind))]
    done = subprocess.run(command, capture_output=True, check=False, env=UNMEASURED, cwd=Path(__file__).parents[1])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    names = ["one", "dies", "two", "hangs", "three"]
    assert [each["case"] for each in found] == names
    assert {each["case"] for each in found if "error" in each} == {"dies", "hangs"}
    assert b"time.sleep" in done.stderr or b"in <lambda>" in done.stderr
