"""The laws looked at for one tool: ``assert_round_trips`` for a test, ``examine`` for whoever counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.dialect.model import Dialect
from strictcall.emulator.answers.grammar import GrammarRefusedError
from strictcall.policy import Policy
from strictcall.testing import laws
from strictcall.testing.case import Case, LawBroken
from strictcall.testing.comparing import text
from strictcall.testing.disputes import known_flaw
from strictcall.testing.shrinking import smallest
from strictcall.testing.values import Values
from strictcall.tool import Tool
from strictcall.wire.compiled import CompiledTool

KINDS: Final = ("wire", "contract", "refused")


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at without finding a breach.

    ``tool``: the compiled tool; ``laws``: the laws that were looked at; ``values``: how many different values of each
    kind: ``wire`` (what the wire admits, decoded), ``contract`` (what the contract admits, encoded and decoded again),
    ``refused`` (what a call or its arguments were rightly refused for).

    ``sampled``: how many texts llguidance wrote under the wire schema; ``disputed``: those of them that a validator of
    that schema does not admit, which count for nothing else, each with the name of the flaw of llguidance that explains
    it, if one does; ``unsampled``: why llguidance wrote none for a strict tool.
    """

    tool: CompiledTool
    laws: tuple[str, ...]
    values: Mapping[str, int]
    sampled: int = 0
    disputed: tuple[tuple[str, str | None], ...] = ()
    unsampled: str | None = None


def assert_round_trips(
    tool: Tool | Mapping[str, Any] | bool,
    dialect: str | Dialect = "openai",
    policy: Policy | None = None,
    *,
    samples: int = 50,
    seed: int = 0,
    strict: bool = False,
) -> Report:
    """Assert that a tool, or a bare schema, keeps every law under a dialect.

    The tool is compiled; about ``samples`` values of each kind are then decoded, checked, encoded and decoded again:
    texts that a strict decoder could write, arguments that the contract admits, and both with one place bent. The same
    ``seed`` makes the same values. A loose tool keeps the laws of loose tools; with ``strict`` it fails.

    Raises ``LawBroken``, an ``AssertionError`` whose text shows the smallest case found, ``DialectError`` for an
    unknown dialect, and ``PolicyError``.
    """
    case = case_of(tool, dialect, policy or Policy())
    try:
        report = examine(case, samples, seed)
    except LawBroken as first:
        # What was met on the way to the smallest case helps nobody who reads of that.
        raise smallest(first).with_traceback(None) from None
    if strict and not report.tool.strict:
        raise LawBroken("strict", f"the tool is loose: {report.tool.reason}", case)
    return report


def case_of(tool: Tool | Mapping[str, Any] | bool, dialect: str | Dialect, policy: Policy) -> Case:
    """The case of a tool, or of a bare schema, which may describe any value."""
    if isinstance(tool, Tool):
        return Case(tool, dialect, policy)
    return Case(Tool("schema", None, tool), dialect, policy, arguments=False)


def examine(case: Case, samples: int, seed: int) -> Report:
    """Look at every law with about ``samples`` values of each kind. Raises ``LawBroken`` as it was found."""
    laws.whole(case)
    run = _Run(case, Values(case, samples, seed))
    run.contract_values()
    if case.compiled.strict:
        run.wire_values()
    return run.report()


class _Run:
    def __init__(self, case: Case, values: Values) -> None:
        self._case = case
        self._values = values
        self._counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._sampled = 0
        self._disputed: list[tuple[str, str | None]] = []
        self._unsampled: str | None = None

    def contract_values(self) -> None:
        """What the contract admits comes back; all else is refused, whether it is encoded or decoded."""
        for value in self._values.contract():
            self._said(value)
            for mutation in self._values.bent(value, "contract"):
                self._said(mutation)

    def wire_values(self) -> None:
        """What the wire admits is decoded; what it does not admit never passes the contract either."""
        try:
            for sample in self._values.sampled():
                self._sampled += 1
                if self._case.wire.admits(sample.value):
                    self._heard(sample.text, sample.value)
                else:
                    self._disputed.append((sample.text, known_flaw(self._case.wire.schema, sample.text)))
        except GrammarRefusedError as error:
            self._unsampled = error.reason
        for value in self._values.built():
            self._heard(text(value), value)

    def report(self) -> Report:
        """What was looked at."""
        looked = laws.LAWS if self._case.compiled.strict else tuple(law for law in laws.LAWS if law != "sound")
        return Report(
            self._case.compiled, looked, dict(self._counts), self._sampled, tuple(self._disputed), self._unsampled
        )

    def _said(self, value: Any) -> None:
        self._counts["contract" if laws.sayable(self._case, value) else "refused"] += 1
        laws.guarded(self._case, value)

    def _heard(self, written: str, value: Any) -> None:
        self._counts["wire" if laws.sound(self._case, written, value) else "refused"] += 1
        for mutation in self._values.bent(value, "wire"):
            if self._case.wire.admits(mutation):
                self._counts["wire" if laws.sound(self._case, text(mutation), mutation) else "refused"] += 1
            elif not laws.guarded(self._case, mutation):
                self._counts["refused"] += 1
