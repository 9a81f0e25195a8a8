"""A configuration that was read and can be used: its file, its model, and what is wrong across its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Final

from strictcall.dialect.registry import load, varied
from strictcall.errors import ConfigError, ConfigProblem, DialectError, SettingsError
from strictcall.link.catalog import Catalog
from strictcall.link.config import Config, Level, ModelEntry, ProviderEntry
from strictcall.link.document import Document, read_document
from strictcall.link.lines import KeyPath
from strictcall.link.validation import validate
from strictcall.source.mcp_server import check_headers
from strictcall.tagged.registry import AUTO, family

NO_TAGS: Final = "none"
_OURS: Final = frozenset({"model", "messages", "input", "contents", "tools", "functions", "stream"})
"""Fields of a request that are its own: laid over, they would make it another."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration file: what it says, and the lines on which it does."""

    document: Document
    config: Config

    def provider(self, name: str) -> tuple[ProviderEntry, KeyPath] | None:
        """The file's entry for a provider, and where it stands."""
        for place, entry in enumerate(self.config.providers):
            if entry.id == name:
                return entry, ("providers", place)
        return None

    def model(self, provider: str, name: str) -> tuple[ModelEntry, KeyPath] | None:
        """The file's entry for a model, and where it stands."""
        found = self.provider(provider)
        for place, entry in enumerate(found[0].models if found else ()):
            if found and entry.id == name:
                return entry, (*found[1], "models", place)
        return None


NOTHING: Final = Configuration(Document("no configuration", MappingProxyType({}), MappingProxyType({})), Config())
"""What holds where there is no file: the catalog, and defaults."""


def read_configuration(path: Path, catalog: Catalog, file: str | None = None) -> Configuration:
    """Read a configuration file; ``file`` is what it is called, else its path.

    Raises ``ConfigError`` with all that is wrong with it.
    """
    document = read_document(path, file)
    configuration = Configuration(document, validate(Config, document))
    problems = sorted(_problems(configuration, catalog), key=lambda problem: problem.line)
    if problems:
        raise ConfigError(document.file, problems)
    return configuration


def split_link(name: str) -> tuple[str, str]:
    """A link's provider and model: split at the first slash. Raises ``ConfigError``."""
    provider, slash, model = name.partition("/")
    if not slash or not provider or not model.strip():
        raise ConfigError(f"link {name!r}", [ConfigProblem("", 0, "a link is written provider/model")])
    return provider, model


def unknown_provider(name: str, configuration: Configuration, catalog: Catalog) -> str | None:
    """What is wrong with a link's provider; ``None`` for one that is known."""
    own = [entry.id for entry in configuration.config.providers]
    if name in own or name in catalog.providers:
        return None
    near = get_close_matches(name, [*own, *catalog.providers], n=2, cutoff=0.5)
    listed = ", ".join(dict.fromkeys([*own, *catalog.providers]))
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed}"
    return f"no provider is called {name!r}; {hint}"


def _problems(configuration: Configuration, catalog: Catalog) -> Iterator[ConfigProblem]:
    document, config = configuration.document, configuration.config
    for path, problem in _across(config, configuration, catalog):
        yield document.problem(path, problem)
    for path, level in _levels(config):
        for inner, problem in _level(level):
            yield document.problem((*path, *inner), problem)


def _levels(config: Config) -> Iterator[tuple[KeyPath, Level]]:
    """Every table that settings may stand in, and where it is."""
    yield (), config
    for place, provider in enumerate(config.providers):
        yield ("providers", place), provider
        for row, model in enumerate(provider.models):
            yield ("providers", place, "models", row), model


Found = Iterator[tuple[KeyPath, str]]


def _across(config: Config, configuration: Configuration, catalog: Catalog) -> Found:
    """What is wrong with tables beside each other, and with links."""
    yield from (
        (("providers", place, "id"), f"{name!r} is given twice")
        for place, name in _repeated(entry.id for entry in config.providers)
    )
    for place, provider in enumerate(config.providers):
        at: KeyPath = ("providers", place)
        yield from (
            ((*at, "models", row, "id"), f"{name!r} is given twice")
            for row, name in _repeated(entry.id for entry in provider.models)
        )
        if provider.base_url is None and provider.id not in catalog.providers and provider.api != "converse":
            yield (*at, "base_url"), f"missing; the catalog knows no provider called {provider.id!r}"
        if provider.base_url is None and provider.id == "azure":
            yield (
                (*at, "base_url"),
                "missing; it is your own resource's address: https://NAME.openai.azure.com/openai/v1",
            )
        for row, model in enumerate(provider.models):
            yield from (((*at, "models", row, *path), problem) for path, problem in _dialect(provider, model, catalog))
        yield from (((*at, *path), problem) for path, problem in _dialect(None, provider, catalog))
    for place, link in enumerate(config.fallback.chain):
        problem = _chained(link, configuration, catalog)
        if problem is not None:
            yield ("fallback", "chain", place), problem
    for place, link in _repeated(config.fallback.chain):
        yield ("fallback", "chain", place), f"{link!r} is given twice"


def _repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            yield place, name
        seen.add(name)


def _chained(link: str, configuration: Configuration, catalog: Catalog) -> str | None:
    try:
        provider, _ = split_link(link)
    except ConfigError as error:
        return error.problems[0].problem
    return unknown_provider(provider, configuration, catalog)


def _dialect(above: ProviderEntry | None, entry: ProviderEntry | ModelEntry, catalog: Catalog) -> Found:
    """What is wrong with an entry's dialect and what it says to differ from it."""
    if entry.dialect is not None:
        try:
            load(entry.dialect)
        except DialectError as error:
            yield ("dialect",), f"{entry.dialect!r}: {error.problem}"
            return
    if entry.dialect_overrides is None:
        return
    provider = above or entry
    known = catalog.providers.get(provider.id)
    base = entry.dialect or (above.dialect if above else None) or (known.dialect if known else "openai")
    try:
        varied(base, entry.dialect_overrides)
    except DialectError as error:
        place, _, problem = error.problem.partition(": ")
        yield ("dialect_overrides", *place.split(".")), problem or place


def _level(level: Level) -> Found:
    """What is wrong with the settings of one table."""
    if level.tagged is not None and level.tagged not in (AUTO, NO_TAGS):
        try:
            family(level.tagged)
        except SettingsError as error:
            yield ("tagged",), error.problem
    for name, value in (level.headers or {}).items():
        try:
            check_headers({name: value})
        except ValueError as error:
            yield ("headers", name), str(error)
    for name in level.extra_body or {}:
        if name in _OURS:
            yield ("extra_body", name), "a request says this itself; it cannot be laid over it"
    if isinstance(level, ModelEntry):
        yield from _wanted(level)


def _wanted(model: ModelEntry) -> Found:
    if model.strict_tools and model.supports_tools not in (None, "strict"):
        yield (
            ("strict_tools",),
            f'strict tools need supports_tools = "strict", and it is {model.supports_tools!r} here',
        )
