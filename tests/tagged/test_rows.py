"""Texts as models write them, in every format: what other parsers are tested with, and cases of our own.

A row of ``data/tagged_rows.jsonl`` has ``format`` and ``tools``, the ``text`` of an answer, and what is in it:
``calls``, ``content`` (the text around them) and, if any, ``reasoning``. A call with ``faults`` names the places that
are at fault; one with ``"complete": false`` was cut off. ``auto``: the format need not be named. ``thinking``: the
prompt opened a thought. Where another parser reads a text differently, ``calls`` and ``content`` are what it expects,
``ours`` is what we read, and ``why`` says why.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest

from api.streaming import check_law, run
from strictcall import Tool, Toolset
from strictcall.api.answer import Answer
from strictcall.tagged import Stream, formats, read

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "tagged_rows.jsonl").read_text("utf-8").splitlines()
]
IDS = [row["id"] for row in ROWS]
OTHERS = ("vllm-project/vllm ", "sgl-project/sglang ", "mudler/LocalAI ")
EVERY = 24
"""Texts up to this length are cut at every character, longer ones at as many of them."""


@cache
def offered(tools: str) -> Toolset:
    return Toolset([Tool(tool["name"], "", tool["parameters"]) for tool in json.loads(tools)], "openai")


def toolset(row):
    return offered(json.dumps(row["tools"]))


def told(call):
    """A call as the rows have it."""
    if not call.complete:
        return {"name": call.name, "complete": False}
    if call.faults:
        return {"name": call.name, "faults": sorted({fault.pointer for fault in call.faults})}
    return {"name": call.name, "arguments": call.arguments}


def expected(call):
    return {**call, "faults": sorted(call["faults"])} if "faults" in call else call


def spaced(text):
    """A text without what white space around calls is kept: that is no part of the format."""
    return " ".join(text.split())


def check(answer: Answer, row) -> None:
    wanted = row.get("ours", row)
    assert list(map(told, answer.calls)) == list(map(expected, wanted["calls"]))
    assert spaced(answer.text) == spaced(wanted["content"])
    assert spaced(answer.reasoning) == spaced(row.get("reasoning", ""))
    if not answer.calls and not answer.reasoning and wanted["content"] == row["text"]:
        assert answer.text == row["text"]


def asked(row):
    return [row["format"], "auto"] if row["auto"] else [row["format"]]


def cuts(text, seed):
    places = range(1, len(text))
    return places if len(text) <= EVERY else sorted(Random(seed).sample(places, EVERY // 4))  # noqa: S311


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_read(row):
    for form in asked(row):
        check(read(row["text"], toolset(row), form, thinking=row.get("thinking", False)), row)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_stream(row):
    """The same character by character, and in two pieces."""
    text = row["text"]
    for form in asked(row):
        pieces = [list(text), *([text[:at], text[at:]] for at in cuts(text, row["id"]))]
        for cut in pieces:
            events, answer = run(Stream(toolset(row), form, thinking=row.get("thinking", False)), cut)
            check(answer, row)
            check_law(events, answer)


def test_rows_are_sound():
    assert len(set(IDS)) == len(IDS)
    assert {row["format"] for row in ROWS} <= set(formats())
    for row in ROWS:
        assert ("ours" in row) == ("why" in row), row["id"]
        if "ours" in row:
            assert (row["ours"]["calls"], row["ours"]["content"]) != (row["calls"], row["content"]), row["id"]


def test_there_are_rows_of_other_parsers_for_every_format():
    """At least 300 in all; a format that no other parser's tests cover would have none."""
    counted = Counter(row["format"] for row in ROWS if row["source"].startswith(OTHERS))
    assert sum(counted.values()) >= 300
