"""What compiling and decoding cost, beside other converters and beside the bare libraries, in one run: ``make bench``.

Every peer runs in a virtual environment of its own under ``.bench``. Figures are ratios to ``copy.deepcopy`` of the
same schema in the same process, so that machines can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import growth
import peers
from environments import DATA, ROOT, AbsentError, ask, environment
from tables import median, number, quantile, spread, table

DOCUMENT = ROOT / "docs" / "benchmarks.md"
SOURCE = ROOT / "src"
BINS = ((0, 500), (500, 1_000), (1_000, 2_000), (2_000, 5_000), (5_000, 1 << 60))


@dataclass(frozen=True, slots=True)
class Contestant:
    """A converter whose time is taken: a peer, or ours."""

    title: str
    converter: str
    peer: peers.Peer | None = None


OURS = (
    Contestant("**strictcall, openai**", "strictcall-openai"),
    Contestant("**strictcall, anthropic**", "strictcall-anthropic"),
)
PEERS = tuple(
    Contestant(peer.title, peer.converter, peer)
    for peer in peers.PEERS
    if peer.converter
    in {
        "openai-agents",
        "openai-agents-mcp",
        "langchain",
        "openai-python",
        "pydantic-ai-auto",
        "pydantic-ai-strict",
        "anthropic",
    }
)


@dataclass
class Timing:
    """What a contestant took in each round: for each schema, the least of its repeats in ns, or ``None``."""

    contestant: Contestant
    version: str = ""
    absent: str = ""
    rounds: list[list[dict[str, float] | None]] = field(default_factory=list)

    def ratios(self, what: str, chosen: list[int]) -> list[list[float]]:
        """By round: the times of the chosen schemas in units of their deepcopy."""
        return [[row[what] / row["copy"] for i in chosen if (row := one[i]) is not None] for one in self.rounds]

    def times(self, what: str) -> dict[int, float]:
        """By schema: the median over the rounds, in ns."""
        found = {}
        for index in range(len(self.rounds[0])):
            values = [row[what] for one in self.rounds if (row := one[index]) is not None]
            if values:
                found[index] = median(values)
        return found


# --- compile --------------------------------------------------------------------------------------------------------


def compile_times(schemas: list[Any], asked: argparse.Namespace) -> list[Timing]:
    """All contestants, a round of each before the next round."""
    found = [Timing(contestant) for contestant in (*OURS, *(PEERS if asked.peers else ()))]
    places: dict[str, Path] = {}
    for timing in found:
        timing.version, places[timing.contestant.converter] = "this tree", Path(sys.executable)
        peer = timing.contestant.peer
        if peer is not None:
            try:
                place = environment(peer.environment, peer.requirements)
            except AbsentError as error:
                timing.absent = str(error)
                continue
            timing.version, places[timing.contestant.converter] = place.version, place.python
    for _ in range(asked.rounds):
        for timing in found:
            if not timing.absent:
                _one_round(timing, places[timing.contestant.converter], schemas, asked.repeats)
    return found


def _one_round(timing: Timing, python: Path, schemas: list[Any], repeats: int) -> None:
    question = {"converter": timing.contestant.converter, "schemas": schemas, "repeats": repeats}
    path = SOURCE if timing.contestant.peer is None else None
    try:
        answer = ask(python, "worker_time.py", question, path=path)
    except AbsentError as error:
        timing.absent = str(error)
        return
    timing.rounds.append(
        [None if row is None else {name: min(values) for name, values in row.items()} for row in answer]
    )


def compile_report(schemas: list[Any], found: list[Timing]) -> str:
    """Tables: all tools, by size, and a seen tool beside the fastest peer."""
    everything = list(range(len(schemas)))
    here = [timing for timing in found if not timing.absent]
    rows = [
        [
            "converter",
            "version",
            "tools",
            "cold: median",
            "cold: p90",
            "cold µs",
            "seen: median",
            "seen: p90",
            "seen µs",
        ]
    ]
    for timing in here:
        cold, seen = timing.ratios("cold", everything), timing.ratios("seen", everything)
        rows.append(
            [
                timing.contestant.title,
                timing.version,
                str(len(timing.times("cold"))),
                spread([median(one) for one in cold]),
                spread([quantile(one, 0.9) for one in cold]),
                number(median(list(timing.times("cold").values())) / 1e3),
                spread([median(one) for one in seen]),
                spread([quantile(one, 0.9) for one in seen]),
                number(median(list(timing.times("seen").values())) / 1e3),
            ]
        )
    skipped = [f"- {timing.contestant.title} is not here: {timing.absent}" for timing in found if timing.absent]
    parts = [table(rows), *(["\n".join(skipped)] if skipped else [])]
    parts += ["Cold, by the size of the schema (median ratio to `copy.deepcopy`):", _by_size(schemas, here)]
    if len(here) > len(OURS):
        parts.append(_beside_fastest(here))
    return "\n\n".join(parts)


def _by_size(schemas: list[Any], found: list[Timing]) -> str:
    sizes = [len(json.dumps(schema, separators=(",", ":"))) for schema in schemas]
    bins = [(low, high, [i for i, size in enumerate(sizes) if low <= size < high]) for low, high in BINS]
    bins = [one for one in bins if one[2]]
    words = [f"{low:,} to {high:,} B" if high < 1 << 60 else f"over {low:,} B" for low, high, _ in bins]
    rows = [["converter", *(f"{word} ({len(chosen)})" for word, (_, _, chosen) in zip(words, bins, strict=True))]]
    for timing in found:
        cells = []
        for _, _, chosen in bins:
            by_round = [median(one) for one in timing.ratios("cold", chosen) if one]
            cells.append(spread(by_round) if by_round else "none taken")
        rows.append([timing.contestant.title, *cells])
    return table(rows)


def _beside_fastest(found: list[Timing]) -> str:
    """How many times faster a seen tool of ours is than each peer's, on the tools that the peer converts."""
    mine = next(timing for timing in found if timing.contestant is OURS[0]).times("seen")
    rows = [["peer", "its time over ours, seen tool: median", "p90 of both", "cold: its time over ours, median"]]
    cold = next(timing for timing in found if timing.contestant is OURS[0]).times("cold")
    for timing in found:
        if timing.contestant.peer is None:
            continue
        theirs, their_cold = timing.times("seen"), timing.times("cold")
        both = [index for index in theirs if index in mine]
        rows.append(
            [
                timing.contestant.title,
                number(median([theirs[i] for i in both]) / median([mine[i] for i in both])),
                number(quantile([theirs[i] for i in both], 0.9) / quantile([mine[i] for i in both], 0.9)),
                number(median([their_cold[i] / cold[i] for i in both if i in cold])),
            ]
        )
    return "Beside strictcall under `openai`, on the tools that both convert:\n\n" + table(rows)


# --- decode ---------------------------------------------------------------------------------------------------------


def decode_report(schemas: list[Any], asked: argparse.Namespace) -> str:
    """Decoding beside the bare parse and validation."""
    rounds = [
        ask(Path(sys.executable), "worker_decode.py", {"schemas": schemas, "repeats": asked.repeats}, path=SOURCE)
        for _ in range(asked.rounds)
    ]
    rows = [["calls", "number", "ratio: median", "ratio: p90", "decode µs", "bare µs"]]
    kinds = (("all", (True, False)), ("codec changes nothing", (True,)), ("others", (False,)))
    for title, wanted in kinds:
        chosen = [[row for row in one if row["identity"] in wanted] for one in rounds]
        if not chosen[0]:
            continue
        ratios = [[min(row["decode"]) / min(row["bare"]) for row in one] for one in chosen]
        rows.append(
            [
                title,
                str(len(chosen[0])),
                spread([median(one) for one in ratios]),
                spread([quantile(one, 0.9) for one in ratios]),
                number(median([min(row["decode"]) for one in chosen for row in one]) / 1e3),
                number(median([min(row["bare"]) for one in chosen for row in one]) / 1e3),
            ]
        )
    return table(rows)


# --- the document ---------------------------------------------------------------------------------------------------

INTRODUCTION = """# Benchmarks

Made by `make bench`, in one run. Compile times are ratios to `copy.deepcopy` of the same schema in the same process;
ranges in brackets are the least and the greatest of the rounds, each a fresh process, the converters taking turns. Of
the repeats in a round the least counts, since whatever else runs on a machine only ever adds to a time.
Peers are the newest that pip found when `.bench` was made; `make clean` removes it.
Garbage collection is off while a call is timed."""
COMPILE = """{} tools of `{}`. *Cold*: the content is new to the process. *Seen*: the same content again, in another
object. A converter's ratios are over the tools that it takes; the others it refuses."""
DECODE = """Two calls for each strict tool (the required arguments, and all of them), those that the contract admits.
*Bare*: `jiter.from_json` and `is_valid` of `jsonschema_rs` under the tool's own schema, nothing else."""


def machine(asked: argparse.Namespace) -> str:
    """What the figures were taken on."""
    model = ""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = [
            line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")
        ]
        model = f" ({lines[0]})" if lines else ""
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        f"{python}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores{model}{load}; "
        f"{asked.rounds} rounds of {asked.repeats} repeats."
    )


def sections(schemas: list[Any], asked: argparse.Namespace) -> list[str]:
    """The whole document, part by part."""
    parts = [INTRODUCTION, machine(asked)]
    if asked.note:
        parts.append(asked.note)
    parts += ["## Compile", COMPILE.format(len(schemas), asked.file)]
    parts.append(compile_report(schemas, compile_times(schemas, asked)))
    parts += ["## Decode", DECODE, decode_report(schemas, asked)]
    if asked.growth:
        parts += ["## Growth", "Compiling, dialect `json_schema`:", growth.schema_growth()]
        parts += ["Decoding, dialect `openai`:", growth.argument_growth()]
        parts += ["## Import", growth.import_time(str(SOURCE))]
    probes = asked.data / "probes.json"
    if asked.peers and probes.exists():
        rows = peers.probes_of(probes)
        parts += ["## Peers on difficult schemas", peers.report(peers.scores(rows), len(rows))]
    elif asked.peers:
        print(f"{probes}: not there; the table of peers is left out", file=sys.stderr)
    return parts


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the tools and the probes")
    parser.add_argument("--file", default="live_mcp_a.jsonl", help="file of tools in that directory")
    parser.add_argument("--most", type=int, help="only the first tools")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes for each converter")
    parser.add_argument("--repeats", type=int, default=5, help="repeats in each")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="only ours; nothing is installed")
    parser.add_argument("--no-growth", dest="growth", action="store_false", help="without growth and import time")
    parser.add_argument("--note", help="a sentence for the document, such as that the machine was busy")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md")
    return parser.parse_args()


def main() -> int:
    """Measure and print."""
    asked = arguments()
    file = asked.data / asked.file
    if not file.exists():
        print(f"{file}: no tools there; name their directory with --data and the file with --file", file=sys.stderr)
        return 2
    schemas = [json.loads(line)["schema"] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    text = "\n\n".join(sections(schemas[: asked.most], asked)) + "\n"
    print(text)
    if asked.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
