"""The compiler against the JSON Schema Test Suite and SchemaStore, as a page of tables: ``docs/conformance.md``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from roundtrips import (
    CAPS,
    DIALECTS,
    EXCUSES,
    LETTER,
    Group,
    Loss,
    Tally,
    general,
    nested,
    run,
    suite,
    summed,
    unlimited,
)

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
HEAD = ["schemas of", "dialect", "schemas", "strict", "valid", "come back", "excused", "invalid", "refused", "misses"]
INTRODUCTION = """# Conformance

Made by `make conformance`; the first table is also a test. Each schema is compiled unedited by `compile_schema` with
`implied_types=False` and `open_objects="carry"`, the row's draft assumed.

- *Come back*: a valid instance is encoded, the `jsonschema` library finds the encoding valid under the wire schema, and
  decoding gives an equal JSON value.
- *Refused*: an invalid instance has faults by `check`, `encode` raises, and no form of `decode` gives it. Written past
  the check all the same, it never decodes to anything invalid, and the wire schema of a tool that is `exact` or
  `closed` does not admit it.
- *Excused*: a change with one of the codes below names the place that was lost.
- *Misses*: all other cases, exceptions and violations of the dialect among them."""


@dataclass
class Findings:
    """All tallies under one dialect: the suite by draft, SchemaStore, and what is run besides, by title."""

    drafts: dict[str, Tally]
    store: Tally
    further: dict[str, Tally]

    @property
    def main(self) -> Tally:
        """The suite and SchemaStore together."""
        return summed([*self.drafts.values(), self.store])


def findings(groups: list[Group], store: list[Group], name: str) -> Findings:
    """Everything that is run under one dialect."""
    return Findings(
        run(groups, name),
        summed(run(store, name).values()),
        {
            "suite, below an optional property": summed(run(nested(groups), name).values()),
            "suite, open objects closed": summed(run(groups, name, replace(LETTER, open_objects="close")).values()),
            "SchemaStore, the dialect's limits aside": summed(run(store, unlimited(name)).values()),
        },
    )


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def row(name: str, dialect: str, tally: Tally) -> list[str]:
    """One line of a table."""
    numbers = (tally.schemas, tally.strict, tally.valid, tally.round_trips)
    share = f"{len(tally.excused)} ({tally.share:.2f} %)" if tally.excused else "0"
    rest = (tally.invalid, tally.refused, len(tally.misses))
    return [name, dialect, *(f"{number:,}" for number in numbers), share, *(f"{number:,}" for number in rest)]


def losses(title: str, found: list[tuple[str, Loss]]) -> str:
    """Losses as a table: one line for each schema, code and pointer."""
    if not found:
        return f"{title}: none."
    counted = Counter((loss.group, dialect, loss.code or loss.what, loss.pointer) for dialect, loss in found)
    rows = [
        [group, dialect, f"`{code}`", f"`{pointer}`", str(number)]
        for (group, dialect, code, pointer), number in sorted(counted.items())
    ]
    return f"{title}:\n\n" + table([["schema", "dialect", "code", "pointer", "instances"], *rows])


def report(data: Path) -> tuple[str, int]:
    """The report and the number of misses."""
    groups, remote = suite(data / "json_schema_test_suite")
    store = general(data / "general_schemas.jsonl")
    found = {name: findings(groups, store, name) for name in DIALECTS}
    misses = [
        (name, loss)
        for name, all_ in found.items()
        for tally in (all_.main, *all_.further.values())
        for loss in tally.misses
    ]
    sections = [INTRODUCTION, *_tables(found, remote), *_excuses(found), losses("Misses", misses)]
    sections += [*_set_aside(next(iter(found.values())).store), *_further(found)]
    return "\n\n".join(sections) + "\n", len(misses)


def _tables(found: dict[str, Findings], remote: int) -> Iterator[str]:
    main = [HEAD]
    for name, all_ in found.items():
        main += [row(source, name, tally) for source, tally in all_.drafts.items()]
        main += [row("**suite**", name, summed(all_.drafts.values())), row("**SchemaStore**", name, all_.store)]
    yield table(main)
    yield (
        f"{remote} schemas of the suite are left out: they refer to a server that the suite would have to be given. "
        "Loose schemas (their instances go through the local check all the same):"
    )
    reasons = [[why, name, str(n)] for name, all_ in found.items() for why, n in sorted(all_.main.loose.items())]
    yield table([["why", "dialect", "schemas"], *reasons])


def _excuses(found: dict[str, Findings]) -> Iterator[str]:
    yield "## Excuses"
    yield "The fixed list:"
    yield "\n".join(f"- `{code}`: {what}" for code, what in EXCUSES.items())
    caps = ", ".join(f"{cap:g} % under {name}" for name, cap in CAPS.items())
    yield losses(
        f"Excused above (at most {caps})", [(name, loss) for name, all_ in found.items() for loss in all_.main.excused]
    )


def _set_aside(store: Tally) -> Iterator[str]:
    yield "## Rows set aside"
    yield (
        f"{store.external} schemas of SchemaStore ({store.external_instances} instances) refer to other documents. "
        "Nothing is ever fetched, so they are loose, with the reference as their reason: "
        + ", ".join(store.outside)
        + "."
    )
    yield "Rows whose label neither `jsonschema` nor `jsonschema_rs` confirms, formats being annotations:"
    yield "\n".join(f"- {line}" for line in sorted(set(store.doubtful))) or "None."


def _further(found: dict[str, Findings]) -> Iterator[str]:
    yield "## Further evidence"
    yield table([HEAD, *(row(title, name, t) for name, all_ in found.items() for title, t in all_.further.items())])
    counted = Counter(
        (name, loss.code) for name, all_ in found.items() for tally in all_.further.values() for loss in tally.excused
    )
    lines = "; ".join(f"{number} by `{code}` under {name}" for (name, code), number in sorted(counted.items()))
    yield f"Excused here: {lines or 'none'}."


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the test suite and general_schemas.jsonl")
    parser.add_argument("--write", action="store_true", help="also write docs/conformance.md")
    asked = parser.parse_args()
    missing = [name for name in ("json_schema_test_suite", "general_schemas.jsonl") if not (asked.data / name).exists()]
    if missing:
        print(f"{asked.data}: {' and '.join(missing)} not there; name their directory with --data", file=sys.stderr)
        return 2
    text, misses = report(asked.data)
    print(text)
    if asked.write:
        (ROOT / "docs" / "conformance.md").write_text(text, encoding="utf-8")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
