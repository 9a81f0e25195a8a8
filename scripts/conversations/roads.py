"""Where conversations are held: an emulator straight, or ``strictcall serve`` in front of it."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

START_SECONDS = 60
STOP_SECONDS = 10
MOST_TOKENS = 1 << 20
"""So that no answer is cut off: what is looked at here is whole arguments."""
_ADDRESS = re.compile(r"http://\S+")


class RoadError(Exception):
    """A gateway did not start; the text is the reason, in one line."""


@dataclass(frozen=True, slots=True)
class Road:
    """An emulator that answers by one dialect, one way and one seed; ``gateway`` is the base URL of what stands in
    front of it, where something does.
    """

    dialect: str
    answers: str
    seed: int
    emulator: StrictEndpoint
    gateway: str | None = None

    @property
    def base_url(self) -> str:
        """What a client is given."""
        return self.gateway or self.emulator.base_url


@contextmanager
def road(dialect: str, answers: str, seed: int, *, through: bool) -> Iterator[Road]:
    """An emulator, with the real command in front of it where ``through``. Raises ``RoadError``."""
    with strict_endpoint(dialect=dialect, answers=answers, seed=seed, max_tokens=MOST_TOKENS) as emulator:
        if not through:
            yield Road(dialect, answers, seed, emulator)
            return
        with _served(emulator.base_url, dialect) as url:
            yield Road(dialect, answers, seed, emulator, url)


@contextmanager
def _served(upstream: str, dialect: str) -> Iterator[str]:
    command = [sys.executable, "-m", "strictcall", "serve", "--upstream", upstream, "--dialect", dialect, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:  # noqa: S603
        try:
            yield _address(running)
        finally:
            running.terminate()
            try:
                running.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                running.kill()


def _address(running: subprocess.Popen[str]) -> str:
    """The base URL that the command says first."""
    said: queue.Queue[str] = queue.Queue()
    assert running.stdout is not None  # noqa: S101 - it was asked for
    threading.Thread(target=lambda out: said.put(out.readline()), args=(running.stdout,), daemon=True).start()
    try:
        found = _ADDRESS.search(said.get(timeout=START_SECONDS))
    except queue.Empty:
        raise RoadError(f"strictcall serve said nothing in {START_SECONDS} s") from None
    if found is None:
        error = running.stderr.read() if running.stderr is not None and running.poll() is not None else ""
        raise RoadError(f"strictcall serve did not start: {error.strip()[-200:]}")
    return found.group()
