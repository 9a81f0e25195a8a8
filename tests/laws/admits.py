"""What a wire schema admits, said by a validator that knows nothing of the compiler, and JSON equality.

A value is admitted when it is valid under the wire schema read as draft 2020-12, keywords that the dialect does not
enforce taken out and what it reads otherwise than the standard written out. ``format`` is an annotation.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from strictcall import Dialect
from strictcall.dialect.held import held


def refuse(uri: str) -> Any:
    """A retriever that fetches nothing."""
    raise LookupError(f"a wire schema refers to {uri}")


class Wire:
    """One wire schema under one dialect, ready to say whether it admits values."""

    def __init__(self, schema: Any, dialect: Dialect) -> None:
        self.schema = held(schema, dialect)
        self._validator = jsonschema_rs.Draft202012Validator(self.schema, retriever=refuse, validate_formats=False)

    def admits(self, value: Any) -> bool:
        """Whether ``value`` is one that the decoder could have let through."""
        return bool(self._validator.is_valid(value))


def same(left: Any, right: Any) -> bool:
    """JSON equality: booleans are not numbers, 1 equals 1.0, key order is free, integers are exact."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(item, right[name]) for name, item in left.items())
    return False


def differences(left: Any, right: Any, pointer: str = "") -> list[str]:
    """JSON Pointers to the places where two values differ; a missing or added name is a place of its own."""
    if isinstance(left, dict) and isinstance(right, dict):
        found: list[str] = []
        for name in left.keys() | right.keys():
            place = f"{pointer}/{escape(name)}"
            if name in left and name in right:
                found += differences(left[name], right[name], place)
            else:
                found.append(place)
        return sorted(found)
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return [
            place
            for index, pair in enumerate(zip(left, right, strict=True))
            for place in differences(*pair, f"{pointer}/{index}")
        ]
    return [] if same(left, right) else [pointer]


def escape(name: str) -> str:
    """A name as one step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
