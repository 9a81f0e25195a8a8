"""A batch while it runs: what ends it, and the waves that it runs in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import anyio

from strictcall.runtime.invoke import PARTLY
from strictcall.runtime.output import ErrorCode, Output, RespondToModel, ToolError

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class End:
    """Why calls do not run any more, in words that the model is told."""

    reason: Literal["fatal", "aborted", "timeout"]
    said: str

    def output(self, *, begun: bool) -> Output:
        """The output of a call that was at work then, or had not begun."""
        if not begun:
            return RespondToModel(ToolError(ErrorCode.ABORTED, f"not begun: {self.said}"))
        code = ErrorCode.TIMEOUT if self.reason == "timeout" else ErrorCode.ABORTED
        return RespondToModel(ToolError(code, f"the tool was stopped: {self.said}; {PARTLY}"))


class Stops:
    """The scopes of the calls of a batch that are at work. ``end`` says why no further call begins, and ``stopped``
    whether those at work were stopped as well.
    """

    def __init__(self) -> None:
        self.end: End | None = None
        self.stopped = False
        self._scopes: set[anyio.CancelScope] = set()
        self._interrupted: dict[anyio.CancelScope, End] = {}

    def stop(self, end: End, *, running: bool = True) -> None:
        """Let no further call begin; ``running``: and cancel those at work.

        The first reason counts, and before all others the first that stopped those.
        """
        if self.end is None or (running and not self.stopped):
            self.end = end
        if running:
            self.stopped = True
            for scope in tuple(self._scopes):
                scope.cancel()

    def interrupt(self, end: End) -> int:
        """Cancel the calls at work and nothing else: those that have not begun go on to begin. How many there were."""
        scopes = [scope for scope in self._scopes if scope not in self._interrupted]
        for scope in scopes:
            self._interrupted[scope] = end
            scope.cancel()
        return len(scopes)

    def interrupted(self, scope: anyio.CancelScope) -> End | None:
        """Why the call in a scope was cancelled by itself; ``None`` where it was not."""
        return self._interrupted.get(scope)

    def scope(self, seconds: float) -> anyio.CancelScope:
        """A scope for one call, that ends with the batch, or after some seconds. It is kept until it is ``left``."""
        scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self._scopes.add(scope)
        return scope

    def left(self, scope: anyio.CancelScope) -> None:
        """The call in a scope is over."""
        self._scopes.discard(scope)


def waves(
    items: Sequence[Item], most: int, kind: Callable[[Item], Literal["beside", "alone", "free"]]
) -> Iterable[list[Item]]:
    """Items in waves, in their order: at most so many ``beside`` each other in one, and each ``alone`` in one of its
    own. Those that are ``free`` do not count.
    """
    wave: list[Item] = []
    counted = 0
    for item in items:
        its = kind(item)
        if (its == "beside" and counted == most) or (its == "alone" and counted):
            yield wave
            wave, counted = [], 0
        wave.append(item)
        counted += its != "free"
        if its == "alone":
            yield wave
            wave, counted = [], 0
    if wave:
        yield wave
