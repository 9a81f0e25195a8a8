"""The wire schemas that are judged: every distinct contract of some files of tools, compiled under a dialect."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strictcall import Tool, compile_tool

PATTERNS = ("live_mcp_a.jsonl", "mcp_*.jsonl", "fc_*.jsonl")
SEED = 4


@dataclass(frozen=True, slots=True)
class Wires:
    """What one dialect made of the contracts: the strict wire schemas as JSON text, one for a contract."""

    dialect: str
    contracts: int
    strict: tuple[str, ...]


def tool_files(folder: Path) -> list[Path]:
    """The files of tools of the data, in a fixed order."""
    return sorted({file for pattern in PATTERNS for file in folder.glob(pattern)})


def contracts(files: Iterable[Path], most: int | None = None) -> list[Any]:
    """The distinct schemas of some files, in their order; at most so many, picked by a fixed seed."""
    found: dict[str, Any] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                schema = json.loads(line)["schema"]
                found.setdefault(json.dumps(schema, sort_keys=True), schema)
    schemas = list(found.values())
    if most is None or most >= len(schemas):
        return schemas
    chosen = random.Random(SEED).sample(range(len(schemas)), most)  # noqa: S311  a sample, not a secret
    return [schemas[index] for index in sorted(chosen)]


def wires(schemas: list[Any], dialect: str) -> Wires:
    """The wire schemas of those contracts that are strict under the dialect."""
    compiled = (compile_tool(Tool("tool", "A tool.", schema), dialect=dialect) for schema in schemas)
    strict = tuple(json.dumps(tool.parameters) for tool in compiled if tool.strict)
    return Wires(dialect, len(schemas), strict)
