"""Calling what others wrote: coroutines in the event loop, plain functions in threads that nobody has to wait for."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Final

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from strictcall.runtime.output import ErrorCode, ToolFailed

THREAD_NAME: Final = "strictcall: "
"""What the names of the threads begin with."""


def is_async(function: Any) -> bool:
    """Whether calling this gives a coroutine: an ``async`` function or method, a partial of one, or an object with an
    ``async __call__``.
    """
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def not_own(error: BaseException) -> BaseException | None:
    """The part of an exception that is not the doing of the code that was called, here in the event loop; ``None``
    where all of it is.

    Not its doing: a cancellation where a scope around it was cancelled (elsewhere it waited for a task that somebody
    cancelled), ``KeyboardInterrupt``, and ``GeneratorExit``, by which a coroutine is closed.
    """
    if isinstance(error, BaseExceptionGroup):
        return error.split(lambda each: not isinstance(each, BaseExceptionGroup) and not_own(each) is None)[1]
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return error if is_cancelled() else None
    return error if isinstance(error, KeyboardInterrupt | GeneratorExit) else None


def is_cancelled() -> bool:
    """Whether a scope around was cancelled."""
    return anyio.current_effective_deadline() == -math.inf


def soon(loop: EventLoopToken, step: Callable[[], object]) -> None:
    """Have a step done in an event loop, from any thread, without waiting for it. A loop that is gone does nothing."""
    native: Any = loop.native_token
    schedule = native.call_soon_threadsafe if hasattr(native, "call_soon_threadsafe") else native.run_sync_soon
    # Both kinds of loop raise this, or a child of it, when they have ended.
    with suppress(RuntimeError):
        schedule(step)


class Threads:
    """Runs functions in threads of their own.

    A thread cannot be stopped: one whose caller was cancelled is left to itself, and what it comes to is dropped. The
    threads do not keep the process from ending. While ``most_left`` of those left are still at work, no further
    function is begun.
    """

    def __init__(self, most_left: int) -> None:
        self._most_left = most_left
        self._lock = threading.Lock()
        self._left: Counter[str] = Counter()

    async def call(self, function: Callable[[], Any], name: str, *, alone: bool = False) -> Any:
        """What a function returns, or raises. ``alone``: it must not run beside one of the same name.

        Raises ``ToolFailed`` where too many threads were left to themselves, or such a one was.
        """
        left = self._left.total()
        if left >= self._most_left:
            raise ToolFailed(ErrorCode.EXECUTION_ERROR, f"not begun: {left} earlier calls that were given up still run")
        if alone and self._left[name]:
            raise ToolFailed(ErrorCode.EXECUTION_ERROR, "not begun: an earlier call that was given up still runs")
        work = _Work(function, current_token())
        thread = threading.Thread(target=work.run, name=THREAD_NAME + name, daemon=True)
        thread.start()
        try:
            await work.done.wait()
        except BaseException:
            self._leave(work, name)
            raise
        return work.result()

    def _leave(self, work: _Work, name: str) -> None:
        self._count(name, 1)
        came_back = functools.partial(self._count, name, -1)
        if not work.call_back(came_back):
            came_back()

    def _count(self, name: str, change: int) -> None:
        with self._lock:
            self._left[name] += change


class _Work:
    """A function in a thread, and what came of it."""

    def __init__(self, function: Callable[[], Any], loop: EventLoopToken) -> None:
        self.done = anyio.Event()
        self._function = function
        self._loop = loop
        self._context = copy_context()
        self._lock = threading.Lock()
        self._ended = False
        self._when_ended: Callable[[], None] | None = None
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """What the thread does."""
        try:
            self._context.run(_outside_of_the_loop)
            self._value = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001  handed on to whoever waits
            self._error = error
        with self._lock:
            self._ended = True
            when_ended = self._when_ended
        if when_ended is not None:
            when_ended()
        else:
            soon(self._loop, self.done.set)

    def call_back(self, when_ended: Callable[[], None]) -> bool:
        """Have something called when the function has ended; false where it has already."""
        with self._lock:
            if self._ended:
                return False
            self._when_ended = when_ended
            return True

    def result(self) -> Any:
        """What the function returned. Raises what it raised; ``ToolFailed`` for what would mean something else here, in
        the event loop.
        """
        if self._error is None:
            return self._value
        try:
            if isinstance(self._error, KeyboardInterrupt | GeneratorExit | StopIteration):
                raise ToolFailed(ErrorCode.EXECUTION_ERROR, type(self._error).__name__) from self._error
            raise self._error
        finally:
            # An exception refers to this frame and this frame to it.
            self._error = None


def _outside_of_the_loop() -> None:
    """Let the thread start an event loop of its own: what it inherits says that it is in one."""
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set(None)
