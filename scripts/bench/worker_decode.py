"""Times ``decode`` beside a bare parse with ``jiter`` and a bare validation with ``jsonschema_rs``, in this process.

Reads ``{"schemas": [...], "repeats": n}``; writes, for each call that the contract admits, whether the codec changes
nothing (``identity``), the bytes of its text, and nanoseconds a repeat of ``decode`` and ``bare``. What is timed is the
same call: its wire form for ``decode``, its contract form for the bare pair.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import jiter
import jsonschema_rs
from samples import calls

from strictcall import ArgumentsError, CompiledTool, Tool, compile_tool

INNER = 20


def never(uri: str) -> Any:
    """A retriever that fetches nothing."""
    raise ValueError(f"{uri} is outside the schema")


def pair(schema: Any, compiled: CompiledTool, call: Any) -> dict[str, Any] | None:
    """What is timed for one call; ``None`` where the contract does not admit it."""
    try:
        wire = json.dumps(compiled.encode(call), ensure_ascii=False).encode()
        compiled.decode(wire)
    except ArgumentsError:
        return None
    text = json.dumps(call, ensure_ascii=False).encode()
    is_valid = jsonschema_rs.validator_for(schema, retriever=never, validate_formats=False).is_valid
    return {
        "row": {"identity": compiled.identity, "bytes": len(wire), "decode": [], "bare": []},
        "decode": lambda: compiled.decode(wire),
        "bare": lambda: is_valid(jiter.from_json(text)),
    }


def nanoseconds(call: Callable[[], Any]) -> float:
    """How long one call takes, over a few."""
    start = perf_counter_ns()
    for _ in range(INNER):
        call()
    return (perf_counter_ns() - start) / INNER


def pairs(schemas: list[Any]) -> list[dict[str, Any]]:
    """What is timed for all tools that are strict."""
    found = []
    for schema in schemas:
        compiled = compile_tool(Tool("tool", None, schema))
        if not compiled.strict:
            continue
        for call in calls(schema):
            made = pair(schema, compiled, call)
            if made is not None:
                found.append(made)
    return found


def main() -> None:
    """Answer one question."""
    question = json.load(sys.stdin)
    timed = pairs(question["schemas"])
    gc.collect()
    gc.disable()
    for _ in range(question["repeats"]):
        for one in timed:
            for name in ("decode", "bare"):
                one["row"][name].append(nanoseconds(one[name]))
        gc.collect()
    json.dump([one["row"] for one in timed], sys.stdout)


if __name__ == "__main__":
    main()
