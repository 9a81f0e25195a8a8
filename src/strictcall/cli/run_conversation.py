"""Conversations in files: messages of Chat Completions, as a JSON array."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from strictcall.cli.failure import UsageError
from strictcall.link.turns import Turn, as_messages


def read_conversation(path: Path) -> tuple[Turn, ...]:
    """The messages of a file; none where it does not exist yet. Raises ``UsageError``."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError) as error:
        said = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read as a conversation: {said}") from None
    if not isinstance(value, list) or not all(isinstance(each, dict) and "role" in each for each in value):
        raise UsageError(f"{path}: a conversation is a JSON array of messages, each with its role")
    return tuple(value)


def write_conversation(path: Path, turns: Sequence[Turn]) -> None:
    """Write messages to a file: whole, or not at all. Raises ``UsageError``."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(as_messages(turns), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: {error.strerror or error}") from None
