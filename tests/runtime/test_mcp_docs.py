"""The example about MCP servers in the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"


def test_the_example_about_mcp_servers_runs(monkeypatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    section = PAGE.read_text(encoding="utf-8").partition("\n## MCP servers")[2]
    (block,) = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    exec(compile(block, str(PAGE), "exec"), {"__name__": "docs_example"})  # noqa: S102
