"""What the documentation shows and the demo does, run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", "docs/sources.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def fences(language):
    for name in DOCUMENTS:
        for number, (kind, body) in enumerate(FENCE.findall((ROOT / name).read_text()), start=1):
            if kind == language:
                yield pytest.param(body, id=f"{name}-{number}")


@pytest.fixture
def folder(tmp_path):
    """A folder as a reader of the documentation would stand in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "tools.json").symlink_to(ROOT / "examples" / "tools.json")
    return tmp_path


def run(folder, *words, code=0):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Examples are not what coverage is measured of, and start slowly under it.
    env = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"} | {"PATH": path}
    env["COLUMNS"] = "300"  # so that no line of a table is broken
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("code", list(fences("python")))
def test_python_in_the_documentation_runs(folder, code):
    run(folder, sys.executable, "-W", "error", "-c", code)


@pytest.mark.parametrize("lines", list(fences("sh")))
def test_commands_in_the_documentation_run(folder, lines):
    for line in lines.splitlines():
        command, *words = shlex.split(line)
        assert command == "strictcall"
        # Some provider refuses one of the example's tools as it stands, which is what the command is for.
        code = 1 if "--as-is" in words else 0
        assert run(folder, sys.executable, "-m", "strictcall", *words, code=code).strip()


def test_the_demo_runs_and_its_calls_reach_the_servers(folder):
    out = " ".join(run(folder, sys.executable, str(ROOT / "examples" / "demo.py")).split())
    for dialect in ("openai: ", "anthropic: ", "json_schema: "):
        assert dialect in out
    for seen in (
        "plan_trip: 400 Invalid schema for function 'plan_trip': In context=(), 'additionalProperties' is required",
        '"time_difference": "+',  # the time server answered
        '[{"key": "season", "value": "spring"}]',
        "tool Alfama: ***** - lovely [season: spring]",
        "tool Alfama, Tile Museum, Ribeira",
        "Lisbon - Porto, 4 nights, steady, with Inês, diet any; food 200 EUR",
        "tool Error: Error executing tool rate_place: There is no place called 'Atlantis'.",
        "15 requests; of those with compiled tools 0 were refused",
    ):
        assert seen in out
