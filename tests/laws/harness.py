"""The laws of the design, each a function that asserts it of one compiled tool. ``DESIGN`` words are used as names."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from laws.admits import Wire, differences, same
from laws.places import announced
from laws.sampling import Sample, Sampler, flawed
from strictcall import (
    ArgumentsError,
    Change,
    CompiledTool,
    Dialect,
    Policy,
    Tool,
    Verdict,
    compile_tool,
    dialects,
    judge,
)
from strictcall.dialect.model import State

DIALECTS = ("openai", "anthropic", "json_schema")
"""The dialects that every law is looked at under by itself."""
OTHERS = tuple(dialect.name for dialect in dialects() if dialect.name not in DIALECTS)
"""The other dialects, most of which differ from one of those in a few rules."""
NEVER_RAISING = frozenset({Verdict.EXACT, Verdict.CLOSED})
LONGEST_TEXT = 8_000


def text(value: Any) -> str:
    """A JSON value as text, such that values of different types or key orders have different texts."""
    return json.dumps(value, ensure_ascii=True, allow_nan=True)


@dataclass
class Subject:
    """A tool and what came of it under one dialect."""

    tool: Tool
    dialect: str | Dialect
    policy: Policy = field(default_factory=Policy)

    @cached_property
    def compiled(self) -> CompiledTool:
        before = text(self.tool.parameters)
        compiled = compile_tool(self.tool, dialect=self.dialect, policy=self.policy)
        assert text(self.tool.parameters) == before, "compiling changed its input"
        return compiled

    @cached_property
    def wire(self) -> Wire:
        """Says what the wire admits."""
        return Wire(self.compiled.parameters, self.compiled.dialect)

    @cached_property
    def sampler(self) -> Sampler:
        """Samples the wire. Raises ``RefusedError`` where llguidance does not take the wire schema."""
        return Sampler(self.wire.schema)

    def __str__(self) -> str:
        compiled = self.compiled
        lines = [
            f"dialect: {self.dialect}, policy: {self.policy}",
            f"contract: {text(self.tool.parameters)}",
            f"verdict: {compiled.verdict}, reason: {compiled.reason}",
            f"wire: {text(compiled.parameters)}",
            *(f"change: {change.code} at {change.pointer!r} ({change.effect})" for change in compiled.changes),
        ]
        return "\n".join(lines)


def subject(schema: Any, dialect: str | Dialect, policy: Policy | None = None) -> Subject:
    """A subject made of a bare schema."""
    return Subject(Tool("tool", "Does it.", schema), dialect, policy or Policy())


def whole(case: Subject) -> None:
    """The laws that speak of a compiled tool by itself, not of a call."""
    total(case)
    accepted(case)
    untouched(case)
    idempotent(case)


def total(case: Subject) -> None:
    """Strict, or loose with a reason."""
    compiled = case.compiled
    assert compiled.strict is (compiled.verdict is not Verdict.LOOSE), case
    assert compiled.strict or compiled.reason, f"loose without a reason\n{case}"
    assert not (compiled.strict and compiled.baseline), case


def accepted(case: Subject) -> None:
    """A schema marked strict breaks no rule of its dialect; one in baseline form none that holds without strict."""
    compiled = case.compiled
    if compiled.strict:
        # What a provider passes over in silence must not be written either.
        found = judge(compiled.parameters, compiled.dialect, silent=True)
    elif compiled.baseline:
        found = judge(compiled.parameters, compiled.dialect, strict=False)
    else:
        return
    assert found == [], f"{found}\n{case}"


def untouched(case: Subject) -> None:
    """A loose tool is sent as the very objects that came in."""
    compiled = case.compiled
    if compiled.strict or compiled.baseline:
        return
    assert compiled.parameters is case.tool.parameters, case
    assert compiled.description is case.tool.description, case
    assert compiled.identity, case


def idempotent(case: Subject) -> None:
    """Compiling what was compiled changes nothing. What stands in for a schema that nobody takes is no such result."""
    compiled = case.compiled
    if compiled.baseline:
        return
    unclosed = compiled.dialect.state("additionalProperties", False) is State.REJECTED
    if unclosed and compiled.policy.open_objects != "close":
        return  # its wire schemas cannot say that an object is closed, so they read as open ones
    again = compile_tool(
        Tool(compiled.name, compiled.description, compiled.parameters), dialect=case.dialect, policy=case.policy
    )
    assert text(again.parameters) == text(compiled.parameters), f"again: {text(again.parameters)}\n{case}"
    assert again.description == compiled.description, f"again: {again.description!r}\n{case}"
    assert again.name == compiled.name, case
    if compiled.strict:
        assert again.strict, f"again: {again.reason}\n{case}"
        assert again.identity or unsaid(again.dialect, again.changes), f"again changes: {again.changes}\n{case}"


def unsaid(dialect: Dialect, changes: tuple[Change, ...]) -> bool:
    """Whether values change only for what a dialect's own wire schemas do not say the standard's way: that an object is
    closed, and null.
    """
    changing = {change.code for change in changes} & {"object-closed", "read-nullable", "optional-null"}
    closed = dialect.state("additionalProperties", False) is State.REJECTED
    allowed = ({"object-closed"} if closed else set()) | ({"read-nullable"} if dialect.null == "nullable" else set())
    return bool(changing) and changing <= allowed


def sound(case: Subject, sample: Sample) -> Any:
    """What the wire admits is decoded to what the contract admits, or refused with faults. Returns what was decoded."""
    compiled = case.compiled
    if flawed(case.wire.schema) and not case.wire.admits(sample.value):
        return None
    assert case.wire.admits(sample.value), f"llguidance samples what the wire does not admit: {sample.text}\n{case}"
    try:
        arguments = compiled.decode(sample.text)
    except ArgumentsError as error:
        faulty(error, case)
        if compiled.verdict in NEVER_RAISING:
            raise AssertionError(f"{compiled.verdict} raised on {sample.text}: {error}\n{case}") from error
        return None
    faults = compiled.check(arguments)
    assert faults == (), f"decoded {sample.text} to {arguments!r}, which the contract refuses: {faults}\n{case}"
    before = text(sample.value)
    assert same(compiled.decode(sample.value), arguments), f"text and value decode differently: {sample.text}\n{case}"
    assert text(sample.value) == before, f"decoding changed its input\n{case}"
    returning(case, arguments)
    return arguments


def guarded(case: Subject, value: Any) -> None:
    """Whatever is decoded, admitted or not: the result fits the contract, or it is refused with faults."""
    try:
        arguments = case.compiled.decode(copy.deepcopy(value))
    except ArgumentsError as error:
        faulty(error, case)
        return
    assert case.compiled.check(arguments) == (), f"{value!r} decoded to {arguments!r}\n{case}"


def sayable(case: Subject, value: Any) -> None:
    """An argument object that the contract admits can be said and comes back; another one is refused."""
    compiled = case.compiled
    if compiled.check(value):
        try:
            wire = compiled.encode(value)
        except ArgumentsError as error:
            faulty(error, case)
            return
        raise AssertionError(f"encoded {value!r}, which the contract refuses, as {wire!r}\n{case}")
    returning(case, value)


def returning(case: Subject, value: Any) -> None:
    """A value that the contract admits is encoded to what the wire admits and comes back, announced losses aside."""
    compiled = case.compiled
    if value is None:
        return  # as arguments, null means the empty object
    before = text(value)
    try:
        wire = compiled.encode(value)
    except ArgumentsError as error:
        faulty(error, case)
        if not isinstance(value, dict):
            return  # the law speaks of argument objects
        lost = [fault.pointer for fault in error.faults]
        if not all(announced(case.tool.parameters, compiled.changes, place) for place in lost):
            raise AssertionError(f"cannot be said, and no change tells: {value!r}: {error}\n{case}") from error
        return
    assert text(value) == before, f"encoding changed its input\n{case}"
    if compiled.strict:
        assert case.wire.admits(wire), f"{value!r} encoded to {wire!r}, which the wire does not admit\n{case}"
    try:
        back = compiled.decode(text(wire))
    except ArgumentsError as error:
        raise AssertionError(f"{value!r} encoded to {wire!r}, then refused: {error}\n{case}") from error
    lost = differences(value, back)
    hidden = [place for place in lost if not announced(case.tool.parameters, compiled.changes, place, folds=True)]
    assert not hidden, f"{value!r} encoded to {wire!r} came back as {back!r}\n{case}"


def faulty(error: ArgumentsError, case: Subject) -> None:
    """Faults have a place and say what is expected; their text repeats little of the arguments."""
    assert error.faults, case
    for fault in error.faults:
        assert fault.pointer == "" or fault.pointer.startswith("/"), f"{fault}\n{case}"
        assert fault.expected, f"{fault}\n{case}"
    assert len(str(error)) <= LONGEST_TEXT, f"the text is too long: {error}\n{case}"
