"""The laws over real tools: every tool of a data directory, each distinct wire schema once, with values of every kind.

All tools go under three dialects of different character, a seeded sample of them under each other one; with LAWS=deep
in the environment, all under all. What the values are is said in docs/testing.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import jsonschema

from strictcall import Tool, dialects
from strictcall.dialect.registry import load
from strictcall.testing.case import Case, LawBroken
from strictcall.testing.disputes import known_flaw
from strictcall.testing.laws import LAWS
from strictcall.testing.round_trips import KINDS, Report, examine
from strictcall.testing.shrinking import smallest

ROOT: Final = Path(__file__).resolve().parents[1]
SHIPPED: Final = ROOT / "tests" / "data" / "tools_sample.jsonl"
PATTERNS: Final = ("live_mcp_a.jsonl", "mcp_*.jsonl", "fc_*.jsonl")
WHOLE: Final = ("openai", "anthropic", "json_schema")
"""The dialects that every tool is looked at under."""
SAMPLED_TOOLS: Final = 300
SAMPLES: Final = 2
"""About so many values of each kind, and as many mutations, for each wire schema."""
SEED: Final = 20261130
WORKERS: Final = 2
CHUNK: Final = 20
SECOND_JUDGE: Final = 10
"""The values of one tool in so many are shown to a second validator, which is slow."""
MOST_SHOWN: Final = 20


@dataclass
class Tally:
    """What came of some tools under one dialect."""

    tools: int = 0
    schemas: int = 0
    strict: int = 0
    sampled: int = 0
    judged_twice: int = 0
    values: Counter[str] = field(default_factory=Counter)
    flaws: Counter[str] = field(default_factory=Counter)
    unsampled: Counter[str] = field(default_factory=Counter)
    disputed: list[str] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take another tally into this one."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)


# --- what a worker does ---------------------------------------------------------------------------------------------


@cache
def tools_of(files: tuple[Path, ...]) -> list[Tool]:
    """The tools of some files, each distinct one once."""
    found: dict[str, Tool] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                row = json.loads(line)
                tool = Tool(str(row.get("name", "")), row.get("description"), row.get("schema"))
                found.setdefault(json.dumps([tool.name, tool.description, tool.parameters]), tool)
    return list(found.values())


def digests(job: tuple[tuple[Path, ...], str, list[int]]) -> list[str]:
    """What tells the wire schemas of some tools apart; a tool that cannot be compiled has a digest of its own."""
    files, dialect, numbers = job
    found = []
    for number in numbers:
        try:
            compiled = Case(tools_of(files)[number], dialect).compiled
            told = json.dumps([compiled.strict, compiled.parameters], default=repr)
        except Exception:  # noqa: BLE001 - an exception of any kind is a breach, told when the tool is looked at
            told = f"{number} could not be compiled"
        found.append(hashlib.sha256(told.encode()).hexdigest())
    return found


def looked_at(job: tuple[tuple[Path, ...], str, list[int], int]) -> Tally:
    """Look at the laws for some tools."""
    files, dialect, numbers, samples = job
    tally = Tally()
    for number in numbers:
        tool = tools_of(files)[number]
        case = Case(tool, dialect)
        tally.schemas += 1
        try:
            count(tally, case, examine(case, samples, SEED + number))
            if number % SECOND_JUDGE == 0:
                judge_again(tally, case, samples, SEED + number)
        except LawBroken as first:
            tally.breaches.append(str(smallest(first)))
        except Exception as error:  # noqa: BLE001 - nothing may end the run
            tally.breaches.append(f"tool: {tool.name}\ndialect: {dialect}\n{type(error).__name__}: {error}")
    return tally


def count(tally: Tally, case: Case, report: Report) -> None:
    """Take a report into a tally."""
    tally.strict += report.tool.strict
    tally.values.update(report.values)
    tally.sampled += report.sampled
    for written, flaw in report.disputed:
        dispute(tally, case, written, flaw)
    if report.unsampled:
        tally.unsampled[report.unsampled] += 1


def judge_again(tally: Tally, case: Case, samples: int, seed: int) -> None:
    """Show the values that llguidance wrote to another validator, written by other people."""
    if not case.compiled.strict:
        return
    validator = jsonschema.Draft202012Validator(case.wire.schema)
    for sample in case.sampler.samples(samples, seed):
        tally.judged_twice += 1
        if validator.is_valid(sample.value) is not case.wire.admits(sample.value):
            dispute(tally, case, sample.text, known_flaw(case.wire.schema, sample.text))


def dispute(tally: Tally, case: Case, written: str, flaw: str | None) -> None:
    """Count a text about which two judges differ."""
    if flaw:
        tally.flaws[flaw] += 1
    else:
        tally.disputed.append(
            f"{case.compiled.dialect.name}, {case.tool.name}: {written}\n{json.dumps(case.wire.schema)}"
        )


# --- the run --------------------------------------------------------------------------------------------------------


class Progress:
    """One line on standard error, written over and over where that is a terminal, now and then elsewhere."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()

    def tell(self, what: str, *, last: bool = False) -> None:
        """Say how far the run is."""
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if not last and now - self._told < (0.5 if terminal else 30):
            return
        self._told = now
        line = f"{now - self._began:4.0f} s  {what}"
        print(f"\r\x1b[K{line}" if terminal else line, end="\n" if last or not terminal else "", file=sys.stderr)


def chunks(numbers: list[int], size: int) -> Iterator[list[int]]:
    """The numbers in lists of one size."""
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def drawn(files: tuple[Path, ...], dialect: str, *, deep: bool) -> list[int]:
    """Which tools are looked at under a dialect."""
    total = len(tools_of(files))
    if deep or dialect in WHOLE or total <= SAMPLED_TOOLS:
        return list(range(total))
    return sorted(random.Random(SEED).sample(range(total), SAMPLED_TOOLS))  # noqa: S311 - a seed, not a secret


def run(files: tuple[Path, ...], names: list[str], samples: int, *, deep: bool) -> dict[str, Tally]:
    """The tally of each dialect."""
    found = {name: Tally() for name in names}
    progress = Progress()
    jobs = []
    with ProcessPoolExecutor(max_workers=WORKERS) as pool:
        for name in names:
            numbers = drawn(files, name, deep=deep)
            found[name].tools = len(numbers)
            parts = list(chunks(numbers, 10 * CHUNK))
            told = pool.map(digests, [(files, name, part) for part in parts])
            once = dict(zip(reversed([d for part in told for d in part]), reversed(numbers), strict=True))
            jobs += [(files, name, part, samples) for part in chunks(sorted(once.values()), CHUNK)]
            progress.tell(f"compiled for {name}")
        done, total = 0, sum(len(part) for _, _, part, _ in jobs)
        for (_, name, part, _), tally in zip(jobs, pool.map(looked_at, jobs), strict=True):
            found[name].add(tally)
            done += len(part)
            breaches = sum(len(one.breaches) for one in found.values())
            progress.tell(f"{done:,} of {total:,} wire schemas, {breaches} breaches", last=done == total)
    return found


def table(rows: list[list[str]]) -> str:
    """Rows of one width a column, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def report(found: dict[str, Tally], files: Iterable[Path], seconds: float) -> str:
    """What was looked at, under which dialect, and every breach."""
    total = Tally()
    for tally in found.values():
        total.add(tally)
    rows = [["dialect", "tools", "wire schemas", "strict", *(f"{kind} values" for kind in KINDS), "breaches"]]
    for name, tally in [*found.items(), ("all", total)]:
        counts = [tally.tools, tally.schemas, tally.strict, *(tally.values[kind] for kind in KINDS)]
        rows.append([name, *(f"{number:,}" for number in counts), str(len(tally.breaches))])
    checked = sum(total.values.values())
    parts = [
        f"Laws: {', '.join(LAWS)}; over the tools of {len(list(files))} files.",
        table(rows),
        f"{checked:,} values under {total.schemas:,} wire schemas in {seconds:.0f} s: {len(total.breaches)} breaches.",
        agreement(total),
    ]
    parts += [f"--- breach {number}\n{told}" for number, told in enumerate(total.breaches[:MOST_SHOWN], 1)]
    if len(total.breaches) > MOST_SHOWN:
        parts.append(f"and {len(total.breaches) - MOST_SHOWN} more")
    return "\n\n".join(parts)


def agreement(total: Tally) -> str:
    """Whether llguidance and the validators agree on what the strict wire schemas admit."""
    wrote = f"llguidance wrote {total.sampled:,} texts under {total.strict:,} strict wire schemas"
    judged = f"jsonschema-rs judged all, the jsonschema library {total.judged_twice:,} of them"
    lines = [f"{wrote}; {judged}: {len(total.disputed)} disagreements."]
    lines += [f"  Counted apart: {name}: {many} texts." for name, many in total.flaws.items()]
    lines += [f"  No text was written under {many} schemas: {why}." for why, many in total.unsampled.most_common()]
    lines += [f"  disagreement: {told}" for told in total.disputed[:MOST_SHOWN]]
    return "\n".join(lines)


def files_of(folder: Path) -> tuple[Path, ...]:
    """The tool files of a folder; the sample that the tests ship with where there are none."""
    found = tuple(sorted({file for pattern in PATTERNS for file in folder.glob(pattern)}))
    if found:
        return found
    print(f"{folder}: no tool files ({', '.join(PATTERNS)}); the sample of the tests is taken", file=sys.stderr)
    return (SHIPPED,)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the tool files")
    parser.add_argument("--dialect", action="append", help="only these dialects")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="values of each kind for each wire schema")
    parser.add_argument("--deep", action="store_true", help="every tool under every dialect, as LAWS=deep does")
    return parser.parse_args()


def main() -> int:
    """Look and print; exits with 1 where a law is broken or judges disagree."""
    asked = arguments()
    rest = [dialect.name for dialect in dialects() if dialect.name not in WHOLE]
    names = [load(name).name for name in asked.dialect] if asked.dialect else [*WHOLE, *rest]
    files = files_of(asked.data)
    began = time.monotonic()
    found = run(files, names, asked.samples, deep=asked.deep or os.environ.get("LAWS") == "deep")
    print(report(found, files, time.monotonic() - began))
    return int(any(tally.breaches or tally.disputed for tally in found.values()))


if __name__ == "__main__":
    sys.exit(main())
