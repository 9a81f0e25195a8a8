"""Results for people: a row per tool, the totals of each dialect, and what costs most."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from strictcall.change import Verdict
from strictcall.report.plain import plain
from strictcall.report.results import Cost, DialectResults
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


def check_text(results: Sequence[DialectResults], paper: Paper) -> str:
    """The text of ``check``: a table a dialect with its totals."""
    parts: list[RenderableType] = []
    for result in results:
        table = paper.grid("tool", "verdict", "codes")
        for tool in result.tools:
            table.add_row(Text(plain(tool.tool.name)), verdict_text(tool.verdict), Text(_codes(tool)))
        parts += [Text(f"{result.dialect.name}: {result.dialect.title}", style="bold"), table, _totals(result)]
        parts += [*_costs(result), Text()]
    return paper.render(*parts[:-1])


def verdict_text(verdict: Verdict) -> Text:
    """A verdict in its colour."""
    return Text(verdict.value, style=_STYLES[verdict])


def _codes(tool: CompiledTool) -> str:
    codes = ", ".join(dict.fromkeys(change.code for change in tool.changes))
    if tool.reason is None:
        return codes
    form = "baseline form; " if tool.baseline else ""
    return f"{form}{plain(tool.reason)}"


def _totals(result: DialectResults) -> Text:
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in result.summary.items())
    return Text(f"{_tools(len(result.tools))}: {counts}")


def _tools(number: int) -> str:
    return f"{number} tool{'' if number == 1 else 's'}"


def _costs(result: DialectResults) -> list[Text]:
    costs = result.costs()
    if not costs:
        return []
    lines = [f"  {cost.verdict.value} in {_tools(cost.tools)}{_such_as(cost)}: {plain(cost.cause)}" for cost in costs]
    return [Text("what costs most:"), *map(Text, lines)]


def _such_as(cost: Cost) -> str:
    return ", such as" if cost.verdict is Verdict.LOOSE and cost.tools > 1 else ""
