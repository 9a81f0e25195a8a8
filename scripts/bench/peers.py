"""How converters fare on schemas that converters often get wrong: ours and the peers that PyPI has.

Every peer runs in a virtual environment of its own, is given each schema, and what it would send is judged from
outside: would the provider take it, can every valid call still be written, and what would the tool receive.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from environments import DATA, AbsentError, ask, environment
from outcomes import Judged, Outcome, judged, ours
from tables import table

from strictcall import Tool, compile_tool


@dataclass(frozen=True, slots=True)
class Peer:
    """A converter: its title, where it is installed from, its name in ``converters``, and whose rules it writes for."""

    title: str
    converter: str
    environment: str
    requirements: tuple[str, ...]
    library: str
    dialect: str = "openai"


PEERS = (
    Peer("openai-agents, function tools", "openai-agents", "openai-agents", ("openai-agents",), "agents"),
    Peer("openai-agents, MCP tools", "openai-agents-mcp", "openai-agents", ("openai-agents",), "agents"),
    Peer("openai-python", "openai-python", "openai", ("openai",), "openai"),
    Peer("pydantic-ai, auto", "pydantic-ai-auto", "pydantic-ai", ("pydantic-ai-slim[openai]",), "pydantic_ai"),
    Peer("pydantic-ai, strict", "pydantic-ai-strict", "pydantic-ai", ("pydantic-ai-slim[openai]",), "pydantic_ai"),
    Peer("langchain-core", "langchain", "langchain-core", ("langchain-core",), "langchain_core"),
    Peer("haystack-ai", "haystack", "haystack", ("haystack-ai",), "haystack"),
    Peer("attestry", "attestry", "attestry", ("attestry",), "attestry"),
    Peer("toolschema", "toolschema", "toolschema", ("toolschema",), "toolschema"),
    Peer("schemafit", "schemafit", "schemafit", ("schemafit",), "schemafit"),
    Peer("anthropic", "anthropic", "anthropic", ("anthropic",), "anthropic", "anthropic"),
)
OURS = ("openai", "anthropic")
COLUMNS = (
    (Outcome.EXACT, "exact"),
    (Outcome.NULLED, "null for absent"),
    (Outcome.REFUSED, "refused"),
    (Outcome.LOOSE, "sent non-strict"),
    (Outcome.REJECTED, "rejected (400)"),
    (Outcome.WRONG, "silently wrong"),
    (Outcome.CRASHED, "crashed"),
)
MEANING = """Each probe has argument sets that its schema admits, and some that it does not. The first that applies:

- *crashed*: an exception that is not meant as a refusal (a `TypeError`, a `RecursionError`), or no answer in 20 s.
- *refused*: an error of the library's own, or a `ValueError`: the caller learns that the tool cannot be strict.
- *sent non-strict*: the tool goes out without strict, by the converter's own decision.
- *rejected*: it is marked strict, and our judge says that the provider would answer 400. `default`, `examples`,
  `minLength` and `maxLength`, about which reports contradict each other, are not held against a peer.
- *silently wrong*: a valid argument set can no longer be written (an omitted property may be written as null), or what
  the tool receives is not valid for it, mostly a null that it never took. None of the peers here reads arguments back:
  what the model writes is what the tool gets. attestry and schemafit report some of these in a list beside the schema.
- *null for absent*: all valid sets get through, but some with a null where a property was left out, or the other way
  round, where the tool allows both.
- *exact*: every valid set reaches the tool as it was.

*Lets through*: of the last two, how many also hand an invalid argument set to the tool. *Changes its input*: how many
schemas were changed in place."""


@dataclass
class Score:
    """What came of all probes for one converter."""

    title: str
    version: str
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    lets_through: int = 0
    changes_input: int = 0
    notes: list[str] = field(default_factory=list)
    absent: str = ""


def score_peer(peer: Peer, probes: list[dict[str, Any]]) -> Score:
    """Every probe through one peer. A peer that cannot be run here is marked as absent, with the reason."""
    try:
        place = environment(peer.environment, peer.requirements)
        question = {"converter": peer.converter, "library": peer.library, "schemas": [p["schema"] for p in probes]}
        answers = ask(place.python, "worker_convert.py", question)
    except AbsentError as error:
        return Score(peer.title, "", absent=str(error))
    score = Score(peer.title, place.version)
    for probe, answer in zip(probes, answers, strict=True):
        _add(score, probe, judged(answer, probe, peer.dialect))
        score.changes_input += bool(answer.get("changed_input"))
    return score


def score_ours(dialect: str, probes: list[dict[str, Any]]) -> Score:
    """Every probe through ``compile_tool``, its ``encode`` and its ``decode``."""
    score = Score(f"**strictcall, {dialect}**", "this tree")
    for probe in probes:
        before = json.dumps(probe["schema"])
        tool = Tool(probe.get("tool_name", "probe"), probe["title"], probe["schema"])
        _add(score, probe, ours(partial(compile_tool, tool, dialect=dialect), probe))
        score.changes_input += json.dumps(probe["schema"]) != before
    return score


def _add(score: Score, probe: dict[str, Any], found: Judged) -> None:
    outcome, lets_through, note = found
    score.outcomes[outcome] += 1
    score.lets_through += lets_through
    if note:
        score.notes.append(f"{score.title}: {probe['id']}: {outcome.value}: {note}")


def scores(probes: list[dict[str, Any]], peers: tuple[Peer, ...] = PEERS) -> list[Score]:
    """Ours first, then the peers."""
    return [*(score_ours(dialect, probes) for dialect in OURS), *(score_peer(peer, probes) for peer in peers)]


def report(found: list[Score], number: int) -> str:
    """The table and what it means."""
    head = ["converter", "version", *(title for _, title in COLUMNS), "lets through", "changes its input"]
    rows = [
        [
            score.title,
            score.version,
            *(str(score.outcomes[outcome]) for outcome, _ in COLUMNS),
            str(score.lets_through),
            str(score.changes_input),
        ]
        for score in found
        if not score.absent
    ]
    skipped = "".join(f"\n- {score.title} is not here: {score.absent}" for score in found if score.absent)
    return f"{number} probes.\n\n{table([head, *rows])}\n{skipped}\n{MEANING}"


def probes_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file of probes."""
    rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return rows


def main() -> int:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--probes", type=Path, default=DATA / "probes.json", help="file of probes")
    parser.add_argument("--only", action="append", help="only peers whose title holds one of these")
    parser.add_argument("--details", action="store_true", help="list each probe that is not exact")
    asked = parser.parse_args()
    if not asked.probes.exists():
        print(f"{asked.probes}: not there; name a file of probes with --probes", file=sys.stderr)
        return 2
    probes = probes_of(asked.probes)
    peers = tuple(peer for peer in PEERS if not asked.only or any(part in peer.title for part in asked.only))
    found = scores(probes, peers)
    print(report(found, len(probes)))
    if asked.details:
        print("\n".join(note for score in found for note in score.notes))
    bad = [s for s in found[: len(OURS)] if s.outcomes[Outcome.WRONG] or s.outcomes[Outcome.CRASHED] or s.lets_through]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
