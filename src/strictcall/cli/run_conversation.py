"""Conversations in files: messages of Chat Completions, as a JSON array."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from strictcall.cli.failure import UsageError
from strictcall.link.turns import Turn, as_messages


def read_conversation(path: Path) -> tuple[Turn, ...]:
    """The messages of a file; none where it does not exist yet. Raises ``UsageError``, also where it could not be
    written again: that is to be known before a model is asked.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        value = []
    except (OSError, ValueError, RecursionError) as error:
        said = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read as a conversation: {said}") from None
    if not isinstance(value, list) or not all(isinstance(each, dict) and "role" in each for each in value):
        raise UsageError(f"{path}: a conversation is a JSON array of messages, each with its role")
    _check_writable(path)
    return tuple(value)


def _check_writable(path: Path) -> None:
    file = path.resolve()
    if not file.parent.is_dir():
        raise UsageError(f"{path}: there is no such folder")
    if not os.access(file.parent, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise UsageError(f"{path}: the conversation cannot be kept there: Permission denied")


def write_conversation(path: Path, turns: Sequence[Turn]) -> None:
    """Write messages to a file: whole, or not at all. A new one is for its owner alone. Raises ``UsageError``."""
    file = path.resolve()  # what a link leads to, and not the link
    text = json.dumps(as_messages(turns), ensure_ascii=False, indent=2) + "\n"
    beside: Path | None = None
    try:
        with NamedTemporaryFile("wb", dir=file.parent, prefix=f".{file.name}.", delete=False) as made:
            beside = Path(made.name)
            # Half a character that a model said is an escape in JSON.
            made.write(text.encode("utf-8", "backslashreplace"))
        if file.exists():
            shutil.copymode(file, beside)
        beside.replace(file)
    except OSError as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: {error.strerror or error}") from None
