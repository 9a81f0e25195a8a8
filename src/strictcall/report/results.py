"""What checking came to, as plain values: for each dialect its compiled tools, their totals and what costs most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strictcall.change import Effect, Verdict
from strictcall.dialect.model import Dialect
from strictcall.report.selection import EVERYTHING, Selection
from strictcall.wire.compiled import CompiledTool

BEST_FIRST = tuple(Verdict)
_WORST_FIRST = (Verdict.LOOSE, Verdict.NARROWED, Verdict.CHECKED, Verdict.CLOSED)
_PARTICULARS = re.compile(r"""\d[\d,]*|'[^']*'|"[^"]*"|/\S+""")


@dataclass(frozen=True, slots=True)
class Cost:
    """A cause of a verdict, and how many tools have it: the code of a change, or why the first of them is loose."""

    verdict: Verdict
    cause: str
    tools: int


@dataclass(frozen=True, slots=True)
class Count:
    """How often a code stands: in how many tools, and how often in all."""

    code: str
    effect: Effect
    tools: int
    changes: int


@dataclass(frozen=True, slots=True)
class DialectResults:
    """The compiled tools of one dialect, in the order they were read, and which of their changes count."""

    dialect: Dialect
    tools: tuple[CompiledTool, ...]
    selection: Selection = EVERYTHING

    @property
    def summary(self) -> dict[Verdict, int]:
        """How many tools have each verdict, whatever is selected."""
        counts = Counter(tool.verdict for tool in self.tools)
        return {verdict: counts[verdict] for verdict in Verdict}

    def costs(self, most: int = 5) -> list[Cost]:
        """What keeps most tools from a better verdict, the worst verdict first, then by the number of tools.

        A tool counts once for each code whose effect is the tool's verdict; a loose tool counts for its reason. Reasons
        that differ only in numbers, names and places are one cause, shown by the first of them.
        """
        counts: Counter[tuple[Verdict, str]] = Counter()
        shown: dict[tuple[Verdict, str], str] = {}
        for verdict, cause in (found for tool in self.tools for found in self._causes(tool)):
            kind = (verdict, _PARTICULARS.sub("…", cause))
            counts[kind] += 1
            shown.setdefault(kind, cause)
        ordered = sorted(counts.items(), key=lambda item: (_WORST_FIRST.index(item[0][0]), -item[1], item[0][1]))
        return [Cost(kind[0], shown[kind], number) for kind, number in ordered[:most]]

    def _causes(self, tool: CompiledTool) -> Iterator[tuple[Verdict, str]]:
        verdict = self.selection.verdict(tool)
        if verdict is Verdict.LOOSE:
            yield Verdict.LOOSE, tool.reason or "no reason given"
        elif verdict is not Verdict.EXACT:
            effect = Effect(verdict.value)
            for code in {change.code for change in self.selection.changes(tool) if change.effect is effect}:
                yield verdict, code

    def statistics(self) -> list[Count]:
        """Each code that counts with how often it stands, the one in most tools first."""
        tools: Counter[tuple[str, Effect]] = Counter()
        changes: Counter[tuple[str, Effect]] = Counter()
        for tool in self.tools:
            found = Counter((change.code, change.effect) for change in self.selection.changes(tool))
            tools.update(found.keys())
            changes.update(found)
        ordered = sorted(tools, key=lambda kind: (-tools[kind], -changes[kind], kind))
        return [Count(*kind, tools[kind], changes[kind]) for kind in ordered]


def worst(results: Sequence[DialectResults]) -> Verdict:
    """The worst verdict of any tool under any dialect, by what counts."""
    verdicts = {result.selection.verdict(tool) for result in results for tool in result.tools}
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), Verdict.EXACT)
