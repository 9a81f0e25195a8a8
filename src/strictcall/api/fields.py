"""Fields of what a provider sends, read whatever their type is: a wrong one is as good as none."""

from __future__ import annotations

from typing import Any

from strictcall.json_value import excerpt


def text(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """An object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list; empty for anything else."""
    return value if isinstance(value, list) else []


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [item for item in items(value) if isinstance(item, dict)]


def count(value: Any) -> int | None:
    """A number of things; ``None`` for anything else."""
    return value if type(value) is int and value >= 0 else None


def error_words(error: Any) -> str:
    """What an error says: its kind, where it has one, and its message."""
    if isinstance(error, str) and error:
        return error
    said = table(error)
    kind = text(said.get("type")) or text(said.get("code"))
    message = text(said.get("message")) or text(said.get("Message"))
    return ": ".join(part for part in (kind, message) if part) or "an error without a message"


def shown(value: Any) -> str:
    """A value as a few characters of text, for people to read; what is no JSON is only named."""
    try:
        return excerpt(value)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"
