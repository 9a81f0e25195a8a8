"""The laws under limits so tight that most generated contracts need to be fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.harness import subject
from laws.test_laws import cases
from laws.test_other_dialects import every_law
from strictcall import Dialect, Policy
from strictcall.dialect.model import Limit
from strictcall.dialect.registry import load

TIGHT: Final = {
    "optional": ("anthropic", 1),
    "unions": ("anthropic", 0),
    "depth": ("openai", 2),
    "properties": ("openai", 3),
    "enum_values": ("openai", 1),
    "name_characters": ("openai", 12),
    "characters": ("json_schema", 150),
    "bytes": ("kimi", 200),
    "item_bounds": ("gemini-json", 2),
    "union_branches": ("cerebras", 2),
}
"""For each limit a dialect and what it is set to."""


def tight(name: str) -> Dialect:
    """A dialect with this limit and no other."""
    dialect, most = TIGHT[name]
    return replace(load(dialect), limits=(Limit(name, most),))


@pytest.mark.parametrize("name", TIGHT)
@settings(max_examples=max(20, settings.default.max_examples // 4))
@given(cases(values=2), st.sampled_from([Policy(), Policy(fidelity="exact")]), st.integers(0, 2**32))
def test_every_law(name: str, case: tuple[Any, list[Any]], policy: Policy, seed: int) -> None:
    schema, values = case
    made = subject(schema, tight(name), policy)
    every_law(made, values, seed)
    if made.compiled.strict:
        assert made.compiled.counts[name] <= TIGHT[name][1]
