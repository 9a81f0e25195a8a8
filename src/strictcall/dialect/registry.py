"""Reading dialect files: TOML in, a frozen ``Dialect`` out, and nothing in between that is not understood.

A file that says ``parent`` is its parent plus what differs. In a child, ``false`` takes an entry of the parent away.
The table ``[output]`` of a file holds what differs where a schema is for structured output and not for a tool.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from strictcall.dialect.build import build
from strictcall.dialect.model import Dialect, Target
from strictcall.errors import DialectError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

Find = Callable[[str], dict[str, Any]]
"""Gives the raw table of a dialect by its name; raises ``DialectError`` for a name that it does not know."""

ENTRIES = ("keywords", "rules", "regex_forbidden", "sources")
"""Tables whose entries are replaced whole by a child's entry of the same name."""


@functools.cache
def load(name: str, target: Target = "tool") -> Dialect:
    """The shipped dialect of this name, for a tool's arguments or for structured output.

    Raises ``DialectError`` for an unknown name, naming those that are near.
    """
    return build(name, merged(name, _shipped, target), target)


def dialects() -> tuple[Dialect, ...]:
    """Every shipped dialect, in the order of their names."""
    return tuple(load(name) for name in _names())


def read(path: Path, target: Target = "tool") -> Dialect:
    """The dialect in a file of one's own, named after the file.

    Its parent may be a file beside it or a shipped dialect. Raises ``DialectError`` where the file cannot be read or
    breaks the format.
    """

    def find(name: str) -> dict[str, Any]:
        beside = path.with_name(f"{name}.toml")
        if name == path.stem or beside.is_file():
            return _parse(name, _text(name, beside if name != path.stem else path))
        return _shipped(name)

    return build(path.stem, merged(path.stem, find, target), target)


def varied(name: str, *differences: Mapping[str, Any], target: Target = "tool") -> Dialect:
    """A shipped dialect and what differs from it, each table of differences laid over those before it; they have the
    format of a child's file. The name is the shipped one's with a ``*`` for each.

    Raises ``DialectError`` for an unknown name, and where the tables break the format.
    """
    tables = {name + "*" * place: table for place, table in enumerate(differences, start=1)}

    def find(wanted: str) -> dict[str, Any]:
        return {**tables[wanted], "parent": wanted[:-1]} if wanted in tables else _shipped(wanted)

    own = name + "*" * len(differences)
    return build(own, merged(own, find, target), target)


def merged(name: str, find: Find, target: Target = "tool") -> dict[str, Any]:
    """The table of a dialect with its parents' laid under it; raises ``DialectError`` where parents go in a circle.

    A file's own ``[output]`` is laid over the rest of that file, under its children.
    """
    chain: list[dict[str, Any]] = []
    names: list[str] = []
    wanted: Any = name
    while wanted is not None:
        if not isinstance(wanted, str):
            raise DialectError(name, f"parent: {wanted!r} is not a dialect's name")
        if wanted in names:
            raise DialectError(name, f"parent: {' → '.join([*names, wanted])} goes in a circle")
        names.append(wanted)
        chain.append(find(wanted))
        wanted = chain[-1].get("parent")
    result: dict[str, Any] = {}
    while chain:
        table = dict(chain.pop())
        differs = table.pop("output", {})
        if not isinstance(differs, dict):
            raise DialectError(name, "output: must be a table")
        result = _overlay(result, table)
        if target == "output":
            result = _overlay(result, differs)
    return result


def _overlay(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        under = result.get(key)
        under = {} if under is None and isinstance(value, dict) else under
        if key == "limits" and isinstance(under, dict) and isinstance(value, dict):
            result[key] = _overlay(under, value)
        elif isinstance(under, dict) and isinstance(value, dict):
            result[key] = _without_false(key, {**under, **value})
        else:
            result[key] = value
    return result


def _without_false(key: str, table: dict[str, Any]) -> dict[str, Any]:
    if key in ENTRIES or key in ("tool", "request"):
        return {name: value for name, value in table.items() if value is not False}
    return table


def _folder() -> Traversable:
    """Where the shipped files are."""
    from importlib import resources  # noqa: PLC0415 - reading files is needed by the first compilation, not before

    return resources.files(__package__)


def _names() -> tuple[str, ...]:
    files = _folder().iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def _shipped(name: str) -> dict[str, Any]:
    known = _names()
    if name not in known:
        import difflib  # noqa: PLC0415 - only where a name is wrong

        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known are {', '.join(known)}"
        raise DialectError(str(name), f"unknown; {hint}")
    return _parse(name, _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _text(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DialectError(name, f"{path} cannot be read: {problem}") from problem


def _parse(name: str, text: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - as above

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise DialectError(name, f"not TOML: {problem}") from problem
