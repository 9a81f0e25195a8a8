"""Schemas on which converters fail: what a tool takes comes back, what it does not take never passes.

The rows of ``tests/data/probes.json`` always run; those of the big data where it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laws.harness import DIALECTS
from strictcall import ArgumentsError, Tool
from strictcall.testing import laws
from strictcall.testing.case import Case
from strictcall.testing.comparing import differences, same
from strictcall.testing.places import announced

FITTED = {
    ("deep12", "openai"): "part-text",
    ("many_props", "anthropic"): "optional-gathered",
}
"""Probes that exceed what a provider takes, and the change that makes them fit."""

OWN = Path(__file__).parent / "data" / "probes.json"
SHARED = Path(__file__).parents[2] / "shared" / "data" / "probes.json"


def rows() -> list[Any]:
    """Every probe under every dialect, or one row that says which are missing."""
    found = []
    for file in (OWN, SHARED):
        if not file.exists():
            reason = f"{file.name} of the big data is not in ../shared/data beside the project"
            skipped = pytest.param("openai", {}, id="big-data", marks=pytest.mark.skip(reason=reason))
            found.append(skipped)
            continue
        found += [
            pytest.param(dialect, probe, id=f"{probe['id']}-{dialect}")
            for probe in json.loads(file.read_text(encoding="utf-8"))
            for dialect in DIALECTS
        ]
    return found


@pytest.mark.parametrize(("dialect", "probe"), rows())
def test_probe(dialect: str, probe: dict[str, Any]) -> None:
    case = Case(Tool(probe.get("tool_name", "probe"), probe["title"], probe["schema"]), dialect)
    laws.total(case)
    laws.accepted(case)
    laws.idempotent(case)
    assert case.compiled.strict or not probe["valid"], case
    if (probe["id"], dialect) in FITTED:
        assert FITTED[probe["id"], dialect] in {change.code for change in case.compiled.changes}, case
    for value in probe["valid"]:
        _comes_back(case, value)
    for value in probe["invalid"]:
        _never_passes(case, value)


def _comes_back(case: Case, value: Any) -> None:
    wire = case.compiled.encode(value)
    if case.compiled.strict:
        assert case.wire.admits(wire), f"{value!r} encoded to {wire!r}\n{case}"
    back = case.compiled.decode(json.dumps(wire))
    changes = case.compiled.changes
    hidden = [
        place for place in differences(value, back) if not announced(case.tool.parameters, changes, place, folds=True)
    ]
    assert not hidden, f"{value!r} encoded to {wire!r} came back as {back!r}\n{case}"


def _never_passes(case: Case, value: Any) -> None:
    assert case.compiled.check(value) != (), f"{value!r} was not refused\n{case}"
    with pytest.raises(ArgumentsError):
        case.compiled.encode(value)
    for form in ("wire", "either"):
        try:
            read = case.compiled.decode(json.dumps(value), form=form)
        except ArgumentsError:
            continue
        assert not same(read, value), f"{value!r} decoded to itself\n{case}"
        assert case.compiled.check(read) == (), f"{value!r} decoded to {read!r}\n{case}"
