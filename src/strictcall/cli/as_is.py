"""``strictcall check --as-is``: what each provider would say to tools as they stand; nothing is compiled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from strictcall.cli.failure import UsageError
from strictcall.cli.output import emit, emit_json, paper, tracked
from strictcall.dialect.model import Dialect
from strictcall.report.as_is import Answer, DialectHearings, hear, heard, worst_answer
from strictcall.report.as_is_json import as_is_json
from strictcall.report.as_is_text import as_is_text
from strictcall.source.reading import Problem
from strictcall.tool import Tool

_FAILING: Mapping[str | None, frozenset[Answer]] = {
    None: frozenset({Answer.REFUSED}),
    "refused": frozenset({Answer.REFUSED}),
    "loose": frozenset({Answer.LOOSE, Answer.REFUSED}),
    "never": frozenset(),
}


def failing_answers(fail_on: str | None) -> frozenset[Answer]:
    """The answers that make the exit code 1. Raises ``UsageError`` for a word that goes with compiling alone."""
    if fail_on not in _FAILING:
        raise UsageError(f"--fail-on {fail_on} is about compiled tools; with --as-is it is refused, loose or never")
    return _FAILING[fail_on]


def refuse_beside_as_is(given: Mapping[str, object]) -> None:
    """Raise ``UsageError`` for an option that says something about compiling."""
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} is about compiled tools, and --as-is compiles nothing")


def check_as_is(
    tools: Sequence[Tool],
    dialects: Sequence[Dialect],
    problems: Sequence[Problem],
    failing: Collection[Answer],
    output: tuple[str, Path | None],
) -> bool:
    """Judge the tools and write what was found, in a format and to a file; gives whether the check fails."""
    results = _hear_all(tools, dialects)
    output_format, file = output
    if output_format == "json":
        emit_json(as_is_json(results, problems), file)
    else:
        emit(as_is_text(results, paper(file), failing), file)
    return worst_answer(results) in failing


def _hear_all(tools: Sequence[Tool], dialects: Sequence[Dialect]) -> list[DialectHearings]:
    jobs = [(dialect, tool) for dialect in dialects for tool in tools]
    hearings = [hear(tool, dialect) for dialect, tool in tracked(jobs, "judging")]
    size = len(tools)
    return [heard(dialect, hearings[row * size : (row + 1) * size]) for row, dialect in enumerate(dialects)]
