"""``strictcall compile``: a tool's wire schema, or the whole tool as an API takes it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from strictcall.cli.failure import WRONG_USE
from strictcall.cli.inputs import pick, read_tools
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, ToolOption, with_policy, with_reading
from strictcall.cli.output import emit_json
from strictcall.dialect.registry import load
from strictcall.policy import Policy
from strictcall.report.envelope import tool_for, tools_for
from strictcall.source.options import ReadOptions
from strictcall.wire.compile import compile_tool
from strictcall.wire.toolset import Toolset

_NATIVE_API = {"anthropic": "messages", "gemini": "generate_content"}


@with_policy
@with_reading
def compile_command(
    context: typer.Context,
    source: Annotated[str | None, typer.Argument(metavar="SOURCE", show_default=False)] = None,
    *,
    tool: ToolOption = None,
    dialect: DialectOption = DEFAULT_DIALECT,
    emit: Annotated[
        Literal["schema", "tool"], typer.Option(help="The wire schema alone, or the tool as the API takes it.")
    ] = "schema",
    api: Annotated[
        Literal["chat_completions", "responses", "messages", "generate_content"] | None,
        typer.Option(help="The API that --emit tool writes for. [default: the dialect's own, else chat_completions]"),
    ] = None,
    policy: Policy,
    options: ReadOptions,
) -> None:
    """Print a tool compiled for a dialect, as JSON.

    Without --tool, `--emit tool` prints the list of all tools of a source that has several, as one request takes them.
    """
    compiled_for = load(dialect)
    reading = read_tools([] if source is None else [source], context.obj, options)
    if not reading.tools:
        raise typer.Exit(WRONG_USE)
    written_for = api or _NATIVE_API.get(compiled_for.name, "chat_completions")
    if emit == "tool" and tool is None and len(reading.tools) > 1:
        emit_json(tools_for(written_for, tuple(Toolset(reading.tools, compiled_for, policy))))
    else:
        compiled = compile_tool(pick(reading, tool), compiled_for, policy)
        emit_json(tool_for(written_for, compiled) if emit == "tool" else compiled.parameters)
    if reading.problems and tool is None:
        raise typer.Exit(WRONG_USE)
