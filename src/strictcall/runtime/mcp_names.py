"""What the tools of several MCP servers are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

SEPARATOR: Final = "__"
"""What stands between a server's name and a tool's: legal with every provider, so that names stay as they are."""
_SEPARATORS: Final = (SEPARATOR, ".", "/")

Owned = tuple[str, str]
"""A server's name and the name that it gives a tool."""


def named(
    tools: Iterable[Owned], before: Mapping[Owned, str] = MappingProxyType({}), *, always: bool = False
) -> dict[Owned, str]:
    """A name for each tool, each another one; what was named ``before`` keeps its name, so that a model that was told
    of it can go on using it.

    It is the tool's own where no other server has a tool of that name, else (or always) ``server__tool``. A name that
    comes about twice even so gets a number.
    """
    owned = list(tools)
    counts = Counter(tool for _, tool in {**before, **dict.fromkeys(owned)})
    used = set(before.values())
    new = [each for each in owned if each not in before]
    plain = set() if always else {tool for _, tool in new if counts[tool] == 1 and tool not in used}
    used |= plain
    fresh = {each: each[1] if each[1] in plain else _fresh(f"{each[0]}{SEPARATOR}{each[1]}", used) for each in new}
    return {each: before[each] if each in before else fresh[each] for each in owned}


def _fresh(name: str, used: set[str]) -> str:
    number, fresh = 1, name
    while fresh in used:
        number += 1
        fresh = f"{name}_{number}"
    used.add(fresh)
    return fresh


def found(name: str, given: Mapping[Owned, str]) -> Owned | None:
    """The tool that a name means: the name it was given, one with its server before it (``qualified``), or its own name
    where only one tool has it. ``None`` where that is no tool, or more than one.
    """
    for meant in (
        [owned for owned, shown in given.items() if shown == name],
        [owned for owned in given if name in qualified(owned)],
        [owned for owned in given if owned[1] == name],
    ):
        if meant:
            return meant[0] if len(meant) == 1 else None
    return None


def qualified(owned: Owned) -> tuple[str, ...]:
    """A tool's names with its server's before it: ``server__tool``, ``server.tool``, ``server/tool``."""
    server, tool = owned
    return tuple(f"{server}{mark}{tool}" for mark in _SEPARATORS)
