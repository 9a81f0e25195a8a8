"""A real engine and a real model: llama.cpp's own server with a small model takes a toolset and answers with calls.

Each tool is compiled for ``llama.cpp`` and sent twice: as a forced call in a request with the whole toolset, under a
chat template that knows tools, and as ``response_format`` under the model's own template, which knows none. What the
model says may be silly: what counts is that the engine takes every strict schema and that its answers decode. Then
``strictcall run`` and ``strictcall probe`` are tried on the model as a user would; ``ONLY=run`` tries nothing else.
Exits with 1 where something does not hold, and with 2 where the engine cannot be had.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "real_model"))

from as_a_user import command, told  # noqa: E402
from chosen import AS_WRITTEN, chosen, last_name  # noqa: E402
from llama_engine import AbsentError, CrashError, Engine, install  # noqa: E402
from replies import (  # noqa: E402
    BROKEN,
    CALL,
    CUT,
    FORMAT,
    REFUSED,
    WRITTEN,
    Line,
    call_body,
    failures,
    format_body,
    judged,
    refusal,
    row,
    totals,
)

from strictcall import CompiledTool, Toolset  # noqa: E402

DIALECT = "llama.cpp"
CONTEXT = 8192
OK = 200
PATH = "/v1/chat/completions"
TEMPLATE = HERE / "real_model" / "calls.jinja"
RUNNING = HERE / "real_model" / "run.jinja"
"""A template that says how calls are written, in a way that the engine reads beside answers in words."""
RUN = "run"

Body = Callable[[int], dict[str, Any]]


def main() -> int:
    """Run what is asked for; returns the exit code."""
    asked = arguments()
    if asked.only == [RUN]:
        return as_a_user(asked)
    tools = [tool for tool in chosen() if not asked.only or any(part in tool.name for part in asked.only)]
    toolset = Toolset(tools, DIALECT)
    if not toolset.strict:
        print(f"real-model: {' '.join(asked.only)}: in the name of none of the tools", file=sys.stderr)
        return 2
    start = time.monotonic()
    try:
        lines = [*calls(toolset, asked), *formats(toolset, asked)]
    except AbsentError as error:
        print(f"real-model: {error}", file=sys.stderr)
        return 2
    wrong = failures(lines)
    print(f"\n{totals(lines)}\n")
    loose = ", ".join(tool.tool.name for tool in toolset.loose) or "none"
    print(f"{len(lines)} requests in {time.monotonic() - start:.0f} s; loose, not sent: {loose}; wrong: {len(wrong)}")
    for line in wrong:
        print(row(line))
    return max(1 if wrong else 0, 0 if asked.only else as_a_user(asked))


def as_a_user(asked: argparse.Namespace) -> int:
    """The commands on the model: each ends as a command may, and in one at least a call is run and then answered."""
    try:
        with engine(asked, RUNNING) as server:
            ended = []
            for each in told(server.address):
                print(f"{command(each.words)}\n{each.shown.rstrip()}\n(exit code {each.code})\n", flush=True)
                ended.append(each)
    except AbsentError as error:
        print(f"real-model: {error}", file=sys.stderr)
        return 2
    called = sum(each.has_called for each in ended)
    sound = sum(each.is_sound for each in ended)
    print(f"{len(ended)} commands, {sound} ended as they may, {called} with a call that was run")
    return 0 if called and all(each.is_sound for each in ended) else 1


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="only the tools whose name holds one of these")
    # Threads of the engine wait for each other: where one core is busy, two of them are slower than one by far.
    parser.add_argument("--threads", type=int, default=1, help="of the engine")
    parser.add_argument("--most", type=int, default=160, help="tokens of an answer; one that is cut is asked once more")
    parser.add_argument("--again", type=int, default=480, help="tokens of the second answer")
    asked = parser.parse_args()
    for name in ("threads", "most", "again"):
        if getattr(asked, name) < 1:
            parser.error(f"--{name} must be 1 or more")
    return asked


def engine(asked: argparse.Namespace, template: Path | None = None) -> Engine:
    """The server, started with the model's chat template or another one."""
    python, model = install()
    text = None if template is None else template.read_text(encoding="utf-8")
    started = Engine(python, model, asked.threads, CONTEXT, text)
    able = started.ask("/props").body["chat_template_caps"]["supports_tool_calls"]
    whose = "its own chat template" if template is None else template.name
    knows = "knows tools" if able else "knows no tools"
    print(f"\nxllamacpp {started.version}, {model.name}, threads: {asked.threads}, {whose} {knows}\n", flush=True)
    return started


def calls(toolset: Toolset, asked: argparse.Namespace) -> Iterator[Line]:
    """Each strict tool as the call of a request with all of them; alone where the engine refuses them together."""
    strict = toolset.strict
    with engine(asked, TEMPLATE) as server:
        together = server.ask(PATH, call_body(strict, strict[0], 1))
        if together.status != OK:
            print(f"refused together: {refusal(together.body)}")
        for tool in strict:
            shown = strict if together.status == OK else (tool,)
            yield said(server, tool, CALL, partial(call_body, shown, tool), asked)


def formats(toolset: Toolset, asked: argparse.Namespace) -> Iterator[Line]:
    """The wire schema of each strict tool as ``response_format``, then the contract of some as it was written."""
    with engine(asked) as server:
        for tool in toolset.strict:
            yield said(server, tool, FORMAT, partial(format_body, tool.name, tool.description, tool.parameters), asked)
        for tool in toolset:
            if last_name(tool.tool.name) in AS_WRITTEN:
                body = partial(format_body, tool.name, tool.tool.description, tool.tool.parameters)
                yield said(server, tool, WRITTEN, body, asked)


def said(server: Engine, tool: CompiledTool, way: str, body: Body, asked: argparse.Namespace) -> Line:
    """What one tool's request comes to; an answer that is cut is asked for once more, with more room."""
    start = time.monotonic()
    outcome, words = CUT, ""
    for most in (asked.most, asked.again):
        try:
            reply = server.ask(PATH, body(most))
        except CrashError as error:
            outcome, words = BROKEN, str(error)
            break
        outcome, words = judged(tool, way, reply.body) if reply.status == OK else (REFUSED, refusal(reply.body))
        if outcome != CUT:
            break
    line = Line(last_name(tool.tool.name), str(tool.verdict), way, outcome, time.monotonic() - start, words)
    print(row(line), flush=True)
    return line


if __name__ == "__main__":
    sys.exit(main())
