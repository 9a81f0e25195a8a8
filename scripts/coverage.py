"""Verdicts over real tools: every tool file of a data directory, compiled under every dialect, as Markdown tables.

Each figure is made by looking from outside: the judge counts violations, and a walker that follows the encodings of the
design (and imports nothing of ``wire``) counts which declared properties keep type, enum and description on the wire.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strictcall import CompiledTool, Tool, compile_tool, dialects, judge

PATTERNS = ("live_mcp_a.jsonl", "mcp_*.jsonl", "fc_*.jsonl")
VERDICTS = ("exact", "closed", "checked", "narrowed", "loose")
WORKERS = 2
CHUNK = 250
DEEPEST = 14
LIMIT_WORDS = ("limit", "at most")


@dataclass
class Tally:
    """What came of the tools of one file under one dialect."""

    tools: int = 0
    strict: int = 0
    over_limit: int = 0
    violations: int = 0
    exceptions: int = 0
    json_text: int = 0
    nodes: int = 0
    kept: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take another tally into this one."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)


# --- one tool -------------------------------------------------------------------------------------------------------


def tally(rows: list[dict[str, Any]], dialect: str) -> Tally:
    """Compile some tools and count."""
    found = Tally()
    for row in rows:
        found.tools += 1
        tool = Tool(str(row.get("name", "")), row.get("description"), row.get("schema"))
        start = time.perf_counter()
        try:
            compiled = compile_tool(tool, dialect=dialect)
        except Exception as error:  # noqa: BLE001 - an exception of any kind is what is counted
            found.exceptions += 1
            found.odd.append(f"{tool.name}: {type(error).__name__}: {error}")
            continue
        finally:
            found.seconds += time.perf_counter() - start
        count(found, tool, compiled)
    return found


def count(found: Tally, tool: Tool, compiled: CompiledTool) -> None:
    """Count one compiled tool."""
    found.verdicts[str(compiled.verdict)] += 1
    found.codes.update({change.code for change in compiled.changes})
    if compiled.strict:
        found.strict += 1
    else:
        reason = compiled.reason or "no reason given"
        found.over_limit += any(word in reason for word in LIMIT_WORDS)
        found.reasons[general(reason)] += 1
    if not (compiled.strict or compiled.baseline):
        return
    for violation in judge(compiled.parameters, compiled.dialect, strict=compiled.strict):
        found.violations += 1
        found.odd.append(f"{tool.name}: {violation.rule} at {violation.pointer!r}: {violation.message}")
    found.json_text += sum("json-text" in change.code for change in compiled.changes)
    walker = Walker(tool.parameters, compiled.parameters)
    walker.run()
    found.nodes += walker.nodes
    found.kept += walker.nodes - len(walker.lost)
    found.lost += [f"{tool.name}: {place}" for place in walker.lost]


def general(reason: str) -> str:
    """A reason without what is particular to one tool."""
    reason = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|#?/\S+", "…", reason)
    reason = re.sub(r"\d[\d,]*", "N", reason)
    return reason if len(reason) <= 160 else reason[:159] + "…"


# --- which declared properties keep type, enum and description --------------------------------------------------------


class Walker:
    """Walks a contract and its wire schema together and lists the declared properties that lost something."""

    def __init__(self, contract: Any, wire: Any) -> None:
        self.contract = contract
        self.wire = wire
        self.nodes = 0
        self.lost: list[str] = []
        self._seen: set[tuple[int, tuple[int, ...]]] = set()
        self._kept_alive: list[Any] = []

    def run(self) -> None:
        """Walk from the root."""
        self.walk(self.contract, [self.wire], "", DEEPEST)

    def walk(self, schema: Any, wires: list[Any], place: str, depth: int) -> None:
        """One subschema of the contract against the wire nodes that may stand for it."""
        if not isinstance(schema, dict) or depth < 0:
            return
        wires = distinct(self.expand(wires))
        visit = (id(schema), tuple(sorted(map(id, wires))))
        if visit in self._seen:
            return
        self._seen.add(visit)
        self._kept_alive += [schema, wires]
        self.walk(self.resolve(self.contract, schema.get("$ref")), wires, place, depth - 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, branch in enumerate(as_list(schema.get(keyword))):
                self.walk(branch, wires, f"{place}/{keyword}/{index}", depth - 1)
        for name, child in as_dict(schema.get("properties")).items():
            self.property(name, child, wires, f"{place}/properties/{name}", depth)
        items = schema.get("items")
        for index, member in enumerate(as_list(schema.get("prefixItems")) or as_list(items)):
            self.walk(member, list(members(wires, index)), f"{place}/{index}", depth - 1)
        if isinstance(items, dict):
            self.walk(items, list(elements(wires)), f"{place}/items", depth - 1)
        if isinstance(schema.get("additionalProperties"), dict):
            values = list(map_values(wires, self.expand))
            self.walk(schema["additionalProperties"], values, f"{place}/additionalProperties", depth - 1)

    def property(self, name: str, child: Any, wires: list[Any], place: str, depth: int) -> None:
        """One declared property."""
        self.nodes += 1
        found = [
            node["properties"][written]
            for node in wires
            for written in spellings(name)
            if written in as_dict(node.get("properties"))
        ]
        missing = "is not on the wire" if not found else self.missing(child, found)
        if missing and child is not False:
            self.lost.append(f"{place} {missing}")
        self.walk(child, found, place, depth - 1)

    def missing(self, schema: Any, wires: list[Any]) -> str:
        """What a property lost: nothing, its description, its type or its enum."""
        if not isinstance(schema, dict):
            return ""
        nodes = distinct(self.expand(wires))
        text = schema.get("description")
        if isinstance(text, str) and text.strip():
            written = [node["description"] for node in nodes if isinstance(node.get("description"), str)]
            if not any(text.strip() in other for other in written):
                return "lost its description"
        types = as_list(schema.get("type")) or [schema.get("type")]
        for kind in types:
            if kind in KEPT_AS and not any(KEPT_AS[kind] & kinds(node) for node in nodes):
                return f"lost its type {kind}"
        values = as_list(schema.get("enum"))
        written_values = {plain(value) for node in nodes for value in literals(node)}
        if any(plain(value) not in written_values for value in values if allowed_by(value, types)):
            return "lost its enum"
        return ""

    def expand(self, wires: list[Any]) -> list[dict[str, Any]]:
        """Wire nodes with all that stands for the same value: references, branches, and what wraps one field."""
        found: list[dict[str, Any]] = []
        waiting = [(node, 0) for node in wires]
        while waiting and len(found) < 400:
            node, hops = waiting.pop(0)
            if not isinstance(node, dict) or hops > 6 or any(node is other for other in found):
                continue
            found.append(node)
            inner = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in as_list(node.get(keyword))]
            inner.append(self.resolve(self.wire, node.get("$ref")))
            properties = as_dict(node.get("properties"))
            if len(properties) == 1:
                inner += properties.values()
            waiting += [(other, hops + 1) for other in inner]
        return found

    @staticmethod
    def resolve(root: Any, reference: Any) -> Any:
        """What a local pointer reference points at."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        node = root
        for step in reference[1:].split("/")[1:]:
            node = as_dict(node).get(step.replace("~1", "/").replace("~0", "~"))
        return node


KEPT_AS: dict[Any, set[str]] = {
    "string": {"string"},
    "integer": {"integer", "number"},
    "number": {"number", "integer"},
    "boolean": {"boolean"},
    "object": {"object", "entries"},
    "array": {"array", "tuple"},
}


def kinds(node: dict[str, Any]) -> set[str]:
    """The JSON types of a wire node; ``entries`` for an array that spells a map, ``tuple`` for an object of items."""
    found = {kind for kind in as_list(node.get("type")) or [node.get("type")] if isinstance(kind, str)}
    found |= {json_kind(value) for value in literals(node)}
    if "array" in found and {"key", "value"} <= as_dict(as_dict(node.get("items")).get("properties")).keys():
        found.add("entries")
    if "object" in found and any(name.startswith("item") for name in as_dict(node.get("properties"))):
        found.add("tuple")
    return found


def json_kind(value: Any) -> str:
    """The JSON type of a literal."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def allowed_by(value: Any, types: list[Any]) -> bool:
    """Whether the ``type`` beside an enum leaves this value possible."""
    named = [kind for kind in types if kind in KEPT_AS]
    return not named or value is None or any(json_kind(value) in KEPT_AS[kind] for kind in named)


def literals(node: dict[str, Any]) -> list[Any]:
    """The literals of a wire node."""
    return [*as_list(node.get("enum")), *([node["const"]] if "const" in node else [])]


def plain(value: Any) -> str:
    """A literal as the text that may stand for it on the wire."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def spellings(name: str) -> Iterator[str]:
    """How a property's name may be written on the wire: as it is, or as a stem with a hash."""
    yield name
    digest = base64.b32encode(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()).decode()[:8].lower()
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
    yield from (f"{cut}_{digest}" for cut in {stem, stem[:55], stem.strip("_"), stem.strip("_")[:55]})


def elements(wires: list[Any]) -> Iterator[Any]:
    """What stands for the items of a list."""
    yield from (node["items"] for node in wires if isinstance(node.get("items"), dict))


def members(wires: list[Any], index: int) -> Iterator[Any]:
    """What stands for one member of a tuple."""
    for node in wires:
        yield from as_list(node.get("prefixItems"))[index : index + 1]
        properties = as_dict(node.get("properties"))
        if f"item_{index}" in properties:
            yield properties[f"item_{index}"]


def map_values(wires: list[Any], expand: Any) -> Iterator[Any]:
    """What stands for the values of a map: a schema for free names, or the ``value`` of entries."""
    for node in wires:
        yield node.get("additionalProperties")
        fields = [node, *as_dict(node.get("properties")).values()]
        for entries in expand(fields):
            entry = as_dict(as_dict(entries.get("items")).get("properties"))
            if "key" in entry and "value" in entry:
                yield entry["value"]


def distinct(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nodes, each object once."""
    return list({id(node): node for node in nodes}.values())


def as_list(value: Any) -> list[Any]:
    """A list, or an empty one where something else stands."""
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any]:
    """An object, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


# --- all files ------------------------------------------------------------------------------------------------------


def measure(files: list[Path], names: list[str]) -> dict[tuple[str, str], Tally]:
    """Tallies by file and dialect."""
    jobs = []
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        for start in range(0, len(rows), CHUNK):
            jobs += [(file.stem, name, rows[start : start + CHUNK]) for name in names]
    found = {(file.stem, name): Tally() for file in files for name in names}
    with ProcessPoolExecutor(max_workers=WORKERS) as pool:
        results = pool.map(tally, [job[2] for job in jobs], [job[1] for job in jobs])
        for (stem, name, _), result in zip(jobs, results, strict=True):
            found[stem, name].add(result)
    return found


def percent(part: int, whole: int) -> str:
    """A share, one digit after the point, never rounded up to a whole."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return f"{share:.1f}" if part == whole or share < 99.95 else f"{share:.2f}"


HEAD = [
    "file",
    "tools",
    "strict %",
    *VERDICTS,
    "over a limit",
    "strict % without those",
    "violations",
    "exceptions",
    "JSON text",
    "properties kept %",
    "ms a tool",
]


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def row(name: str, result: Tally) -> list[str]:
    """One line of the main table."""
    return [
        name,
        f"{result.tools:,}",
        percent(result.strict, result.tools),
        *(str(result.verdicts[verdict]) for verdict in VERDICTS),
        str(result.over_limit),
        percent(result.strict, result.tools - result.over_limit),
        str(result.violations),
        str(result.exceptions),
        str(result.json_text),
        percent(result.kept, result.nodes),
        f"{1000 * result.seconds / max(1, result.tools):.2f}",
    ]


def counted(title: str, counter: Counter[str], most: int) -> list[list[str]]:
    """A table of the commonest."""
    return [[title, "tools"], *([name.replace("|", "\\|"), str(number)] for name, number in counter.most_common(most))]


def report(found: dict[tuple[str, str], Tally], names: list[str], *, details: bool) -> str:
    """The whole report."""
    parts = []
    for name in names:
        total = Tally()
        rows = [HEAD]
        for (stem, dialect), result in found.items():
            if dialect == name:
                rows.append(row(stem, result))
                total.add(result)
        parts += [f"## {name}", table([*rows, row("all", total)])]
        parts.append(table(counted("why a tool is loose", total.reasons, 25)))
        parts.append(table(counted("change", total.codes, 40)))
        parts += [f"- {line}" for line in total.odd[: 200 if details else 10]]
        if details:
            parts += [f"- {line}" for line in total.lost[:400]]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """# Coverage on real tools

Made by `make coverage`, which compiles every tool of the data files under every dialect with the default policy. The
judge, which shares no code with the compiler, counts violations. "Properties kept" is the share of declared properties
of compiled tools, at every depth, that are on the wire with their type, every member of their enum and their
description. A tool is "over a limit" when it exceeds by itself what the provider takes in one request.
"""


def arguments() -> argparse.Namespace:
    """The command line."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--data", type=Path, default=root.parent / "shared" / "data", help="directory of the tool files"
    )
    parser.add_argument("--dialect", action="append", help="only these dialects")
    parser.add_argument("--file", action="append", help="only files whose name holds one of these")
    parser.add_argument("--details", action="store_true", help="list violations and lost properties")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    return parser.parse_args()


def main() -> int:
    """Measure and print."""
    asked = arguments()
    files = sorted({file for pattern in PATTERNS for file in asked.data.glob(pattern)})
    files = [file for file in files if not asked.file or any(part in file.name for part in asked.file)]
    if not files:
        print(f"{asked.data}: no tool files ({', '.join(PATTERNS)}); name their directory with --data", file=sys.stderr)
        return 2
    names = asked.dialect or [dialect.name for dialect in dialects()]
    text = INTRODUCTION + "\n" + report(measure(files, names), names, details=asked.details)
    print(text)
    if asked.write:
        asked.write.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
