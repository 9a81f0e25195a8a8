"""From a link's name to everything that was decided about it, and which line decided.

The nearest of tool, model, provider and top level wins; then the catalog; then a default. Settings of several parts
(a policy, timeouts, headers, fields of the body) are decided part by part.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel

from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load, varied
from strictcall.errors import ConfigError, ConfigProblem
from strictcall.link.catalog import Catalog
from strictcall.link.configuration import NO_TAGS, Configuration, split_link, unknown_provider
from strictcall.link.document import Document, dotted
from strictcall.link.lines import KeyPath
from strictcall.link.resolved import Api, Origin, ResolvedLink, Timeouts, ToolRules
from strictcall.policy import Policy
from strictcall.source.expand import Expander, ExpansionError

DIALECTS: Final[Mapping[Api, str]] = MappingProxyType(
    {
        "chat_completions": "openai",
        "responses": "openai",
        "messages": "anthropic",
        "generate_content": "gemini",
        "converse": "bedrock-anthropic",
    }
)
"""The dialect of an API whose provider nobody said anything about: that of whoever made the API."""
MARKED: Final[Mapping[Api, Mapping[str, Any]]] = MappingProxyType(
    {
        "chat_completions": {"strict_place": "function"},
        "responses": {"strict_place": "function"},
        "messages": {"strict_place": "tool"},
        "generate_content": {"strict_place": "mode", "strict_value": "VALIDATED"},
        "converse": {"strict_place": "tool"},
    }
)
"""How each API marks a strict tool, where the dialect knows of no mark and the user says that the model holds one."""
DEFAULT: Final = Origin("default")


@dataclass(frozen=True, slots=True)
class _Place:
    """A table that may decide something: its model, where it stands, and what a catalog says of its source."""

    part: BaseModel
    path: KeyPath
    document: Document
    said: str | None = None

    def origin(self, *keys: str) -> Origin:
        path = (*self.path, *keys)
        return Origin(self.said or self.document.file, self.document.line(path) or None, dotted(path))


def resolve(name: str, configuration: Configuration, catalog: Catalog) -> ResolvedLink:
    """The link of a name.

    Raises ``ConfigError`` for one of an unknown provider, and for a header that cannot be filled in.
    """
    provider, model = split_link(name)
    problem = unknown_provider(provider, configuration, catalog)
    if problem is not None:
        raise ConfigError(f"link {name!r}", [ConfigProblem("", 0, problem)])
    return _Resolver(configuration, catalog, provider, model).link()


@dataclass(slots=True)
class _Resolver:
    configuration: Configuration
    catalog: Catalog
    provider: str
    model: str
    origins: dict[str, Origin] = field(default_factory=dict)
    own: list[_Place] = field(init=False)
    known: list[_Place] = field(init=False)

    def __post_init__(self) -> None:
        self.own = self._own()
        self.known = self._known()

    def link(self) -> ResolvedLink:
        """Decide one thing after another, and keep who decided it."""
        api = self._decided("api", "chat_completions")
        supports = self._decided("supports_tools", "basic")
        strict = self._strict_tools(supports)
        policy = self._policy()
        dialect = self._dialect(api, supports)
        return ResolvedLink(
            provider=self.provider,
            model=self.model,
            api=api,
            dialect=dialect,
            base_url=self._decided("base_url", None),
            api_key_env=self._decided("api_key_env", None) or None,
            headers=self._headers(),
            timeouts=self._timeouts(),
            supports_tools=supports,
            strict_tools=strict,
            policy=policy,
            tools=self._tools(strict, policy),
            tagged=self._tagged(dialect),
            extra_body=self._by_key("extra_body"),
            max_output_tokens=self._decided("max_output_tokens", None),
            max_parallel_tool_calls=self._decided("max_parallel_tool_calls", None),
            max_tool_output=self._decided("max_tool_output", None),
            origins=MappingProxyType(self.origins),
        )

    def _own(self) -> list[_Place]:
        """The tables of the user's file, the nearest first."""
        found = [self.configuration.model(self.provider, self.model), self.configuration.provider(self.provider)]
        entries = [*filter(None, found), (self.configuration.config, ())]
        return [_Place(part, path, self.configuration.document) for part, path in entries]

    def _known(self) -> list[_Place]:
        """The tables of the catalog. What it says of a model is said of its provider's own address only."""
        known = self.catalog.providers.get(self.provider)
        if known is None:
            return []
        document = self.catalog.document
        places = [_Place(known, self.catalog.path(self.provider), document, "the catalog")]
        own = self.configuration.provider(self.provider)
        models = self.catalog.models(self.provider, self.model)
        if models is not None and (own is None or own[0].base_url in (None, known.base_url)):
            source = f"the catalog ({models[0].source}, {models[0].date})"
            places.insert(0, _Place(models[0], models[1], document, source))
        return places

    def _nearest(self, *keys: str) -> tuple[Any, Origin] | None:
        for place in [*self.own, *self.known]:
            value: Any = place.part
            for key in keys:
                value = getattr(value, key, None)
            if value is not None:
                return value, place.origin(*keys)
        return None

    def _decided(self, key: str, default: Any) -> Any:
        value, self.origins[key] = self._nearest(key) or (default, DEFAULT)
        return value

    def _strict_tools(self, supports: str) -> bool:
        default = Origin(f"default, as supports_tools is {supports}")
        value, self.origins["strict_tools"] = self._nearest("strict_tools") or (supports == "strict", default)
        return bool(value)

    def _dialect(self, api: Api, supports: str) -> Dialect:
        """The dialect as it was named; where its sources know of no strict decoder and the user's own word is that this
        model has one, the user is believed: a setting that changed nothing would be worse than none.
        """
        name, differences = self._named_dialect(api)
        dialect = _dialect(name, json.dumps(differences))
        own = self.configuration.model(self.provider, self.model)
        if dialect.enforced == "decoder" or supports != "strict" or own is None or own[0].supports_tools is None:
            return dialect
        marked = {} if dialect.strict_place != "none" else MARKED[api]
        self.origins["dialect.enforced"] = self.origins["supports_tools"]
        return _dialect(name, json.dumps([{"enforced": "decoder", **marked}, *differences]))

    def _tagged(self, dialect: Dialect) -> str | None:
        """The format of calls in an answer's text, where there may be any."""
        said = dialect.tagged.format
        default = Origin(f"default, as the dialect is {dialect.name}") if said != NO_TAGS else DEFAULT
        chosen, self.origins["tagged"] = self._nearest("tagged") or (said, default)
        return None if chosen == NO_TAGS else chosen

    def _named_dialect(self, api: Api) -> tuple[str, list[dict[str, Any]]]:
        """The dialect that the nearest table names, and what tables as near or nearer say to differ from it."""
        differences: list[dict[str, Any]] = []
        for place in [*self.own, *self.known]:
            overrides = getattr(place.part, "dialect_overrides", None)
            if overrides is not None:
                differences.insert(0, overrides)
                self.origins.setdefault("dialect_overrides", place.origin("dialect_overrides"))
            named = getattr(place.part, "dialect", None)
            if named is not None:
                self.origins["dialect"] = place.origin("dialect")
                return named, differences
        self.origins["dialect"] = Origin(f"default, as api is {api}")
        return DIALECTS[api], differences

    def _policy(self) -> Policy:
        """Each field by itself."""
        decided: dict[str, Any] = {}
        for name in _POLICY_FIELDS:
            found = self._nearest("policy", name)
            self.origins[f"policy.{name}"] = found[1] if found else DEFAULT
            if found is not None:
                decided[name] = found[0]
        return Policy(**decided)

    def _tools(self, strict: bool, policy: Policy) -> Mapping[str, ToolRules]:
        tools = {}
        for name, entry in self.configuration.config.tools.items():
            place = _Place(entry, ("tools", name), self.configuration.document)
            said = {} if entry.policy is None else entry.policy.model_dump(exclude_none=True)
            for key in said:
                self.origins[f"tools.{name}.policy.{key}"] = place.origin("policy", key)
            if entry.strict is not None:
                self.origins[f"tools.{name}.strict"] = place.origin("strict")
            merged = {key: getattr(policy, key) for key in _POLICY_FIELDS} | said
            tools[name] = ToolRules(strict if entry.strict is None else entry.strict, Policy(**merged))
        return MappingProxyType(tools)

    def _timeouts(self) -> Timeouts:
        decided: dict[str, Any] = {}
        for each in fields(Timeouts):
            found = self._nearest("timeouts", each.name)
            self.origins[f"timeouts.{each.name}"] = found[1] if found else DEFAULT
            if found is not None:
                decided[each.name] = found[0] or None
        return Timeouts(**decided)

    def _by_key(self, key: str) -> Mapping[str, Any]:
        """A table that several may add to: of each of its keys the nearest counts, whatever its case."""
        decided: dict[str, tuple[str, Any]] = {}
        for place in self.own:
            for name, value in (getattr(place.part, key, None) or {}).items():
                same = name.lower() if key == "headers" else name
                if same not in decided:
                    decided[same] = name, value
                    self.origins[f"{key}.{name}"] = place.origin(key, name)
        return MappingProxyType(dict(reversed(decided.values())))

    def _headers(self) -> Mapping[str, str]:
        document = self.configuration.document
        expander = Expander(Path(document.file).absolute().parent)
        filled = {}
        for name, text in self._by_key("headers").items():
            try:
                filled[name] = expander.text(text)
            except ExpansionError as error:
                origin = self.origins[f"headers.{name}"]
                raise ConfigError(document.file, [ConfigProblem(origin.path, origin.line or 0, str(error))]) from None
        return MappingProxyType(filled)


_POLICY_FIELDS: Final[Sequence[str]] = tuple(each.name for each in fields(Policy))


@functools.lru_cache(maxsize=256)
def _dialect(name: str, differences: str) -> Dialect:
    """A dialect with differences, as JSON text: built once, since tools are compiled for it again and again."""
    found = json.loads(differences)
    return varied(name, *found) if found else load(name)
