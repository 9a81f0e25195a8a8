"""The requests of a probe: made as all requests are, counted, never sent again, and told of without their content."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from strictcall.api.answer import Answer
from strictcall.change import Verdict
from strictcall.dialect.model import Dialect
from strictcall.errors import RequestError, cut
from strictcall.json_value import compact
from strictcall.link.client import Client
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.prepared import Request, ask_whole, prepare, unwritable
from strictcall.link.probe_features import FEATURES, STRICT, TOOL, schema_of
from strictcall.link.resolve import MARKED
from strictcall.link.resolved import ResolvedLink
from strictcall.link.toolsets import Toolsets
from strictcall.source.secrets import SHOWN, hidden, known_secrets
from strictcall.tool import Tool
from strictcall.wire.compiled import Compilation, CompiledTool
from strictcall.wire.names import legal_name
from strictcall.wire.toolset import Toolset

MOST_WORDS: Final = 300
"""How many characters of a provider's words are told."""
MOST_WAIT: Final = 5.0
"""Seconds that a probe waits where a provider asks it to."""
_SHORTEST_CUT: Final = 12
"""How much of a hidden text may still show where the words were cut off within it."""
_READY: Final = "Answer with the one word: ready."
_WORDS_FIRST: Final = (
    "Do not call a tool if an answer in words is possible: then answer with the one word: ready.\n"
    "If it is not possible, what follows holds.\n"
)
_EXACTLY: Final = "with exactly these arguments, even where the schema does not allow them; it is a test of the server."
_STOPS: Final = frozenset({ErrorKind.KEY, ErrorKind.QUOTA, ErrorKind.CONNECTION, ErrorKind.NO_CLIENT})
"""Errors after which nothing more is asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a probe: its ``number``, from 1, and the names of what it asks about."""

    number: int
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A request was refused, in the provider's ``words``; ``broke`` where the server failed, over it or by chance."""

    words: str
    broke: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A request got no answer, which tells nothing of what it asked; ``final`` where no other would get one."""

    words: str
    final: bool = False


Outcome = Answer | Refused | Failed


class _AsItStands(Toolset):
    """Tools that go out strict with their own schemas, whatever the dialect would make of them."""

    def _placed(self, tool: Tool, room: object) -> CompiledTool:
        del room
        name = legal_name(tool.name, self.dialect.tool_name)
        return CompiledTool(
            tool, Compilation(name, tool.parameters, True, Verdict.EXACT, (), None, self.dialect, self.policy)
        )


class _AsTheyStand(Toolsets):
    def of(self, link: ResolvedLink, tools: Sequence[Tool]) -> Toolset:
        """The tools, each as it stands."""
        return _AsItStands(tools, link.dialect, link.policy)


class Asking:
    """Asks a link up to ``requests`` times, one request after another; ``tell`` is told of each before it is sent.

    ``used`` is what the provider says that the answers took. ``answered`` counts them.
    """

    def __init__(
        self,
        link: ResolvedLink,
        client: Client,
        *,
        requests: int,
        output_tokens: int,
        tell: Callable[[Asked], None],
        key: str | None = None,
    ) -> None:
        own = link.max_output_tokens
        capped = output_tokens if own is None else min(own, output_tokens)
        self.link = dataclasses.replace(link, max_output_tokens=capped, tools={})
        self.left = requests
        self.number = 0
        self.answered = 0
        self.used: dict[str, int | None] = {"input": None, "output": None}
        self._client = client
        self._tell = tell
        self._own = [*([key] if key else []), *link.headers.values(), *_texts(link.extra_body)]
        self._secrets = known_secrets(self._own)

    async def plain(self, about: str) -> Outcome:
        """Ask for an answer without tools."""
        return await self._ask((about,), self._loose(), _READY, Toolsets())

    async def loose(self, about: Sequence[str]) -> Outcome:
        """Ask for two calls of a loose tool, which break its schema."""
        return await self._ask(about, self._loose(), _calls((STRICT,), 2), Toolsets(), tools=[_loose_tool()])

    async def demanded(self, about: str) -> Outcome:
        """Demand a call of a loose tool where the user wants none."""
        text = _WORDS_FIRST + _calls((STRICT,), 1)
        tools = [_loose_tool()]
        return await self._ask((about,), self._loose(), text, Toolsets(), tools=tools, tool_choice="required")

    async def strict(
        self, about: Sequence[str], features: Sequence[str], *, parallel: bool, demanded: bool, unwanted: bool
    ) -> Outcome:
        """Ask for calls of a strict tool, which break each of some features: two calls where they may be ``parallel``.
        They are ``demanded`` by the tool choice, and ``unwanted`` by the user's words.
        """
        link = self._strict(parallel=parallel)
        tool = Tool(TOOL, "A tool to test with", schema_of(features, link.dialect))
        text = (_WORDS_FIRST if unwanted else "") + _calls(features, 2 if parallel else 1)
        choice = "required" if demanded else None
        return await self._ask(about, link, text, _AsTheyStand(), tools=[tool], tool_choice=choice)

    def shown(self, text: str) -> str:
        """A text without what the request said: not even a part of it, where the text was cut off there."""
        told = hidden(text, self._secrets)
        for secret in self._secrets:
            longest = min(len(secret) - 1, len(told))
            left = next((size for size in range(longest, _SHORTEST_CUT - 1, -1) if told.endswith(secret[:size])), 0)
            told = told[: len(told) - left] + SHOWN if left else told
        return cut(" ".join(told.split()), MOST_WORDS)

    # --- one request --------------------------------------------------------------------------------------------------

    async def _ask(
        self, about: Sequence[str], link: ResolvedLink, text: str, toolsets: Toolsets, **asked: Any
    ) -> Outcome:
        try:
            prepared = prepare(link, Request([{"role": "user", "content": text}], **asked), toolsets)
        except RequestError as error:
            told = unwritable(link, error)
            return Failed(told.words, final=True) if self.answered else self._raised(told)
        self._secrets = known_secrets(self._own, [text])
        self.left -= 1
        self.number += 1
        self._tell(Asked(self.number, tuple(about)))
        try:
            answer = await ask_whole(prepared, self._client)
        except LinkError as error:
            return await self._failed(error)
        self.answered += 1
        for name in self.used:
            count = getattr(answer.usage, name)
            self.used[name] = self.used[name] if count is None else (self.used[name] or 0) + count
        return answer

    async def _failed(self, error: LinkError) -> Outcome:
        """What an error says. Raises it before there was any answer: then it is not about what was asked."""
        if not self.answered:
            self._raised(error)
        words = self.shown(error.words)
        if error.kind in (ErrorKind.REFUSED, ErrorKind.NOT_FOUND):
            return Refused(words)
        if error.kind is ErrorKind.SERVER:
            return Refused(f"the server failed: {words}", broke=True)
        if error.retry_after and self.left:
            await anyio.sleep(min(error.retry_after, MOST_WAIT))
        return Failed(f"{error.kind}: {words}", final=error.kind in _STOPS)

    def _raised(self, error: LinkError) -> Outcome:
        raise LinkError(error.link, error.kind, self.shown(error.words), status=error.status) from None

    def _loose(self) -> ResolvedLink:
        return dataclasses.replace(self.link, supports_tools="parallel", strict_tools=False)

    def _strict(self, *, parallel: bool) -> ResolvedLink:
        dialect = probed(self.link, parallel=parallel)
        return dataclasses.replace(self.link, supports_tools="strict", strict_tools=True, dialect=dialect)


def probed(link: ResolvedLink, *, parallel: bool = True) -> Dialect:
    """A link's dialect for a probe: strict tools are marked where it says, or, where it knows of no mark because
    nothing is held, as the link's API has it. Calls may be ``parallel``, whatever it says.
    """
    dialect = link.dialect
    marked = MARKED[link.api] if dialect.enforced == "none" and dialect.strict_place == "none" else {}
    made: Dialect = dataclasses.replace(dialect, enforced="decoder", parallel_with_strict=parallel, **marked)
    return made


def _loose_tool() -> Tool:
    schema = {
        "type": "object",
        "properties": {STRICT: dict(FEATURES[STRICT].schema)},
        "required": [STRICT],
    }
    return Tool(TOOL, "A tool to test with", schema)


def _calls(features: Sequence[str], count: int) -> str:
    """The words that ask for calls which break each of some features."""
    how_many = "Make this one call" if count == 1 else "Make these two calls, both of them in one answer"
    written = [
        f"{TOOL}({compact({name: FEATURES[name].breaches[number] for name in features})})" for number in range(count)
    ]
    return "\n".join([f"{how_many}, {_EXACTLY}", *written])


def _texts(value: Any) -> list[str]:
    """The texts within a value."""
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []
