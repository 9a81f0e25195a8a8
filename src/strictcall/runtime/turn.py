"""One call on its way to its output, and what is told of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.api.answer import Call
from strictcall.runtime.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallEnded,
    CallReceived,
    Event,
    ToolProgress,
    ToolStarted,
)
from strictcall.runtime.runnable import Progress

_LOG: Final = logging.getLogger("strictcall.runtime")

Listener = Callable[[Event], None]


class Telling:
    """Tells a listener of events. One that fails is logged, and does no harm."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener

    def __call__(self, event: Event) -> None:
        """Tell of an event."""
        if self._listener is None:
            return
        try:
            self._listener(event)
        except Exception as error:  # noqa: BLE001  the listener is the user's and may raise anything
            # Not its traceback or its text: they may repeat what the event holds.
            _LOG.warning("the listener to %s failed: %s", type(event).__name__, type(error).__name__)


@dataclass(slots=True)
class Turn:
    """A call of a batch. ``begun`` says that its tool runs, or ran."""

    call: Call
    batch: int
    position: int
    tell: Telling = field(repr=False)
    began: float = field(default_factory=time.perf_counter)
    begun: bool = False
    edited: bool = False
    ended: bool = False
    arguments: Any = None

    def _told(self, kind: Callable[..., Event], **fields: Any) -> None:
        self.tell(
            kind(
                at=time.time(),
                batch=self.batch,
                position=self.position,
                call_id=self.call.id,
                tool=self.call.name,
                **fields,
            )
        )

    def received(self) -> None:
        """The call is there."""
        call = self.call
        self._told(
            CallReceived,
            wire_name=call.wire_name or call.name,
            wire_arguments=call.raw,
            arguments=call.arguments,
            repairs=call.repairs,
            faults=call.faults,
        )

    def asked(self) -> None:
        """Somebody is asked about it."""
        self._told(ApprovalAsked)

    def answered(self, decision: str, duration: float, reason: str | None, arguments: Any) -> None:
        """It was decided."""
        self._told(ApprovalGiven, decision=decision, duration=duration, reason=reason, arguments=arguments)

    def started(self, arguments: Any) -> None:
        """The tool begins."""
        self.begun = True
        self._told(ToolStarted, arguments=arguments)

    def progressed(self, progress: Progress) -> None:
        """The tool tells how far it has come; not heard once the call has its output."""
        if not self.ended:
            self._told(ToolProgress, progress=progress.progress, total=progress.total, message=progress.message)

    def ending(self, **fields: Any) -> None:
        """The call has its output."""
        self.ended = True
        self._told(CallEnded, duration=time.perf_counter() - self.began, **fields)
