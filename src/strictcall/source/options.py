"""How sources are read: what a caller may choose about servers and headers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TIMEOUT = 30.0
"""How many seconds a server has to start and list its tools."""

AT_ONCE = 4
"""How many servers are started at once: more would only make each of them slow to start."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a caller may choose about the reading of a source.

    - ``servers``: the names of the servers to read from an MCP config file; all of them where it is empty.
    - ``headers``: what is sent along to a server that is named by its URL. Their values never appear in any text.
    - ``timeout``: how many seconds each server has to start and list its tools; ``at_once``: how many start at once.
    - ``progress``: called with the number of servers read and of all servers, as each is done.
    """

    servers: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIMEOUT
    at_once: int = AT_ONCE
    progress: Callable[[int, int], None] | None = field(default=None, repr=False, compare=False)
