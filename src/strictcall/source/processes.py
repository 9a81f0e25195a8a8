"""Processes that servers leave behind, and signals that arrive while servers run.

The SDK ends a server's process group, but a server that exits at once when its standard input closes takes nothing
with it: what it started lives on. So each server gets a mark in its environment, which all that it starts inherits, and
what still carries the mark at the end is ended. (Build servers end what a build left behind in the same way.)
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio import CancelScope

MARK = "STRICTCALL_SERVER_MARK"
_PROC = Path("/proc")
_ROUNDS = 5
_HANDLED = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def marked() -> Iterator[str]:
    """A fresh mark for the environment of servers; whatever process carries it is killed at the end.

    Where the system does not show the environment of processes (it does on Linux), nothing more is ended than the SDK
    ends by itself.
    """
    mark = secrets.token_hex(16)
    try:
        yield mark
    finally:
        # A process may have started another one while the list was read.
        for _ in range(_ROUNDS):
            if not _kill(f"{MARK}={mark}".encode()):
                break


def _kill(entry: bytes) -> bool:
    found = False
    for number in _numbers():
        with suppress(OSError):
            if entry in (_PROC / str(number) / "environ").read_bytes().split(b"\0"):
                os.kill(number, signal.SIGKILL)
                found = True
    return found


def _numbers() -> list[int]:
    if not sys.platform.startswith("linux"):
        return []
    with suppress(OSError):
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return []


class Interruption:
    """What interrupted some work: the number of the first signal, or ``None``."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal: int | None = None


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Work that must be cleaned up before a signal takes effect: at the end, the signal is raised again."""
    found = Interruption()
    handlers = {number: signal.getsignal(number) for number in _signals()}
    try:
        yield found
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if found.signal is not None:
            signal.raise_signal(found.signal)


async def until_interrupted(work: Callable[[], Awaitable[None]], found: Interruption) -> None:
    """Await ``work``; a signal cancels it and is noted. Further signals wait until it has cleaned up, which is bounded.

    ``asyncio`` by itself would answer a second Ctrl-C by leaving at once, and servers would be left behind.
    """
    import anyio  # noqa: PLC0415  an extra

    numbers = _signals()
    if not numbers:
        await work()
        return

    async def listen(inner: CancelScope, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(*numbers) as received:
            task_status.started()
            async for number in received:
                found.signal = found.signal or number
                inner.cancel()

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as inner:
            await group.start(listen, inner)
            await work()
        group.cancel_scope.cancel()


def _signals() -> list[signal.Signals]:
    """The signals that would end this process; those that somebody else handles or ignores are theirs."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return []
    ends = (signal.SIG_DFL, signal.default_int_handler)
    known = [signal.Signals[name] for name in _HANDLED]
    return [number for number in known if signal.getsignal(number) in ends]
