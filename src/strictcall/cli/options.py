"""Options that several commands share: the policy's are made from the policy itself, the others say what is read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from strictcall.cli.failure import UsageError
from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.policy import Policy, policy_values
from strictcall.source.expand import Expander, ExpansionError
from strictcall.source.mcp_server import check_headers
from strictcall.source.options import TIMEOUT, ReadOptions

DEFAULT_DIALECT = "openai"

DialectOption = Annotated[
    str, typer.Option("--dialect", metavar="D", help="The provider's schema dialect; `strictcall dialects` lists them.")
]
DialectsOption = Annotated[
    list[str] | None,
    typer.Option("--dialect", metavar="D", help=f"May be given several times. [default: {DEFAULT_DIALECT}]"),
]
OutputOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write there, not to standard output.")]
ToolOption = Annotated[
    str | None, typer.Option("--tool", metavar="N", help="The tool's name; needed where the source has several.")
]

POLICY_HELP = {
    "fidelity": "With `exact`, a tool that needs the local check for more than the encoding itself is loose.",
    "open_objects": "Objects that are open by omission: closed, kept open, or a reason to be loose.",
    "free_form": "Values of any kind: a tree of JSON where the dialect recurses, JSON text, or a reason to be loose.",
    "nulls": "Optionals that also admit null: folded where their default is null, always folded, or kept apart.",
    "implied_types": "Read a schema with `properties` and no `type` as an object, and so on.",
    "formats": "Whether the local check asserts `format`.",
    "hints": "Say in the description what the wire schema does not hold.",
}

_Command = Callable[..., None]


def with_policy(command: _Command) -> _Command:
    """Give a command one option for each field of ``Policy``, and the policy that they make as ``policy``."""
    hints = get_type_hints(Policy)
    flags = [
        _flag(field, values[0], hints[field], typer.Option(help=POLICY_HELP[field], rich_help_panel="Policy"))
        for field, values in policy_values().items()
    ]
    return _with_flags(command, "policy", flags, lambda fields: Policy(**fields))


def with_reading(command: _Command) -> _Command:
    """Give a command the options that say how sources are read, and what they make as ``options``.

    Making it raises ``UsageError`` for a value that none of them takes.
    """
    panel = "Sources"
    server = typer.Option("--server", metavar="NAME", help="A server of an MCP config file.", rich_help_panel=panel)
    header = typer.Option(
        "--header", metavar="'NAME: VALUE'", help="Sent to a server named by its URL.", rich_help_panel=panel
    )
    timeout = typer.Option(metavar="SECONDS", help="For each server to list its tools.", rich_help_panel=panel)
    flags = [
        _flag("server", None, list[str] | None, server),
        _flag("header", None, list[str] | None, header),
        _flag("timeout", TIMEOUT, float, timeout),
    ]
    return _with_flags(command, "options", flags, _read_options)


def _flag(name: str, default: Any, kind: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _with_flags(
    command: _Command, name: str, flags: Sequence[inspect.Parameter], make: Callable[[dict[str, Any]], Any]
) -> _Command:
    """The command with flags in the place of its parameter ``name``, which is made from them."""
    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for parameter in signature.parameters.values() if parameter.name != name]

    @functools.wraps(command)
    def with_flags(**given: Any) -> None:
        fields = {flag.name: given.pop(flag.name) for flag in flags}
        command(**{name: make(fields)}, **given)

    parameters = [*kept, *flags]
    with_flags.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_flags


def _read_options(fields: dict[str, Any]) -> ReadOptions:
    timeout = fields["timeout"]
    if not 0 < timeout < float("inf"):
        raise UsageError("--timeout takes a number of seconds above 0")
    return ReadOptions(tuple(fields["server"] or ()), _headers(fields["header"] or ()), timeout)


def _headers(given: Sequence[str]) -> dict[str, str]:
    """Headers from ``Name: value``, variables in the value filled in. No error's text repeats a value."""
    headers: dict[str, str] = {}
    for row, text in enumerate(given, start=1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise UsageError(f"--header takes 'Name: value', which the {row}. one is not")
        try:
            headers[name.strip()] = Expander(Path.cwd()).text(value.strip())
        except ExpansionError as error:
            raise UsageError(f"the header {name.strip()!r}: {error}") from None
    try:
        check_headers(headers)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return headers


def dialects_of(names: list[str]) -> list[Dialect]:
    """The dialects of these names, each once. Raises ``DialectError`` for one that is unknown."""
    return [load(name) for name in dict.fromkeys(names)]
