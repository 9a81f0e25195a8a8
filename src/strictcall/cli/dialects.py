"""``strictcall dialects``: the dialects there are, and what one of them accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from strictcall.cli.output import emit, paper
from strictcall.dialect.model import Dialect, Limit, State
from strictcall.dialect.registry import dialects as all_dialects
from strictcall.dialect.registry import load


def dialects(name: Annotated[str | None, typer.Argument(metavar="D", show_default=False)] = None) -> None:
    """List the dialects, or say what one of them accepts and where each rule comes from."""
    if name is not None:
        emit("".join(line + "\n" for line in _lines(load(name))))
        return
    sheet = paper()
    table = sheet.grid("dialect", "title")
    for dialect in all_dialects():
        table.add_row(dialect.name, dialect.title)
    emit(sheet.render(table))


def _lines(dialect: Dialect) -> Iterator[str]:
    yield f"{dialect.name}: {dialect.title}"
    if dialect.parent:
        yield f"as {dialect.parent}, but for what differs"
    yield ""
    for state in State:
        names = sorted(keyword.name for keyword in dialect.keywords.values() if keyword.state is state)
        if names or dialect.others is state:
            more = " and every other keyword" if dialect.others is state else ""
            yield f"{state.value}: {', '.join(names)}{more}".replace(":  and", ": ")
    yield f"formats: {'any' if dialect.formats is None else ', '.join(sorted(dialect.formats)) or 'none'}"
    yield f"optional properties: {'may be absent' if dialect.optional == 'absent' else 'required, or null'}"
    yield f"open objects: {_yes(dialect.open_objects)}; recursion: {_recursion(dialect)}"
    for limit in dialect.limits:
        yield _limit(limit)
    yield ""
    for key, source in dialect.sources.items():
        yield f"source {key}: {source.url} ({source.date})"


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _recursion(dialect: Dialect) -> str:
    if dialect.recursion == "optional":
        return "through properties that are not required"
    return _yes(dialect.recursion)


def _limit(limit: Limit) -> str:
    return f"limit: {limit.name.replace('_', ' ')} at most {limit.most:,} in one {limit.per}"
