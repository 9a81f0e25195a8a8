"""Runs hostile cases in this process and prints a JSON line for each answer. Started by ``test_hostile.py``.

``python runner.py KIND MODE [NAME…]``: KIND is heavy, light, wrong or arguments; MODE is main, thread or small.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
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
from laws.contracts import KEYWORDS
from strictcall import ArgumentsError, CompiledTool, Tool, Toolset, compile_tool, judge

DIALECTS = ("openai", "anthropic", "json_schema")
SMALL_STACK = 256 * 1024
CALLS: list[Any] = ["", "{}", '{"a":"x"}', {"a": {"a": None}}, {"p0": "x"}]
MOST_TEXT = 20_000
SMALL = 0.02
"""Seconds; what compiles in less is also put in a toolset."""
PATIENCE = 12
"""After so many seconds a case is given up; only the main thread can be woken, so this runs there only."""


Times = list[tuple[float, str]]


def timed(what: str, act: Callable[[], Any], times: Times) -> Any:
    """Do something, note its processor time, and give it up after a while where that can be done."""
    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        signal.alarm(PATIENCE)
    start = time.thread_time()
    try:
        return act()
    finally:
        times.append((time.thread_time() - start, what))
        if in_main:
            signal.alarm(0)


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


def _stop(*_ignored: object) -> None:
    raise TimeoutError(f"no answer in {PATIENCE} seconds")


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
    sys.stdout.write(
        json.dumps({"case": name, "dialect": dialect, "seconds": seconds, "slowest": slowest, "peak": peak, **told})
        + "\n"
    )
    sys.stdout.flush()


def peak_megabytes() -> int:
    """The most memory that this program held. Linux counts that of the process that started it into ``ru_maxrss``."""
    status = Path("/proc/self/status")
    if status.exists():
        held = next((line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")), "")
        if held:
            return int(held.split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_all(kind: str, names: list[str]) -> None:
    rows: dict[str, Any]
    if kind == "arguments":
        rows = dict(arguments.CASES)
    else:
        rows = {"heavy": cases.heavy, "light": cases.light, "wrong": lambda: cases.wrong(KEYWORDS)}[kind]()
    for name, case in rows.items():
        if names and name not in names:
            continue
        for dialect in DIALECTS:
            if kind == "arguments":
                line(name, dialect, lambda times, case=case, dialect=dialect: run_arguments(case, dialect, times))
            else:
                line(name, dialect, lambda times, case=case, dialect=dialect: run_schema(case, dialect, times))


def main(kind: str, mode: str, *names: str) -> None:
    """Run the cases in the thread that ``mode`` names."""
    signal.signal(signal.SIGALRM, _stop)
    compile_tool(Tool("warm", "up", {"type": "object"}), dialect="openai")
    if mode == "main":
        run_all(kind, list(names))
        return
    if mode == "small":
        threading.stack_size(SMALL_STACK)
    worker = threading.Thread(target=run_all, args=(kind, list(names)))
    worker.start()
    worker.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
