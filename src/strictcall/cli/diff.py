"""``strictcall diff``: how the tools of one source differ from those of another, and what that does on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from strictcall.cli.failure import FINDINGS, WRONG_USE, UsageError
from strictcall.cli.inputs import Invocation, read_each
from strictcall.cli.options import DEFAULT_DIALECT, DialectsOption, OutputOption, dialects_of, with_policy, with_reading
from strictcall.cli.output import emit, emit_json, paper
from strictcall.policy import Policy
from strictcall.report.as_json import difference_json
from strictcall.report.difference import is_changed, named, source_difference
from strictcall.report.difference_text import difference_text
from strictcall.source.options import ReadOptions
from strictcall.wire.compile import compile_tool


@with_policy
@with_reading
def diff(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(metavar="A B", show_default=False)] = None,
    *,
    dialect: DialectsOption = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="A line each, or JSON for programs.")] = "text",
    output: OutputOption = None,
    policy: Policy,
    options: ReadOptions,
) -> None:
    """Show how the tools of source A differ from those of source B: contracts, wire schemas and verdicts.

    Tools are matched by name. The exit code is 0 where they are the same and 1 where they differ. With
    `-- COMMAND ARGS…` at the end, the server is B.
    """
    invocation: Invocation = context.obj
    dialects = dialects_of(dialect or [DEFAULT_DIALECT])
    given = list(sources or [])
    if len(given) + (invocation.server is not None) != 2:
        raise UsageError("diff takes two sources, or one and the command of an MCP server after --")
    readings = read_each(given, invocation, options)
    if not all(reading.tools for reading in readings):
        raise typer.Exit(WRONG_USE)
    before, after = (named(reading.tools) for reading in readings)
    changed = [name for name in after if name in before and is_changed(before[name], after[name])]
    compiled = {
        name: [
            (compile_tool(before[name], target, policy), compile_tool(after[name], target, policy))
            for target in dialects
        ]
        for name in changed
    }
    found = source_difference(before, after, compiled)
    problems = [problem for reading in readings for problem in reading.problems]
    if output_format == "json":
        emit_json(difference_json(found, problems), output)
    else:
        emit(difference_text(found, paper(output)), output)
    if problems:
        raise typer.Exit(WRONG_USE)
    if found:
        raise typer.Exit(FINDINGS)
