"""The tools of a request, compiled for the link that is to serve it.

Where no tool is wanted strict, nothing is rewritten at all: names, schemas and markings are those that a request has
which knows nothing of strict.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from strictcall.dialect.model import Dialect, State
from strictcall.dialect.registry import load
from strictcall.link.resolved import ResolvedLink
from strictcall.policy import Policy
from strictcall.tool import Tool
from strictcall.wire.compile import compile_schema, demoted
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

MOST_KEPT: Final = 64
"""How many toolsets are remembered, those least recently asked for forgotten first."""
LARGEST_KEPT: Final = 1024 * 1024
"""How many characters the names, descriptions and schemas of a toolset may have, as JSON, for it to be remembered."""
_OFF: Final = Dialect("off", "No strict decoder", others=State.IGNORED, strict_place="none")
_NOT_WANTED: Final = "nothing is to be strict on this link"

Key = tuple[str, str, Policy, tuple[tuple[str, bool, Policy], ...]]


def is_off(link: ResolvedLink, tools: Sequence[Tool]) -> bool:
    """Whether none of some tools is wanted strict on a link."""
    return not any(link.rules(tool.name).strict for tool in tools)


def off_dialect(link: ResolvedLink) -> Dialect:
    """What takes everything as it is. Which of Gemini's two fields holds a schema is still the link's dialect's to
    say.
    """
    return dataclasses.replace(_OFF, schema_language=link.dialect.schema_language)


class Toolsets:
    """Toolsets by content: the same tools under the same rules are compiled once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Toolset] = OrderedDict()

    def of(self, link: ResolvedLink, tools: Sequence[Tool]) -> Toolset:
        """The tools, as the link has them. Raises ``NameClashError`` for two that would have the same name."""
        key = _key(link, tools)
        if key is None:
            return _compiled(link, tools)
        kept = self._kept.get(key)
        if kept is None or kept.dialect != _dialect(link, tools):
            # The caller may change its own schemas.
            kept = self._kept[key] = _compiled(link, copy.deepcopy(list(tools)))
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return kept


def output_of(link: ResolvedLink, schema: Any, name: str) -> CompiledTool:
    """A schema for the answer, as the link has it: loose where nothing is to be strict on it, and then it is read by,
    but not sent.
    """
    # What a configuration lays over a dialect is said of its tools, and told by stars after the name.
    dialect = load(link.dialect.name.rstrip("*"), "output")
    compiled = compile_schema(schema, dialect, link.policy, name=name)
    return compiled if sends_output(link) else unsent(compiled)


def unsent(output: CompiledTool) -> CompiledTool:
    """A schema for the answer that is not sent: loose, for no decoder holds the answer to it."""
    return demoted(output, _NOT_WANTED) if output.strict else output


def sends_output(link: ResolvedLink) -> bool:
    """Whether a schema for the answer is sent on a link."""
    return link.supports_tools == "strict" and link.strict_tools


def _dialect(link: ResolvedLink, tools: Sequence[Tool]) -> Dialect:
    return off_dialect(link) if is_off(link, tools) else link.dialect


def _compiled(link: ResolvedLink, tools: Sequence[Tool]) -> Toolset:
    rules = {tool.name: link.rules(tool.name) for tool in tools}
    return Toolset(
        tools,
        _dialect(link, tools),
        link.policy,
        policies={name: rule.policy for name, rule in rules.items()},
        unmarked=[name for name, rule in rules.items() if not rule.strict],
    )


def _key(link: ResolvedLink, tools: Sequence[Tool]) -> Key | None:
    """What a toolset depends on, but for the dialect's rules; ``None`` where a tool is no JSON, or all together are too
    large to be kept.
    """
    try:
        said = json.dumps([[tool.name, tool.description, tool.parameters] for tool in tools])
    except (TypeError, ValueError, RecursionError):
        return None
    if len(said) > LARGEST_KEPT:
        return None
    rules = tuple((tool.name, rule.strict, rule.policy) for tool in tools for rule in [link.rules(tool.name)])
    return said, link.dialect.name, link.policy, rules
