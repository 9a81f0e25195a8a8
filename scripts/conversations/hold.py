"""Holds conversations as one peer: jobs come as JSON on standard input, what became of them goes to standard output.

Runs in the environment of the peers. A peer is told nothing but a base URL and a key, by the variables that OpenAI's
client reads.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

from toolboxes import NOTES, TOOLBOXES, Toolbox


@dataclass(frozen=True, slots=True)
class Job:
    """Conversations to hold in one way: where, under what model's name, streamed or not, with strict on or off.

    Each conversation adds its place to the model's name, so that its requests can be told from others.
    """

    base_url: str
    model: str
    stream: bool
    strict: bool


Hold = Callable[[Toolbox, Job], Awaitable[None] | None]
"""Holds one conversation. What the tools got and what validation said goes to ``NOTES``."""


def held(hold: Hold, box: Toolbox, job: Job) -> dict[str, Any]:
    """What became of one conversation."""
    NOTES.clear()
    words = ""
    try:
        done = hold(box, job)
        if inspect.isawaitable(done):
            asyncio.run(_within(done))
    except Exception as error:  # noqa: BLE001 - whatever ends a conversation is what is to be told
        words = f"{type(error).__name__}: {error}"[:500]
    notes = asdict(NOTES)
    return {"kind": box.kind, "turns": len(box.prompts), "ended": words, **notes, "saw": dict(NOTES.saw)}


async def _within(done: Awaitable[None]) -> None:
    await asyncio.wait_for(done, 120)


def main() -> None:
    """Answer all jobs of a question."""
    question = json.load(sys.stdin)
    os.environ |= {"OPENAI_API_KEY": "key", "OPENAI_AGENTS_DONT_LOG_TOOL_DATA": "0", "LANGSMITH_TRACING": "false"}
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    library, version = question["library"], import_module("importlib.metadata").version
    hold: Hold = import_module(question["loop"]).hold
    found = []
    for asked in question["jobs"]:
        job = Job(**asked)
        os.environ["OPENAI_BASE_URL"] = job.base_url
        named = [(box, replace(job, model=f"{job.model}.{place}")) for place, box in enumerate(TOOLBOXES)]
        found.append([held(hold, box, one) for box, one in named])
    sys.stdout.write(json.dumps({"version": version(library), "jobs": found}))


if __name__ == "__main__":
    main()
