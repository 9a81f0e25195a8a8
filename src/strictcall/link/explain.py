"""What was decided about a link or a tool, and which line decided it, for people to read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from strictcall.errors import ConfigError, ConfigProblem
from strictcall.link.catalog import Catalog
from strictcall.link.configuration import Configuration
from strictcall.link.document import dotted
from strictcall.link.resolve import resolve
from strictcall.link.resolved import Origin, ResolvedLink
from strictcall.policy import Policy

HIDDEN: Final = "(not shown)"


@dataclass(frozen=True, slots=True)
class Decision:
    """One setting: its value, and where it was decided. What may be secret is not shown."""

    setting: str
    value: Any
    origin: Origin

    def where(self) -> str:
        """The file, line and path, or the words for what is no file."""
        place = f"{self.origin.source}:{self.origin.line}" if self.origin.line else self.origin.source
        return f"{place} {self.origin.path}".rstrip()


def explain_link(link: ResolvedLink) -> list[Decision]:
    """Everything that was decided about a link, in the order of the fields."""
    origins = link.origins
    shown: dict[str, Any] = {
        "api": link.api,
        "dialect": link.dialect.name,
        "dialect.enforced": link.dialect.enforced,
        "dialect_overrides": HIDDEN,
        "base_url": link.base_url or "the client's own",
        "api_key_env": link.api_key_env,
        "supports_tools": link.supports_tools,
        "strict_tools": link.strict_tools,
        "tagged": link.tagged,
        "max_output_tokens": link.max_output_tokens,
        "max_tool_output": link.max_tool_output,
        "max_parallel_tool_calls": link.max_parallel_tool_calls,
    }
    shown |= {f"timeouts.{each.name}": getattr(link.timeouts, each.name) for each in fields(link.timeouts)}
    shown |= {f"policy.{each.name}": getattr(link.policy, each.name) for each in fields(Policy)}
    shown |= dict.fromkeys((key for key in origins if key.startswith(("headers.", "extra_body."))), HIDDEN)
    found = [Decision(key, value, origins[key]) for key, value in shown.items() if key in origins]
    for name in link.tools:
        found += [
            Decision(f"{dotted(('tools', name))}.{each.setting}", each.value, each.origin)
            for each in explain_tool(link, name)
            if f"tools.{name}.{each.setting}" in origins
        ]
    return found


def explain_tool(link: ResolvedLink, tool: str) -> list[Decision]:
    """What was decided about a tool on a link: whether it is wanted strict, and its policy."""
    rules, origins = link.rules(tool), link.origins
    if link.supports_tools == "strict":
        decided = origins.get(f"tools.{tool}.strict", origins["strict_tools"])
    else:
        decided = origins["supports_tools"]  # whatever was wanted, the model cannot
    found = [Decision("strict", rules.strict, decided)]
    for each in fields(Policy):
        origin = origins.get(f"tools.{tool}.policy.{each.name}", origins[f"policy.{each.name}"])
        found.append(Decision(f"policy.{each.name}", getattr(rules.policy, each.name), origin))
    return found


def notes(
    configuration: Configuration, catalog: Catalog, environment: Mapping[str, str] = os.environ
) -> list[ConfigProblem]:
    """What is no error, and may still not be what its author meant, in the order of the file."""
    found = [*_notes(configuration, catalog, environment)]
    return sorted(dict.fromkeys(found), key=lambda note: note.line)


def _notes(configuration: Configuration, catalog: Catalog, environment: Mapping[str, str]) -> Iterator[ConfigProblem]:
    document, config = configuration.document, configuration.config
    for place, provider in enumerate(config.providers):
        at = ("providers", place)
        for row, model in enumerate(provider.models):
            inner = (*at, "models", row)
            try:
                link = resolve(f"{provider.id}/{model.id}", configuration, catalog)
            except ConfigError as error:  # a header that waits for a variable
                yield from error.problems
                continue
            for key, note in _of_link(link):
                yield document.problem((*inner, key), note)
        known = catalog.providers.get(provider.id)
        usual = known.api_key_env if known else None
        variable = usual if provider.api_key_env is None else provider.api_key_env
        if variable and variable not in environment:
            yield document.problem((*at, "api_key_env"), f"the environment variable {variable} is not set")
    for place, name in enumerate(config.fallback.chain):
        provider_id, _, model_id = name.partition("/")
        listed = configuration.model(provider_id, model_id) or catalog.models(provider_id, model_id)
        if listed is None:
            note = f"nothing is said of this model: it is taken as basic, so no tool is strict on {name}"
            yield document.problem(("fallback", "chain", place), note)


def _of_link(link: ResolvedLink) -> Iterator[tuple[str, str]]:
    if link.strict_tools and link.supports_tools != "strict":
        yield (
            "supports_tools",
            f"strict tools are wanted, and supports_tools is {link.supports_tools}: none is strict on {link.name}",
        )
    if "dialect.enforced" in link.origins:
        known = link.dialect.name.rstrip("*")
        yield (
            "supports_tools",
            f"the sources of the dialect {known} know of no strict decoder; strictcall probe finds out",
        )
