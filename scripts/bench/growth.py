"""How time grows with the size of a schema and of a call's arguments, and how long the import takes."""

from __future__ import annotations

import copy
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import jiter
import jsonschema_rs
from tables import number, spread, table

from strictcall import Tool, compile_tool

KILO = 1024
SIZES = (10 * KILO, 100 * KILO, KILO**2, 10 * KILO**2)
FEW = 3
WORD = "lorem ipsum dolor sit amet "

Maker = Callable[[int], Any]


# --- schemas --------------------------------------------------------------------------------------------------------


def properties(size: int) -> Any:
    """A tool with as many properties as the size takes, one in two of them optional."""
    count = max(2, size // 100)
    made = {
        f"p{i:07}": {"type": "string", "description": "what the property is for, in a few words"} for i in range(count)
    }
    return {"type": "object", "properties": made, "required": list(made)[::2], "additionalProperties": False}


def definitions(size: int) -> Any:
    """A tool whose properties refer to definitions, each of which refers to the next."""
    count = max(2, size // 160)
    defs = {
        f"d{i:07}": {
            "type": "object",
            "properties": {"value": {"type": "integer"}, "next": {"$ref": f"#/$defs/d{(i + 1) % count:07}"}},
            "required": ["value"],
        }
        for i in range(count)
    }
    return {"type": "object", "properties": {"first": {"$ref": "#/$defs/d0000000"}}, "$defs": defs}


def prose(size: int) -> Any:
    """A tool of ten properties with long descriptions."""
    text = WORD * (size // 10 // len(WORD))
    made = {f"p{i}": {"type": "string", "description": text} for i in range(10)}
    return {"type": "object", "properties": made, "required": ["p0"], "additionalProperties": False}


def literals(size: int) -> Any:
    """A tool with one long enum."""
    values = [f"value number {i:09}" for i in range(size // 26)]
    return {"type": "object", "properties": {"one": {"type": "string", "enum": values}}, "required": ["one"]}


SCHEMAS: dict[str, Maker] = {
    "properties": properties,
    "definitions": definitions,
    "descriptions": prose,
    "enum": literals,
}


# --- arguments ------------------------------------------------------------------------------------------------------

ROW = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "done": {"type": "boolean"}},
    "required": ["id", "name", "done"],
    "additionalProperties": False,
}
OPTIONAL = {**ROW, "required": ["id"]}


def closed(inner: dict[str, Any]) -> dict[str, Any]:
    """A tool with one argument."""
    return {"type": "object", "properties": {"data": inner}, "required": ["data"], "additionalProperties": False}


def rows(size: int, name: str = "name") -> list[Any]:
    """A list of records."""
    return [{"id": i, name: f"a name with the number {i}", "done": True} for i in range(size // 60)]


ARGUMENTS: dict[str, tuple[dict[str, Any], Maker]] = {
    "records, unchanged": (closed({"type": "array", "items": ROW}), lambda size: {"data": rows(size)}),
    "records with optionals": (
        closed({"type": "array", "items": OPTIONAL}),
        lambda size: {"data": [{"id": i, "name": f"a name with the number {i}"} for i in range(size // 60)]},
    ),
    "a map": (
        closed({"type": "object", "additionalProperties": {"type": "string"}}),
        lambda size: {"data": {f"key {i:08}": f"a value with the number {i}" for i in range(size // 60)}},
    ),
    "a value of any kind": (
        closed({"type": "object", "additionalProperties": True}),
        lambda size: {"data": {"rows": rows(size)}},
    ),
    "one long text": (closed({"type": "string"}), lambda size: {"data": WORD * (size // len(WORD))}),
}


def seconds(call: Callable[[], Any], times: int = FEW) -> float:
    """The least of a few calls."""
    found = []
    for _ in range(times):
        gc.disable()
        start = perf_counter()
        call()
        found.append(perf_counter() - start)
        gc.enable()
    return min(found)


def kilobytes(value: Any) -> float:
    """The size of a value as compact JSON."""
    return len(json.dumps(value, separators=(",", ":"))) / KILO


def compile_next(schemas: Iterator[Any]) -> None:
    """Compile the next of some schemas of equal size, none of them seen before."""
    compile_tool(Tool("tool", None, next(schemas)), dialect="json_schema")


def parse_and_validate(text: bytes, is_valid: Callable[[Any], bool]) -> None:
    """What a program does that has nothing to decode."""
    is_valid(jiter.from_json(text))


def schema_growth(sizes: tuple[int, ...] = SIZES) -> str:
    """Compiling schemas of growing size; ``json_schema`` sets no limits, so that all of the work is done."""
    lines = [["schema of", "kB", "verdict", "ms", "µs a kB", "times deepcopy"]]
    for title, make in SCHEMAS.items():
        for size in sizes:
            schema = make(size)
            kb = kilobytes(schema)
            compiled = compile_tool(Tool("tool", None, schema), dialect="json_schema")
            variants = iter([{**schema, "description": str(i)} for i in range(FEW)])
            took = seconds(partial(compile_next, variants))
            copied = seconds(partial(copy.deepcopy, schema))
            verdict = str(compiled.verdict) if compiled.strict else f"loose: {compiled.reason}"
            lines.append(
                [title, f"{kb:,.0f}", verdict, number(took * 1e3), number(took * 1e6 / kb), number(took / copied)]
            )
    return table(lines)


def argument_growth(sizes: tuple[int, ...] = (KILO, *SIZES)) -> str:
    """Decoding calls of growing size beside a bare parse and validation."""
    lines = [["arguments", "kB", "ms", "µs a kB", "bare ms", "ratio"]]
    for title, (schema, make) in ARGUMENTS.items():
        compiled = compile_tool(Tool("tool", None, schema))
        is_valid = jsonschema_rs.validator_for(schema).is_valid
        # Sizes are those of the wire form, which may be the larger one.
        share = 10 * KILO / len(json.dumps(compiled.encode(make(10 * KILO))))
        for size in sizes:
            call = make(int(size * share))
            wire = json.dumps(compiled.encode(call)).encode()
            text = json.dumps(call).encode()
            kb = len(wire) / KILO
            took = seconds(partial(compiled.decode, wire), 5)
            bare = seconds(partial(parse_and_validate, text, is_valid), 5)
            lines.append(
                [
                    title,
                    f"{kb:,.0f}",
                    number(took * 1e3),
                    number(took * 1e6 / kb),
                    number(bare * 1e3),
                    number(took / bare),
                ]
            )
    return table(lines)


IMPORT = "from time import process_time as t; s = t(); import {}; print((t() - s) * 1000)"


def import_time(path: str, times: int = 11) -> str:
    """Importing strictcall in fresh interpreters, beside what it stands on."""
    lines = [["import", "ms of the processor: median (least-greatest)"]]
    modules = ("strictcall", "jsonschema_rs, referencing, jiter", "json")
    found: dict[str, list[float]] = {module: [] for module in modules}
    # Compiled modules are part of an installation, so they must be written here too, before the first figure is taken.
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPATH"] = path
    for turn in range(times + 1):
        for module in modules:
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-c", IMPORT.format(module)],
                capture_output=True,
                text=True,
                check=True,
                env=variables,
            )
            if turn:
                found[module].append(float(done.stdout))
    lines += [[f"`{module}`", spread(values)] for module, values in found.items()]
    return table(lines)
