import json
import sys
from pathlib import Path

import pytest

from dialect.exceptions import EXCEPTIONS
from dialect.recorded import dialect_of, is_judged, judged, recorded
from strictcall.dialect import dialects

SAMPLE = Path(__file__).parents[1] / "data" / "recorded_verdicts_sample.jsonl"
NAMES = [dialect.name for dialect in dialects()]
FIRM = {"error text quoted", "recorded 200"}
"""Rows of which the provider's own answer is known; the others are somebody's account of it."""


def rows_of(path):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if is_judged(row)]


def disagreements(rows):
    return {row["id"]: (recorded(row), judged(row)) for row in rows if recorded(row) != judged(row)}


def test_the_sample_has_rows_of_each_kind():
    rows = rows_of(SAMPLE)
    kinds = {(dialect_of(row).name, recorded(row)) for row in rows}
    assert len(kinds) >= 30
    assert len({name for name, _ in kinds}) >= 18
    assert all(row["source"].startswith("https://") for row in rows)


def test_the_sample_is_judged_as_recorded():
    assert set(disagreements(rows_of(SAMPLE))) <= EXCEPTIONS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_at_least_97_percent_of_the_recorded_rows_are_judged_as_recorded(name, shared_data, capsys):
    rows = [row for row in rows_of(shared_data / "recorded_verdicts.jsonl") if dialect_of(row).name == name]
    if not rows:
        pytest.skip(f"no answer of {name} is recorded")
    firm = [row for row in rows if row["confidence"] in FIRM]
    wrong = disagreements(rows)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {agreed(firm)} firm, {agreed(rows)} of all; {', '.join(wrong) or 'no disagreement'}\n"
        )
    asked = [row for row in firm if row["id"] not in EXCEPTIONS]
    assert len(disagreements(asked)) <= 0.03 * len(asked), wrong
    assert set(wrong) <= EXCEPTIONS.keys()


def agreed(rows):
    return f"{len(rows) - len(disagreements(rows))}/{len(rows)}"


def test_the_exceptions_are_still_exceptions(shared_data):
    rows = [row for row in rows_of(shared_data / "recorded_verdicts.jsonl") if row["id"] in EXCEPTIONS]
    assert disagreements(rows) == {name: (theirs, ours) for name, (theirs, ours, _) in EXCEPTIONS.items()}
