"""The pytest plugin, as a user's own test suite has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUITE = """
import openai
import pytest

pytestmark = pytest.mark.strict_endpoint(dialect="openai", answers="sensible")
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}


def ask(endpoint, **fields):
    tools = [{"type": "function", "function": {"name": "act", "parameters": SCHEMA, **fields}}]
    client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Act."}], tools=tools, tool_choice="required"
    )


def test_loose(strict_endpoint):
    assert ask(strict_endpoint).choices[0].message.tool_calls
    assert [exchange.status for exchange in strict_endpoint.exchanges] == [200]
    assert strict_endpoint.exchanges[0].body["model"] == "m"


def test_strict(strict_endpoint):
    with pytest.raises(openai.BadRequestError, match="additionalProperties"):
        ask(strict_endpoint, strict=True)
    assert len(strict_endpoint.refused) == 1


@pytest.mark.strict_endpoint(dialect="xai")
def test_other_rules(strict_endpoint):
    assert ask(strict_endpoint, strict=True).choices[0].message.tool_calls
"""


def test_a_suite_that_uses_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", str(tmp_path)]
    plugin = [] if _is_installed() else ["-p", "strictcall.pytest_plugin"]
    done = subprocess.run([*command, *plugin], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.value == "strictcall.pytest_plugin" for point in entry_points(group="pytest11"))


def test_the_plugin_loads_nothing_heavy() -> None:
    heavy = "strictcall.emulator,starlette,uvicorn,llguidance".split(",")
    code = f"import sys, strictcall.pytest_plugin; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
