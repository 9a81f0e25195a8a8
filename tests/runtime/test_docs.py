"""The examples of the documentation run."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"


def test_the_examples_about_the_executor_run():
    page = PAGE.read_text(encoding="utf-8").partition("\n## MCP servers")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    names = {"__name__": "docs_example"}
    for block in blocks:  # each goes on from those before it
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    assert names["executor"].ended is None
