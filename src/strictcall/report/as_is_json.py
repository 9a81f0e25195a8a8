"""What each provider would say to tools as they stand, for programs: the JSON of ``check --as-is``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strictcall.report.as_is import DialectHearings, Hearing
from strictcall.report.as_json import problems_json, violation_json
from strictcall.source.reading import Problem


def as_is_json(results: Sequence[DialectHearings], problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """For each dialect its tools with everything that is said against each, the totals, the rules by count, and the
    ceilings of one request that the tools break together.
    """
    return {"dialects": {result.dialect.name: _dialect_json(result) for result in results}} | problems_json(problems)


def _dialect_json(result: DialectHearings) -> dict[str, Any]:
    return {
        "tools": [_tool_json(hearing) for hearing in result.tools],
        "summary": {answer.value: count for answer, count in result.summary.items()},
        "names_aside": {answer.value: count for answer, count in result.names_aside.items()},
        "rules": [
            {"rule": broken.rule, "keyword": broken.keyword, "tools": broken.tools, "places": broken.places}
            for broken in result.rules()
        ],
        "request": [violation_json(violation) for violation in result.request],
    }


def _tool_json(hearing: Hearing) -> dict[str, Any]:
    return {
        "name": hearing.tool.name,
        "answer": hearing.answer.value,
        "violations": [
            {
                "part": remark.part,
                **violation_json(remark.violation),
                "refuses_strict": remark.strict,
                "refuses_loose": remark.loose,
            }
            for remark in hearing.remarks
        ],
    }
