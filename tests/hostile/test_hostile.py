"""Hostile schemas and arguments, each in a process that may die without taking the tests along.

``STRICTCALL_HOSTILE_SECONDS`` is the processor time that one answer may take (2).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile import arguments, schemas
from laws.contracts import KEYWORDS

RUNNER = Path(__file__).with_name("runner.py")
SECONDS = float(os.environ.get("STRICTCALL_HOSTILE_SECONDS", "2"))
MEGABYTES = 500
PATIENCE = 280
"""Seconds for all cases of one process, on a machine that is busy with other things."""
DIALECTS = 3


def run(kind: str, mode: str, *names: str) -> list[dict[str, Any]]:
    """The answers to some cases; fails where the process died."""
    command = [sys.executable, str(RUNNER), kind, mode, *names]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").splitlines()
        pytest.fail(f"no answer after {lines[-1][:300] if lines else 'the start'!r}")
    lines = done.stdout.splitlines()
    answers = [json.loads(line) for line in lines]
    last = f"{answers[-1]['case']} ({answers[-1]['dialect']})" if answers else "the start"
    assert done.returncode == 0, f"died ({done.returncode}) after {last}: {done.stderr[-600:].decode(errors='replace')}"
    return answers


def judge_answers(answers: list[dict[str, Any]], cases: int) -> None:
    """Every case has an answer under every dialect, in time, in little memory, with no surprise."""
    assert len(answers) == cases * DIALECTS
    wrong = [
        {key: answer[key] for key in ("case", "dialect", "seconds", "slowest", "peak", "error") if key in answer}
        for answer in answers
        if "error" in answer or answer["seconds"] > SECONDS or answer["peak"] > MEGABYTES
    ]
    assert not wrong, "\n".join(map(str, wrong[:20])) + f"\n{len(wrong)} of {len(answers)}"


@pytest.mark.parametrize("name", schemas.heavy())
def test_large_schema(name: str) -> None:
    judge_answers(run("heavy", "small", name), 1)


@pytest.mark.parametrize("mode", ["main", "small"])
def test_odd_and_deep_schemas(mode: str) -> None:
    judge_answers(run("light", mode), len(schemas.light()))


def test_every_keyword_with_every_wrong_type() -> None:
    judge_answers(run("wrong", "small"), len(schemas.wrong(KEYWORDS)))


@pytest.mark.parametrize("mode", ["main", "small"])
def test_arguments(mode: str) -> None:
    judge_answers(run("arguments", mode), len(arguments.CASES))
