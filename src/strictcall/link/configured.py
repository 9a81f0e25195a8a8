"""Links out of a configuration file, as it is at each inference."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from strictcall.errors import ConfigError, ConfigProblem
from strictcall.link.catalog import SHIPPED, Watched, read_catalog
from strictcall.link.configuration import NOTHING, Configuration, read_configuration
from strictcall.link.resolve import resolve
from strictcall.link.resolved import ResolvedLink
from strictcall.link.retry import Retries

VARIABLE: Final = "STRICTCALL_CONFIG"
"""The environment variable that may name the configuration file."""
NAMES: Final = ("strictcall.toml", "strictcall.json", "strictcall.yaml", "strictcall.yml")
"""What a configuration file is called in the folder where one works."""


def find_config(folder: Path | None = None, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The configuration file: the one that ``STRICTCALL_CONFIG`` names, else the one in the folder, if any.

    Raises ``ConfigError`` where the folder has several.
    """
    named = environment.get(VARIABLE)
    if named:
        return Path(named)
    here = Path() if folder is None else folder
    found = [name for name in NAMES if (here / name).is_file()]
    if len(found) > 1:
        problem = f"there is {' and '.join(found)}; name one by --config or {VARIABLE}"
        raise ConfigError(str(here.absolute()), [ConfigProblem("", 0, problem)])
    return here / found[0] if found else None


class ConfiguredLinks:
    """The links of a configuration file; without one, those of the catalog.

    The file and the catalog are read again whenever they changed, so that an edited file is seen at the next inference.
    A file that is not right when this is made is an error. One that goes wrong later, as a file that is being edited
    may, leaves what it said before in force: ``on_problem`` is told, once for each change, and ``problem`` is what is
    wrong now.

    Raises ``ConfigError``.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        catalog: Path = SHIPPED,
        on_problem: Callable[[ConfigError], None] = lambda error: None,
    ) -> None:
        self._catalog = Watched(catalog, read_catalog)
        self._file: Watched[Configuration] | None = None
        if path is not None:
            called = str(path)
            # Absolute, so that the process may go to another folder.
            self._file = Watched(path.absolute(), lambda file: read_configuration(file, self._catalog.now(), called))
        self._on_problem = on_problem
        self.problem: ConfigError | None = None
        self._last = NOTHING if self._file is None else self._file.now()

    @property
    def configuration(self) -> Configuration:
        """What the file says now, or said when it was last right."""
        if self._file is not None:
            try:
                self._last = self._file.now()
                self.problem = None
            except ConfigError as error:
                if self.problem is None or self.problem.lines() != error.lines():
                    self._on_problem(error)
                self.problem = error
        return self._last

    def chain(self) -> Sequence[str]:
        """The links that serve, the most wanted first: the fallback chain, else the first model of the file, alone.

        Empty where the file names none.
        """
        config = self.configuration.config
        first = next((f"{entry.id}/{model.id}" for entry in config.providers for model in entry.models), None)
        return config.fallback.chain or ((first,) if first else ())

    def resolve(self, name: str) -> ResolvedLink:
        """The link of a name, as it is now. Raises ``ConfigError``."""
        return resolve(name, self.configuration, self._catalog.now())

    def retries(self) -> Retries:
        """How often a link is asked again."""
        return Retries(**self.configuration.config.retries.model_dump(exclude_none=True))
