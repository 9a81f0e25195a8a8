"""A worker that can be ended: it answers a line with a line, in time, or it is killed and made anew for the next."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 180.0
CHUNK = 1 << 16


class WorkerError(Exception):
    """The referee does not start; the text is its last word."""


class Worker:
    """One referee in a process of its own. ``version`` is of the library that judges.

    Raises ``WorkerError`` where it does not start.
    """

    def __init__(self, python: Path, name: str, seconds: float, worker: Path = WORKER) -> None:
        self._command = [str(python), str(worker), name]
        self._seconds = seconds
        self._rest = b""
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  closed with the worker
        self._process = self._start()
        try:
            self.version = str(self._answer(START_SECONDS))
        except (EOFError, TimeoutError) as error:
            word = self._last_word() or type(error).__name__
            self._end()
            self._words.close()
            raise WorkerError(f"{name} does not start: {word}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        self._words.close()

    def ask(self, text: str) -> list[tuple[str, str]]:
        """The refusals of one schema, given as JSON text on one line.

        No answer in time is the refusal ``time-out``, an end of the process the refusal ``crash``.
        """
        if self._process.poll() is not None:
            self._process = self._start()
            self._answer(START_SECONDS)
        try:
            _pipe(self._process.stdin).write(text.encode() + b"\n")
            _pipe(self._process.stdin).flush()
            return [(str(rule), str(words)) for rule, words in self._answer(self._seconds)]
        except TimeoutError:
            self._end()
            return [("time-out", f"no answer in {self._seconds:.0f} s")]
        except (EOFError, BrokenPipeError):
            self._end()
            return [("crash", f"the process ended with code {self._process.returncode}")]

    def _start(self) -> subprocess.Popen[bytes]:
        self._rest = b""
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.Popen(  # noqa: S603  our own command
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, env=variables
        )

    def _answer(self, seconds: float) -> Any:
        """The next line of the worker. Raises ``TimeoutError`` or ``EOFError``."""
        until = time.monotonic() + seconds
        output = _pipe(self._process.stdout).fileno()
        with selectors.DefaultSelector() as waiting:
            waiting.register(output, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not waiting.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError
                read = os.read(output, CHUNK)
                if not read:
                    raise EOFError
                self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _last_word(self) -> str:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                _pipe(pipe).close()
            except BrokenPipeError:
                continue


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise WorkerError("the worker has no pipe")
    return pipe
