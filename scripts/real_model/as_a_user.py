"""``strictcall run`` and ``strictcall probe`` in a folder of their own, as a new user would: a configuration, a
function, questions. What is shown is what the commands show.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CONFIG = """[[providers]]
id = "local"
dialect = "llama.cpp"
base_url = "{address}/v1"
max_output_tokens = 200
extra_body = {{ temperature = 0, parallel_tool_calls = false }}

[[providers.models]]
id = "smollm2"
supports_tools = "strict"
"""
TOOLS = '''from typing import Literal

def switch_light(room: Literal["kitchen", "bedroom"], state: Literal["on", "off"], level: int | None = None) -> str:
    """Switch the light of a room.

    Args:
        room: Which one.
        state: What it shall be.
        level: How bright, from 1 to 10.
    """
    return f"the light in the {room} is {state}."
'''
TIME = (sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC")
COMMANDS = (
    ("run", "--yes", "lights:switch_light", "Please switch on the light in the kitchen."),
    ("run", "--yes", "lights:switch_light", "Bedroom light off!"),
    ("run", "--yes", "What time is it in UTC?", "--", *TIME),
    ("probe", "local/smollm2", "--timeout", "300"),
)
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Told:
    """What a command showed, and its exit code."""

    words: tuple[str, ...]
    shown: str
    code: int

    @property
    def has_called(self) -> bool:
        """Whether a call was run and there was an answer after it."""
        return self.code == 0 and "\n← " in f"\n{self.shown}"

    @property
    def is_sound(self) -> bool:
        """Whether it ended as a command may: an answer, or one line that says why there is none."""
        return self.code in (0, 1) and "Traceback" not in self.shown


def told(address: str) -> Iterator[Told]:
    """Run the commands, one after another, against a server at an address."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "strictcall.toml").write_text(CONFIG.format(address=address), encoding="utf-8")
        (folder / "lights.py").write_text(TOOLS, encoding="utf-8")
        for words in COMMANDS:
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "strictcall", *words],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            yield Told(words, done.stdout, done.returncode)


def command(words: tuple[str, ...]) -> str:
    """The words of a command as they are typed."""
    return "$ strictcall " + shlex.join(Path(word).name if word == sys.executable else word for word in words)
