import json
from pathlib import Path

import pytest

from dialect.recorded import EXCEPTIONS, judged, recorded

SAMPLE = Path(__file__).parents[1] / "data" / "recorded_verdicts_sample.jsonl"
OTHER_FAULTS = {"strict_flag", "request_field", "parameters_absent"}
"""What is wrong with these requests is not in a schema or a name."""


def rows_of(path, provider):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["provider"] == provider and row.get("fault") not in OTHER_FAULTS]


def disagreements(rows):
    return {row["id"]: (recorded(row), judged(row)) for row in rows if recorded(row) != judged(row)}


def test_the_sample_has_rows_of_each_kind():
    rows = rows_of(SAMPLE, "openai") + rows_of(SAMPLE, "anthropic")
    kinds = {(row["provider"], recorded(row)) for row in rows}
    assert len(kinds) == 4
    assert len(rows) >= 30
    assert all(row["source"].startswith("https://") for row in rows)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_sample_is_judged_as_recorded(provider):
    assert set(disagreements(rows_of(SAMPLE, provider))) <= EXCEPTIONS.keys()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_at_least_97_percent_of_all_recorded_rows_are_judged_as_recorded(provider, shared_data):
    rows = rows_of(shared_data / "recorded_verdicts.jsonl", provider)
    assert len(rows) > 30
    asked = [row for row in rows if row["id"] not in EXCEPTIONS]
    wrong = disagreements(asked)
    assert len(wrong) <= 0.03 * len(asked), wrong


def test_the_exceptions_are_still_exceptions(shared_data):
    rows = [row for provider in ("openai", "anthropic")
            for row in rows_of(shared_data / "recorded_verdicts.jsonl", provider)]  # fmt: skip
    given = disagreements([row for row in rows if row["id"] in EXCEPTIONS])
    assert given == {name: (theirs, ours) for name, (theirs, ours, _) in EXCEPTIONS.items()}
