"""``strictcall judge``: what a provider would refuse in a schema as it stands."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from strictcall.cli.failure import FINDINGS, WRONG_USE
from strictcall.cli.inputs import read_tools
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, with_reading
from strictcall.cli.output import emit, emit_json
from strictcall.dialect.judge import judge as judge_schema
from strictcall.dialect.model import Violation
from strictcall.dialect.registry import load
from strictcall.report.as_json import violations_json
from strictcall.report.plain import plain
from strictcall.source.options import ReadOptions


@with_reading
def judge(
    context: typer.Context,
    schema: Annotated[str | None, typer.Argument(metavar="SCHEMA", show_default=False)] = None,
    *,
    dialect: DialectOption = DEFAULT_DIALECT,
    strict: Annotated[
        bool, typer.Option(help="Judge as a strict schema, or by what holds even without strict.")
    ] = True,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="A line each, or JSON for programs.")] = "text",
    options: ReadOptions,
) -> None:
    """Judge a schema as it stands: what the dialect's provider would refuse. Nothing is compiled.

    SCHEMA may be any source; each tool in it is judged.
    """
    judged_by = load(dialect)
    reading = read_tools([] if schema is None else [schema], context.obj, options)
    found = [(tool.name, judge_schema(tool.parameters, judged_by, strict=strict)) for tool in reading.tools]
    if output_format == "json":
        emit_json(violations_json(judged_by.name, found))
    else:
        emit("".join(_line(name, violation) for name, violations in found for violation in violations))
    if reading.problems:
        raise typer.Exit(WRONG_USE)
    if any(violations for _, violations in found):
        raise typer.Exit(FINDINGS)


def _line(name: str, violation: Violation) -> str:
    return plain(f"{name}: {violation.pointer or '(root)'}: {violation.message} [{violation.rule}]") + "\n"
