"""The judge: what a provider would refuse in a schema, by its dialect alone.

It walks the schema's JSON against the ``Dialect`` value and shares no code with what compiles schemas, so that each can
be held against the other. What it does not know it refuses: an accepted schema is one that every source says is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from strictcall.dialect.checks import Checks
from strictcall.dialect.document import MOST_SCHEMAS, Document, Leads, Link, Node
from strictcall.dialect.findings import Findings, quoted
from strictcall.dialect.loose_checks import LooseChecks
from strictcall.dialect.measure import measure_document
from strictcall.dialect.model import Dialect, State, Violation
from strictcall.dialect.readable import problems
from strictcall.dialect.registry import load
from strictcall.dialect.vocabulary import SHAPES


def judge(schema: Any, dialect: str | Dialect, *, strict: bool = True, silent: bool = False) -> list[Violation]:
    """What the dialect's provider would refuse in a tool's schema; empty when it would take it.

    With ``strict`` false only what holds for every tool is judged (``Dialect.baseline``); with ``silent`` true what the
    provider would take and not hold is told too. Any Python value may be given: what is not JSON is a violation, never
    an exception, and the schema is not changed. At most 1,000 violations are given. Rule ids are explained in
    ``strictcall.dialect.rules.RULES``.

    Raises ``DialectError`` where no dialect has the name.
    """
    judged_by = load(dialect) if isinstance(dialect, str) else dialect
    findings = Findings(judged_by, silent=silent)
    for problem in problems(schema):
        pointer = "".join(f"/{token.replace('~', '~0').replace('/', '~1')}" for token in problem.tokens)
        findings.add(pointer, "not-json", problem.message)
        if findings.full:
            break
    if findings.violations:
        return findings.violations
    if type(schema) not in (dict, bool):
        findings.add("", "not-a-schema", f"{quoted(schema)} is not a schema")
    elif strict or judged_by.baseline.same_as_strict:
        _judge_strict(schema, findings)
    else:
        _judge_loose(schema, findings)
    return findings.violations


def judge_name(name: Any, dialect: str | Dialect) -> list[Violation]:
    """What the dialect's provider would refuse in a tool's name; empty when it would take it."""
    judged_by = load(dialect) if isinstance(dialect, str) else dialect
    findings = Findings(judged_by)
    for problem in problems(name):
        findings.add("", "not-json", problem.message)
    rule = judged_by.tool_name
    if type(name) is not str:
        findings.add("", "tool-name", f"{quoted(name)} is not a text")
    elif rule.max_length is not None and len(name) > rule.max_length:
        findings.add("", "tool-name", f"the name has {len(name)} characters, {rule.max_length} at most are taken")
    elif name in rule.forbidden:
        findings.add("", "tool-name", f"the name {quoted(name)} is the provider's own")
    elif rule.pattern is not None and not re.fullmatch(rule.pattern, name):
        findings.add("", "tool-name", f"the name {quoted(name)} does not match {rule.pattern}")
    return findings.violations


def judge_description(text: str | None, dialect: str | Dialect) -> list[Violation]:
    """What the dialect's provider would refuse in a tool's description; empty when it would take it."""
    judged_by = load(dialect) if isinstance(dialect, str) else dialect
    findings = Findings(judged_by)
    most = judged_by.description_limit
    if text is not None and most is not None and len(text) > most:
        message = f"the description has {len(text)} characters, {most} at most are taken"
        findings.add("", "description-long", message)
    return findings.violations


def judge_request(
    measures: Iterable[Mapping[str, int]], dialect: str | Dialect, *, tools: int | None = None
) -> list[Violation]:
    """What breaks a ceiling that holds over one request.

    ``measures`` are those that ``strictcall.dialect.measure.measure`` takes of each strict tool's schema; ``tools`` is
    the number of all tools, those that are not strict too, and where it is not given, the strict ones are all.
    """
    judged_by = load(dialect) if isinstance(dialect, str) else dialect
    findings = Findings(judged_by)
    totals: dict[str, int] = {"strict_tools": 0}
    for measured in measures:
        totals["strict_tools"] += 1
        for name, count in measured.items():
            totals[name] = totals.get(name, 0) + count
    totals["tools"] = totals["strict_tools"] if tools is None else tools
    _judge_limits(totals, findings, "request")
    return findings.violations


def _judge_strict(schema: Any, findings: Findings) -> None:
    dialect = findings.dialect
    read = {name for name, rule in dialect.keywords.items() if rule.state in (State.ENFORCED, State.NARROWER)}
    document = Document(schema, read.__contains__)
    if not document.complete:
        findings.add("", "too-large", f"the schema holds more than {MOST_SCHEMAS} schemas")
    wanted = {limit.name for limit in dialect.limits if limit.per == "tool"}
    _judge_limits(measure_document(schema, document, wanted, dialect.long_enum), findings, "tool")
    checks = Checks(findings)
    for node in document.nodes:
        checks.node(node)
        if findings.full:
            return
    _judge_links(document, findings)


def _judge_loose(schema: Any, findings: Findings) -> None:
    document = Document(schema, lambda keyword: keyword in SHAPES and keyword != "$ref")
    if not document.complete:
        findings.add("", "too-large", f"the schema holds more than {MOST_SCHEMAS} schemas")
    checks = LooseChecks(findings)
    for node in document.nodes:
        checks.node(node)
        if findings.full:
            return


def _judge_limits(measured: Mapping[str, int], findings: Findings, per: Literal["tool", "request"]) -> None:
    for limit in findings.dialect.limits:
        count = measured.get(limit.name, 0)
        if limit.per == per and count > limit.most:
            rule = f"limit-{limit.name.replace('_', '-')}"
            message = f"{limit.name.replace('_', ' ')}: {count}, {limit.most} at most are taken in one {per}"
            findings.add("", rule, message, limit.phrase, limit.source)


def _judge_links(document: Document, findings: Findings) -> None:
    dialect = findings.dialect
    component: dict[int, int] = {}
    if document.links and dialect.recursion is not True:
        component = document.components(_is_needed) if dialect.recursion else document.components()
    bare = _bare_circles(document.links)
    for link in document.links:
        reference = quoted(link.node.value["$ref"])
        if link.leads is Leads.OUTSIDE:
            message = f"{reference} points outside the schema"
            findings.at(link.node, "$ref", rule="reference-external", message=message)
        elif link.leads is Leads.NOTHING:
            findings.at(link.node, "$ref", rule="reference-dangling", message=f"{reference} points to nothing")
        elif id(link.node.value) in bare:
            message = f"{reference} leads back to itself with nothing in between"
            findings.at(link.node, "$ref", rule="recursion", message=message)
        elif component and component.get(id(link.node.value)) == component.get(id(link.target)):
            findings.at(link.node, "$ref", rule="recursion", message=f"{reference} leads back to itself")
        if findings.full:
            return


def _is_needed(node: Node) -> bool:
    """Whether a value of the schema above must have a value of this one in it: false for an optional property."""
    if node.keyword != "properties" or node.parent is None:
        return True
    required = node.parent.value.get("required")
    return type(required) is list and node.tokens[1] in required


def _bare_circles(links: Iterable[Link]) -> set[int]:
    """The schemas from which following references alone, from one to the next, never ends."""
    follows = {id(link.node.value): id(link.target) for link in links if type(link.target) is dict}
    ends: dict[int, bool] = {}
    for start in follows:
        path: dict[int, None] = {}
        here = start
        while here in follows and here not in path and here not in ends:
            path[here] = None
            here = follows[here]
        ended = ends.get(here, here not in path)
        ends.update(dict.fromkeys(path, ended))
    return {place for place, ended in ends.items() if not ended}
