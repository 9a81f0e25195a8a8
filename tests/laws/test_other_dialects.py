"""The laws under every dialect: each generated contract under one of them, and the shipped sample under all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import harness
from laws.harness import OTHERS, Subject, subject
from laws.sampling import RefusedError
from laws.test_data_laws import SAMPLE, read
from laws.test_laws import POLICIES, cases
from strictcall import Policy, Tool


def every_law(made: Subject, values: list[Any], seed: int) -> None:
    harness.total(made)
    harness.accepted(made)
    harness.untouched(made)
    harness.idempotent(made)
    for value in values:
        harness.sayable(made, value)
        harness.guarded(made, value)
    if made.compiled.strict:
        try:
            samples = list(made.sampler.samples(3, seed))
        except RefusedError:
            return
        for sample in samples:
            harness.sound(made, sample)


FEW = max(10, settings.default.max_examples // 8)
"""Examples for each of these: they differ little from the dialects that all laws are looked at under."""


@pytest.mark.parametrize("dialect", OTHERS)
@settings(max_examples=FEW)
@given(cases(values=2), st.one_of(st.just(Policy()), POLICIES), st.integers(0, 2**32))
def test_every_law(dialect: str, case: tuple[Any, list[Any]], policy: Policy, seed: int) -> None:
    schema, values = case
    every_law(subject(schema, dialect, policy), values, seed)


@pytest.mark.parametrize("dialect", OTHERS)
def test_laws_of_the_shipped_sample(dialect: str) -> None:
    for row in read(SAMPLE):
        every_law(Subject(Tool(row["name"], row.get("description"), row["schema"]), dialect), [{}], len(row["name"]))
