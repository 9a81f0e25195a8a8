"""Compiling: a tool's schema is read, lowered and written; whatever goes wrong on the way makes it loose, with the
reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from strictcall.change import Change, Effect, Verdict, verdict_of
from strictcall.dialect.judge import judge
from strictcall.dialect.measure import measure
from strictcall.dialect.model import Dialect, Limit
from strictcall.dialect.registry import load
from strictcall.policy import Policy
from strictcall.shape.contract import Contract, Unreadable, read_contract
from strictcall.tool import Tool
from strictcall.value import replace
from strictcall.wire.budget import NAMES, counted, exceeded
from strictcall.wire.codes import CODES
from strictcall.wire.compiled import Compilation, CompiledTool
from strictcall.wire.content import Content, Given, Unkept
from strictcall.wire.context import Refusal
from strictcall.wire.fit import fitted
from strictcall.wire.lower import lower_contract
from strictcall.wire.names import legal_name
from strictcall.wire.plan import Plan
from strictcall.wire.share import share
from strictcall.wire.write import Writer

_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
_ANY_OBJECTS: Final[tuple[Mapping[str, Any], ...]] = (
    {"type": "object", "properties": {}, "additionalProperties": True},
    {"type": "object", "properties": {}},
    {"type": "object"},
)
"""What is sent for a tool whose own schema no provider would take and that cannot be read either; providers differ in
what they take.
"""
_DEFAULT: Final = Policy()
_DRAFT: Final = "2020-12"
"""The draft assumed where a schema does not say its own."""
MOST_KEPT: Final = 1024
"""How many compilations are remembered, those least recently asked for forgotten first."""


def compile_tool(tool: Tool, dialect: str | Dialect = "openai", policy: Policy | None = None) -> CompiledTool:
    """Compile a tool for a dialect. Whatever its parameters are, the result is a tool, strict or loose with its reason.

    Raises ``DialectError`` for an unknown dialect name.
    """
    return _compile(tool, dialect, policy or _DEFAULT, arguments=True, draft=_DRAFT)


def compile_schema(
    schema: Any,
    dialect: str | Dialect = "openai",
    policy: Policy | None = None,
    *,
    draft: str = _DRAFT,
    name: str = "schema",
) -> CompiledTool:
    """Compile a schema that may describe any value, not only an object. ``draft`` is assumed where ``$schema`` is
    absent.
    """
    return _compile(Tool(name, None, schema), dialect, policy or _DEFAULT, arguments=False, draft=draft)


def _compile(tool: Tool, dialect: str | Dialect, policy: Policy, *, arguments: bool, draft: str) -> CompiledTool:
    used = load(dialect) if isinstance(dialect, str) else dialect
    schema = tool.parameters
    if type(schema) is dict:
        try:
            return CompiledTool(tool, _kept(Content(schema, (tool.name, used, policy, arguments, draft))))
        except Unkept:
            pass
    return CompiledTool(tool, _made(schema, (tool.name, used, policy, arguments, draft)))


@lru_cache(maxsize=MOST_KEPT)
def _kept(content: Content) -> Compilation:
    """The compilation of a content, remembered. Raises ``Unkept``."""
    content.keep()
    made = _made(content.schema, content.given)
    if not made.readable:
        raise Unkept
    content.freeze()
    return made


def _made(schema: Any, given: Given) -> Compilation:
    name, dialect, policy, arguments, draft = given
    loose = _loose(legal_name(name, dialect.tool_name), dialect, policy)
    try:
        contract = _contract(schema, policy, arguments=arguments, draft=draft)
    except Unreadable as error:
        unread = replace(loose, contract=error.contract, reason=error.reason, readable=error.within_limits)
        return _sendable(unread, schema)
    if arguments and schema is None:
        message = "the tool has no parameters; it is read as one that takes no arguments"
        contract = replace(contract, changes=(Change("read-no-parameters", "", Effect.ENCODED, message),))
    try:
        strict = _fitted(loose.name, dialect, policy, contract, arguments=arguments)
    except (Refusal, RecursionError) as error:
        reason = error.reason if isinstance(error, Refusal) else "the schema nests too deep to be compiled here"
        return _sendable(replace(loose, contract=contract, reason=reason), schema)
    unfit = _unfit(strict.changes, policy) or _over_limit(strict)
    return strict if unfit is None else _demoted(strict, schema, unfit)


def _loose(name: str, dialect: Dialect, policy: Policy) -> Compilation:
    """A loose form, sent as it came; its reason and contract are still to be told."""
    return Compilation(name, None, False, Verdict.LOOSE, (), None, dialect, policy)


def _contract(schema: Any, policy: Policy, *, arguments: bool, draft: str) -> Contract:
    """What a schema says; a tool without parameters takes no arguments. Raises ``Unreadable``."""
    return read_contract(
        _NO_PARAMETERS if arguments and schema is None else schema,
        default_draft=draft,
        implied_types=policy.implied_types,
        assert_formats=policy.formats == "assert",
    )


def _fitted(name: str, dialect: Dialect, policy: Policy, contract: Contract, *, arguments: bool) -> Compilation:
    """The strict form under the cheapest plan that fits the dialect's limits. Raises ``Refusal``."""
    return fitted(lambda plan: _lowered(name, dialect, policy, contract, plan, arguments=arguments))


def _lowered(
    name: str, dialect: Dialect, policy: Policy, contract: Contract, plan: Plan, *, arguments: bool
) -> Compilation:
    """The strict form under a plan, whatever the policy and the provider's limits may say of it. Raises ``Refusal``."""
    wire = lower_contract(contract, dialect, policy, arguments=arguments, plan=plan)
    writer = Writer(dialect, wire.definitions, wire.root, hints=policy.hints)
    schema = writer.schema()
    changes = contract.changes + wire.changes
    counts = counted(writer.counter, schema, dialect) if dialect.limits else {}
    if plan.shared:
        schema = share(schema, dialect)
        measured = {**counts, **measure(schema, dialect)}
        counts = {name: measured[name] for name in counts}
    return Compilation(
        name,
        schema,
        True,
        verdict_of(changes),
        changes,
        None,
        dialect,
        policy,
        contract,
        wire,
        wire.codec,
        arguments and wire.takes_object,
        counts,
    )


def demoted(strict: CompiledTool, reason: str) -> CompiledTool:
    """A tool that could be strict, made loose: sent as it came if the provider takes that, else as compiled."""
    return CompiledTool(strict.tool, _demoted(strict._made, strict.tool.parameters, reason))


def left_loose(tool: Tool, dialect: Dialect, policy: Policy, reason: str) -> CompiledTool:
    """A tool that is to be loose, whatever it could be: sent as it came if the provider takes that."""
    if judge(tool.parameters, dialect, strict=False):
        # Baseline form is made from the strict one.
        compiled = compile_tool(tool, dialect, policy)
        return demoted(compiled, reason) if compiled.strict else compiled
    try:
        contract: Contract | None = _contract(tool.parameters, policy, arguments=True, draft=_DRAFT)
    except Unreadable as error:
        contract = error.contract
    loose = _loose(legal_name(tool.name, dialect.tool_name), dialect, policy)
    return CompiledTool(tool, replace(loose, contract=contract, reason=reason))


def refitted(strict: CompiledTool, room: Mapping[str, int]) -> CompiledTool | None:
    """A strict tool lowered anew so that it counts no more than ``room`` of each measure, or ``None``."""
    made = strict._made
    if made.contract is None:
        return None
    own = tuple(limit for limit in made.dialect.limits if limit.per == "tool")
    tighter = dataclasses.replace(made.dialect, limits=tuple(Limit(name, most) for name, most in room.items()) + own)
    try:
        found = _fitted(made.name, tighter, made.policy, made.contract, arguments=True)
    except (Refusal, RecursionError):
        return None
    if _unfit(found.changes, made.policy) or _over_limit(found):
        return None
    return CompiledTool(strict.tool, replace(found, dialect=made.dialect))


def _demoted(strict: Compilation, parameters: Any, reason: str) -> Compilation:
    loose = _loose(strict.name, strict.dialect, strict.policy)
    made = replace(loose, contract=strict.contract, reason=reason)
    if not judge(parameters, made.dialect, strict=False):
        return made
    if not judge(strict.schema, made.dialect, strict=False):
        return replace(strict, strict=False, verdict=Verdict.LOOSE, reason=reason)
    return _sendable(made, parameters)


def _sendable(loose: Compilation, parameters: Any) -> Compilation:
    """A loose form that the provider does not refuse the whole request for, made from the tool's own schema if that
    can be walked.
    """
    if not judge(parameters, loose.dialect, strict=False):
        return loose
    return replace(loose, schema=_nearest_allowed(parameters if loose.readable else None, loose.dialect))


def _unfit(changes: tuple[Change, ...], policy: Policy) -> str | None:
    """Why the tool is not good enough for the fidelity asked for, if it is not."""
    if policy.fidelity != "exact":
        return None
    inexact = [
        change
        for change in changes
        if change.effect in (Effect.CHECKED, Effect.NARROWED) and not CODES[change.code].by_encoding
    ]
    if not inexact:
        return None
    first = inexact[0]
    return f"{first.pointer or 'the root'}: {first.message} ({first.code}), and the policy asks for exact"


def _over_limit(strict: Compilation) -> str | None:
    limit = exceeded(strict.counts, strict.dialect)
    if limit is None:
        return None
    return f"{strict.counts[limit.name]:,} {NAMES[limit.name]}, where the provider's limit is {limit.most:,}"


def _nearest_allowed(parameters: Any, dialect: Dialect) -> Any:
    """What is sent for a tool whose schema the provider refuses and that could not be compiled either.

    The schema with a root that says it is an object, if that is enough; else an object of any kind.
    """
    candidates: list[dict[str, Any]] = []
    if type(parameters) is dict:
        root = {name: value for name, value in parameters.items() if name not in dialect.baseline.forbidden_root}
        candidates.append({**root, "type": "object", "properties": parameters.get("properties", {})})
    return _first_allowed([*candidates, *_ANY_OBJECTS], dialect)


def _first_allowed(candidates: Sequence[Mapping[str, Any]], dialect: Dialect) -> dict[str, Any]:
    """The first schema that the provider takes without strict; the last one where it takes none."""
    taken = (candidate for candidate in candidates if not judge(candidate, dialect, strict=False))
    return dict(next(taken, candidates[-1]))
