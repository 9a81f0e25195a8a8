"""Verdicts over real tools: every tool file of a data directory, compiled under every dialect, as Markdown tables.

Each figure is made by looking from outside: the judge counts violations, and a walker that imports nothing of the
compiler counts which declared properties keep type, enum and description on the wire.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from plans import DOCUMENT, ROOT, section, with_section
from tallies import VERDICTS, Tally, measure

from strictcall import dialects
from strictcall.dialect.registry import load

PATTERNS = ("live_mcp_a.jsonl", "mcp_*.jsonl", "fc_*.jsonl")
COSTLY = 0.02
"""A dialect that leaves a greater share of the tools loose has its reasons listed apart."""
MOST_REASONS = 4
NUMBER = re.compile(r"[\d.,-]*")

INTRODUCTION = """# Coverage on real tools

Made by `make coverage`, which compiles each of {tools} tools of {files} files (MCP servers, registries of them, and
function-calling data sets) under every dialect with the default policy, each tool alone.

- *Strict* is the share of tools that may be marked strict; `exact`, `closed`, `checked`, `narrowed` and `loose` are
  their verdicts.
- *Violations* are counted by the judge, which shares no code with the compiler: of a strict tool by every rule, those
  too whose breach the provider passes over; of a loose tool by what holds without strict; names and descriptions with
  them.
- *JSON text* counts values that are written as JSON text.
- *Kept* is the share of declared properties, at every depth, that are on the wire with their type, every member of
  their enum and their description. A name that a ceiling forced into an entries field or JSON text is not kept.
- A dialect in italics is of a server that takes a schema and holds nothing of it: strict says there that the schema is
  taken and can be read back.
"""


SHOWN = ("anthropic", "gemini", "groq", "json_schema", "kimi", "openai")
"""Dialects of different character, whose changes are counted."""


def percent(part: int, whole: int) -> str:
    """A share, one digit after the point, never rounded up to a whole."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return f"{share:.1f}" if part == whole or share < 99.95 else f"{share:.2f}"


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is the head, and a column of numbers stands to the right."""
    numeric = [all(NUMBER.fullmatch(row[column]) for row in rows[1:]) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "".join("---:|" if right else "---|" for right in numeric), *lines[1:]])


def shown(dialect: str) -> str:
    """A dialect's name, in italics where its server holds nothing."""
    return f"*{dialect}*" if load(dialect).enforced == "none" else dialect


def overview(totals: dict[str, Tally]) -> str:
    """A row a dialect."""
    head = ["dialect", "strict %", *VERDICTS, "violations", "exceptions", "JSON text", "kept %", "ms a tool"]
    return table(
        [head]
        + [
            [
                shown(name),
                percent(result.strict, result.tools),
                *(f"{result.verdicts[verdict]:,}" for verdict in VERDICTS),
                str(result.violations),
                str(result.exceptions),
                f"{result.json_text:,}",
                percent(result.kept, result.nodes),
                f"{1000 * result.seconds / max(1, result.tools):.2f}",
            ]
            for name, result in totals.items()
        ]
    )


def by_file(found: dict[tuple[str, str], Tally], names: list[str]) -> str:
    """The strict share, a row a dialect and a column a file."""
    files = list(dict.fromkeys(stem for stem, _ in found))
    head = ["strict %", *(stem.replace("_", " ") for stem in files)]
    sizes = ["tools", *(f"{found[stem, names[0]].tools:,}" for stem in files)]
    rows = [
        [shown(name), *(percent(found[stem, name].strict, found[stem, name].tools) for stem in files)] for name in names
    ]
    return table([head, sizes, *rows])


def costs(totals: dict[str, Tally], files: dict[str, list[tuple[str, Tally]]]) -> str:
    """What leaves tools loose, for each dialect (or one of its files) where more than 2 % are."""
    rows = [["dialect", "loose", "%", "rule or limit", "tools"]]
    for name, result in totals.items():
        places = [("all files", result)] + files[name]
        for place, tallied in places:
            loose = tallied.tools - tallied.strict
            if loose <= COSTLY * tallied.tools:
                continue
            for number, (reason, tools) in enumerate(tallied.reasons.most_common(MOST_REASONS)):
                told = [f"{shown(name)}, {place}", f"{loose:,}", percent(loose, tallied.tools)]
                rows.append([*(told if number == 0 else ["", "", ""]), reason, f"{tools:,}"])
    if len(rows) == 1:
        return f"No dialect leaves more than {COSTLY:.0%} of the tools of all files, or of any one file, loose."
    return table(rows)


def reasons(totals: dict[str, Tally]) -> str:
    """Every reason with the dialects in which it stands."""
    held: dict[str, dict[str, int]] = {}
    for name, result in totals.items():
        for reason, tools in result.reasons.items():
            held.setdefault(reason, {})[name] = tools
    ordered = sorted(held.items(), key=lambda item: (-len(item[1]), -max(item[1].values()), item[0]))
    if not held:
        return "No tool is loose under any dialect."
    rows = [["why a tool is loose", "dialects", "tools"]]
    for reason, by_dialect in ordered:
        names = "all" if len(by_dialect) == len(totals) > 1 else ", ".join(by_dialect)
        least, most = min(by_dialect.values()), max(by_dialect.values())
        rows.append([reason, names, f"{most:,}" if least == most else f"{least:,} to {most:,}"])
    return table(rows)


def codes(totals: dict[str, Tally]) -> str:
    """Every change with the number of tools that have it, in the dialects that differ in it."""
    columns = [name for name in totals if name in SHOWN] or list(totals)[: len(SHOWN)]
    every: Counter[str] = Counter()
    for name in columns:
        every.update(totals[name].codes)
    rows = [["change, in tools", *columns]]
    rows += [[f"`{code}`", *(f"{totals[name].codes[code]:,}" for name in columns)] for code, _ in every.most_common()]
    return table(rows)


def report(found: dict[tuple[str, str], Tally], names: list[str], *, details: bool) -> str:
    """The whole report."""
    totals = {name: Tally() for name in names}
    files: dict[str, list[tuple[str, Tally]]] = {name: [] for name in names}
    for (stem, name), result in found.items():
        totals[name].add(result)
        files[name].append((stem, result))
    first = totals[names[0]]
    parts = [INTRODUCTION.format(tools=f"{first.tools:,}", files=len(files[names[0]])).rstrip()]
    parts += ["## Every dialect", overview(totals)]
    parts += ["## By file", by_file(found, names)]
    parts += [f"## What costs more than {COSTLY:.0%}", costs(totals, files)]
    parts += ["## Why tools are loose", reasons(totals)]
    parts += ["## Changes", codes(totals)]
    odd = [f"- {name}: {line}" for name, total in totals.items() for line in total.odd[: 200 if details else 10]]
    parts += ["## Violations and exceptions", "\n".join(odd)] if odd else []
    if details:
        lost = [f"- {name}: {line}" for name, total in totals.items() for line in total.lost[:100]]
        parts += ["## Properties that lost something", "\n".join(lost)]
    return "\n\n".join(parts) + "\n"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="directory of the tool files"
    )
    parser.add_argument("--dialect", action="append", help="only these dialects")
    parser.add_argument("--file", action="append", help="only files whose name holds one of these")
    parser.add_argument("--details", action="store_true", help="list violations and lost properties")
    parser.add_argument(
        "--write", action="store_true", help=f"also write {DOCUMENT.name}, whose section of plans stays"
    )
    return parser.parse_args()


def main() -> int:
    """Measure and print; exits with 1 where a tool met a violation or an exception."""
    asked = arguments()
    files = sorted({file for pattern in PATTERNS for file in asked.data.glob(pattern)})
    files = [file for file in files if not asked.file or any(part in file.name for part in asked.file)]
    if not files:
        print(f"{asked.data}: no tool files ({', '.join(PATTERNS)}); name their directory with --data", file=sys.stderr)
        return 2
    names = [load(name).name for name in asked.dialect] if asked.dialect else [dialect.name for dialect in dialects()]
    found = measure(files, names)
    text = report(found, names, details=asked.details)
    print(text)
    if asked.write:
        DOCUMENT.write_text(with_section(text, section(DOCUMENT.read_text(encoding="utf-8"))), encoding="utf-8")
    return int(any(result.violations or result.exceptions for result in found.values()))


if __name__ == "__main__":
    sys.exit(main())
