"""``strictcall decode``: what a model said, as the arguments that the tool takes."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from strictcall.cli.failure import FINDINGS, WRONG_USE, say
from strictcall.cli.inputs import pick, read_arguments, read_tools, split_positionals
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, ToolOption, with_policy, with_reading
from strictcall.cli.output import emit_json
from strictcall.errors import ArgumentsError
from strictcall.policy import Policy
from strictcall.source.options import ReadOptions
from strictcall.wire.compile import compile_tool


@with_policy
@with_reading
def decode(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="SOURCE [ARGUMENTS|-]", show_default=False)] = None,
    *,
    tool: ToolOption = None,
    dialect: DialectOption = DEFAULT_DIALECT,
    form: Annotated[
        Literal["wire", "either"], typer.Option(help="Read the wire form only, or the contract's form as well.")
    ] = "wire",
    policy: Policy,
    options: ReadOptions,
) -> None:
    """Decode a call's wire arguments into the arguments that the tool takes.

    Prints one JSON object; what is wrong with the arguments goes to standard error, a line each, with exit code 1.
    """
    sources, arguments = split_positionals(words or [], context.obj)
    reading = read_tools(sources, context.obj, options)
    if not reading.tools:
        raise typer.Exit(WRONG_USE)
    compiled = compile_tool(pick(reading, tool), dialect, policy)
    try:
        decoded = compiled.decode(read_arguments(arguments), form=form)
    except ArgumentsError as error:
        for fault in error.faults:
            say(fault)
        raise typer.Exit(FINDINGS) from None
    emit_json(decoded, indent=None)
