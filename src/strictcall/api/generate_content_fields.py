"""The names of fields in Gemini's API: camelCase in its JSON, snake_case in the Python client, and both are read.

Source: https://protobuf.dev/programming-guides/json/: a parser takes the lowerCamelCase name of a field and the
original one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_CAPITAL = re.compile(r"[A-Z]")


def snake(name: str) -> str:
    """A field's name in snake_case."""
    return _CAPITAL.sub(lambda match: "_" + match[0].lower(), name)


def key_of(table: Mapping[str, Any], name: str) -> str | None:
    """The key under which a table has a field, named here in camelCase; ``None`` where it has none."""
    return next((key for key in (name, snake(name)) if table.get(key) is not None), None)


def get(table: Mapping[str, Any], name: str) -> Any:
    """The value of a field, under either name."""
    key = key_of(table, name)
    return None if key is None else table[key]


def is_snake(tables: Iterable[Mapping[str, Any]]) -> bool:
    """Whether these tables write the names of fields in snake_case."""
    return any("_" in key for table in tables for key in table)
