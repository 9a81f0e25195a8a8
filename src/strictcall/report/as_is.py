"""What each provider would say to tools as they stand, as plain values: nothing is compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from strictcall.dialect.judge import judge, judge_description, judge_name, judge_request
from strictcall.dialect.measure import measure
from strictcall.dialect.model import Dialect, Violation
from strictcall.json_value import unescape
from strictcall.tool import Tool

Part = Literal["name", "description", "parameters"]
_ABOUT_KEYWORDS = frozenset({"keyword-rejected", "keyword-stray", "root-keyword", "value-rejected"})
"""Rules whose violation points at the keyword at fault."""


class Answer(StrEnum):
    """What a provider does with a tool as it stands, the best first."""

    STRICT = "strict"
    """Taken, and may be marked strict."""
    LOOSE = "loose"
    """Taken only where it is not marked strict."""
    REFUSED = "refused"
    """Refused even without strict, and the whole request with it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A rule that a tool breaks: in which part of it, and whether that refuses the tool where it is marked ``strict``
    and where it is not (``loose``).
    """

    part: Part
    violation: Violation
    strict: bool
    loose: bool


@dataclass(frozen=True, slots=True)
class Hearing:
    """One tool before one provider."""

    tool: Tool
    remarks: tuple[Remark, ...]

    @property
    def answer(self) -> Answer:
        """What the provider does with the tool."""
        return _answer(self.remarks)

    @property
    def names_aside(self) -> Answer:
        """What it would do with the tool under a name that it takes."""
        return _answer([remark for remark in self.remarks if remark.part != "name"])


def _answer(remarks: Sequence[Remark]) -> Answer:
    if not any(remark.strict for remark in remarks):
        return Answer.STRICT
    return Answer.REFUSED if any(remark.loose for remark in remarks) else Answer.LOOSE


@dataclass(frozen=True, slots=True)
class Broken:
    """How often a rule is broken: by how many tools, and at how many places in all. Rules about keywords are counted
    for each ``keyword`` apart.
    """

    rule: str
    keyword: str | None
    tools: int
    places: int

    @property
    def label(self) -> str:
        """The keyword that is at fault, or else the rule."""
        return self.rule if self.keyword is None else f"`{self.keyword}`"


@dataclass(frozen=True, slots=True)
class DialectHearings:
    """The tools before one provider, in the order they were read."""

    dialect: Dialect
    tools: tuple[Hearing, ...]
    request: tuple[Violation, ...]
    """The ceilings of one request that all of the tools together break, those strict that may be."""

    @property
    def summary(self) -> dict[Answer, int]:
        """How many tools get each answer."""
        return _summary(hearing.answer for hearing in self.tools)

    @property
    def names_aside(self) -> dict[Answer, int]:
        """How many tools would get each answer if the provider took all their names."""
        return _summary(hearing.names_aside for hearing in self.tools)

    def rules(self, *, refusing: bool | None = None) -> list[Broken]:
        """Each rule that a tool breaks, the one in most tools first: all of them, or only what refuses a tool outright
        (``refusing``), or only what no more than keeps it from being strict.
        """
        tools: Counter[tuple[str, str | None]] = Counter()
        places: Counter[tuple[str, str | None]] = Counter()
        for hearing in self.tools:
            found = Counter(
                subject(remark.violation) for remark in hearing.remarks if refusing is None or remark.loose is refusing
            )
            tools.update(found.keys())
            places.update(found)
        ordered = sorted(tools, key=lambda kind: (-tools[kind], -places[kind], kind[0], kind[1] or ""))
        return [Broken(*kind, tools[kind], places[kind]) for kind in ordered]


def _summary(answers: Iterable[Answer]) -> dict[Answer, int]:
    counts = Counter(answers)
    return {answer: counts[answer] for answer in Answer}


def subject(violation: Violation) -> tuple[str, str | None]:
    """The rule that was broken and, where it is about keywords, the one at fault."""
    if violation.rule not in _ABOUT_KEYWORDS:
        return violation.rule, None
    keyword = unescape(violation.pointer.rpartition("/")[2])
    return violation.rule, keyword or None


def hear(tool: Tool, dialect: Dialect) -> Hearing:
    """What the provider would say to one tool: to its name, its description and its parameters.

    A tool without parameters is taken to be sent without any, of which no dialect says anything.
    """
    remarks = [Remark("name", violation, True, True) for violation in judge_name(tool.name, dialect)]
    described = judge_description(tool.description, dialect)
    remarks += [Remark("description", violation, True, True) for violation in described]
    if tool.parameters is not None:
        remarks += _parameters(tool, dialect)
    return Hearing(tool, tuple(remarks))


def _parameters(tool: Tool, dialect: Dialect) -> list[Remark]:
    strict = judge(tool.parameters, dialect)
    loose = strict if dialect.baseline.same_as_strict else judge(tool.parameters, dialect, strict=False)
    places = {(violation.pointer, violation.rule) for violation in strict}
    both = {(violation.pointer, violation.rule) for violation in loose}
    found = [Remark("parameters", violation, True, (violation.pointer, violation.rule) in both) for violation in strict]
    return found + [
        Remark("parameters", violation, False, True)
        for violation in loose
        if (violation.pointer, violation.rule) not in places
    ]


def heard(dialect: Dialect, hearings: Sequence[Hearing]) -> DialectHearings:
    """The tools before one provider, with what it would say to all of them in one request."""
    limited = any(limit.per == "request" for limit in dialect.limits)
    taken = [hearing for hearing in hearings if hearing.answer is Answer.STRICT and hearing.tool.parameters is not None]
    measures = [measure(hearing.tool.parameters, dialect) for hearing in taken] if limited else []
    request = judge_request(measures, dialect, tools=len(hearings))
    return DialectHearings(dialect, tuple(hearings), tuple(request))


def worst_answer(results: Iterable[DialectHearings]) -> Answer:
    """The worst answer that any provider gives to any tool."""
    given = {hearing.answer for result in results for hearing in result.tools}
    return next((answer for answer in reversed(Answer) if answer in given), Answer.STRICT)
