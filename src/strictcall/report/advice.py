"""The closing line of a check: what to do next."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from strictcall.change import Verdict
from strictcall.report.baseline import Comparison
from strictcall.report.plain import plain
from strictcall.report.results import Cost, DialectResults


def advice(results: Sequence[DialectResults], failing: Collection[Verdict]) -> str:
    """What to do after a check without a baseline: the failing tools first, else what costs most."""
    verdicts = [result.selection.verdict(tool) for result in results for tool in result.tools]
    failed = [verdict for verdict in verdicts if verdict in failing]
    if failed:
        kinds = " or ".join(verdict.value for verdict in Verdict if verdict in failed)
        what = f"{'1 verdict is' if len(failed) == 1 else f'{len(failed)} verdicts are'} {kinds}"
        return f"to do: {what}; {_remedy(results)}, or accept them for now with --baseline FILE --update-baseline"
    if any(verdict not in (Verdict.EXACT, Verdict.CLOSED) for verdict in verdicts):
        return f"fine; for better verdicts, {_remedy(results)}"
    return "fine: nothing to do"


def _remedy(results: Sequence[DialectResults]) -> str:
    costs = [cost for result in results for cost in result.costs(1)]
    worst: Cost | None = max(costs, key=lambda cost: (list(Verdict).index(cost.verdict), cost.tools), default=None)
    if worst is None or worst.verdict is Verdict.LOOSE:
        return "mend the schemas, each for the reason beside it"
    return f"see what to do: strictcall explain {worst.cause}"


def baseline_advice(comparison: Comparison, file: str) -> str:
    """What to do after a check against the baseline in ``file``."""
    file = plain(file)
    if comparison.worse:
        number = len(comparison.worse)
        return (
            f"to do: {number} got worse than {file} says; mend {'it' if number == 1 else 'them'}, "
            "or accept what is with --update-baseline"
        )
    if comparison.moved:
        return f"fine: nothing got worse than {file} says; write down what changed with --update-baseline"
    return f"fine: all is as {file} says"
