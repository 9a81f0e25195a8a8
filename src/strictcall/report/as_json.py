"""Results for programs: the JSON of ``check``, of ``diff`` and of ``judge``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strictcall.dialect.model import Violation
from strictcall.report.baseline import Comparison, Move, standing_json
from strictcall.report.difference import DialectDifference, Difference, SourceDifference, ToolDifference
from strictcall.report.results import DialectResults
from strictcall.report.selection import EVERYTHING, Selection
from strictcall.source.reading import Problem
from strictcall.wire.compiled import CompiledTool


def check_json(
    results: Sequence[DialectResults], problems: Sequence[Problem] = (), *, statistics: bool = False
) -> dict[str, Any]:
    """The JSON of ``check``: for each dialect its tools and totals; ``statistics`` adds codes by count. ``problems``
    stand there only where some were met.
    """
    dialects = {result.dialect.name: _dialect_json(result, statistics) for result in results}
    return {"dialects": dialects} | problems_json(problems)


def problems_json(problems: Sequence[Problem]) -> dict[str, Any]:
    """What could not be read, where there is any."""
    found = [{"place": problem.place, "problem": problem.text} for problem in problems]
    return {"problems": found} if found else {}


def _dialect_json(result: DialectResults, statistics: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "tools": [tool_json(tool, result.selection) for tool in result.tools],
        "summary": {verdict.value: count for verdict, count in result.summary.items()},
    }
    if statistics:
        document["statistics"] = [
            {"code": count.code, "effect": count.effect.value, "tools": count.tools, "changes": count.changes}
            for count in result.statistics()
        ]
    return document


def tool_json(compiled: CompiledTool, selection: Selection = EVERYTHING) -> dict[str, Any]:
    """One tool's row: its name as its author wrote it, its verdict, and every change that counts."""
    return {
        "name": compiled.tool.name,
        "verdict": compiled.verdict.value,
        "strict": compiled.strict,
        "baseline": compiled.baseline,
        "reason": compiled.reason,
        "changes": [
            {
                "code": change.code,
                "pointer": change.pointer,
                "effect": change.effect.value,
                "message": change.message,
            }
            for change in selection.changes(compiled)
        ],
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """What moved since the baseline."""
    return {
        "worse": [_move_json(move) for move in comparison.worse],
        "better": [_move_json(move) for move in comparison.better],
        "new": [_move_json(move) for move in comparison.new],
        "gone": [_move_json(move) for move in comparison.gone],
    }


def _move_json(move: Move) -> dict[str, Any]:
    return {
        "dialect": move.dialect,
        "tool": move.tool,
        "before": None if move.before is None else standing_json(move.before),
        "after": None if move.after is None else standing_json(move.after),
    }


def difference_json(difference: SourceDifference, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """The JSON of ``diff``: the names that came and went, and each tool that changed."""
    return {
        "added": list(difference.added),
        "removed": list(difference.removed),
        "changed": [_tool_difference_json(tool) for tool in difference.changed],
        "same": difference.same,
    } | problems_json(problems)


def _tool_difference_json(tool: ToolDifference) -> dict[str, Any]:
    before, after = tool.descriptions
    described = {} if before == after else {"description": {"before": before, "after": after}}
    return {
        "name": tool.name,
        **described,
        "contract": [_place_json(place) for place in tool.contract],
        "dialects": {dialect.dialect: _dialect_difference_json(dialect) for dialect in tool.dialects},
    }


def _dialect_difference_json(dialect: DialectDifference) -> dict[str, Any]:
    (before, after), (gained, lost) = dialect.verdicts, dialect.codes
    return {
        "verdict": {"before": before.value, "after": after.value},
        "reason": {"before": dialect.before.reason, "after": dialect.after.reason},
        "codes": {"added": list(gained), "removed": list(lost)},
        "wire": [_place_json(place) for place in dialect.wire],
    }


def _place_json(place: Difference) -> dict[str, Any]:
    found: dict[str, Any] = {"pointer": place.pointer, "kind": place.kind}
    if place.kind != "added":
        found["before"] = place.before
    if place.kind != "removed":
        found["after"] = place.after
    if place.gained or place.lost:
        found |= {"added": list(place.gained), "removed": list(place.lost)}
    return found


def violations_json(dialect: str, found: Sequence[tuple[str, Sequence[Violation]]]) -> dict[str, Any]:
    """The JSON of ``judge``: each schema by its name, with its violations."""
    return {
        "dialect": dialect,
        "schemas": [
            {"name": name, "violations": [violation_json(violation) for violation in violations]}
            for name, violations in found
        ],
    }


def violation_json(violation: Violation) -> dict[str, Any]:
    """One violation, with the provider's wording and the source where they are known."""
    return {
        "pointer": violation.pointer,
        "rule": violation.rule,
        "message": violation.message,
        "phrase": violation.phrase,
        "source": violation.source,
    }
