"""JSON equality and the places where two values differ, told apart from the compiler's own notion of them: what judges
the laws shares no code with what it judges.
"""

from __future__ import annotations

import json
from typing import Any

from strictcall.json_value import escape


def text(value: Any) -> str:
    """A JSON value as text, such that values of different types or key orders have different texts."""
    return json.dumps(value, ensure_ascii=True, allow_nan=True, default=repr)


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
