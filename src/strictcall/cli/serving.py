"""Commands that serve: what they need, and how they say where they are."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from strictcall.cli.failure import UsageError
from strictcall.cli.output import emit


def need(extra: str, *modules: str) -> None:
    """Raise ``UsageError`` where modules are missing that an extra installs."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(f"this needs {' and '.join(missing)}: pip install 'strictcall[{extra}]'")


def serve_until_stopped(app: Any, host: str, port: int, line: str) -> None:
    """Serve an application until the process is told to stop. ``line`` is printed first, the address in its braces.

    Raises ``UsageError`` where the address cannot be had.
    """
    from strictcall import serving  # noqa: PLC0415 - uvicorn is heavy, and needed by these commands only

    try:
        bound = serving.listening(host, port)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"{host}:{port} cannot be listened at: {said}") from None
    with bound:
        emit(line.format(serving.address(bound)) + "; Ctrl-C stops it\n")
        serving.server(app).run([bound])
