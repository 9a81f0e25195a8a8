"""Compiling tools under dialects and counting what comes of it, each figure found by looking from outside."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kept import Walker

from strictcall import CompiledTool, Tool, compile_tool, judge
from strictcall.dialect import judge_description, judge_name

VERDICTS = ("exact", "closed", "checked", "narrowed", "loose")
JSON_TEXT = ("json-text", "part-text", "recursion-text")
"""Changes that write a value as text: one of any kind, a part that is too deep or too large, one that recurs."""
WORKERS = 2
CHUNK = 250


@dataclass
class Tally:
    """What came of the tools of one file under one dialect."""

    tools: int = 0
    strict: int = 0
    violations: int = 0
    exceptions: int = 0
    json_text: int = 0
    nodes: int = 0
    kept: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take another tally into this one."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)


class Chunk:
    """Some tools under several dialects. What was said of a wire schema for one dialect's sake is kept for the next."""

    def __init__(self, rows: list[dict[str, Any]], dialects: list[str]) -> None:
        self.rows = rows
        self.tallies = {dialect: Tally() for dialect in dialects}
        self._walked: dict[str, Walker] = {}

    def run(self) -> dict[str, Tally]:
        """Compile and count."""
        for row in self.rows:
            tool = Tool(str(row.get("name", "")), row.get("description"), row.get("schema"))
            self._walked.clear()
            for dialect, found in self.tallies.items():
                self._one(tool, dialect, found)
        return self.tallies

    def _one(self, tool: Tool, dialect: str, found: Tally) -> None:
        found.tools += 1
        start = time.process_time()
        try:
            compiled = compile_tool(tool, dialect=dialect)
        except Exception as error:  # noqa: BLE001 - an exception of any kind is what is counted
            found.exceptions += 1
            found.odd.append(f"{tool.name}: {type(error).__name__}: {error}")
            return
        finally:
            found.seconds += time.process_time() - start
        self._count(found, tool, compiled)

    def _count(self, found: Tally, tool: Tool, compiled: CompiledTool) -> None:
        found.verdicts[str(compiled.verdict)] += 1
        found.codes.update({change.code for change in compiled.changes})
        found.strict += compiled.strict
        if not compiled.strict:
            found.reasons[general(compiled.reason or "no reason given")] += 1
        for line in refusals(compiled):
            found.violations += 1
            found.odd.append(f"{tool.name}: {line}")
        if not (compiled.strict or compiled.baseline):
            return
        found.json_text += sum(change.code in JSON_TEXT for change in compiled.changes)
        wire = json.dumps(compiled.parameters)
        walker = self._walked.get(wire)
        if walker is None:
            walker = self._walked[wire] = Walker(tool.parameters, compiled.parameters)
            walker.run()
        found.nodes += walker.nodes
        found.kept += walker.nodes - len(walker.lost)
        found.lost += [f"{tool.name}: {place}" for place in walker.lost]


def refusals(compiled: CompiledTool) -> list[str]:
    """What the judge has against a tool as it is sent: a strict one by all rules, those too whose breach a provider
    passes over; a loose one by what holds without strict.
    """
    if compiled.strict:
        said = judge(compiled.parameters, compiled.dialect, silent=True)
    else:
        said = judge(compiled.parameters, compiled.dialect, strict=False)
    said = [*said, *judge_name(compiled.name, compiled.dialect)]
    if compiled.strict or compiled.baseline:
        said += judge_description(compiled.description, compiled.dialect)
    return [f"{violation.rule} at {violation.pointer!r}: {violation.message}" for violation in said]


def general(reason: str) -> str:
    """A reason without what is particular to one tool. What a provider's limit is is not."""
    reason, limit, most = reason.partition("the provider's limit is ")
    reason = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|#?/\S+", "…", reason)
    reason = re.sub(r"\d[\d,]*", "N", reason) + limit + most
    return reason if len(reason) <= 160 else reason[:159] + "…"


def tally(rows: list[dict[str, Any]], dialects: list[str]) -> dict[str, Tally]:
    """The tallies of some tools, by dialect."""
    return Chunk(rows, dialects).run()


def measure(files: list[Path], names: list[str]) -> dict[tuple[str, str], Tally]:
    """Tallies by file and dialect."""
    jobs = []
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        jobs += [(file.stem, rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)]
    found = {(file.stem, name): Tally() for file in files for name in names}
    with ProcessPoolExecutor(max_workers=WORKERS) as pool:
        results = pool.map(tally, [rows for _, rows in jobs], [names] * len(jobs))
        for (stem, _), result in zip(jobs, results, strict=True):
            for name, counted in result.items():
                found[stem, name].add(counted)
    return found
