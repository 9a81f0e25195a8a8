"""Results for programs: the JSON of ``check`` and of ``judge``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strictcall.dialect.model import Violation
from strictcall.report.results import DialectResults
from strictcall.source.reading import Problem
from strictcall.wire.compiled import CompiledTool


def check_json(results: Sequence[DialectResults], problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """The JSON of ``check``: for each dialect its tools and totals; ``problems`` only where some were met."""
    document: dict[str, Any] = {"dialects": {result.dialect.name: _dialect_json(result) for result in results}}
    if problems:
        document["problems"] = [{"place": problem.place, "problem": problem.text} for problem in problems]
    return document


def _dialect_json(result: DialectResults) -> dict[str, Any]:
    return {
        "tools": [tool_json(tool) for tool in result.tools],
        "summary": {verdict.value: count for verdict, count in result.summary.items()},
    }


def tool_json(compiled: CompiledTool) -> dict[str, Any]:
    """One tool's row: its name as its author wrote it, its verdict, and every change."""
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
            for change in compiled.changes
        ],
    }


def violations_json(dialect: str, found: Sequence[tuple[str, Sequence[Violation]]]) -> dict[str, Any]:
    """The JSON of ``judge``: each schema by its name, with its violations."""
    return {
        "dialect": dialect,
        "schemas": [
            {"name": name, "violations": [_violation_json(violation) for violation in violations]}
            for name, violations in found
        ],
    }


def _violation_json(violation: Violation) -> dict[str, Any]:
    return {
        "pointer": violation.pointer,
        "rule": violation.rule,
        "message": violation.message,
        "phrase": violation.phrase,
        "source": violation.source,
    }
