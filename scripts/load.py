"""``make load``: many clients at once on the emulator, and what becomes of its memory.

The emulator is a process of its own, started as a user starts it. Every client asks for calls of a few real tools,
whole or streamed, and waits for the answer before it asks again. Fails on any answer but the one that was asked for,
and where the process holds much more memory at the end than when it had warmed up.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2

from strictcall import Tool, compile_tool

SAMPLE = Path(__file__).parents[1] / "tests" / "data" / "tools_sample.jsonl"
MOST_GROWTH = 1.25
"""How much more memory the end may find than the middle."""


@dataclass
class Outcome:
    """What came of all requests: statuses or errors by count, seconds of each, and the memory along the way (MiB)."""

    said: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def bodies(count: int) -> list[dict[str, Any]]:
    """Requests with a few strict tools each."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    compiled = [compile_tool(Tool(row["name"], row.get("description"), row["schema"])) for row in rows]
    tools = [
        {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters, "strict": True}}
        for tool in compiled
        if tool.strict
    ]
    made = []
    for index in range(count):
        some = [tools[(index * 3 + step) % len(tools)] for step in range(3)]
        messages = [{"role": "user", "content": f"Please do number {index}."}]
        made.append(
            {"model": "m", "messages": messages, "tools": some, "tool_choice": "required", "stream": index % 2 == 0}
        )
    return made


def resident(pid: int) -> float:
    """The memory that a process holds, in MiB; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def client(url: str, requests: list[dict[str, Any]], number: int, until: float, outcome: Outcome) -> None:
    """One client: asks until the time is up."""
    async with httpx2.AsyncClient(timeout=120) as http:
        turn = number
        while time.monotonic() < until:
            body = requests[turn % len(requests)]
            turn += 1
            began = time.monotonic()
            try:
                response = await http.post(f"{url}/chat/completions", json=body)
                said = str(response.status_code)
                if response.status_code == 200 and not finished(response.text, stream=body["stream"]):
                    said = "200, but no whole answer"
            except httpx2.HTTPError as error:
                said = type(error).__name__
            outcome.said[said] += 1
            outcome.seconds.append(time.monotonic() - began)


def finished(text: str, *, stream: bool) -> bool:
    """Whether an answer is whole."""
    return text.rstrip().endswith("data: [DONE]") if stream else bool(json.loads(text)["choices"])


async def watch(pid: int, until: float, outcome: Outcome) -> None:
    """Note the memory every second."""
    while time.monotonic() < until:
        outcome.memory.append(resident(pid))
        await anyio.sleep(1)


async def run(url: str, pid: int, clients: int, seconds: float) -> Outcome:
    """All clients for so many seconds."""
    outcome, requests = Outcome(), bodies(400)
    until = time.monotonic() + seconds
    async with anyio.create_task_group() as group:
        group.start_soon(watch, pid, until, outcome)
        for number in range(clients):
            group.start_soon(client, url, requests, number, until, outcome)
    return outcome


def main() -> int:
    """Start the emulator, load it, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    asked = parser.parse_args()
    command = [sys.executable, "-m", "strictcall", "emulate", "--dialect", "openai", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own command
        try:
            assert process.stdout is not None  # noqa: S101 - asked for above
            url = process.stdout.readline().split()[2]
            outcome = anyio.run(run, url, process.pid, asked.clients, asked.seconds)
        finally:
            process.terminate()
    return told(outcome, asked.clients)


def told(outcome: Outcome, clients: int) -> int:
    """Print the outcome; 1 where it is not as it should be."""
    ordered = sorted(outcome.seconds)
    middle = outcome.memory[len(outcome.memory) // 2 :]
    print(f"{clients} clients, {len(ordered):,} requests: {dict(outcome.said)}")
    median, nearly_all = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    print(f"seconds: median {median:.2f}, 99 % {nearly_all:.2f}, most {ordered[-1]:.2f}")
    print(f"memory, MiB: at first {outcome.memory[0]:.0f}, midway {middle[0]:.0f}, at the end {middle[-1]:.0f}")
    steady = middle[0] == 0 or middle[-1] <= middle[0] * MOST_GROWTH
    return 0 if set(outcome.said) == {"200"} and steady else 1


if __name__ == "__main__":
    sys.exit(main())
