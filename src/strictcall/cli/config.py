"""``strictcall config``: check a configuration file, say which line decided what, print its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from strictcall.cli.failure import WRONG_USE, UsageError, say
from strictcall.cli.options import OutputOption
from strictcall.cli.output import emit, emit_json, paper
from strictcall.cli.serving import need
from strictcall.errors import ConfigError
from strictcall.report.plain import counted, plain

# ruff: noqa: PLC0415 - what reads configurations is an extra, and heavy

config = typer.Typer(help="Check a configuration file, say which line decides what, or print its JSON Schema.")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The configuration. [default: what STRICTCALL_CONFIG names, else ./strictcall.toml, .json or .yaml]",
        show_default=False,
    ),
]


@config.callback(invoke_without_command=True)
def _which(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        raise UsageError("config takes one of check, explain and schema; see strictcall config --help")


@config.command("check")
def check(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", show_default=False)] = None,
) -> None:
    """Check a configuration: each problem with its line, its path and what is allowed there.

    What is no error and may still not be what was meant is said as a note. Nothing is sent anywhere.
    """
    _need()
    from strictcall.link.catalog import read_catalog
    from strictcall.link.configuration import read_configuration
    from strictcall.link.explain import notes

    path = file or _found()
    if path is None:
        raise UsageError("there is no strictcall.toml here; name a file")
    catalog = read_catalog()
    try:
        read = read_configuration(path, catalog)
    except ConfigError as error:
        for line in error.lines():
            say(f"strictcall: {line}")
        raise typer.Exit(WRONG_USE) from None
    for note in notes(read, catalog):
        say(f"strictcall: note: {path}:{note.line}: {note}" if note.line else f"strictcall: note: {path}: {note}")
    models = sum(len(provider.models) for provider in read.config.providers)
    counts = [
        (len(read.config.providers), "provider"),
        (models, "model"),
        (len(read.config.tools), "tool"),
        (len(read.config.fallback.chain), "link in the chain"),
    ]
    emit(f"{plain(str(path))}: fine: {', '.join(_counted(*count) for count in counts)}\n")


def _counted(number: int, what: str) -> str:
    noun, _, rest = what.partition(" ")
    return f"{counted(number, noun)}{' ' + rest if rest else ''}"


@config.command("explain")
def explain(
    link: Annotated[str, typer.Argument(metavar="LINK", help="provider/model", show_default=False)],
    tool: Annotated[str | None, typer.Argument(metavar="TOOL", show_default=False)] = None,
    *,
    file: ConfigOption = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="A table, or JSON for programs.")] = "text",
) -> None:
    """Say what holds for a link, or for a tool on it, and which line decided.

    Headers and fields of the body may be secret: their values are not shown.
    """
    _need()
    from strictcall.link.configured import ConfiguredLinks
    from strictcall.link.explain import explain_link, explain_tool

    resolved = ConfiguredLinks(file or _found()).resolve(link)
    decisions = explain_link(resolved) if tool is None else explain_tool(resolved, tool)
    if output_format == "json":
        emit_json([{"setting": each.setting, "value": each.value, **_origin(each.origin)} for each in decisions])
        return
    sheet = paper()
    table = sheet.grid("setting", "value", "decided by")
    for each in decisions:
        table.add_row(Text(plain(each.setting)), Text(plain(_shown(each.value))), Text(plain(each.where())))
    emit(sheet.render(table))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else "-" if value is None else json.dumps(value)


def _origin(origin: Any) -> dict[str, Any]:
    return {"source": origin.source, "line": origin.line, "path": origin.path}


@config.command("schema")
def schema(*, output: OutputOption = None) -> None:
    """Print the JSON Schema of a configuration, for editors."""
    _need()
    from strictcall.link.config_schema import config_schema

    emit_json(config_schema(), output)


def _need() -> None:
    need("link", "anyio", "pydantic", "tenacity", "yaml")


def _found() -> Path | None:
    from strictcall.link.configured import find_config

    return find_config()
