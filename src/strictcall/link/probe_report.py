"""What a probe found: a finding for each feature, what follows for the configuration, and what it took."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from strictcall.link.probe_features import FEATURES, OPTIONAL_ENUM, STRICT, TITLES
from strictcall.link.resolved import ResolvedLink, Support


class Found(StrEnum):
    """What an endpoint does with a feature."""

    ENFORCED = "enforced"
    """It is held: a breach that was asked for did not come. Of a call: it came as it was asked for."""
    NOT_ENFORCED = "not_enforced"
    """It is accepted, and what breaks it came all the same. Of a call: it did not come."""
    REJECTED = "rejected"
    """The request was refused for it."""
    UNKNOWN = "unknown"
    """It could not be decided."""


_OF_SCHEMAS: Final[Mapping[Found, str]] = {
    Found.ENFORCED: "enforced",
    Found.NOT_ENFORCED: "accepted, not enforced",
    Found.REJECTED: "rejected",
    Found.UNKNOWN: "unknown",
}
_OF_CALLS: Final[Mapping[Found, str]] = {
    **_OF_SCHEMAS,
    Found.ENFORCED: "works",
    Found.NOT_ENFORCED: "accepted, does not work",
}


def in_words(name: str, found: Found) -> str:
    """What was found of a feature, for people."""
    return (_OF_SCHEMAS if name in FEATURES else _OF_CALLS)[found]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one feature.

    ``evidence`` is what was seen, the provider's words where it refused, or the reason why it is not known.
    ``expected`` is what the link's dialect says of it; ``None`` where it says nothing.
    """

    name: str
    found: Found
    evidence: str
    expected: Found | None = None

    @property
    def title(self) -> str:
        """The feature in words."""
        return TITLES[self.name]

    @property
    def breaks(self) -> bool:
        """Whether the dialect builds on what the endpoint does not do."""
        let_down = self.found in (Found.REJECTED, Found.NOT_ENFORCED)
        return let_down and self.expected is Found.ENFORCED


@dataclass(frozen=True, slots=True)
class Spent:
    """What a probe took: requests, seconds, and tokens as the provider counted them; ``None`` where it did not say."""

    requests: int
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """All that a probe found of a link.

    ``breaks_when_loose`` says whether the model broke the schema of a loose tool when it was asked to: only then it is
    the decoder that keeps it back where the tool is strict; ``None`` where it is not known. ``supports_tools`` is what
    the configuration should say, ``None`` where too little was found, and ``overrides`` what should be said to differ
    from the dialect, in the format of a dialect's file. ``notes`` are what else is to be known.
    """

    link: ResolvedLink
    findings: Sequence[Finding]
    spent: Spent
    breaks_when_loose: bool | None = None
    supports_tools: Support | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def __getitem__(self, name: str) -> Finding:
        """The finding of a feature. Raises ``KeyError``."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    @property
    def contradictions(self) -> list[str]:
        """Where the endpoint contradicts the configuration: strict tools are on, and not what they are taken for."""
        link = self.link
        if not (link.supports_tools == "strict" and link.strict_tools):
            return []
        strict = self[STRICT]
        if strict.found in (Found.REJECTED, Found.NOT_ENFORCED):
            return [f"strict tools are on, and {_seen(strict)}"]
        return [
            f"the dialect builds on {finding.title}, and {_seen(finding)}"
            for finding in self.findings
            if finding.breaks and (finding.name != OPTIONAL_ENUM or link.dialect.enum_null)
        ]

    def snippet(self) -> str:
        """The recommendation as a configuration in TOML, which ``strictcall config check`` takes; empty where there is
        none.
        """
        return "\n".join(_snippet(self)) + "\n" if self.supports_tools is not None else ""

    def as_json(self) -> dict[str, Any]:
        """The report in plain values."""
        return {
            "link": self.link.name,
            "api": self.link.api,
            "dialect": self.link.dialect.name.rstrip("*"),
            "findings": [
                {
                    "feature": each.name,
                    "found": each.found.value,
                    "evidence": each.evidence,
                    "expected": None if each.expected is None else each.expected.value,
                }
                for each in self.findings
            ],
            "breaks_when_loose": self.breaks_when_loose,
            "supports_tools": self.supports_tools,
            "dialect_overrides": dict(self.overrides),
            "configuration": self.snippet(),
            "contradictions": self.contradictions,
            "notes": list(self.notes),
            "requests": self.spent.requests,
            "seconds": round(self.spent.seconds, 3),
            "input_tokens": self.spent.input_tokens,
            "output_tokens": self.spent.output_tokens,
        }


def _seen(finding: Finding) -> str:
    if finding.found is Found.REJECTED:
        return f"the endpoint refuses it: {finding.evidence}"
    return f"the endpoint takes it and does not hold it: {finding.evidence}"


def _snippet(report: ProbeReport) -> Iterator[str]:
    link = report.link
    said = {
        "id": link.provider,
        "api": link.api,
        "dialect": link.dialect.name.rstrip("*"),
        "base_url": link.base_url,
        "api_key_env": link.api_key_env or "",
    }
    yield "[[providers]]"
    yield from (f"{key} = {_value(value)}" for key, value in said.items() if value is not None)
    yield ""
    yield "[[providers.models]]"
    yield f"id = {_value(link.model)}"
    yield f"supports_tools = {_value(report.supports_tools)}"
    if report.overrides:
        if link.dialect.name.endswith("*"):
            yield "# beside the dialect_overrides that are there already"
        yield from _table("providers.models.dialect_overrides", report.overrides)


def _table(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    """A table, what is in it first and then the tables within it."""
    within = {key: value for key, value in table.items() if key in ("keywords", "sources")}
    own = [f"{key} = {_value(value)}" for key, value in table.items() if key not in within]
    if own:
        yield from ("", f"[{path}]", *own)
    for key, entries in within.items():
        yield from ("", f"[{path}.{key}]")
        yield from (f"{_key(name)} = {_value(entry)}" for name, entry in entries.items())


def _key(name: str) -> str:
    """A key in TOML, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A value in TOML: texts, booleans and lists are written as in JSON there."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    # TOML allows no bare U+007F, and JSON's escape for it is TOML's too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
