"""What a run tells of itself: its own steps, and between them the events of links, of the answer that arrives, and of
the tools that run.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Final

from strictcall.api import events as told
from strictcall.api.answer import Answer
from strictcall.link.events import LinkEvent
from strictcall.runtime import events as running
from strictcall.runtime.agent.result import RunError, RunResult
from strictcall.runtime.plain_value import jsonable


@dataclass(frozen=True, slots=True)
class StepStarted:
    """The model is about to be asked: the ``step``-th time in this run, from 1."""

    step: int


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer is there as a whole. ``link`` gave it, and ``why`` says why that link."""

    step: int
    link: str
    why: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class RepairAsked:
    """Nothing of an answer could be used, and the model is told why, for the ``repair``-th time in a row, from 1."""

    step: int
    repair: int
    words: str


@dataclass(frozen=True, slots=True)
class RunCompleted:
    """The run has its answer."""

    result: RunResult[Any]


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run ended without an answer."""

    error: RunError


StepEvent = StepStarted | Answered | RepairAsked | RunCompleted | RunFailed
Delta = told.TextDelta | told.ReasoningDelta | told.CallStarted | told.ArgumentsDelta
"""What is told of an answer while it arrives; ``Answered`` is the whole of it."""
AgentEvent = StepEvent | LinkEvent | Delta | running.Event


def to_object(event: AgentEvent) -> dict[str, Any]:
    """An event as a JSON object: ``event`` is its kind (``call_ended``), the other keys are its fields. An answer's
    native form and the messages of a result are left out.
    """
    if isinstance(event, running.Event):
        return running.to_object(event)
    kind = running.kind_of(event)
    if isinstance(event, Answered):
        answer = {field.name: jsonable(getattr(event.answer, field.name)) for field in _ANSWER}
        return {"event": kind, "step": event.step, "link": event.link, "why": event.why, "answer": answer}
    if isinstance(event, RunCompleted):
        result = event.result
        return {"event": kind, "output": jsonable(result.output), "text": result.text, **_progress(result)}
    if isinstance(event, RunFailed):
        error = event.error
        return {"event": kind, "reason": str(error.reason), "words": error.words, **_progress(error)}
    fields = {field.name: jsonable(getattr(event, field.name)) for field in dataclasses.fields(event)}
    return {"event": kind, **fields}


def to_json(event: AgentEvent) -> str:
    """An event as one line of JSON, without the end of the line."""
    return json.dumps(to_object(event), ensure_ascii=False, separators=(",", ":"))


_ANSWER: Final = tuple(field for field in dataclasses.fields(Answer) if field.name != "native")


def _progress(ended: RunResult[Any] | RunError) -> dict[str, Any]:
    progress = ended.progress
    return {"steps": progress.steps, "link": progress.link, "usage": jsonable(progress.usage)}
