"""The difference of two sources for people: a sign a line, the verdicts and codes of each dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Any

from rich.text import Text

from strictcall.json_value import excerpt
from strictcall.report.difference import DialectDifference, Difference, SourceDifference, ToolDifference
from strictcall.report.plain import plain
from strictcall.report.table import Paper, gained_and_lost

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_STYLES = {"+": "green", "-": "red", "~": "yellow"}


def difference_text(difference: SourceDifference, paper: Paper) -> str:
    """The text of ``diff``: tools that came, went and changed, and the totals."""
    lines = [("+", 0, f"{plain(name)}: only in the second") for name in difference.added]
    lines += [("-", 0, f"{plain(name)}: only in the first") for name in difference.removed]
    for tool in difference.changed:
        lines += _tool(tool)
    counts = (len(difference.added), len(difference.removed), len(difference.changed), difference.same)
    totals = "{} added, {} removed, {} changed, {} the same".format(*counts)
    return paper.render(*starmap(_line, lines), Text(totals))


def _line(sign: str, depth: int, text: str) -> Text:
    return Text(f"{'  ' * depth}{sign} {text}", style=_STYLES.get(sign, ""))


def _tool(tool: ToolDifference) -> Iterator[tuple[str, int, str]]:
    yield "~", 0, plain(tool.name)
    before, after = tool.descriptions
    if before != after:
        yield "~", 1, f"description: {plain(excerpt(before))} -> {plain(excerpt(after))}"
    yield from _places(tool.contract, 1)
    for dialect in tool.dialects:
        yield "~", 1, _verdicts(dialect)
        yield from _places(dialect.wire, 2)


def _verdicts(dialect: DialectDifference) -> str:
    verdicts = dict.fromkeys(verdict.value for verdict in dialect.verdicts)
    text = f"{dialect.dialect}: {' -> '.join(verdicts)}{gained_and_lost(*dialect.codes)}"
    reason = dialect.after.reason
    return f"{text}: {plain(reason)}" if reason is not None and reason != dialect.before.reason else text


def _places(places: Sequence[Difference], depth: int) -> Iterator[tuple[str, int, str]]:
    for place in places:
        yield _SIGNS[place.kind], depth, f"{plain(place.pointer) or '(root)'}{_values(place)}"


def _values(place: Difference) -> str:
    if place.gained or place.lost:
        return gained_and_lost([_shown(item) for item in place.gained], [_shown(item) for item in place.lost])
    if place.kind == "changed":
        return f": {_shown(place.before)} -> {_shown(place.after)}"
    return f": {_shown(place.after if place.kind == 'added' else place.before)}"


def _shown(value: Any) -> str:
    return plain(excerpt(value))
