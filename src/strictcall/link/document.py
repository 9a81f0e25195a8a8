"""A configuration file as it lies on disk: its value, and the line that each part of it stands on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from strictcall.errors import ConfigError, ConfigProblem, SourceError
from strictcall.link.lines import KeyPath, Lines, lines_of_json, lines_of_toml, lines_of_yaml
from strictcall.source.documents import text_of
from strictcall.source.flaws import FlawedObject, first_flaw
from strictcall.source.json_text import TextError, parse_json, without_comments
from strictcall.source.yaml_text import parse_yaml

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_TOML_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """A configuration file's value, with the line of each key and array element."""

    file: str
    value: Mapping[str, Any] = field(repr=False)
    lines: Mapping[KeyPath, int] = field(repr=False)

    def line(self, path: KeyPath) -> int:
        """The line of a part, or of the nearest part around it that the file says; 0 where there is none."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def problem(self, path: KeyPath, problem: str) -> ConfigProblem:
        """What is wrong with a part of it."""
        return ConfigProblem(dotted(path), self.line(path), problem)

    def error(self, path: KeyPath, problem: str) -> ConfigError:
        """The error for one part of it."""
        return ConfigError(self.file, [self.problem(path, problem)])


def dotted(path: KeyPath) -> str:
    """A path as people write it: ``providers[0].models[1].id``, ``tools."github.create_issue".strict``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = part if _BARE.match(part) else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'
            text += f".{shown}" if text else shown
    return text


def read_document(path: Path, file: str | None = None) -> Document:
    """Read a TOML, JSON or YAML file; its suffix says which. ``file`` is what it is called, else its path.

    JSON may have comments and trailing commas, YAML is read as the core schema of YAML 1.2. Raises ``ConfigError``.
    """
    called = str(path) if file is None else file
    try:
        with path.open("rb") as stream:
            text = text_of(stream, called)
    except SourceError as error:
        raise ConfigError(error.place, [ConfigProblem("", 0, error.problem)]) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise ConfigError(called, [ConfigProblem("", 0, f"cannot be read: {said}")]) from None
    return parse_document(text, called, path.suffix.lower())


def parse_document(text: str, file: str, suffix: str = ".toml") -> Document:
    """A configuration from its text; ``file`` is what it is called in errors. Raises ``ConfigError``."""
    if suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ConfigError(file, [ConfigProblem("", 0, f"a configuration's name ends in one of {known}")])
    try:
        value, lines = _FORMATS[suffix](text)
    except TextError as error:
        raise ConfigError(file, [ConfigProblem("", error.line, error.problem)]) from None
    except ModuleNotFoundError:
        raise ConfigError(file, [ConfigProblem("", 0, "reading YAML needs pip install 'strictcall[cli]'")]) from None
    document = Document(file, MappingProxyType(value if isinstance(value, dict) else {}), MappingProxyType(lines))
    if not isinstance(value, dict):
        raise document.error((), "must be a table of settings")
    flaws = [document.problem(place, problem) for place, problem in _flaws(value)]
    if flaws:
        raise ConfigError(file, flaws)
    return document


def _toml(text: str) -> tuple[Any, Lines]:
    try:
        return tomllib.loads(text), lines_of_toml(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _TOML_PLACE.search(said)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        problem = _TOML_PLACE.sub("", said)
        raise TextError(f"not valid TOML: {problem[:1].lower()}{problem[1:]}", line) from None
    except RecursionError:
        raise TextError("the TOML nests too deep to be read") from None
    except ValueError:  # Python reads no integer of more digits
        raise TextError("a number has more digits than can be read") from None


def _json(text: str) -> tuple[Any, Lines]:
    plain = without_comments(text)
    value = parse_json(plain)
    try:
        return value, lines_of_json(plain)
    except RecursionError:
        raise TextError("the JSON nests too deep to be read") from None


def _yaml(text: str) -> tuple[Any, Lines]:
    values = list(parse_yaml(text))
    if len(values) > 1:
        raise TextError("there are several YAML documents in it; a configuration is one")
    return (values[0] if values and values[0] is not None else {}), lines_of_yaml(text)


_FORMATS: Final[Mapping[str, Callable[[str], tuple[Any, Lines]]]] = MappingProxyType(
    {".toml": _toml, ".json": _json, ".jsonc": _json, ".yaml": _yaml, ".yml": _yaml}
)


def _flaws(value: Any) -> Iterator[tuple[KeyPath, str]]:
    """What TOML, JSON text and YAML can say that is no JSON value, with the path of each."""
    pending: list[tuple[KeyPath, Any]] = [((), value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, FlawedObject):
            yield (*path, node.key), "the key is given twice"
        elif isinstance(node, dict):
            problem = first_flaw(dict.fromkeys(node))
            if problem is not None:
                yield path, problem
            pending.extend(((*path, key), item) for key, item in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend(((*path, place), item) for place, item in reversed(list(enumerate(node))))
        elif isinstance(node, date | time):
            yield path, "a date is no value here; put it in quotation marks"
        else:
            problem = first_flaw(node)
            if problem is not None:
                yield path, problem
