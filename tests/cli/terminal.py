"""A terminal in which commands run as a user runs them."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONGEST = 60.0
"""Seconds that anything may take on a busy machine."""


class Terminal:
    """A command in a terminal. ``screen`` is all that was written to it so far, colours taken out."""

    def __init__(self, folder: Path, *words: str, env: dict[str, str] | None = None) -> None:
        self._leader, follower = pty.openpty()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "strictcall", *words],
            cwd=folder,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=_own_the_terminal,  # noqa: PLW1509 - it makes one call to the system
            env={**os.environ, "PATH": path, "TERM": "xterm", "COLUMNS": "200", **(env or {})},
        )
        os.close(follower)
        self.screen = ""
        self._seen = 0

    def wait_for(self, text: str) -> None:
        """Wait until a text stands on the screen, after what was waited for before."""
        until = time.monotonic() + LONGEST
        while text not in self.screen[self._seen :]:
            assert self._read(until), f"{text!r} never came:\n{self.screen}"
        self._seen = self.screen.index(text, self._seen) + len(text)

    def type(self, text: str) -> None:
        """Type something: a line with its end, ``\\x03`` for Ctrl-C, ``\\x04`` for Ctrl-D."""
        os.write(self._leader, text.encode())

    def end(self) -> int:
        """Wait for the end; the exit code."""
        until = time.monotonic() + LONGEST
        while self._read(until):
            pass
        return self._process.wait(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._leader)

    def _read(self, until: float) -> bool:
        """Read what comes; false at the end, or when the time is over."""
        ready, _, _ = select.select([self._leader], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return False
        try:
            piece = os.read(self._leader, 65536)
        except OSError:  # how a terminal on Linux says that nobody writes to it any more
            piece = b""
        self.screen += _ESCAPE.sub("", piece.decode(errors="replace")).replace("\r\n", "\n")
        return bool(piece)


def _own_the_terminal() -> None:
    """Make it the session's own terminal, so that Ctrl-C comes from it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
