"""Results for people: a row per tool, the totals of each dialect, and what costs most."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from strictcall.change import Effect, Verdict
from strictcall.report.baseline import Comparison, Move, Standing
from strictcall.report.plain import counted, plain
from strictcall.report.results import Cost, DialectResults
from strictcall.report.selection import Selection
from strictcall.wire.compiled import CompiledTool

_UNBOUND = 10_000
_STYLES = {
    Verdict.EXACT: "green",
    Verdict.CLOSED: "green",
    Verdict.CHECKED: "yellow",
    Verdict.NARROWED: "magenta",
    Verdict.LOOSE: "red",
}


@dataclass(frozen=True, slots=True)
class Paper:
    """What text is written on: a terminal of some width, in colour, or a file, where every row is one line."""

    width: int | None = None
    colour: bool = False

    def render(self, *parts: RenderableType) -> str:
        """The parts as text, without blanks at the ends of lines."""
        buffer = io.StringIO()
        console = Console(
            file=buffer,
            width=self.width or _UNBOUND,
            force_terminal=self.colour,
            highlight=False,
            legacy_windows=False,
        )
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, Text))
        return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())

    def grid(self, *columns: str) -> Table:
        """An empty table: ruled on a terminal, bare in a file."""
        table = Table(box=box.SIMPLE_HEAD if self.width else None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in columns:
            table.add_column(column, overflow="fold")
        return table


def check_text(results: Sequence[DialectResults], paper: Paper, *, statistics: bool = False) -> str:
    """The text of ``check``: a table a dialect with its totals; with ``statistics`` a row a code, not a tool."""
    parts: list[RenderableType] = []
    for result in results:
        table = _codes_table(result, paper) if statistics else _tools_table(result, paper)
        parts += [Text(f"{result.dialect.name}: {result.dialect.title}", style="bold"), table, _totals(result)]
        parts += [*_costs(result), Text()]
    return paper.render(*parts[:-1])


def _tools_table(result: DialectResults, paper: Paper) -> Table:
    table = paper.grid("tool", "verdict", "codes")
    for tool in result.tools:
        table.add_row(Text(plain(tool.tool.name)), verdict_text(tool.verdict), Text(_codes(tool, result.selection)))
    return table


def _codes_table(result: DialectResults, paper: Paper) -> Table:
    table = paper.grid("tools", "changes", "code", "effect")
    for count in result.statistics():
        table.add_row(str(count.tools), str(count.changes), count.code, effect_text(count.effect))
    return table


def comparison_text(comparison: Comparison, paper: Paper) -> str:
    """What moved since the baseline: a line a tool, the worse first; nothing where nothing moved."""
    parts: list[RenderableType] = []
    for heading, moves in (
        ("worse than the baseline:", comparison.worse),
        ("better than the baseline:", comparison.better),
        ("new since the baseline:", comparison.new),
        ("gone since the baseline:", comparison.gone),
    ):
        if moves:
            parts += [Text(), Text(heading, style="bold"), *(Text(f"  {_move(move)}") for move in moves)]
    return paper.render(*parts)


def _move(move: Move) -> str:
    where = f"{move.dialect}: {plain(move.tool)}"
    if move.before is None or move.after is None:
        standing = move.after or move.before
        return f"{where}: {standing.verdict.value}" if standing else where
    verdicts = dict.fromkeys((move.before.verdict.value, move.after.verdict.value))
    return f"{where}: {' -> '.join(verdicts)}{gained_and_lost(*_changed_codes(move.before, move.after))}"


def _changed_codes(before: Standing, after: Standing) -> tuple[list[str], list[str]]:
    return sorted(after.codes - before.codes), sorted(before.codes - after.codes)


def gained_and_lost(gained: Sequence[str], lost: Sequence[str]) -> str:
    """Words that came and went, each with its sign, in brackets after what they belong to."""
    signed = [*(f"+{word}" for word in gained), *(f"-{word}" for word in lost)]
    return f" ({', '.join(signed)})" if signed else ""


def verdict_text(verdict: Verdict) -> Text:
    """A verdict in its colour."""
    return Text(verdict.value, style=_STYLES[verdict])


def effect_text(effect: Effect) -> Text:
    """An effect in the colour of the verdict that it makes."""
    style = _STYLES[Verdict.EXACT if effect is Effect.ENCODED else Verdict(effect.value)]
    return Text(effect.value, style=style)


def _codes(tool: CompiledTool, selection: Selection) -> str:
    codes = ", ".join(dict.fromkeys(change.code for change in selection.changes(tool)))
    if tool.reason is None:
        return codes
    form = "baseline form; " if tool.baseline else ""
    return f"{form}{plain(tool.reason)}"


def _totals(result: DialectResults) -> Text:
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in result.summary.items())
    return Text(f"{counted(len(result.tools), 'tool')}: {counts}")


def _costs(result: DialectResults) -> list[Text]:
    costs = result.costs()
    if not costs:
        return []
    lines = [
        f"  {cost.verdict.value} in {counted(cost.tools, 'tool')}{_such_as(cost)}: {plain(cost.cause)}"
        for cost in costs
    ]
    return [Text("what costs most:"), *map(Text, lines)]


def _such_as(cost: Cost) -> str:
    return ", such as" if cost.verdict is Verdict.LOOSE and cost.tools > 1 else ""
