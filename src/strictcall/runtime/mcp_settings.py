"""What may be chosen about MCP servers, and what is said of each while they run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final, Literal

from strictcall.errors import SettingsError
from strictcall.source.options import AT_ONCE, TIMEOUT

CALL_TIMEOUT: Final = 60.0
"""How many seconds a call to an MCP server may take: they often wait for a network themselves."""


@dataclass(frozen=True, slots=True)
class McpSettings:
    """What may be chosen about MCP servers; times are in seconds.

    - ``start_timeout``: for a server to start and list its tools. ``at_once``: how many start at once.
    - ``call_timeout``: for one call, as its tool's ``timeout``; ``None`` for no end of its own.
    - ``patience``: how long a call waits for a server that is being started; after that the model is told.
    - ``health_timeout``: for a server to list its tools after a call to it was given up, when no other call is under
      way. One that does not is hung, and is started anew.
    - ``restarts``: how often in a row a server that ended is started again; it counts anew for one that was up for
      ``stable`` seconds. ``first_delay`` is waited before the first of them, twice as long before each further one, at
      most ``longest_delay``.
    - ``names``: ``clashing`` puts a server's name before a tool's, with ``__`` between, only where two servers have a
      tool of that name; ``all`` puts it before every tool's.
    - ``trust_hints``: whether a server is believed when it says that a tool only reads (``readOnlyHint``).

    Raises ``SettingsError`` for a number that is too low.
    """

    start_timeout: float = TIMEOUT
    call_timeout: float | None = CALL_TIMEOUT
    patience: float = 10.0
    health_timeout: float = 10.0
    restarts: int = 5
    first_delay: float = 0.5
    longest_delay: float = 30.0
    stable: float = 60.0
    at_once: int = AT_ONCE
    names: Literal["clashing", "all"] = "clashing"
    trust_hints: bool = True

    def __post_init__(self) -> None:
        for name in ("start_timeout", "health_timeout", "at_once"):
            if not getattr(self, name) > 0:
                raise SettingsError(name, f"must be more than 0, not {getattr(self, name)!r}")
        for name in ("patience", "restarts", "first_delay", "longest_delay", "stable"):
            if not getattr(self, name) >= 0:
                raise SettingsError(name, f"must be 0 or more, not {getattr(self, name)!r}")
        if self.names not in {"clashing", "all"}:
            raise SettingsError("names", f"must be clashing or all, not {self.names!r}")

    def delay(self, failures: int) -> float:
        """How long to wait before the next start, after so many failures in a row."""
        return min(self.longest_delay, self.first_delay * 2.0 ** min(failures - 1, 60))


class ServerState(StrEnum):
    """What an MCP server is about."""

    STARTING = "starting"
    """It was started, and has not listed its tools yet."""
    UP = "up"
    """Its tools can be called."""
    RESTARTING = "restarting"
    """It ended, or could not be started, and is started again after a while."""
    DOWN = "down"
    """It ended, or could not be started, too often, or cannot be used at all."""
    OFF = "off"
    """It was switched off."""
    REMOVED = "removed"
    """It was removed."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """An MCP server as it is now.

    ``reason`` says why it is not up, with the end of what it wrote to standard error; it is for people, and shows no
    secret. ``protocol`` is the revision that was agreed on, ``version`` the server's own name and version. ``tools``
    are the names that it lists, ``problems`` what of its list could not be used. ``starts`` counts how often it was
    started.
    """

    name: str
    state: ServerState
    reason: str = ""
    protocol: str | None = None
    version: str | None = None
    tools: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    starts: int = 0

    def to_json(self) -> dict[str, Any]:
        """The status as a JSON value; what is empty is left out."""
        empty = {field.name for field in fields(self) if not getattr(self, field.name)}
        return {key: item for key, item in asdict(self).items() if key not in empty}
