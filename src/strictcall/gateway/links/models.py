"""Which models there are behind the links of a configuration, and which of them a name means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from strictcall.errors import StrictCallError
from strictcall.link.configuration import Configuration

CHAIN: Final = "fallback"
"""The model's name that stands for the configuration's fallback chain, as no name at all does."""
NEAR: Final = 0.5
_PLAIN: Final = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[\w.:@/+~-]+", re.ASCII)
"""A model's name that a client may make up. Some APIs have it in the address of a request, and it goes into headers and
the log: it leads nowhere else there, and holds nothing that ends them.
"""


class UnknownModelError(StrictCallError):
    """No link goes by a ``name``; ``known`` are those that there are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = tuple(known)

    def __str__(self) -> str:
        if not self.name:
            return "no model is named, and the configuration has no link that would serve then"
        near = near_names(self.name, self.known)
        hint = (
            f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(self.known) or 'none'}"
        )
        return f"no model is called {self.name!r}; {hint}"


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """The names like another, whether it has a provider before it or not."""
    bare = {link.partition("/")[2] or link: link for link in reversed(known)}
    alike = get_close_matches(name, known, n=3, cutoff=NEAR)
    return list(dict.fromkeys([*alike, *(bare[near] for near in get_close_matches(name, bare, n=3, cutoff=NEAR))]))[:3]


def link_names(configuration: Configuration, chain: Sequence[str]) -> list[str]:
    """The links that a configuration names: those of its chain, and its models in their order."""
    config = configuration.config
    listed = [f"{provider.id}/{model.id}" for provider in config.providers for model in provider.models]
    return list(dict.fromkeys([*chain, *listed]))


def links_asked(name: str, configuration: Configuration, chain: Sequence[str]) -> tuple[str, ...]:
    """The links that a model's name asks for, the most wanted first: one, or those of the chain.

    One is a link that the configuration names, or any other model of a provider of its, by a plain name. Raises
    ``UnknownModelError``.
    """
    known = link_names(configuration, chain)
    if name in ("", CHAIN) and chain:
        return tuple(chain)
    provider, slash, model = name.partition("/")
    if name in known or (slash and _PLAIN.fullmatch(model) and configuration.provider(provider) is not None):
        return (name,)
    raise UnknownModelError(name, known)


def listed_models(configuration: Configuration, chain: Sequence[str]) -> list[dict[str, Any]]:
    """The models, as the API lists them: https://platform.openai.com/docs/api-reference/models/list"""
    named = [(name, name.partition("/")[0]) for name in link_names(configuration, chain)]
    return [_model(name, owner) for name, owner in ([(CHAIN, "strictcall")] if chain else []) + named]


def found_model(name: str, configuration: Configuration, chain: Sequence[str]) -> dict[str, Any]:
    """One model, as the API tells of it. Raises ``UnknownModelError``."""
    links_asked(name, configuration, chain)
    return _model(name, "strictcall" if name == CHAIN else name.partition("/")[0])


def _model(name: str, owner: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": owner}
