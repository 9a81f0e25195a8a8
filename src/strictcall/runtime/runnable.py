"""A tool that can be run: its contract, how to run it, and what is known about running it."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from strictcall.errors import SettingsError
from strictcall.policy import Policy
from strictcall.tool import Tool

if TYPE_CHECKING:
    from anyio.lowlevel import EventLoopToken

TIMEOUT: Final = 30.0
"""How many seconds a tool may take where it does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tool has come: a number that grows, out of ``total`` where that is known, and words for people."""

    progress: float | None = None
    total: float | None = None
    message: str | None = None


def _unheard(progress: Progress) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool is told besides its arguments, and by which it tells how far it has come.

    ``call_id`` is the model's id of the call, ``tool`` the tool's name, ``state`` whatever the executor was given for
    its tools. ``loop`` is for ``anyio.from_thread.run(…, token=context.loop)`` in a tool that runs in a thread.
    """

    call_id: str | None = None
    tool: str = ""
    state: Any = None
    loop: EventLoopToken | None = field(default=None, repr=False)
    on_progress: Callable[[Progress], None] = field(default=_unheard, repr=False)
    stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def report(self, progress: float | None = None, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the tool has come; it goes to events. May be called from any thread."""
        self.on_progress(Progress(progress, total, message))

    @property
    def stopped(self) -> bool:
        """Whether nobody waits for the tool any more: it timed out or was aborted. An async tool is cancelled then; one
        that runs in a thread cannot be, and should look here now and then.
        """
        return self.stop.is_set()


@dataclass(frozen=True, slots=True)
class RunnableTool:
    """A tool that can be run.

    ``run`` takes the arguments in contract form, which the contract has admitted, and a ``Context``. An ``async``
    function runs in the event loop, any other one in a thread. What it returns or raises becomes an output as
    ``as_output`` says.

    - ``timeout``: seconds that it may take, counted from when it begins; ``None`` for no end of its own.
    - ``parallel_safe``: whether it may run beside other calls of a batch; else it runs alone.
    - ``read_only``: whether it changes nothing; ``None`` where that is not known.
    - ``strict``: whether it should be offered strict where it can be; ``None`` leaves that to whoever offers it.
    - ``policy``: how it is compiled, if not as the others.
    - ``also``: other names by which a call may mean it, where they mean no other tool.

    Raises ``SettingsError`` for a timeout that is no positive number.
    """

    tool: Tool
    run: Callable[[Any, Context], Awaitable[Any] | Any] = field(repr=False)
    timeout: float | None = TIMEOUT
    parallel_safe: bool = True
    read_only: bool | None = None
    strict: bool | None = None
    policy: Policy | None = None
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise SettingsError("timeout", f"must be more than 0 seconds, or None, not {self.timeout!r}")

    @property
    def name(self) -> str:
        """The tool's own name."""
        return self.tool.name
