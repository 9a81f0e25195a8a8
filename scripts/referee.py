"""Everybody else's word on what we send: independent judges of the wire schemas, and real MCP servers.

Each judge is a library that knows strict schemas, in a virtual environment of its own, shown the wire schemas of every
distinct tool of the data. ``servers`` is the run over twenty real MCP servers. What cannot be installed is skipped, and
why is said. Exits with 1 where a judge refuses anything that no exception covers, or a server does not answer; 2 where
there is nothing to judge.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "referees"), str(HERE / "bench")]

import servers  # noqa: E402
from environments import DATA, ROOT, AbsentError  # noqa: E402
from hearings import Session, hear, report, unused  # noqa: E402
from killable import WorkerError  # noqa: E402
from roster import ALLOWANCES, REFEREES, Referee, interpreter  # noqa: E402
from wires import SEED, contracts, tool_files, wires  # noqa: E402

PAGE = ROOT / "docs" / "referees.md"
MARKS = ("<!-- figures -->", "<!-- end of figures -->")
SERVERS = "servers"


def main() -> int:
    """Run what is asked for; returns the exit code."""
    asked = arguments()
    chosen = [referee for referee in REFEREES if not asked.only or any(part in referee.name for part in asked.only)]
    code = 0
    if chosen:
        files = tool_files(asked.data)
        if not files:
            print(f"referee: {asked.data}: no tools there; name a folder with --data", file=sys.stderr)
            return 2
        code = judges(chosen, files, asked)
    if not asked.only or SERVERS in asked.only:
        ran = servers.run_once(asked.keep)
        code = max(code, ran if ran is not None else 0 if chosen else 2)
    return code


def arguments() -> argparse.Namespace:
    """The command line."""
    names = ", ".join([*(referee.name for referee in REFEREES), SERVERS])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help=f"only those whose name holds one of these: {names}")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the files of tools")
    parser.add_argument("--most", type=int, help="a sample of so many distinct schemas, always the same")
    parser.add_argument("--dialect", action="append", help="only these dialects")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/referees.md")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="servers: install there and keep it")
    asked = parser.parse_args()
    known = [*(referee.name for referee in REFEREES), SERVERS]
    for part in asked.only:
        if not any(part in name for name in known):
            parser.error(f"{part!r} is in the name of none of {names}")
    return asked


def judges(chosen: list[Referee], files: list[Path], asked: argparse.Namespace) -> int:
    """Every judge over its dialects; prints as it goes."""
    schemas = contracts(files, asked.most)
    sample = f", a sample by seed {SEED}" if asked.most else ", all of them"
    opening = f"{len(schemas):,} distinct tool schemas of {len(files)} files{sample}."
    print(opening, "\n", flush=True)
    wires_of = functools.cache(functools.partial(wires, schemas))
    sessions: list[Session] = []
    for referee in chosen:
        dialects = [name for name in referee.dialects if not asked.dialect or name in asked.dialect]
        start = time.monotonic()
        try:
            session = hear(referee, interpreter(referee), wires_of, dialects)
        except (AbsentError, WorkerError) as error:
            session = Session(referee, absent=str(error))
        sessions.append(session)
        print(report(session), f"\n{time.monotonic() - start:.0f} s\n", flush=True)
    idle = [] if asked.most or asked.dialect else unused(sessions)
    for known in idle:
        print(f"an exception that excused nothing: {known.referee}, {known.rule}")
    refused = sum(session.refused for session in sessions)
    absent = [session.referee.name for session in sessions if session.absent]
    print(f"refused without an exception: {refused}; skipped: {', '.join(absent) or 'none'}")
    if asked.write:
        write(opening, sessions)
    return 1 if refused else 0


def write(opening: str, sessions: list[Session]) -> None:
    """Put the figures between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    reasons = "\n".join(
        f"- `{known.referee}`, `{known.rule}`, under {', '.join(known.dialects)}: {known.reason}."
        for known in ALLOWANCES
    )
    figures = "\n".join(report(session) for session in sessions)
    body = f"{opening}\n\n{figures}\n## Exceptions\n\n{reasons}\n"
    PAGE.write_text(f"{before}{MARKS[0]}\n{body}{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
