"""``strictcall probe``: ask a live endpoint what it does with tools, and say what follows for the configuration."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from strictcall.cli.config import ConfigOption
from strictcall.cli.failure import FINDINGS, say
from strictcall.cli.output import emit, emit_json, paper
from strictcall.cli.serving import need
from strictcall.report.plain import counted, plain

if TYPE_CHECKING:
    from strictcall.link.probe_asking import Asked
    from strictcall.link.probe_report import ProbeReport

# ruff: noqa: PLC0415 - what asks links is an extra, and heavy

_STYLES: Final = {"enforced": "green", "not_enforced": "red", "rejected": "magenta", "unknown": "yellow"}


def probe(
    link: Annotated[str, typer.Argument(metavar="LINK", help="provider/model", show_default=False)],
    *,
    config: ConfigOption = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="The time for all of it.")] = 60.0,
    requests: Annotated[int, typer.Option(metavar="N", help="The most requests, 6 at most.")] = 6,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Ask a live endpoint what it does with tools: what it holds, only takes, or refuses.

    A few small requests are sent, which may cost a little. Exit code 1 where strict tools are on and are not held.
    """
    need("link", "anyio", "pydantic", "tenacity", "yaml")
    import anyio

    from strictcall.link.configured import ConfiguredLinks, find_config
    from strictcall.link.probe import probe as probed

    resolved = ConfiguredLinks(config or find_config()).resolve(link)
    report = anyio.run(functools.partial(probed, resolved, requests=requests, timeout=timeout, tell=_tell))
    if as_json:
        emit_json(report.as_json())
    else:
        emit(_text(report))
    for contradiction in report.contradictions:
        say(f"strictcall: {resolved.name}: {contradiction}")
    if report.contradictions:
        raise typer.Exit(FINDINGS)


def _tell(asked: Asked) -> None:
    """Say on a terminal what is asked, for it may take a while."""
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"strictcall: request {asked.number}: {', '.join(asked.about)}")


def _text(report: ProbeReport) -> str:
    from strictcall.link.probe_report import in_words

    sheet = paper()
    table = sheet.grid("feature", "found", "by the dialect", "seen")
    for finding in report.findings:
        found = Text(in_words(finding.name, finding.found), style=_STYLES[finding.found.value])
        said = Text("" if finding.expected is None else in_words(finding.name, finding.expected))
        table.add_row(finding.title, found, said, Text(plain(finding.evidence)))
    parts: list[RenderableType] = [Text(f"{plain(report.link.name)}: {_spent(report)}"), table, Text()]
    parts += [part for note in report.notes for part in (Text(f"note: {plain(note)}"), Text())]
    if report.supports_tools is None:
        parts.append(Text("too little was found for a recommendation"))
    else:
        parts += [Text("for strictcall.toml:"), Text(), *(Text(plain(line)) for line in report.snippet().splitlines())]
    return sheet.render(*parts)


def _spent(report: ProbeReport) -> str:
    spent = report.spent
    told = f"{counted(spent.requests, 'request')} in {spent.seconds:.1f} s"
    if spent.input_tokens is None or spent.output_tokens is None:
        return f"{told}, tokens not told"
    return f"{told}, {spent.input_tokens:,} tokens in and {spent.output_tokens:,} out"
