"""A tool, as its author wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its author wrote it: name, description and parameters (a JSON Schema of any draft from 4 to 2020-12).

    ``parameters`` is kept as the very object that came in and is never changed. It may be any JSON value: what is not a
    usable schema compiles to a loose tool with the reason.
    """

    name: str
    description: str | None = None
    parameters: Any = None
