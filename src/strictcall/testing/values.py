"""Values to look at the laws with: what a strict decoder could write, what the contract admits, and mutations of both.

Each comes from a seed, so that a run can be repeated, and none comes twice.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from strictcall.emulator.answers.grammar import Grammar, GrammarRefusedError, Sample, brought_in, faithful
from strictcall.testing.case import Case
from strictcall.testing.comparing import text
from strictcall.testing.instances import Instances
from strictcall.testing.mutations import bent
from strictcall.testing.picking import Seeded

BEYOND: Final = "a literal beyond 64 bits"
BUDGET: Final = 6_000
"""A text for a contract has at most so many bytes."""


class Values:
    """The values for one case: about ``count`` of each kind, fewer where a schema admits only few."""

    def __init__(self, case: Case, count: int, seed: int) -> None:
        self._case = case
        self._count = count
        self._seed = seed
        self._pick = Seeded(f"{seed} {case.tool.name}")
        self._seen: set[tuple[str, str]] = set()

    def sampled(self) -> Iterator[Sample]:
        """Texts that a decoder held to the wire schema could write.

        Raises ``GrammarRefusedError`` where llguidance does not take the schema, or cannot write its literals.
        """
        if not faithful(brought_in(self._case.wire.schema)):
            raise GrammarRefusedError(BEYOND)
        for sample in self._case.sampler.samples(self._count, self._seed):
            if self._new("wire", sample.value):
                yield sample

    def built(self) -> Iterator[Any]:
        """Values that the wire admits, built from its structure; most leave out or bend what llguidance would not."""
        made = Instances(self._case.wire.schema, self._pick)
        for _ in range(self._count):
            value = made.value()
            if self._case.wire.admits(value) and self._new("wire", value):
                yield value

    def contract(self) -> Iterator[Any]:
        """Values made for the contract, in its own form: many fit, and a tool's own check says which."""
        for value in ({}, *self._lenient(), *self._structural()):
            if self._new("contract", value):
                yield value

    def bent(self, value: Any, form: str) -> Iterator[Any]:
        """A mutation of a value of this form, unless it came before."""
        mutation = bent(value, self._pick)
        if self._new(form, mutation):
            yield mutation

    def _lenient(self) -> Iterator[Any]:
        contract = self._case.tool.parameters
        if not isinstance(contract, dict):
            return
        try:
            # Keywords that llguidance does not know are passed over: the tool's own check says which values fit.
            grammar = Grammar(contract, lenient=True)
        except GrammarRefusedError:
            return  # a draft of JSON Schema that llguidance does not read, or one of its own limits
        rng = random.Random(self._seed)  # noqa: S311 - a seed, not a secret
        for _ in range(self._count):
            sample = grammar.raw_sample(rng, budget_bytes=BUDGET)
            if sample is not None:
                yield sample.value

    def _structural(self) -> Iterator[Any]:
        made = Instances(self._case.tool.parameters, self._pick)
        for _ in range(self._count):
            yield made.value()

    def _new(self, form: str, value: Any) -> bool:
        key = (form, text(value))
        if key in self._seen:
            return False
        self._seen.add(key)
        return True
