"""Writing results: UTF-8 whatever the locale, to standard output or a file, and quietly where the reader has gone."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track

from strictcall.cli.failure import UsageError
from strictcall.report.table import Paper

_Job = TypeVar("_Job")
_LONG_WORK = 200


def emit(text: str, file: Path | None = None) -> None:
    """Write text to a file or standard output. Raises ``UsageError`` where that cannot be written."""
    raw = text.encode("utf-8", "backslashreplace")
    if file is not None:
        try:
            file.write_bytes(raw)
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror or error}") from None
        return
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    try:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except OSError as error:
        # Standard output leads nowhere from here on, so that the flush at exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # whoever closed the pipe (`| head`) has seen enough
            raise UsageError(f"standard output: {error.strerror or error}") from None


def emit_json(value: Any, file: Path | None = None, *, indent: int | None = 2) -> None:
    """Write a JSON value and a line feed."""
    emit(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", file)


def paper(file: Path | None = None) -> Paper:
    """What text will be written on: the terminal as it is, or a file."""
    if file is None and sys.stdout is not None and sys.stdout.isatty():
        return Paper(width=shutil.get_terminal_size().columns, colour="NO_COLOR" not in os.environ)
    return Paper()


def tracked(jobs: Sequence[_Job], doing: str) -> Iterable[_Job]:
    """The jobs in order, with a bar of how many are done where they are many and standard error is a terminal."""
    console = Console(stderr=True)
    quiet = not console.is_terminal or len(jobs) < _LONG_WORK
    return track(jobs, description=doing, console=console, transient=True, disable=quiet)
