"""Hostile schemas and arguments, each in a process that may die without taking the tests along.

Every answer is meant to take at most 2 seconds of processor time. The tests allow three times that, because the machine
that runs them may be slow or busy; ``STRICTCALL_HOSTILE_SECONDS=2`` asks for what is meant, and
``STRICTCALL_HOSTILE_FULL=1`` runs the cases in the main thread too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile import arguments, cases
from laws.contracts import KEYWORDS

RUNNER = Path(__file__).with_name("runner.py")
SECONDS = float(os.environ.get("STRICTCALL_HOSTILE_SECONDS", "6"))
MEGABYTES = 600
PATIENCE = 280
"""Seconds for all cases of one process, on a machine that is busy with other things."""
DIALECTS = 3
MODES = ["main", "small"] if "STRICTCALL_HOSTILE_FULL" in os.environ else ["small"]
"""The threads that the cases run in; a thread of 256 KiB of stack is the harder of the two."""
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
"""The environment without what would have the processes traced for coverage, which slows them several times."""


def run(kind: str, mode: str, *names: str) -> list[dict[str, Any]]:
    """The answers to some cases; fails where the process died."""
    command = [sys.executable, str(RUNNER), kind, mode, *names]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, env=UNMEASURED)
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").splitlines()
        pytest.fail(f"no answer after {lines[-1][:300] if lines else 'the start'!r}")
    lines = done.stdout.splitlines()
    answers = [json.loads(line) for line in lines]
    last = f"{answers[-1]['case']} ({answers[-1]['dialect']})" if answers else "the start"
    assert done.returncode == 0, f"died ({done.returncode}) after {last}: {done.stderr[-600:].decode(errors='replace')}"
    return answers


def judge_answers(answers: list[dict[str, Any]], count: int) -> None:
    """Every case has an answer under every dialect, in time, in little memory, with no surprise."""
    assert len(answers) == count * DIALECTS
    wrong = [
        {key: answer[key] for key in ("case", "dialect", "seconds", "slowest", "peak", "error") if key in answer}
        for answer in answers
        if "error" in answer or answer["seconds"] > SECONDS or answer["peak"] > MEGABYTES
    ]
    assert not wrong, "\n".join(map(str, wrong[:20])) + f"\n{len(wrong)} of {len(answers)}"


@pytest.mark.parametrize("name", cases.heavy())
def test_large_schema(name: str) -> None:
    judge_answers(run("heavy", "small", name), 1)


@pytest.mark.parametrize("mode", MODES)
def test_odd_and_deep_schemas(mode: str) -> None:
    judge_answers(run("light", mode), len(cases.light()))


def test_every_keyword_with_every_wrong_type() -> None:
    judge_answers(run("wrong", "small"), len(cases.wrong(KEYWORDS)))


@pytest.mark.parametrize("mode", MODES)
def test_arguments(mode: str) -> None:
    judge_answers(run("arguments", mode), len(arguments.CASES))
