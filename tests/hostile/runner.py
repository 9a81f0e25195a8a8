"""Runs hostile cases in processes forked from this one and prints a JSON line for each. ``test_hostile.py`` starts it.

``python runner.py KIND MODE WIDTH``: KIND is one of ``cases.KINDS``; MODE is main or small, the thread; WIDTH is all
for every case under every dialect. A process that dies or hangs costs the case it was at; the next goes on after it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import resource
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile import arguments, cases
from strictcall import ArgumentsError, CompiledTool, Tool, Toolset, compile_tool, judge

SMALL_STACK = 256 * 1024
CALLS: list[Any] = ["", "{}", '{"a":"x"}', {"a": {"a": None}}, {"p0": "x"}]
MOST_TEXT = 20_000
SMALL = 0.02
"""Seconds; what compiles in less is also put in a toolset."""
PATIENCE = 60
"""Seconds for one case on a busy machine; what takes longer is ended, with a trace of where it was on stderr."""


Times = list[tuple[float, str]]
ROWS: dict[str, Any] = {}
"""The cases of the kind that this process was started for."""


def timed(what: str, act: Callable[[], Any], times: Times) -> Any:
    """Do something and note its processor time."""
    start = time.thread_time()
    try:
        return act()
    finally:
        times.append((time.thread_time() - start, what))


def sane(error: ArgumentsError) -> bool:
    """False, the call was refused; checks that the refusal is one that a model can read."""
    assert error.faults
    assert len(str(error)) < MOST_TEXT, f"an error of {len(str(error))} characters"
    return False


def answer(compiled: CompiledTool, call: Any, form: str) -> bool:
    """Whether a call was taken; only ``ArgumentsError`` may refuse it, in a text of sane length."""
    try:
        value = compiled.decode(call, form=form)
    except ArgumentsError as error:
        return sane(error)
    assert compiled.check(value) == ()
    return True


def run_schema(build: Callable[[], Any], dialect: str, times: Times) -> dict[str, Any]:
    schema = build()
    compiled = timed("compile", lambda: compile_tool(Tool("hostile", "d", schema), dialect=dialect), times)
    assert compiled.strict or compiled.reason, "loose without a reason"
    assert compiled.reason is None or len(compiled.reason) < MOST_TEXT, "an endless reason"
    if compiled.strict:
        assert timed("judge", lambda: judge(compiled.parameters, dialect), times) == []
    timed("judge as it stands", lambda: judge(schema, dialect), times)
    for call in CALLS:
        timed("decode", lambda call=call: answer(compiled, call, "wire"), times)
        with contextlib.suppress(ArgumentsError):
            timed("encode", lambda call=call: compiled.encode(call), times)
    if max(times)[0] < SMALL:
        Toolset([Tool("one", None, schema), Tool("two", None, schema)], dialect=dialect)
    return {"strict": compiled.strict, "verdict": str(compiled.verdict), "reason": (compiled.reason or "")[:200]}


@cache
def tool(name: str, dialect: str) -> CompiledTool:
    return compile_tool(Tool("hostile", "d", arguments.TOOLS[name]), dialect=dialect)


def run_arguments(case: arguments.Hostile, dialect: str, times: Times) -> dict[str, Any]:
    taken: list[str] = []
    value = case.make()
    for name in case.tools:
        compiled = tool(name, dialect)
        taken += [
            name
            for form in ("wire", "either")
            if timed(
                f"decode {name}", lambda form=form, compiled=compiled, value=value: answer(compiled, value, form), times
            )
        ]
        if not isinstance(value, str | bytes):
            with contextlib.suppress(ArgumentsError):
                timed(f"encode {name}", lambda compiled=compiled, value=value: compiled.encode(value), times)
                taken.append(f"{name} encoded")
            timed(f"check {name}", lambda compiled=compiled, value=value: compiled.check(value), times)
    assert not (case.refused and taken), f"taken by {taken}"
    return {"taken": taken}


def line(name: str, dialect: str, run: Callable[[Times], dict[str, Any]]) -> None:
    times: Times = []
    try:
        told = run(times)
    except BaseException as error:  # noqa: BLE001 - whatever comes is what the test is about
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
        told = {"error": f"{type(error).__name__}: {str(error)[:300]} ({place})"}
    peak = peak_megabytes()
    seconds, slowest = max(times, default=(0.0, "nothing"))
    say({"case": name, "dialect": dialect, "seconds": seconds, "slowest": slowest, "peak": peak, **told})


def say(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def peak_megabytes() -> int:
    """The most memory that this program held. Linux counts that of the process that started it into ``ru_maxrss``."""
    status = Path("/proc/self/status")
    if status.exists():
        held = next((line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")), "")
        if held:
            return int(held.split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_one(kind: str, name: str, dialect: str) -> None:
    case: Any = ROWS[kind][name]
    act = run_arguments if kind == "arguments" else run_schema
    line(name, dialect, lambda times: act(case, dialect, times))


def run_some(kind: str, runs: list[tuple[str, str]], first: int, at: mmap.mmap) -> None:
    """Run them in order; ``at`` always holds the number of the one that is being run."""
    for number, (name, dialect) in enumerate(runs):
        at.seek(0)
        at.write((first + number).to_bytes(4))
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        run_one(kind, name, dialect)
    faulthandler.cancel_dump_traceback_later()


def in_thread(mode: str, act: Callable[[], None]) -> None:
    """Do it in the thread that ``mode`` names."""
    if mode == "main":
        act()
        return
    threading.stack_size(SMALL_STACK)
    worker = threading.Thread(target=act)
    worker.start()
    worker.join()


def main(kind: str, mode: str, width: str) -> None:
    """Run the cases of a kind, the heavy ones each in a process of its own."""
    ROWS[kind] = cases.rows(kind)
    runs = cases.runs(kind, everywhere=width == "all")
    compile_tool(Tool("warm", "up", {"type": "object"}), dialect="openai")
    batch = 1 if kind == "heavy" else len(runs)
    at = mmap.mmap(-1, 4)
    first = 0
    while first < len(runs):
        process = os.fork()
        if not process:
            in_thread(mode, lambda first=first: run_some(kind, runs[first : first + batch], first, at))
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code:
            first = int.from_bytes(at[:4])
            name, dialect = runs[first]
            say({"case": name, "dialect": dialect, "seconds": 0, "peak": 0, "error": f"died or hung ({code})"})
            first += 1
        else:
            first += batch


if __name__ == "__main__":
    main(*sys.argv[1:])
