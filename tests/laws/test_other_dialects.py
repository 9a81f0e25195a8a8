"""The laws under every dialect: each generated contract under one of them, and the shipped sample under all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import harness
from laws.harness import OTHERS, subject
from laws.test_data_laws import SAMPLE, drawn, read
from laws.test_laws import POLICIES, cases
from strictcall import Policy, Tool
from strictcall.emulator.answers.grammar import GrammarRefusedError
from strictcall.testing import laws
from strictcall.testing.case import Case
from strictcall.testing.comparing import text
from strictcall.testing.instances import Instances
from strictcall.testing.picking import Seeded


def every_law(made: Case, values: list[Any], seed: int) -> None:
    laws.whole(made)
    for value in values:
        laws.sayable(made, value)
        laws.guarded(made, value)
    if made.compiled.strict:
        try:
            samples = list(made.sampler.samples(3, seed))
        except GrammarRefusedError:
            return
        for sample in samples:
            harness.sound(made, sample)


FEW = max(10, settings.default.max_examples // 8)
"""Examples for each of these: they differ little from the dialects that all laws are looked at under."""
USUAL = 300
"""How many tools of the big data are drawn unless more are asked for."""


@pytest.mark.parametrize("dialect", OTHERS)
@settings(max_examples=FEW)
@given(cases(values=2), st.one_of(st.just(Policy()), POLICIES), st.integers(0, 2**32))
def test_every_law(dialect: str, case: tuple[Any, list[Any]], policy: Policy, seed: int) -> None:
    schema, values = case
    every_law(subject(schema, dialect, policy), values, seed)


@pytest.mark.parametrize("dialect", OTHERS)
def test_laws_of_the_shipped_sample(dialect: str) -> None:
    for row in read(SAMPLE):
        every_law(Case(Tool(row["name"], row.get("description"), row["schema"]), dialect), [{}], len(row["name"]))


@pytest.mark.parametrize("dialect", OTHERS)
def test_laws_of_the_big_data(shared_data: Path, dialect: str) -> None:
    """A tenth of the tools that the main dialects are looked at with, each distinct wire schema once."""
    rows = drawn(shared_data)
    seen: set[str] = set()
    broken = []
    for row in rows[:: 1 if len(rows) > 2 * USUAL else 10]:
        case = Case(Tool(row["name"], row.get("description"), row["schema"]), dialect)
        wire = text(case.compiled.parameters)
        if wire in seen:
            continue
        seen.add(wire)
        made = Instances(row["schema"], Seeded(row["name"]))
        try:
            every_law(case, [made.value() for _ in range(2)], len(row["name"]))
        except AssertionError as error:
            broken.append(f"{row['source']} {row['name']}: {error}")
    assert not broken, "\n\n".join(broken[:5])
