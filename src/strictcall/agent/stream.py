"""A run that is told while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio import EndOfStream
from anyio.streams.memory import MemoryObjectReceiveStream

from strictcall.agent.events import AgentEvent
from strictcall.agent.loop import Loop
from strictcall.agent.result import Progress, RunError, RunResult
from strictcall.errors import RequestError
from strictcall.runtime.executor import INTERRUPTED


class RunStream:
    """A run while it goes on: an asynchronous iterator of its events."""

    def __init__(self, loop: Loop, events: MemoryObjectReceiveStream[AgentEvent], ended: Callable[[], None]) -> None:
        self._loop = loop
        self._events = events
        self._ended = ended
        self._result: RunResult[Any] | None = None
        self._error: Exception | None = None

    async def run(self) -> None:
        """Run; what comes of it is the ``result``."""
        try:
            self._result = await self._loop.run()
        except Exception as error:  # noqa: BLE001  raised again where somebody waits for it
            self._error = error
        finally:
            self._ended()

    def __aiter__(self) -> RunStream:
        return self

    async def __anext__(self) -> AgentEvent:
        """The next event. Raises what keeps a run from being one at all, such as two tools of one name."""
        try:
            return await self._events.receive()
        except EndOfStream:
            pass
        if self._error is not None and not isinstance(self._error, RunError):
            raise self._error
        raise StopAsyncIteration

    @property
    def result(self) -> RunResult[Any]:
        """What the run came to. Raises ``RunError`` where that is no answer, and ``RequestError`` before the end."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise RequestError("stream", "the result is not there before the events have ended")
        return self._result

    @property
    def progress(self) -> Progress:
        """How far the run has come, now."""
        return self._loop.progress

    def interrupt(self, reason: str = INTERRUPTED) -> int:
        """Stop the calls that are at work now; the model is told, and the run goes on. How many there were."""
        return self._loop.interrupt(reason)
