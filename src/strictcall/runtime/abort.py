"""A token by which anyone, in any thread, ends a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

ABORTED: Final = "the run was aborted"


class Abort:
    """Ends the runs that were given it. Once set it stays set. May be used from any thread, and from a signal handler
    that runs in the main thread.
    """

    def __init__(self) -> None:
        # A signal handler may come while the same thread is in here.
        self._lock = threading.RLock()
        self._reason: str | None = None
        self._listeners: dict[object, Callable[[str], None]] = {}

    def set(self, reason: str = ABORTED) -> None:
        """End the runs. ``reason`` is told to the model and to people, the first one that is given."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            listeners = list(self._listeners.values())
        for listener in listeners:
            listener(reason)

    @property
    def reason(self) -> str | None:
        """Why the runs were ended; ``None`` while they were not."""
        return self._reason

    @contextmanager
    def heard(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Have a listener called when the token is set, at once where it is set already. It is called in the thread
        that sets it, and must not wait for anything.
        """
        key = object()
        with self._lock:
            self._listeners[key] = listener
            reason = self._reason
        try:
            if reason is not None:
                listener(reason)
            yield
        finally:
            with self._lock:
                del self._listeners[key]
