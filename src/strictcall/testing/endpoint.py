"""A strict endpoint beside a test: the emulator on a free port, with what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.emulator.app import Exchange, create_app
from strictcall.emulator.script import script_of
from strictcall.emulator.settings import Settings
from strictcall.serving import serving

REMEMBERED: Final = 10_000
"""The most exchanges that an endpoint remembers."""


@dataclass(frozen=True, slots=True)
class StrictEndpoint:
    """An emulator that is being served.

    ``url`` is its address without a path, for the clients of Anthropic and Google; ``base_url`` is what OpenAI's
    clients take. ``exchanges`` are the requests that came, the newest last.
    """

    url: str
    exchanges: deque[Exchange] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    @property
    def base_url(self) -> str:
        """The address with OpenAI's path."""
        return f"{self.url}/v1"

    @property
    def refused(self) -> list[Exchange]:
        """The requests that were answered with an error."""
        return [exchange for exchange in self.exchanges if exchange.status >= 400]


@contextmanager
def strict_endpoint(script: Any = None, **settings: Any) -> Iterator[StrictEndpoint]:
    """Serve an emulator on loopback while the context lasts.

    ``settings`` are fields of ``strictcall.emulator.settings.Settings``; ``script`` is a script as a YAML file would
    hold it. With a script and no ``answers``, answers are scripted.

    Raises ``SettingsError``, ``ScriptError`` or ``DialectError`` for a setting with a value that it does not take.
    """
    if script is not None:
        settings = {"answers": "scripted", **settings, "script": script_of(script)}
    exchanges: deque[Exchange] = deque(maxlen=REMEMBERED)
    with serving(create_app(Settings(**settings), observe=exchanges.append)) as url:
        yield StrictEndpoint(url, exchanges)
