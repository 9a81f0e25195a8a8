"""Other people's agents hold conversations through ``strictcall serve``, and straight at the same strict endpoint.

Each is installed from PyPI as it is, and told nothing but a base URL. The endpoint is the emulator, under the rules of
a provider. The tools are such as fail without help. Exits with 1 where a request is refused through the gateway, or a
tool gets arguments that it does not take, but for bounds that the wire cannot hold; 2 where a peer cannot be had.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "conversations"), str(HERE / "bench")]

from environments import ROOT, AbsentError, ask, environment  # noqa: E402
from roads import Road, RoadError, road  # noqa: E402
from tally import Count, Way, counted, failures, figures, missing, outcomes, together  # noqa: E402

PAGE = ROOT / "docs" / "gateway.md"
MARKS = ("<!-- figures -->", "<!-- end of figures -->")
CACHE = ROOT / ".peers"
WORKER = HERE / "conversations" / "hold.py"
REQUIREMENTS = ("openai", "openai-agents", "pydantic-ai-slim[openai]", "langchain", "langchain-openai")
DIALECTS = ("openai", "deepseek")
SENSIBLE = (("sensible", 0),)
RANDOM = (("random", 1), ("random", 2), ("random", 3))
SECONDS = 900


@dataclass(frozen=True, slots=True)
class Peer:
    """Who talks: ``library`` is what is installed, ``loop`` the module that holds its conversations."""

    title: str
    library: str
    loop: str


PEERS = (
    Peer("openai", "openai", "loop_openai"),
    Peer("openai-agents", "openai-agents", "loop_agents"),
    Peer("pydantic-ai", "pydantic-ai-slim", "loop_pydantic_ai"),
    Peer("LangChain", "langchain", "loop_langchain"),
)


@dataclass
class Found:
    """What came of everything: for each way the conversations by kind, and the versions of the peers."""

    counts: dict[Way, dict[str, Count]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def sum(self, *, through: bool, dialect: str, peer: str, strict: bool, kind: str | None = None) -> Count:
        """The conversations that were held so."""
        wanted = (through, dialect, peer, strict)
        return together(
            count
            for way, kinds in self.counts.items()
            if (way.through, way.dialect, way.peer, way.strict) == wanted
            for name, count in kinds.items()
            if kind in (None, name)
        )


def main() -> int:
    """Run what is asked for; returns the exit code."""
    asked = arguments()
    peers = [peer for peer in PEERS if not asked.only or any(part in peer.title for part in asked.only)]
    start = time.monotonic()
    try:
        python = environment("clients", REQUIREMENTS, CACHE).python
        found = hold(python, peers, asked.seeds)
    except (AbsentError, RoadError) as error:
        print(f"conversations: {error}", file=sys.stderr)
        return 2
    text = report(found, peers)
    wrong = judged(found, peers)
    print(text)
    print(f"{time.monotonic() - start:.0f} s; wrong: {len(wrong)}")
    for words in wrong:
        print(words[:600])
    if asked.write and not wrong:
        write(text)
    return 1 if wrong else 0


def judged(found: Found, peers: Sequence[Peer]) -> list[str]:
    """What must not be, in words; empty where all is well."""
    wrong: list[str] = []
    for way, kinds in found.counts.items():
        if way.through:
            wrong += failures(way, together(kinds.values()))
    for peer in peers:
        seen = together(found.sum(through=True, dialect=name, peer=peer.title, strict=False) for name in DIALECTS)
        wrong += missing(peer.title, seen)
    return wrong


def write(text: str) -> None:
    """Put the figures between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    titles = [peer.title for peer in PEERS]
    parser.add_argument("only", nargs="*", help=f"only peers whose name holds one of these: {', '.join(titles)}")
    parser.add_argument("--seeds", type=int, default=len(RANDOM), help="how many seeds of random answers")
    parser.add_argument("--write", action="store_true", help=f"write the figures into docs/{PAGE.name}, if all is well")
    asked = parser.parse_args()
    for part in asked.only:
        if not any(part in title for title in titles):
            parser.error(f"no peer's name holds {part!r}; there are {', '.join(titles)}")
    if asked.write and asked.only:
        parser.error("--write is for all peers")
    if not 1 <= asked.seeds <= len(RANDOM):
        parser.error(f"--seeds takes 1 to {len(RANDOM)}")
    return asked


def hold(python: Path, peers: Sequence[Peer], seeds: int) -> Found:
    """All conversations of all peers. Raises ``AbsentError`` for a worker that fails as a whole, ``RoadError``."""
    found = Found()
    answers = [*SENSIBLE, *RANDOM[:seeds]]
    with ExitStack() as stack:
        roads = [
            stack.enter_context(road(dialect, kind, seed, through=through))
            for dialect in DIALECTS
            for through in (True, False)
            for kind, seed in (answers if through else answers[:2])
        ]
        for peer in peers:
            print(f"{peer.title} talks", file=sys.stderr, flush=True)
            talk(python, peer, roads, found)
    return found


def ways(peer: Peer, where: Road) -> list[Way]:
    """The ways of one peer on one road: with its strict on only for the first answers of each kind."""
    through = where.gateway is not None
    return [
        Way(peer.title, where.dialect, where.answers, where.seed, through, strict, stream)
        for strict in (False, True)
        for stream in (False, True)
        if not strict or where.seed <= 1
    ]


def talk(python: Path, peer: Peer, roads: Sequence[Road], found: Found) -> None:
    """All conversations of one peer, in one process."""
    planned = [(where, way) for where in roads for way in ways(peer, where)]
    jobs = [
        {
            "base_url": where.base_url,
            "model": f"gpt-4.1-{peer.loop}-{number}",
            "stream": way.stream,
            "strict": way.strict,
        }
        for number, (where, way) in enumerate(planned)
    ]
    told = ask(python, WORKER, {"library": peer.library, "loop": peer.loop, "jobs": jobs}, SECONDS)
    found.versions[peer.title] = told["version"]
    for (where, way), job, results in zip(planned, jobs, told["jobs"], strict=True):
        for place, result in enumerate(results):
            model = f"{job['model']}.{place}"
            exchanges = [one for one in where.emulator.exchanges if one.body and one.body.get("model") == model]
            found.counts.setdefault(way, {})[result["kind"]] = counted(way, result, exchanges)


def report(found: Found, peers: Sequence[Peer]) -> str:
    """The tables and what they mean."""
    versions = ", ".join(f"{title} {version}" for title, version in found.versions.items())
    parts = [f"{versions}. Half of the conversations are streamed."]
    for dialect in DIALECTS:
        parts.append(f"### Under the rules of `{dialect}`")
        for through, title in ((True, "Through `strictcall serve`:"), (False, "Straight at the emulator:")):
            rows = [
                (peer.title, strict, found.sum(through=through, dialect=dialect, peer=peer.title, strict=strict))
                for peer in peers
                for strict in (False, True)
            ]
            parts += [title, figures(rows)]
            if through:
                parts.append(words_of(together(count for _, _, count in rows)))
        parts += ["Straight, with the peer's strict on, by what the tools need:", by_kind(found, dialect, peers)]
    return "\n\n".join(parts)


def words_of(count: Count) -> str:
    """What broken bounds there were, and what came to the tools, in a sentence each."""
    bounds = ", ".join(f"{keyword} {times}" for keyword, times in sorted(count.bounds.items())) or "none"
    saw = ", ".join(f"{thing} {times:,}" for thing, times in sorted(count.saw.items()))
    return f"Bounds that the wire cannot hold, and random answers broke: {bounds}. What came to tools: {saw}."


def by_kind(found: Found, dialect: str, peers: Sequence[Peer]) -> str:
    """What came of the conversations of each kind."""
    kinds = list(dict.fromkeys(kind for counts in found.counts.values() for kind in counts))
    rows = [
        (
            peer.title,
            [found.sum(through=False, dialect=dialect, peer=peer.title, strict=True, kind=kind) for kind in kinds],
        )
        for peer in peers
    ]
    return outcomes(kinds, rows)


if __name__ == "__main__":
    sys.exit(main())
