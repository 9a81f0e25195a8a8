"""``strictcall encode``: a tool's arguments in the form that the model says them in."""

from __future__ import annotations

from typing import Annotated

import typer

from strictcall.cli.failure import FINDINGS, WRONG_USE, say
from strictcall.cli.inputs import pick, read_arguments, read_tools, split_positionals
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, ToolOption, with_policy, with_reading
from strictcall.cli.output import emit_json
from strictcall.errors import ArgumentsError
from strictcall.json_value import MAX_DEPTH, LimitError, parse
from strictcall.policy import Policy
from strictcall.source.options import ReadOptions
from strictcall.wire.compile import compile_tool


@with_policy
@with_reading
def encode(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="SOURCE [ARGUMENTS|-]", show_default=False)] = None,
    *,
    tool: ToolOption = None,
    dialect: DialectOption = DEFAULT_DIALECT,
    policy: Policy,
    options: ReadOptions,
) -> None:
    """Encode a tool's arguments into the wire form, as a model would say them.

    Prints one JSON value; what is wrong with the arguments goes to standard error, a line each, with exit code 1.
    """
    sources, arguments = split_positionals(words or [], context.obj)
    reading = read_tools(sources, context.obj, options)
    if not reading.tools:
        raise typer.Exit(WRONG_USE)
    compiled = compile_tool(pick(reading, tool), dialect, policy)
    try:
        encoded = compiled.encode(parse(read_arguments(arguments), MAX_DEPTH))
    except LimitError as error:
        say(error)
        raise typer.Exit(FINDINGS) from None
    except ArgumentsError as error:
        for fault in error.faults:
            say(fault)
        raise typer.Exit(FINDINGS) from None
    emit_json(encoded, indent=None)
