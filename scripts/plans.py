"""Whole MCP servers as one request each: what a Toolset makes strict under every dialect, and why the rest is not.

The two largest servers known are installed from npm into a throw-away directory (``npm install --ignore-scripts``) and
asked for their tools; they need no account for that. ``--tools NAME=FILE`` takes tools from a file instead.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tallies import general, refusals

from strictcall import Tool, Toolset, dialects
from strictcall.dialect import judge_request, measure
from strictcall.source.load import read_source
from strictcall.source.options import ReadOptions

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "coverage.md"
BEGIN, END = "<!-- plans -->", "<!-- end of plans -->"
MOST_REASONS = 3
VIOLATIONS = "Violations"
TOO_MANY = "limit-tools"
DETAILED = ("anthropic",)
"""Dialects whose plan is shown by name."""
FIRST = 12

INTRODUCTION = """Made by `scripts/plans.py --write`, which asks the servers for all their tools. They go into one
request, as `Toolset` plans it: tools are strict in the order in which they come (or of `priority`) while the provider's
ceilings for one request hold them; a tool that does not fit beside those before it is rewritten to fit into what they
left, or else loose. Where a provider takes fewer tools of any kind, the request must leave some out: no form of a tool
helps."""

SERVERS: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "ms365": ("@softeria/ms-365-mcp-server@0.155.0", ["--org-mode"], {}),
    "gitlab": (
        "@zereight/mcp-gitlab@2.1.64",
        [],
        {
            "GITLAB_PERSONAL_ACCESS_TOKEN": "dummy-token-for-listing",
            "GITLAB_API_URL": "http://127.0.0.1:9",
            "GITLAB_TOOLSETS": "all",
        },
    ),
}
"""Package, arguments and environment of each server, with which it lists every tool that it has."""


def section(document: str) -> str:
    """The section of plans in a document, with its marks; empty where there is none."""
    start, end = document.find(BEGIN), document.find(END)
    return document[start : end + len(END)] + "\n" if 0 <= start < end else ""


def with_section(document: str, plans: str) -> str:
    """The document with this section of plans in the place of its own, or at its end."""
    old = section(document)
    return document.replace(old, plans) if old else document.rstrip("\n") + "\n\n" + plans if plans else document


def install(folder: Path) -> dict[str, list[Tool]]:
    """The tools of the two servers, installed in a folder."""
    packages = [package for package, _, _ in SERVERS.values()]
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
    subprocess.run([*command, *packages], check=True)  # noqa: S603
    entries: dict[str, Any] = {}
    for name, (package, arguments, environment) in SERVERS.items():
        place = folder / "node_modules" / package.rpartition("@")[0]
        programs = json.loads((place / "package.json").read_text())["bin"]
        program = programs if isinstance(programs, str) else next(iter(programs.values()))
        entries[name] = {"command": "node", "args": [str(place / program), *arguments], "env": environment}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": entries}))
    return {name: tools_of(str(config), name) for name in SERVERS}


def tools_of(source: str, server: str | None = None) -> list[Tool]:
    """The tools of a source, or of one server of a config file, named without the server."""
    reading = read_source(source, ReadOptions(() if server is None else (server,), timeout=120))
    for problem in reading.problems:
        raise SystemExit(f"plans: {problem}")
    prefix = "" if server is None else f"{server}/"
    return [Tool(tool.name.removeprefix(prefix), tool.description, tool.parameters) for tool in reading.tools]


# --- plans ----------------------------------------------------------------------------------------------------------


def plans(servers: dict[str, list[Tool]]) -> Iterator[str]:
    """The section, in paragraphs."""
    yield "## Whole servers as one request"
    yield INTRODUCTION
    for name, tools in servers.items():
        package = SERVERS[name][0] if name in SERVERS else name
        toolsets = {dialect.name: Toolset(tools, dialect) for dialect in dialects()}
        partial = {dialect: toolset for dialect, toolset in toolsets.items() if toolset.loose}
        yield f"### {name}: {len(tools)} tools of `{package}`"
        yield table(partial) if partial else "Every tool is strict under every dialect."
        if len(partial) < len(toolsets):
            yield f"All {len(tools)} strict: {', '.join(sorted(toolsets.keys() - partial.keys()))}."
        full = [f"{name} ({most})" for name, toolset in toolsets.items() if (most := too_many(toolset))]
        if full:
            yield f"Too many tools for one request: {', '.join(full)}."
        for dialect in DETAILED:
            yield from details(toolsets[dialect])
        found = [f"- {line}" for toolset in toolsets.values() for line in violations(toolset)]
        if found:
            yield f"{VIOLATIONS}, which are mistakes of ours:\n\n" + "\n".join(found)


def violations(toolset: Toolset) -> list[str]:
    """What the judge has against the tools of a request, and against its strict tools together."""
    said = [f"{compiled.name}: {line}" for compiled in toolset for line in refusals(compiled)]
    measures = [measure(compiled.parameters, toolset.dialect) for compiled in toolset.strict]
    together = judge_request(measures, toolset.dialect, tools=len(toolset))
    said += [violation.message for violation in together if violation.rule != TOO_MANY]
    return [f"{toolset.dialect.name}: {line}" for line in said]


def too_many(toolset: Toolset) -> int | None:
    """How many tools the provider takes in one request, where that is fewer than there are."""
    limits = [limit.most for limit in toolset.dialect.limits if (limit.per, limit.name) == ("request", "tools")]
    return next((most for most in limits if most < len(toolset)), None)


def table(toolsets: dict[str, Toolset]) -> str:
    """A row a dialect."""
    lines = ["| dialect | strict | loose | why |", "|---|---:|---:|---|"]
    for name, toolset in toolsets.items():
        reasons = Counter(general(compiled.reason or "") for compiled in toolset.loose)
        told = "; ".join(f"{reason} ({tools})" for reason, tools in reasons.most_common(MOST_REASONS))
        more = f"; {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
        lines.append(f"| {name} | {len(toolset.strict)} | {len(toolset.loose)} | {told}{more} |")
    return "\n".join(lines)


def details(toolset: Toolset) -> Iterator[str]:
    """Which tools a dialect takes strict, what they use of each ceiling, and why the first loose ones are not."""
    limits = [limit for limit in toolset.dialect.limits if limit.per == "request"]
    spent: Counter[str] = Counter({"strict_tools": len(toolset.strict), "tools": len(toolset)})
    for compiled in toolset.strict:
        spent.update(measure(compiled.parameters, toolset.dialect))
    used = ", ".join(f"{limit.name.replace('_', ' ')} {spent[limit.name]} of {limit.most}" for limit in limits)
    yield f"Under `{toolset.dialect.name}` the strict tools take {used}: {named(toolset.strict)}."
    alone = Counter("with the tools before it" not in (tool.reason or "") for tool in toolset.loose)
    yield f"Of the loose tools {alone[False]} would be strict in a smaller request, and {alone[True]} in none."


def named(tools: Sequence[Any]) -> str:
    """Tools by name, the first of them."""
    names = ", ".join(f"`{tool.name}`" for tool in tools[:FIRST])
    return names if len(tools) <= FIRST else f"{names} and {len(tools) - FIRST} more"


def main() -> int:
    """List, plan and print; exits with 1 where the judge refuses anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="install there, keep it, and use what is there")
    parser.add_argument("--tools", metavar="NAME=FILE", action="append", help="tools from a file; nothing is installed")
    parser.add_argument("--write", action="store_true", help=f"write the section into {DOCUMENT.name}")
    asked = parser.parse_args()
    if asked.tools:
        servers = {name: tools_of(file) for name, _, file in (given.partition("=") for given in asked.tools)}
    elif any(shutil.which(program) is None for program in ("node", "npm")):
        print("plans: needs node and npm", file=sys.stderr)
        return 2
    elif asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
        servers = install(asked.keep.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="plans-") as folder:
            servers = install(Path(folder).resolve())
    text = "\n\n".join([BEGIN, *plans(servers), END]) + "\n"
    print(text)
    if asked.write:
        DOCUMENT.write_text(with_section(DOCUMENT.read_text(encoding="utf-8"), text), encoding="utf-8")
    return int(VIOLATIONS in text)


if __name__ == "__main__":
    sys.exit(main())
