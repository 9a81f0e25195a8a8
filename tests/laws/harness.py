"""The laws as the tests look at them: where llguidance writes what a validator of the wire does not admit, that fails,
known flaws of llguidance aside.
"""

from __future__ import annotations

from typing import Any

from strictcall import Dialect, Policy, Tool, dialects
from strictcall.emulator.answers.grammar import Sample
from strictcall.testing import laws
from strictcall.testing.case import Case
from strictcall.testing.disputes import known_flaw

DIALECTS = ("openai", "anthropic", "json_schema")
"""The dialects that every law is looked at under by itself."""
OTHERS = tuple(dialect.name for dialect in dialects() if dialect.name not in DIALECTS)
"""The other dialects, most of which differ from one of those in a few rules."""


def subject(schema: Any, dialect: str | Dialect, policy: Policy | None = None) -> Case:
    """A case made of a bare schema, as a tool's parameters."""
    return Case(Tool("tool", "Does it.", schema), dialect, policy or Policy())


def sound(case: Case, sample: Sample) -> None:
    """The law, for what llguidance wrote, which the wire must admit."""
    admitted = case.wire.admits(sample.value) or known_flaw(case.wire.schema, sample.text)
    assert admitted, f"llguidance writes what the wire does not admit: {sample.text}\n{case}"
    laws.sound(case, sample.text, sample.value)
