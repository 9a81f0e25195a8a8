"""``strictcall check``: how well each tool of some sources can be said under each dialect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import track

from strictcall.change import Verdict
from strictcall.cli.failure import FINDINGS, WRONG_USE
from strictcall.cli.inputs import Invocation, read_tools
from strictcall.cli.options import DEFAULT_DIALECT, dialects_of, with_policy
from strictcall.cli.output import emit, emit_json, paper
from strictcall.dialect.model import Dialect
from strictcall.policy import Policy
from strictcall.report.as_json import check_json
from strictcall.report.results import DialectResults, worst
from strictcall.report.table import check_text
from strictcall.tool import Tool
from strictcall.wire.compile import compile_tool

_FAILING: dict[str, frozenset[Verdict]] = {
    "narrowed": frozenset({Verdict.NARROWED, Verdict.LOOSE}),
    "loose": frozenset({Verdict.LOOSE}),
    "never": frozenset(),
}
_LONG_WORK = 200


@with_policy
def check(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE", show_default=False)] = None,
    *,
    dialect: Annotated[
        list[str] | None,
        typer.Option("--dialect", metavar="D", help=f"May be given several times. [default: {DEFAULT_DIALECT}]"),
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="A table, or JSON for programs.")] = "text",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write there, not to standard output.")] = None,
    fail_on: Annotated[
        Literal["narrowed", "loose", "never"], typer.Option(help="The mildest verdict that makes the exit code 1.")
    ] = "loose",
    policy: Policy,
) -> None:
    """Check how well each tool can be said under each dialect.

    A SOURCE is a JSON, JSON Lines or YAML file, `-` for standard input, or `package.module:attribute`;
    `-- COMMAND ARGS…` at the end starts an MCP server and reads its tools.
    """
    invocation: Invocation = context.obj
    dialects = dialects_of(dialect or [DEFAULT_DIALECT])
    reading = read_tools(sources or [], invocation)
    if not reading.tools:
        raise typer.Exit(WRONG_USE)
    results = _compile_all(reading.tools, dialects, policy)
    if output_format == "json":
        emit_json(check_json(results, reading.problems), output)
    else:
        emit(check_text(results, paper(output)), output)
    if reading.problems:
        raise typer.Exit(WRONG_USE)
    if worst(results) in _FAILING[fail_on]:
        raise typer.Exit(FINDINGS)


def _compile_all(tools: Sequence[Tool], dialects: Sequence[Dialect], policy: Policy) -> list[DialectResults]:
    jobs = [(dialect, tool) for dialect in dialects for tool in tools]
    console = Console(stderr=True)
    quiet = not console.is_terminal or len(jobs) < _LONG_WORK
    shown = track(jobs, description="compiling", console=console, transient=True, disable=quiet)
    compiled = [compile_tool(tool, dialect, policy) for dialect, tool in shown]
    size = len(tools)
    return [
        DialectResults(dialect, tuple(compiled[row * size : (row + 1) * size])) for row, dialect in enumerate(dialects)
    ]
