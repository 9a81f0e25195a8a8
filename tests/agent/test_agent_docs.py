"""docs/agent.md says what is so."""

import re
import subprocess
import sys

from agent.page import PAGE, page


def test_the_transcript_is_what_the_command_shows_and_the_reasons_are_those_there_are():
    assert PAGE.read_text() == page()


def test_the_python_in_it_runs(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "RunCompleted" in done.stdout
