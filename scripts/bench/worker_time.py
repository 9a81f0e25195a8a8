"""Times one converter over schemas, in the converter's own environment, beside ``copy.deepcopy`` of the same schemas.

Reads ``{"converter": name, "schemas": [...], "repeats": n}``; writes, for each schema, nanoseconds of each repeat: the
first time that a content is seen (``cold``), the same content again in another object (``seen``), and the copy. A
schema that the converter refuses, or on which it fails, is ``null``. The root's description is changed from one repeat
to the next, so that no converter has seen a cold schema before.
"""

from __future__ import annotations

import copy
import gc
import json
import logging
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from converters import MAKERS, Converter

Times = dict[str, list[int]]


def nanoseconds(call: Callable[[Any], Any], schema: Any) -> int:
    """How long one call takes."""
    start = perf_counter_ns()
    call(schema)
    return perf_counter_ns() - start


def usable(convert: Converter, schema: Any) -> bool:
    """Whether the converter takes the schema; it is called once, which also warms it up."""
    try:
        convert(copy.deepcopy(schema))
    except Exception:  # noqa: BLE001 - refused or crashed: not timed
        return False
    return True


def once(convert: Converter, schema: Any, mark: str, times: Times) -> None:
    """One repeat for one schema. Converters may change what they are given, so each call has an object of its own."""
    variant = {**copy.deepcopy(schema), "description": f"{schema.get('description', '')} {mark}"}
    again = copy.deepcopy(variant)
    times["copy"].append(nanoseconds(copy.deepcopy, variant))
    times["cold"].append(nanoseconds(convert, variant))
    times["seen"].append(nanoseconds(convert, again))


def measure(convert: Converter, schemas: list[Any], repeats: int) -> list[Times | None]:
    """The times of all schemas; a repeat goes over all of them before the next begins."""
    found: list[Times | None] = [
        {"cold": [], "seen": [], "copy": []} if type(schema) is dict and usable(convert, schema) else None
        for schema in schemas
    ]
    gc.collect()
    gc.disable()
    for repeat in range(repeats):
        for schema, times in zip(schemas, found, strict=True):
            if times is not None:
                once(convert, schema, f"({repeat})", times)
        gc.collect()
    gc.enable()
    return found


def main() -> None:
    """Answer one question."""
    logging.disable(logging.CRITICAL)
    question = json.load(sys.stdin)
    convert = MAKERS[question["converter"]]()
    json.dump(measure(convert, question["schemas"], question["repeats"]), sys.stdout)


if __name__ == "__main__":
    main()
