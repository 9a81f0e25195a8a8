"""A link as it stands for one request: a model of a provider, and everything that was decided about it.

Whoever reads a configuration makes these; whoever sends requests takes them. Nothing here is read from a file, and no
key is held: only the name of the environment variable that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, get_args

from strictcall.dialect.model import Dialect
from strictcall.policy import Policy

Api = Literal["chat_completions", "responses", "messages", "generate_content", "converse"]
"""The APIs that a provider may speak."""
APIS: Final[tuple[Api, ...]] = get_args(Api)
Support = Literal["none", "basic", "parallel", "strict"]
"""What a model can do with tools, each value more than the one before: nothing, one call after another, several calls
at once, and calls whose arguments a decoder holds to their schema.
"""
SUPPORTS: Final[tuple[Support, ...]] = get_args(Support)


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was decided: ``source`` is a file, or words such as ``the catalog`` or ``default``; ``line`` is the
    line of a file, from 1, and ``path`` the dotted path within it.
    """

    source: str
    line: int | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What holds for one tool on a link: whether it is wanted strict, and the policy by which it is compiled."""

    strict: bool
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: ``connect`` until there is a connection, ``read`` the longest silence of an answer that is awaited or
    under way, ``total`` for one attempt as a whole, streams included; ``None`` sets no limit.
    """

    connect: float | None = 10.0
    read: float | None = 120.0
    total: float | None = 600.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How a link is asked again.

    ``attempts``: how often at most, the first time included. ``first_wait`` seconds pass before the second attempt,
    twice as many before each further one, ``longest_wait`` at most; a random part of each, from half of it on, is
    really waited. A wait that the provider asks for counts instead, and where it is longer than ``longest_wait`` the
    link is not asked again. ``within``: no attempt begins later than so many seconds after the first.
    """

    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 20.0
    within: float = 120.0


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link ``provider/model``, split at the first slash, with everything that was decided about it.

    - ``model`` is the name that the provider knows, ``api`` how it is spoken to, ``dialect`` what its decoder takes.
    - ``base_url``: ``None`` is the official client's own. ``api_key_env`` names the environment variable that has the
      key; ``None`` where the provider asks for none. ``headers`` are sent with each request, and may be secret.
    - ``supports_tools`` is what the model can do and ``strict_tools`` what was wanted; ``tools`` are the rules of
      single tools, by contract name, and ``policy`` is that of all others.
    - ``tagged`` is the format in which the model writes calls as text, where it does.
    - ``extra_body``: fields laid over the request's body. ``max_output_tokens`` caps an answer.
      ``max_parallel_tool_calls`` is how many calls of one answer may run at once, and ``max_tool_output`` how many
      characters of a tool's output the model is given.
    - ``origins`` says where each value was decided, by the field's name; a tool's by ``tools.NAME.strict`` and
      ``tools.NAME.policy.FIELD``, a policy's by ``policy.FIELD``.
    """

    provider: str
    model: str
    api: Api
    dialect: Dialect
    base_url: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=_nothing, repr=False)
    timeouts: Timeouts = Timeouts()
    supports_tools: Support = "basic"
    strict_tools: bool = False
    policy: Policy = field(default_factory=Policy)
    tools: Mapping[str, ToolRules] = field(default_factory=_nothing)
    tagged: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=_nothing, repr=False)
    max_output_tokens: int | None = None
    max_parallel_tool_calls: int | None = None
    max_tool_output: int | None = None
    origins: Mapping[str, Origin] = field(default_factory=_nothing, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The link's name, ``provider/model``."""
        return f"{self.provider}/{self.model}"

    def rules(self, tool: str) -> ToolRules:
        """What holds for a tool of this contract name. No tool is strict where the model cannot be."""
        found = self.tools.get(tool) or ToolRules(self.strict_tools, self.policy)
        return found if self.supports_tools == "strict" else ToolRules(strict=False, policy=found.policy)


class Links(Protocol):
    """Where links come from. It is asked anew at every inference, so that an edited configuration is seen at once."""

    def chain(self) -> Sequence[str]:
        """The names of the links that serve, the most wanted first."""

    def resolve(self, name: str) -> ResolvedLink:
        """The link of a name. Raises ``StrictCallError`` for one that is not known."""

    def retries(self) -> Retries:
        """How a link is asked again."""
