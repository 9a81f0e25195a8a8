"""A run that is told while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio import ClosedResourceError, EndOfStream
from anyio.streams.memory import MemoryObjectReceiveStream

from strictcall.errors import RequestError
from strictcall.runtime.agent.events import AgentEvent
from strictcall.runtime.agent.loop import Loop
from strictcall.runtime.agent.result import Progress, RunError, RunResult
from strictcall.runtime.executor import INTERRUPTED


class Running:
    """A run in a task of its own, and what came of it. ``ended`` is called at its end, however it ends."""

    def __init__(self, loop: Loop, ended: Callable[[], None]) -> None:
        self.loop = loop
        self.result: RunResult[Any] | None = None
        self.error: Exception | None = None
        self._ended = ended

    async def __call__(self) -> None:
        """What the task does."""
        try:
            self.result = await self.loop.run()
        except Exception as error:  # noqa: BLE001  raised again where somebody waits for it
            self.error = error
        finally:
            self._ended()


class RunStream:
    """A run while it goes on: an asynchronous iterator of its events."""

    def __init__(self, running: Running, events: MemoryObjectReceiveStream[AgentEvent]) -> None:
        self._running = running
        self._events = events

    def __aiter__(self) -> RunStream:
        return self

    async def __anext__(self) -> AgentEvent:
        """The next event. Raises what keeps a run from beginning, such as two tools of one name, and ``RequestError``
        outside of the context.
        """
        try:
            return await self._events.receive()
        except EndOfStream:
            pass
        except ClosedResourceError:
            raise RequestError("stream", "its events are read within `async with`") from None
        error = self._running.error
        if error is not None and not isinstance(error, RunError):
            raise error
        raise StopAsyncIteration

    @property
    def result(self) -> RunResult[Any]:
        """What the run came to. Raises ``RunError`` where that is no answer, and ``RequestError`` before the end."""
        running = self._running
        if running.error is not None:
            raise running.error
        if running.result is None:
            raise RequestError("stream", "the result is not there before the events have ended")
        return running.result

    @property
    def progress(self) -> Progress:
        """How far the run has come, now."""
        return self._running.loop.progress

    def interrupt(self, reason: str = INTERRUPTED) -> int:
        """Stop the calls that are at work now; the model is told, and the run goes on. How many there were."""
        return self._running.loop.interrupt(reason)
