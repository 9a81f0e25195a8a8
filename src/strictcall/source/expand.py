"""Variables in MCP config files, as the clients that read these files write them.

- ``${NAME}`` and ``${NAME:-default}``: Claude Code, https://code.claude.com/docs/en/mcp
- ``${env:NAME}``, ``${workspaceFolder}``, ``${userHome}``, ``${input:id}``: VS Code,
  https://code.visualstudio.com/docs/reference/variables-reference, and Cursor, https://cursor.com/docs/context/mcp
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


class ExpansionError(ValueError):
    """A variable that cannot be filled in; the text names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Expander:
    """Fills in variables from an environment and for a workspace folder.

    ``taken`` collects what came from the environment: it may be secret. Its values are never part of an error's text.
    """

    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    taken: list[str] = field(default_factory=list, repr=False)

    def text(self, text: str) -> str:
        """The text with its variables filled in. Raises ``ExpansionError``."""
        return _VARIABLE.sub(lambda found: self._value(found.group(1)), text)

    def _value(self, inner: str) -> str:
        kind, colon, rest = inner.partition(":")
        if inner in _PLACES:
            return _PLACES[inner](self.folder)
        if kind == "input":
            raise ExpansionError(
                f"it needs the input {rest!r}, which its client asks for; "
                f"put ${{env:NAME}} in place of ${{{inner}}} and set that variable"
            )
        if kind == "env":
            return self._from_environment(rest, inner, None)
        name, given, default = inner.partition(":-")
        if not _NAME.match(name) or (colon and not given):
            raise ExpansionError(
                f"${{{inner}}} is known to its client only; write the value, or ${{NAME}} and set NAME"
            )
        return self._from_environment(name, inner, default if given else None)

    def _from_environment(self, name: str, inner: str, default: str | None) -> str:
        value = self.environment.get(name, default)
        if value is None:
            raise ExpansionError(f"${{{inner}}} stands in it, and the environment variable {name} is not set; set it")
        if name in self.environment:
            self.taken.append(value)
        return value


_PLACES: Mapping[str, Callable[[Path], str]] = {
    "workspaceFolder": str,
    "workspaceFolderBasename": lambda folder: folder.name,
    "workspaceRoot": str,
    "userHome": lambda folder: str(Path.home()),
    "pathSeparator": lambda folder: os.sep,
    "/": lambda folder: os.sep,
}
