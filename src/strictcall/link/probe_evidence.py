"""What an answer shows of the features that were asked about: whether what breaks a schema came through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from strictcall.api.answer import Answer, Call, StopReason
from strictcall.json_value import LimitError, excerpt, parse
from strictcall.link.probe_features import FEATURES, STRICT, TOOL
from strictcall.link.probe_report import Found

Seen = tuple[Found, str]
_ABSENT: Final = object()


def of_feature(name: str, calls: Sequence[Call]) -> Seen:
    """What some calls of a strict tool, each asked to break a feature, show of it."""
    kept: list[str] = []
    for number, call in enumerate(calls):
        breach = excerpt(FEATURES[name].breaches[min(number, 1)])
        if not call.complete:
            continue
        value = _argument(call, name)
        if value is _ABSENT:
            return Found.NOT_ENFORCED, f"asked for {breach}, it was left out"
        if not FEATURES[name].admits(value):
            return Found.NOT_ENFORCED, f"asked for {breach}, and {excerpt(value)} came"
        kept.append(f"asked for {breach}, got {excerpt(value)}")
    if not kept:
        return Found.UNKNOWN, "the call broke off before its end"
    return Found.ENFORCED, "; ".join(kept)


def breaks_when_loose(calls: Sequence[Call]) -> bool | None:
    """Whether calls of a loose tool broke its schema as they were asked to; ``None`` where there was no whole one."""
    found = [_argument(call, STRICT) for call in calls if call.complete]
    return any(value is _ABSENT or not FEATURES[STRICT].admits(value) for value in found) if found else None


def of_several(calls: Sequence[Call]) -> Seen:
    """What an answer that was to make two calls shows."""
    if len(calls) > 1:
        return Found.ENFORCED, f"{len(calls)} calls came in one answer"
    return Found.NOT_ENFORCED, "one call came where two were asked for"


def calls_of(answer: Answer) -> list[Call]:
    """The calls of an answer that are of the tool which was offered."""
    return [call for call in answer.calls if call.name == TOOL]


def without_calls(answer: Answer) -> Seen:
    """What an answer without a call shows of a call that was asked for: nothing, where it may still have come."""
    if answer.stop_reason is StopReason.LENGTH:
        return Found.UNKNOWN, "the answer ran out of tokens before it called"
    if answer.stop_reason in (StopReason.REFUSAL, StopReason.CONTENT_FILTER):
        return Found.UNKNOWN, "the model would not answer"
    if answer.calls:
        return Found.NOT_ENFORCED, "the model called a tool that was not offered"
    if STRICT in answer.text:
        words = "the model answered in words that look like a call: the configuration's `tagged` says how to read them"
        return Found.NOT_ENFORCED, words
    return Found.NOT_ENFORCED, "the model answered in words"


def _argument(call: Call, name: str) -> Any:
    """An argument as the model wrote it; what is no object has none."""
    try:
        arguments = parse(call.raw)
    except LimitError:
        return _ABSENT
    return arguments.get(name, _ABSENT) if isinstance(arguments, dict) else _ABSENT
