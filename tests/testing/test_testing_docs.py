"""The example of docs/testing.md is run as it stands."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from strictcall.testing import LAWS, assert_round_trips

TEXT = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


def test_the_example_passes(tmp_path) -> None:
    [(name, program)] = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / name).write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(re.findall('^def test_', program, re.MULTILINE))} passed" in done.stdout


def test_every_law_and_parameter_is_told() -> None:
    assert re.findall(r"^\| (\w+) \|", TEXT, re.MULTILINE) == ["law", *LAWS]
    told = re.search(r"`assert_round_trips\((.*?)\)`", TEXT)
    assert told is not None
    names = re.findall(r"(?:^|, )(\w+)(?==|,|$)", told[1])
    assert names == list(inspect.signature(assert_round_trips).parameters)
