"""``strictcall check``: how well each tool of some sources can be said under each dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from strictcall.change import Verdict
from strictcall.cli.as_is import check_as_is, failing_answers, refuse_beside_as_is
from strictcall.cli.baseline_file import BaselineFile, open_baseline
from strictcall.cli.failure import FINDINGS, WRONG_USE, UsageError, unknown
from strictcall.cli.inputs import Invocation, read_tools
from strictcall.cli.options import DEFAULT_DIALECT, OutputOption, dialects_of, with_policy, with_reading
from strictcall.cli.output import emit, emit_json, paper, tracked
from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import dialects as all_dialects
from strictcall.policy import Policy
from strictcall.report.advice import advice, baseline_advice
from strictcall.report.as_json import check_json, comparison_json
from strictcall.report.baseline import Comparison
from strictcall.report.plain import plain
from strictcall.report.results import DialectResults, worst
from strictcall.report.selection import WORDS, Selection
from strictcall.report.table import Paper, check_text, comparison_text
from strictcall.source.options import ReadOptions
from strictcall.source.reading import Problem, Reading
from strictcall.tool import Tool
from strictcall.wire.compile import compile_tool

_FAILING: dict[str, frozenset[Verdict]] = {
    "narrowed": frozenset({Verdict.NARROWED, Verdict.LOOSE}),
    "loose": frozenset({Verdict.LOOSE}),
    "never": frozenset(),
}
_CODES = "CODES"


@with_policy
@with_reading
def check(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE", show_default=False)] = None,
    *,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="What each provider would say to the tools as they stand; compile nothing.")
    ] = False,
    dialect: Annotated[
        list[str] | None,
        typer.Option(metavar="D", help=f"May be given several times. [default: {DEFAULT_DIALECT}; with --as-is, all]"),
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="A table, or JSON for programs.")] = "text",
    output: OutputOption = None,
    fail_on: Annotated[
        Literal["narrowed", "loose", "refused", "never"] | None,
        typer.Option(
            help="The mildest verdict that makes the exit code 1. [default: loose; with --as-is, refused]",
            show_default=False,
        ),
    ] = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Codes by count, not a row a tool.")] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar=_CODES, help="Only these codes, effects or `loose` count; with commas between."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar=_CODES, help="These codes, effects or `loose` do not count.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Fail only on what is worse than this file says.")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write what is now to the file of --baseline.")
    ] = False,
    policy: Policy,
    options: ReadOptions,
) -> None:
    """Check how well each tool can be said under each dialect.

    A SOURCE is a JSON, JSON Lines or YAML file (tools, an MCP config or an OpenAPI document), `-` for standard input,
    the URL of an MCP server, or `package.module:attribute`; `-- COMMAND ARGS…` at the end starts an MCP server.
    """
    invocation: Invocation = context.obj
    if as_is:
        given = {"--statistics": statistics, "--select": select, "--ignore": ignore, "--baseline": baseline}
        refuse_beside_as_is({**given, "--update-baseline": update_baseline, "a policy": policy != Policy()})
        judged_by = dialects_of(dialect) if dialect else all_dialects()
        answers = failing_answers(fail_on)
        reading = _read(sources, invocation, options)
        fails = check_as_is(reading.tools, judged_by, reading.problems, answers, (output_format, output))
        raise _exit(reading, fails=fails)
    failing = _failing_verdicts(fail_on)
    dialects = dialects_of(dialect or [DEFAULT_DIALECT])
    selection = Selection(_words(select), _words(ignore))
    accepted = open_baseline(baseline, update_baseline)
    reading = _read(sources, invocation, options)
    checked = _Checked(_compile_all(reading.tools, dialects, policy, selection), failing, accepted)
    if accepted is not None and accepted.update:
        if reading.problems:
            raise UsageError(f"{accepted.path}: not written, since a part of the sources could not be read")
        accepted.write(checked.results)
    if output_format == "json":
        emit_json(checked.as_json(reading.problems, statistics=statistics), output)
    else:
        emit(checked.as_text(paper(output), statistics=statistics), output)
    raise _exit(reading, fails=checked.fails)


def _failing_verdicts(fail_on: str | None) -> frozenset[Verdict]:
    if fail_on == "refused":
        raise UsageError("--fail-on refused goes with --as-is; of compiled tools it is narrowed, loose or never")
    return _FAILING[fail_on or "loose"]


def _read(sources: list[str] | None, invocation: Invocation, options: ReadOptions) -> Reading:
    reading = read_tools(sources or [], invocation, options)
    if not reading.tools:
        raise typer.Exit(WRONG_USE)
    return reading


def _exit(reading: Reading, *, fails: bool) -> typer.Exit:
    if reading.problems:
        return typer.Exit(WRONG_USE)
    return typer.Exit(FINDINGS if fails else 0)


@dataclass(frozen=True, slots=True)
class _Checked:
    """What a check came to: the compiled tools, the verdicts that fail, and the baseline that they are held against."""

    results: Sequence[DialectResults]
    failing: frozenset[Verdict]
    accepted: BaselineFile | None

    @property
    def comparison(self) -> Comparison | None:
        """What moved since the baseline, where there is one that is not written anew."""
        if self.accepted is None or self.accepted.update:
            return None
        return self.accepted.compared(self.results, self.failing)

    @property
    def fails(self) -> bool:
        """Whether the exit code says so."""
        comparison = self.comparison
        if comparison is not None:
            return bool(comparison.worse and self.failing)
        return self.accepted is None and worst(self.results) in self.failing

    def as_json(self, problems: Sequence[Problem], *, statistics: bool) -> dict[str, Any]:
        """The JSON of the check."""
        comparison = self.comparison
        moved = {} if comparison is None else {"baseline": comparison_json(comparison)}
        return check_json(self.results, problems, statistics=statistics) | moved

    def as_text(self, sheet: Paper, *, statistics: bool) -> str:
        """The text of the check, with what moved and a closing line that says what to do."""
        text = check_text(self.results, sheet, statistics=statistics)
        comparison = self.comparison
        if self.accepted is None:
            closing = advice(self.results, self.failing)
        elif comparison is None:
            closing = f"fine: {plain(str(self.accepted.path))} now says how things stand"
        else:
            text += comparison_text(comparison, sheet)
            closing = baseline_advice(comparison, str(self.accepted.path))
        return f"{text}\n{closing}\n"


def _words(given: Sequence[str] | None) -> frozenset[str]:
    """Codes, effects and ``loose`` from options that may each hold several. Raises ``UsageError`` for another word."""
    words = [word for text in given or () for part in text.split(",") if (word := part.strip())]
    for word in words:
        if word not in WORDS:
            raise unknown("code", word, WORDS)
    return frozenset(words)


def _compile_all(
    tools: Sequence[Tool], dialects: Sequence[Dialect], policy: Policy, selection: Selection
) -> list[DialectResults]:
    jobs = [(dialect, tool) for dialect in dialects for tool in tools]
    compiled = [compile_tool(tool, dialect, policy) for dialect, tool in tracked(jobs, "compiling")]
    size = len(tools)
    return [
        DialectResults(dialect, tuple(compiled[row * size : (row + 1) * size]), selection)
        for row, dialect in enumerate(dialects)
    ]
