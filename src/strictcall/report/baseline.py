"""The baseline: what a check found once and was accepted, and what is worse or better now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strictcall.change import Verdict
from strictcall.report.results import BEST_FIRST, DialectResults

VERSION = 1


class BaselineError(ValueError):
    """A baseline file that is none; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a tool stood: its verdict, and the codes of its changes."""

    verdict: Verdict
    codes: frozenset[str] = frozenset()

    def is_worse_than(self, other: Standing) -> bool:
        """A worse verdict, or a new code without a better verdict."""
        mine, its = BEST_FIRST.index(self.verdict), BEST_FIRST.index(other.verdict)
        return mine > its or (mine == its and bool(self.codes - other.codes))


Baseline = Mapping[str, Mapping[str, Standing]]
"""For each dialect, by name, how each tool stood. A second tool of the same name is ``name#2``."""


@dataclass(frozen=True, slots=True)
class Move:
    """A tool that stands otherwise than in the baseline: ``before`` is ``None`` for a new one, ``after`` for one that
    is gone.
    """

    dialect: str
    tool: str
    before: Standing | None
    after: Standing | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What moved: for the worse, for the better, and tools that are new (and no worse than allowed) or gone."""

    worse: tuple[Move, ...] = ()
    better: tuple[Move, ...] = ()
    new: tuple[Move, ...] = ()
    gone: tuple[Move, ...] = ()

    @property
    def moved(self) -> int:
        """How many tools stand otherwise, those that are worse left out."""
        return len(self.better) + len(self.new) + len(self.gone)


def baseline_of(results: Sequence[DialectResults]) -> Baseline:
    """How each tool stands now, by what counts."""
    return {result.dialect.name: dict(_standings(result)) for result in results}


def _standings(result: DialectResults) -> Iterator[tuple[str, Standing]]:
    seen: Counter[str] = Counter()
    for tool in result.tools:
        seen[tool.tool.name] += 1
        number = seen[tool.tool.name]
        codes = frozenset(change.code for change in result.selection.changes(tool))
        yield (
            tool.tool.name if number == 1 else f"{tool.tool.name}#{number}",
            Standing(result.selection.verdict(tool), codes),
        )


def compare(before: Baseline, results: Sequence[DialectResults], failing: Collection[Verdict]) -> Comparison:
    """What moved since the baseline, under the dialects that were checked. A new tool is worse if its verdict fails."""
    moves = [move for result in results for move in _moves(before, result)]
    moved = [move for move in moves if move.before is not None and move.after is not None]
    new = [move for move in moves if move.before is None]
    return Comparison(
        worse=tuple(move for move in moves if _is_worse(move, failing)),
        better=tuple(move for move in moved if not _is_worse(move, failing)),
        new=tuple(move for move in new if not _is_worse(move, failing)),
        gone=tuple(move for move in moves if move.after is None),
    )


def _moves(before: Baseline, result: DialectResults) -> Iterator[Move]:
    name = result.dialect.name
    then, now = before.get(name, {}), dict(_standings(result))
    for tool, standing in now.items():
        if then.get(tool) != standing:
            yield Move(name, tool, then.get(tool), standing)
    for tool, standing in then.items():
        if tool not in now:
            yield Move(name, tool, standing, None)


def _is_worse(move: Move, failing: Collection[Verdict]) -> bool:
    if move.after is None:
        return False
    return move.after.verdict in failing if move.before is None else move.after.is_worse_than(move.before)


def baseline_json(baseline: Baseline) -> dict[str, Any]:
    """A baseline as JSON: sorted throughout, so that a change of it shows as what changed."""
    dialects = {
        dialect: {tool: standing_json(standing) for tool, standing in sorted(tools.items())}
        for dialect, tools in sorted(baseline.items())
    }
    return {"version": VERSION, "dialects": dialects}


def standing_json(standing: Standing) -> dict[str, Any]:
    """How a tool stood, as JSON."""
    return {"verdict": standing.verdict.value, "codes": sorted(standing.codes)}


def read_baseline(value: Any) -> Baseline:
    """The baseline that a JSON value holds. Raises ``BaselineError``."""
    if not isinstance(value, dict) or not isinstance(value.get("dialects"), dict):
        raise BaselineError("not a baseline: it has no object 'dialects'")
    if value.get("version") != VERSION:
        raise BaselineError(f"a baseline of another version than {VERSION}; write it anew with --update-baseline")
    return {dialect: _read_tools(tools, dialect) for dialect, tools in value["dialects"].items()}


def _read_tools(tools: Any, dialect: str) -> dict[str, Standing]:
    if not isinstance(tools, dict):
        raise BaselineError(f"not a baseline: {dialect!r} is no object")
    return {name: _read_standing(item, f"{dialect}/{name}") for name, item in tools.items()}


def _read_standing(item: Any, place: str) -> Standing:
    verdict, codes = (item.get("verdict"), item.get("codes")) if isinstance(item, dict) else (None, None)
    if verdict not in set(Verdict) or not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise BaselineError(f"not a baseline: {place!r} has no verdict and list of codes")
    return Standing(Verdict(verdict), frozenset(codes))
