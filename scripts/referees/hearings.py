"""A referee is shown the wire schemas of each of its dialects: what it accepted, what is excused, what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from killable import Worker
from roster import ALLOWANCES, Allowance, Referee, allowance
from tables import table
from wires import Wires

FIRST = 3
CUT = 600


@dataclass
class Hearing:
    """What one referee says of one dialect. ``first`` holds the shortest schema of the first few refused rules."""

    dialect: str
    seen: int = 0
    accepted: int = 0
    excused: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, referee: Referee, text: str, refusals: list[tuple[str, str]]) -> None:
        """Count one schema: refused where a refusal has no exception."""
        self.seen += 1
        known = {rule: allowance(referee.name, rule, self.dialect) for rule, _ in refusals}
        for found in {id(item): item for item in known.values() if item is not None}.values():
            self.excused[found.rule] += 1
        unknown = {rule: words for rule, words in refusals if known[rule] is None}
        self.refused += bool(unknown)
        self.accepted += not unknown
        for rule, words in unknown.items():
            self.rules[rule] += 1
            if rule in self.first:
                if len(text) < len(self.first[rule][1]):
                    self.first[rule] = (words, text)
            elif len(self.first) < FIRST:
                self.first[rule] = (words, text)


@dataclass
class Session:
    """One referee and its hearings; ``absent`` says why there are none."""

    referee: Referee
    version: str = ""
    hearings: list[Hearing] = field(default_factory=list)
    absent: str = ""

    @property
    def refused(self) -> int:
        """How many wire schemas were refused without an exception."""
        return sum(hearing.refused for hearing in self.hearings)


def hear(referee: Referee, python: Path, wires_of: Callable[[str], Wires], dialects: Iterable[str]) -> Session:
    """Show a referee the wire schemas of the dialects; one text is shown once.

    Raises ``killable.WorkerError`` where the referee does not start.
    """
    told: dict[str, list[tuple[str, str]]] = {}
    with Worker(python, referee.name, referee.seconds) as worker:
        session = Session(referee, worker.version)
        for dialect in dialects:
            hearing = Hearing(dialect)
            for text in wires_of(dialect).strict:
                if text not in told:
                    told[text] = worker.ask(text)
                hearing.add(referee, text, told[text])
            session.hearings.append(hearing)
    return session


def report(session: Session) -> str:
    """The figures of one referee as Markdown, and the first refusals with their shortest schema."""
    head = f"### {session.referee.name} {session.version}\n\nAsked: {session.referee.asks}.\n"
    if session.absent:
        return f"{head}\nSkipped: {session.absent}.\n"
    rows = [["dialect", "wire schemas", "accepted", "of these excused", "refused"]]
    for hearing in session.hearings:
        excused = ", ".join(f"{count:,} by `{rule}`" for rule, count in hearing.excused.most_common()) or "0"
        rows.append([hearing.dialect, f"{hearing.seen:,}", f"{hearing.accepted:,}", excused, f"{hearing.refused:,}"])
    lines = [head, table(rows), ""]
    for hearing in session.hearings:
        for rule, (words, text) in hearing.first.items():
            lines.append(f"- {hearing.dialect}: `{rule}`, {hearing.rules[rule]:,} schemas: {words}\n  {text[:CUT]}")
    return "\n".join(lines).rstrip() + "\n"


def unused(sessions: Iterable[Session]) -> list[Allowance]:
    """The exceptions of the referees that were heard which excused nothing: they may no longer be needed."""
    heard = [session for session in sessions if not session.absent]
    names = {session.referee.name for session in heard}
    used = {
        (session.referee.name, rule) for session in heard for hearing in session.hearings for rule in hearing.excused
    }
    return [known for known in ALLOWANCES if known.referee in names and (known.referee, known.rule) not in used]
