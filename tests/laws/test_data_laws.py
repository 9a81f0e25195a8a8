"""The laws over real tools: a small sample that ships with the tests, and a seeded sample of the big data.

``STRICTCALL_DATA_TOOLS`` says how many tools of the big data are taken (300).
"""

from __future__ import annotations

import json
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from laws import harness
from laws.harness import DIALECTS
from strictcall import Tool, Verdict
from strictcall.emulator.answers.grammar import GrammarRefusedError
from strictcall.testing import laws
from strictcall.testing.case import Case
from strictcall.testing.instances import Instances
from strictcall.testing.picking import Seeded

SAMPLE = Path(__file__).parents[1] / "data" / "tools_sample.jsonl"
COUNT = int(os.environ.get("STRICTCALL_DATA_TOOLS", "300"))
CHUNKS = 6


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


@cache
def drawn(folder: Path) -> list[dict[str, Any]]:
    """A seeded sample of all real tools in the big data."""
    files = sorted([*folder.glob("live_mcp_a.jsonl"), *folder.glob("mcp_*.jsonl"), *folder.glob("fc_*.jsonl")])
    rows = [row for file in files for row in read(file)]
    return random.Random(20261130).sample(rows, min(COUNT, len(rows)))  # noqa: S311 - a seed, not a secret


def every_law(row: dict[str, Any], dialect: str) -> Case:
    """All laws for one real tool, with two sampled calls and two made from the contract."""
    case = Case(Tool(row["name"], row.get("description"), row["schema"]), dialect)
    laws.whole(case)
    made = Instances(row["schema"], Seeded(row["name"]))
    for _ in range(2):
        laws.sayable(case, made.value())
    if case.compiled.strict:
        try:
            sampler = case.sampler
        except GrammarRefusedError as error:
            raise AssertionError(f"llguidance refuses a strict wire schema: {error}\n{case}") from error
        for sample in sampler.samples(2, seed=len(row["name"])):
            harness.sound(case, sample)
    return case


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in read(SAMPLE)])
def test_laws_of_the_shipped_sample(row: dict[str, Any], dialect: str) -> None:
    case = every_law(row, dialect)
    assert case.compiled.verdict in Verdict


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_laws_of_the_big_data(shared_data: Path, chunk: int, dialect: str) -> None:
    broken = []
    for row in drawn(shared_data)[chunk::CHUNKS]:
        try:
            every_law(row, dialect)
        except AssertionError as error:
            broken.append(f"{row['source']} {row['name']}: {error}")
    assert not broken, "\n\n".join(broken[:5])
