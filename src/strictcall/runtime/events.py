"""What happens in a run, as it happens: objects, and JSON lines. Times are seconds since the epoch, durations seconds.

Events hold everything, arguments and details too: they are for people and their tools, never for the model.
"""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from dataclasses import dataclass
from typing import Any, Final, Literal, TextIO

from strictcall.errors import Fault
from strictcall.runtime.output import Fatal, Output, RespondToModel, Success, ToolError, model_text
from strictcall.runtime.plain_value import jsonable
from strictcall.wire.mend import Repair


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """``at``: when it happened. ``batch``: which batch of the run, from 0."""

    at: float
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfCall(_Event):
    """``position``: which call of the batch, from 0. ``call_id``: the model's id of it. ``tool``: the name called."""

    position: int
    call_id: str | None
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStarted(_Event):
    """The calls of an answer are about to be run."""

    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReceived(_OfCall):
    """A call: ``wire_name`` and ``wire_arguments``, JSON text, are as the model wrote it, and ``arguments`` as they
    were read, in contract form, with the ``repairs`` made and the ``faults`` found.
    """

    wire_name: str
    wire_arguments: str
    arguments: Any
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(_OfCall):
    """Somebody is asked whether the tool may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalGiven(_OfCall):
    """It was decided. ``arguments`` are those of an edit; ``duration`` is how long it took."""

    decision: Literal["allow", "deny", "edit"]
    duration: float
    reason: str | None = None
    arguments: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(_OfCall):
    """The tool begins to run with these arguments, in contract form."""

    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(_OfCall):
    """The tool tells how far it has come: ``progress``, out of ``total`` where that is known."""

    progress: float | None
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(_OfCall):
    """The call has its output; every call has exactly one.

    ``duration`` is that of the call, the wait for approval included, and ``tool_duration`` that of the tool, ``None``
    where it was not run. Where the model was given only a part of the text, ``whole`` is all of it, or ``file`` where
    that is. ``traceback`` is that of what the tool, or whoever was asked, raised.
    """

    output: Output
    duration: float
    tool_duration: float | None = None
    whole: str | None = None
    file: str | None = None
    traceback: str | None = None

    @property
    def text(self) -> str | None:
        """What the model hears."""
        return model_text(self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnded(_Event):
    """Every call of the batch has its output."""

    calls: int
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(_Event):
    """No tool runs any more in this run, and why."""

    reason: Literal["fatal", "aborted", "timeout"]
    error: ToolError


Event = (
    BatchStarted
    | CallReceived
    | ApprovalAsked
    | ApprovalGiven
    | ToolStarted
    | ToolProgress
    | CallEnded
    | BatchEnded
    | RunEnded
)


def to_object(event: Event) -> dict[str, Any]:
    """An event as a JSON object: ``event`` is its kind (``call_ended``), the other keys are its fields.

    An output is ``{"kind": "success" | "respond_to_model" | "fatal", …}``, and ``text`` beside it what the model hears.
    Details become JSON as ``jsonable`` says.
    """
    fields = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    found: dict[str, Any] = {"event": kind_of(event)}
    for name, held in fields.items():
        found[name] = _output(held) if isinstance(held, Output) else jsonable(held)
    if isinstance(event, CallEnded):
        found["text"] = event.text
    return found


def to_json(event: Event) -> str:
    """An event as one line of JSON, without the end of the line."""
    return json.dumps(to_object(event), ensure_ascii=False, separators=(",", ":"))


class JsonLines:
    """Listens to events and writes each as a line of JSON to a text stream, from whatever thread it comes.

    The lines hold arguments and details: keep the stream as private as these are.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Write an event."""
        line = to_json(event) + "\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()


_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


def kind_of(event: object) -> str:
    """What an event, or an output, is called in JSON: the name of its class in lower case, as ``call_ended``."""
    return _CAPITAL.sub("_", type(event).__name__).lower()


def _output(output: Success | RespondToModel | Fatal) -> dict[str, Any]:
    return {"kind": kind_of(output), **jsonable(output)}
