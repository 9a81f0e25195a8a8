"""What providers were recorded to answer, and what the judge says of the same."""

from strictcall.dialect import judge, judge_name, judge_request, load, measure

EXCEPTIONS = {
    # id: what was recorded, what the judge says, why
    "openai-rf-enum-520": (
        "rejected",
        "accepted",
        "the ceiling of 500 enum values of 2024 was raised to 1,000, which the guide prints now",
    ),
    "openai-rf-anyof-same-first-key": (
        "rejected",
        "accepted",
        "a rule of 2024 that is gone: branches that share the first key were recorded as taken by 2026-08",
    ),
    "openai-rf-strict-default-ok": (
        "accepted",
        "rejected",
        "`default` was refused until 2024-11 and is taken since 2025-12: the dialect stays on the safe side",
    ),
    "openai-codex-root-oneof": (
        "accepted",
        "rejected",
        "one reporter's inference about one endpoint; every quoted error refuses a root without type: object",
    ),
    "anthropic-root-oneof-claim": (
        "accepted",
        "rejected",
        "a side remark that every quoted error of the API contradicts",
    ),
}
"""Rows with which the judge disagrees on purpose."""


def is_strict(row):
    """Whether the request was strict. Where the record does not say: a tool's default is not; OpenAI's response format
    is not either, while Anthropic's output format always is."""
    if row["strict"] is not None:
        return row["strict"]
    return row["target"] != "tool" and row["provider"] == "anthropic"


def judged(row):
    """What the judge says of a recorded request: ``accepted`` or ``rejected``."""
    dialect = load(row["provider"])
    if row["schema"] is None:
        raise ValueError(f"{row['id']}: a request without parameters is not the judge's to say")
    violations = judge(row["schema"], dialect, strict=is_strict(row))
    if row.get("fault") == "tool_name":
        violations += judge_name(row["tool_name"], dialect)
    if row.get("fault") == "tool_count":
        violations += judge_request([measure(row["schema"], dialect)] * row["tool_count"], dialect)
    return "rejected" if violations else "accepted"


def recorded(row):
    """What the provider said: an answer that was accepted but not kept was accepted."""
    return "rejected" if row["verdict"] == "rejected" else "accepted"
