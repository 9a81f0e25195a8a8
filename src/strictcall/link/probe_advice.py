"""What follows from findings for a configuration: what the model supports, and what differs from its dialect."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from strictcall.dialect.model import Dialect, Keyword, State
from strictcall.link.probe_features import (
    AUTO,
    FEATURES,
    FORCED,
    OPTIONAL_ENUM,
    PARALLEL,
    PARALLEL_STRICT,
    STRICT,
    expected,
)
from strictcall.link.probe_report import Finding, Found
from strictcall.link.resolved import ResolvedLink, Support

SOURCE: Final = "probe"
"""What the overrides name as their source."""
_STATES: Final[Mapping[Found, State]] = {
    Found.ENFORCED: State.ENFORCED,
    Found.NOT_ENFORCED: State.IGNORED,
    Found.REJECTED: State.REJECTED,
}
_FOUND: Final = {state: found for found, state in _STATES.items()}


def expectation(name: str, dialect: Dialect) -> Found | None:
    """What a dialect says of what is found out; ``None`` where it says nothing."""
    if name == PARALLEL_STRICT and not dialect.parallel_with_strict:
        return Found.REJECTED
    if name == PARALLEL_STRICT:
        return Found.ENFORCED if dialect.enforced == "decoder" else Found.NOT_ENFORCED
    if name not in FEATURES:
        return None
    if name == STRICT and dialect.strict_place == "none" and dialect.strict_marking == "forbidden":
        return Found.REJECTED
    return _FOUND[expected(name, dialect)]


def supported(findings: Mapping[str, Finding], link: ResolvedLink, *, proven: bool) -> Support | None:
    """What the model can do with tools; ``None`` where too little was found.

    It is ``strict`` where strict tools were held and that is ``proven`` to be the decoder's doing, or is said already.
    """
    if findings[STRICT].found is Found.ENFORCED and (proven or link.supports_tools == "strict"):
        return "strict"
    if findings[STRICT].found is Found.UNKNOWN and link.supports_tools == "strict":
        return None
    if findings[PARALLEL].found is Found.ENFORCED:
        return "parallel"
    calls = [findings[name].found for name in (AUTO, FORCED)]
    if Found.ENFORCED in calls or findings[STRICT].found in (Found.ENFORCED, Found.NOT_ENFORCED):
        return "basic"
    return "none" if Found.UNKNOWN not in calls else None


def overrides(findings: Mapping[str, Finding], dialect: Dialect, source: str, date: str) -> dict[str, Any]:
    """What is to be said of a dialect so that it says what was found, in the format of a dialect's file.

    ``source`` and ``date`` are where it was found and when (ISO 8601). Nothing is said where a strict tool was not held
    at all: then it must not be strict, whatever the dialect says.
    """
    if findings[STRICT].found is not Found.ENFORCED:
        return {}
    made: dict[str, Any] = {}
    for name, finding in findings.items():
        if name in (*FEATURES, PARALLEL_STRICT) and finding.found in _STATES:
            made = _with(made, name, finding.found, dialect)
    if "keywords" in made:
        made["sources"] = {SOURCE: {"url": source, "date": date}}
    return made


def unsaid(findings: Mapping[str, Finding], dialect: Dialect, said: Mapping[str, Any]) -> list[str]:
    """The features that are held by a dialect, with what is ``said`` laid over it, and were not found to be; or the
    other way round.
    """
    after = laid_over(dialect, said)
    decided = [name for name in FEATURES if findings[name].found in _STATES]
    both = {name: (expectation(name, after), findings[name].found) for name in decided}
    return [name for name, pair in both.items() if pair[0] is not pair[1] and Found.ENFORCED in pair]


def laid_over(dialect: Dialect, said: Mapping[str, Any]) -> Dialect:
    """A dialect with such overrides laid over it."""
    fields = {key: value for key, value in said.items() if key not in ("keywords", "sources")}
    if "literals" in fields:
        fields["literals"] = frozenset(fields["literals"])
    entries = {
        name: Keyword(name, State(entry["state"]), source=entry["source"])
        for name, entry in said.get("keywords", {}).items()
    }
    made: Dialect = dataclasses.replace(dialect, **fields, keywords={**dialect.keywords, **entries})
    return made


def _with(made: dict[str, Any], name: str, found: Found, dialect: Dialect) -> dict[str, Any]:
    """Overrides, and beside them what makes a dialect say of a feature what was found, where there is such a thing."""
    if _agrees(name, found, laid_over(dialect, made)):
        return made
    for further in _CANDIDATES.get(name, _none)(_STATES[found], dialect):
        keywords = {**made.get("keywords", {}), **further.get("keywords", {})}
        tried = {**made, **further, **({"keywords": keywords} if keywords else {})}
        if _agrees(name, found, laid_over(dialect, tried)):
            return tried
    return made


def _agrees(name: str, found: Found, dialect: Dialect) -> bool:
    """Whether a dialect says what was found. Of parallel calls it says whether they may be; why not, it does not."""
    if name == PARALLEL_STRICT:
        return dialect.parallel_with_strict is (found is Found.ENFORCED)
    return expectation(name, dialect) is found


Candidates = Iterator[dict[str, Any]]


def _none(state: State, dialect: Dialect) -> Candidates:
    del state, dialect
    yield from ()


def _keywords(*names: str) -> Callable[[State, Dialect], Candidates]:
    def candidates(state: State, dialect: Dialect) -> Candidates:
        del dialect
        yield {"keywords": {name: {"state": state.value, "source": SOURCE} for name in names}}

    return candidates


def _union(state: State, dialect: Dialect) -> Candidates:
    """Where a union with null is refused, null may still stand among types."""
    (found,) = _keywords("anyOf")(state, dialect)
    yield found if state is not State.REJECTED or dialect.null != "any_of" else {**found, "null": "type_list"}


def _null_in_enum(state: State, dialect: Dialect) -> Candidates:
    literals: Sequence[str] = sorted(dialect.literals - {"null"})
    if state is State.REJECTED:
        yield {"literals": list(literals)}
    elif state is State.ENFORCED:
        yield {"literals": [*literals, "null"]}
        yield {"literals": [*literals, "null"], "type_lists": "scalars"}


def _parallel(state: State, dialect: Dialect) -> Candidates:
    del dialect
    yield {"parallel_with_strict": state is State.ENFORCED}


_CANDIDATES: Final[Mapping[str, Callable[[State, Dialect], Candidates]]] = {
    "null_union": _union,
    OPTIONAL_ENUM: _null_in_enum,
    "shared_type": _keywords("$ref", "$defs"),
    "number_bound": _keywords("minimum", "maximum"),
    "text_bound": _keywords("minLength", "maxLength"),
    PARALLEL_STRICT: _parallel,
}
"""For each feature that a field of a dialect is about, what could be said in it."""
