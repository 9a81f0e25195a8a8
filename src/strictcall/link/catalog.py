"""The catalog: what somebody has written down about providers and their models, with the place where they wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Generic, TypeVar

from strictcall.link.config import Id, Part, Text
from strictcall.link.document import Document, read_document
from strictcall.link.lines import KeyPath
from strictcall.link.resolved import Api, Support
from strictcall.link.validation import validate

SHIPPED: Final = Path(__file__).with_name("catalog.toml")

Read = TypeVar("Read")


class CatalogModels(Part):
    """Models that can do the same, and who says so. ``*`` in an id stands for any text."""

    ids: tuple[Id, ...]
    """The models' names, as the provider knows them."""
    supports_tools: Support
    """What they can do with tools."""
    dialect: Text | None = None
    """What their decoder accepts, where that is not what the provider's others do."""
    source: Text
    """The page that says so."""
    date: Text
    """When the page was read (ISO date)."""


class CatalogProvider(Part):
    """A provider, as its own documentation has it."""

    id: Text
    """The provider's name in links."""
    title: Text
    """What people call it."""
    api: Api
    """How it is spoken to."""
    dialect: Text
    """What its decoder accepts."""
    base_url: Text | None = None
    """Its address; without one, its official client's own."""
    api_key_env: Text | None = None
    """The environment variable that usually has the key."""
    models: tuple[CatalogModels, ...] = ()
    """What is known of its models."""


class _Catalog(Part):
    providers: tuple[CatalogProvider, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The providers by id, and the file that says so."""

    document: Document
    providers: Mapping[str, CatalogProvider]

    def path(self, provider: str) -> KeyPath:
        """Where a provider stands in the file."""
        return ("providers", list(self.providers).index(provider))

    def models(self, provider: str, model: str) -> tuple[CatalogModels, KeyPath] | None:
        """What is known of a model, and where that stands; ``None`` for one that nobody wrote down."""
        known = self.providers.get(provider)
        for place, models in enumerate(known.models if known else ()):
            if any(_fits(pattern, model) for pattern in models.ids):
                return models, (*self.path(provider), "models", place)
        return None


def read_catalog(path: Path = SHIPPED) -> Catalog:
    """Read a catalog. Raises ``ConfigError``."""
    document = read_document(path)
    found = validate(_Catalog, document)
    return Catalog(document, MappingProxyType({provider.id: provider for provider in found.providers}))


def _fits(pattern: str, model: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), model, re.DOTALL) is not None


class Watched(Generic[Read]):
    """A file as it is now: read again whenever it was changed, and only then.

    A change is told by the file's identity, time and size, so that a file that was put in its place is seen too.
    Whether it changed is asked at every ``now``: no thread watches.
    """

    def __init__(self, path: Path, read: Callable[[Path], Read]) -> None:
        self.path = path
        self._read = read
        self._seen: tuple[int, ...] | None = None
        self._value: Read | None = None

    def now(self) -> Read:
        """What the file says. Raises as its reader does, at each call until the file is right again."""
        seen = self._state()
        if self._value is None or seen is None or seen != self._seen:
            self._value = None
            self._value = self._read(self.path)
            self._seen = seen
        return self._value

    def _state(self) -> tuple[int, ...] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
