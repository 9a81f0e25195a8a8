"""Running the command line as a user does, in a process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strictcall.cli import main

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 10}},
                "required": ["city"],
            },
        },
    },
    {
        "name": "label",
        "inputSchema": {
            "type": "object",
            "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}},
            "required": ["labels"],
            "additionalProperties": False,
        },
    },
    {"name": "broken", "schema": {"$ref": "https://example.com/elsewhere.json"}},
]


class Result(subprocess.CompletedProcess):
    """A finished command: ``code``, ``out``, ``err``, and standard output as JSON."""

    @property
    def code(self):
        return self.returncode

    @property
    def out(self):
        return self.stdout.decode()

    @property
    def err(self):
        return self.stderr.decode()

    @property
    def json(self):
        return json.loads(self.stdout)


@pytest.fixture
def strictcall(tmp_path):
    """Run ``strictcall`` in a folder that holds ``tools.json``, and see that no traceback ever shows."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))

    def run(*words, stdin=b"", env=None):
        command = [sys.executable, "-m", "strictcall", *map(str, words)]
        done = subprocess.run(
            command, input=stdin, capture_output=True, cwd=tmp_path, env=env, timeout=120, check=False
        )
        assert b"Traceback" not in done.stderr
        return Result(done.args, done.returncode, done.stdout, done.stderr)

    run.folder = tmp_path
    return run


@pytest.fixture
def inside(tmp_path, monkeypatch, capfdbinary):
    """The same in this process, for long tables of words: starting a process for each would take most of the time."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    monkeypatch.chdir(tmp_path)

    def run(*words, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main.run([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return Result(words, code, out, err)

    run.folder = tmp_path
    return run


@pytest.fixture
def untraced():
    """An environment in which coverage is not measured: MCP servers start slowly under it."""
    return {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}


@pytest.fixture(scope="session")
def root():
    """The project's folder."""
    return Path(__file__).parents[2]
