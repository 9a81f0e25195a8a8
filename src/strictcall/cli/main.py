"""The command line's frame: the commands, what comes after ``--``, and every error as one line with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from strictcall.cli.check import check
from strictcall.cli.compile import compile_command
from strictcall.cli.config import config
from strictcall.cli.decode import decode
from strictcall.cli.dialects import dialects
from strictcall.cli.diff import diff
from strictcall.cli.emulate import emulate
from strictcall.cli.encode import encode
from strictcall.cli.explain import explain
from strictcall.cli.failure import INTERRUPTED, WRONG_USE, UsageError, say
from strictcall.cli.inputs import Invocation
from strictcall.cli.judge import judge
from strictcall.cli.output import emit
from strictcall.cli.probe import probe
from strictcall.cli.run import run as run_command
from strictcall.cli.serve import serve
from strictcall.errors import StrictCallError

_NO_SOURCE = frozenset({"emulate", "serve", "explain", "dialects", "config", "probe"})

app = typer.Typer(
    name="strictcall",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check)
app.command("compile")(compile_command)
app.command("decode")(decode)
app.command("encode")(encode)
app.command("judge")(judge)
app.command("diff")(diff)
app.command("emulate")(emulate)
app.command("serve")(serve)
app.command("run")(run_command)
app.add_typer(config, name="config")
app.command("probe")(probe)
app.command("explain")(explain)
app.command("dialects")(dialects)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        emit(f"strictcall {version('strictcall')}\n")
    except PackageNotFoundError:
        emit("strictcall (not installed)\n")
    raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Exact tool calls: any tool's JSON Schema to a provider's strict schema, and the model's arguments back."""
    del show_version  # handled by its callback
    if context.invoked_subcommand is None:
        with redirect_stdout(sys.stderr):
            sys.stderr.write(context.get_help().rstrip() + "\n")
        raise typer.Exit(WRONG_USE)
    invocation: Invocation = context.obj
    if invocation.server is not None and context.invoked_subcommand in _NO_SOURCE:
        raise UsageError(f"{context.invoked_subcommand} takes no server after --")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 findings, 2 wrong use or unreadable input, 130 interrupted.

    What goes wrong is one line on standard error. ``STRICTCALL_TRACEBACK=1`` lets an error of our own through instead.
    """
    words, invocation = _split(sys.argv[1:] if arguments is None else list(arguments))
    try:
        result = app(args=words, obj=invocation, standalone_mode=False, prog_name="strictcall")
    except (UsageError, StrictCallError) as error:
        return _failed(str(error))
    except typer.TyperException as error:
        said = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
        return _failed(f"{said[:1].lower()}{said[1:]}; see strictcall --help")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("STRICTCALL_TRACEBACK") == "1":
            raise
        return _failed(f"an error of strictcall's own, please report it: {type(error).__name__}: {error}"[:400])
    return result if isinstance(result, int) else 0


def _failed(text: str) -> int:
    say(f"strictcall: {text}")
    return WRONG_USE


def _split(words: list[str]) -> tuple[list[str], Invocation]:
    """What stands before the first ``--``, and the server's command after it."""
    if "--" not in words:
        return words, Invocation()
    cut = words.index("--")
    return words[:cut], Invocation(tuple(words[cut + 1 :]))
