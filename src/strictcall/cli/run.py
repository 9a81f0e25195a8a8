"""``strictcall run``: a model with tools, for one question or a session."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from strictcall.cli.config import ConfigOption
from strictcall.cli.failure import UsageError
from strictcall.cli.inputs import Invocation
from strictcall.cli.options import with_reading
from strictcall.cli.serving import need
from strictcall.source.options import ReadOptions

# ruff: noqa: PLC0415 - what runs agents is an extra, and heavy

_FILES = frozenset({".json", ".yaml", ".yml", ".toml"})


@with_reading
def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]... [PROMPT]",
            help="Tools (an MCP config file, the URL of an MCP server, package.module:function), and the question. "
            "Without one, a session. - reads it from standard input.",
            show_default=False,
        ),
    ] = None,
    *,
    tools: Annotated[list[str] | None, typer.Option("--tools", metavar="SOURCE", help="As SOURCE.")] = None,
    link: Annotated[
        str | None,
        typer.Option("--link", metavar="L", help="provider/model, which alone is asked. [default: the fallback chain]"),
    ] = None,
    config: ConfigOption = None,
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="What the system says first.")] = None,
    conversation: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on with the conversation in FILE, and keep it there.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="TOOL", help="Run this tool without asking. May be given several times.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Run every tool without asking.")] = False,
    tool_choice: Annotated[
        str | None,
        typer.Option(
            metavar="CHOICE", help="auto, none, required or a tool's name; for the first step of each answer."
        ),
    ] = None,
    max_steps: Annotated[int, typer.Option(min=1, metavar="N", help="How often the model is asked at most.")] = 50,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show the answer only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")] = False,
    options: ReadOptions,
) -> None:
    """Ask a model that has tools, and run the calls that it makes until it answers.

    The link is made as the configuration says. A tool that is not known to be read-only runs after you allowed it.
    Ctrl-C stops the calls that are at work, then the run. The answer goes to standard output, all else to standard
    error. Exit code 1: there is no answer.
    """
    need("agent", "anyio", "pydantic", "tenacity", "yaml", "griffe")
    from strictcall.cli.run_hold import Choices, hold

    if isinstance(sys.stdin, TextIOWrapper):
        # What is no UTF-8 is said to be so, under any locale.
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    invocation: Invocation = context.obj
    sources, prompt = _split(words or [])
    choices = Choices(
        sources=(*(tools or ()), *sources),
        server=invocation.server,
        options=options,
        link=link,
        config=config,
        system=system,
        conversation=conversation,
        allow=frozenset(allow or ()),
        yes=yes,
        tool_choice=tool_choice,
        max_steps=max_steps,
        quiet=quiet,
        as_json=as_json,
    )
    raise typer.Exit(hold(choices, prompt))


def _split(words: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """Sources and the question: the last word is that, unless it names a source. Raises ``UsageError``."""
    from strictcall.cli.run_session import checked
    from strictcall.runtime.agent.sources import is_source

    if not words or is_source(words[-1]):
        return words, None
    *sources, prompt = words
    if not any(map(str.isspace, prompt)) and Path(prompt).suffix in _FILES:
        raise UsageError(f"{prompt}: there is no such file")
    if prompt != "-":
        return sources, checked(prompt, "the question")
    return sources, checked("" if sys.stdin is None else sys.stdin.read(), "standard input")
