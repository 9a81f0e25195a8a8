"""Compiling: a tool's schema is read, lowered and written; whatever goes wrong on the way makes it loose, with the
reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from strictcall.change import Change, Effect, Verdict, verdict_of
from strictcall.dialect.judge import judge
from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.policy import Policy
from strictcall.shape.contract import Contract, Unreadable, read_contract
from strictcall.tool import Tool
from strictcall.wire.budget import NAMES, counted, exceeded
from strictcall.wire.codes import CODES
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.context import Refusal
from strictcall.wire.lower import lower_contract
from strictcall.wire.names import legal_name
from strictcall.wire.write import Writer

_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
_ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": True}
"""What is sent for a tool whose own schema no provider would take and that cannot be read either."""


def compile_tool(tool: Tool, dialect: str | Dialect = "openai", policy: Policy | None = None) -> CompiledTool:
    """Compile a tool for a dialect. Whatever its parameters are, the result is a tool, strict or loose with its reason.

    Raises ``DialectError`` for an unknown dialect name.
    """
    return _compile(tool, dialect, policy or Policy(), arguments=True, draft="2020-12")


def compile_schema(
    schema: Any,
    dialect: str | Dialect = "openai",
    policy: Policy | None = None,
    *,
    draft: str = "2020-12",
    name: str = "schema",
) -> CompiledTool:
    """Compile a schema that may describe any value, not only an object. ``draft`` is assumed where ``$schema`` is
    absent.
    """
    return _compile(Tool(name, None, schema), dialect, policy or Policy(), arguments=False, draft=draft)


def _compile(tool: Tool, dialect: str | Dialect, policy: Policy, *, arguments: bool, draft: str) -> CompiledTool:
    used = load(dialect) if isinstance(dialect, str) else dialect
    absent = arguments and tool.parameters is None
    try:
        contract = read_contract(
            _NO_PARAMETERS if absent else tool.parameters,
            default_draft=draft,
            implied_types=policy.implied_types,
            assert_formats=policy.formats == "assert",
        )
    except Unreadable as error:
        loose = _loose(tool, used, policy, error.reason, error.contract)
        return _sendable(loose, salvage=error.within_limits)
    if absent:
        message = "the tool has no parameters; it is read as one that takes no arguments"
        contract = replace(contract, changes=(Change("read-no-parameters", "", Effect.ENCODED, message),))
    try:
        strict = _lowered(tool, used, policy, contract, arguments=arguments)
    except Refusal as error:
        return _sendable(_loose(tool, used, policy, error.reason, contract))
    except RecursionError:
        return _sendable(_loose(tool, used, policy, "the schema nests too deep to be compiled here", contract))
    reason = _unfit(strict.changes, policy) or _over_limit(strict)
    return strict if reason is None else demoted(strict, reason)


def _loose(tool: Tool, dialect: Dialect, policy: Policy, reason: str, contract: Contract | None) -> CompiledTool:
    """A loose tool, as it came."""
    return CompiledTool(
        tool,
        legal_name(tool.name, dialect.tool_name),
        tool.description,
        tool.parameters,
        strict=False,
        verdict=Verdict.LOOSE,
        changes=(),
        reason=reason,
        baseline=False,
        dialect=dialect,
        policy=policy,
        _contract=contract,
    )


def _lowered(tool: Tool, dialect: Dialect, policy: Policy, contract: Contract, *, arguments: bool) -> CompiledTool:
    """The strict tool, whatever the policy and the provider's limits may say of it. Raises ``Refusal``."""
    wire = lower_contract(contract, dialect, policy, arguments=arguments)
    writer = Writer(dialect, wire.definitions, wire.root, hints=policy.hints)
    schema = writer.schema()
    changes = contract.changes + wire.changes
    return CompiledTool(
        tool,
        legal_name(tool.name, dialect.tool_name),
        tool.description,
        schema,
        strict=True,
        verdict=verdict_of(changes),
        changes=changes,
        reason=None,
        baseline=False,
        dialect=dialect,
        policy=policy,
        _codec=wire.codec,
        _contract=contract,
        _wire=wire,
        _takes_object=arguments and wire.takes_object,
        _counts=counted(writer.counter, schema, dialect) if dialect.limits else {},
    )


def demoted(strict: CompiledTool, reason: str) -> CompiledTool:
    """A tool that could be strict, made loose: sent as it came if the provider takes that, else as compiled."""
    loose = _loose(strict.tool, strict.dialect, strict.policy, reason, strict._contract)
    if not judge(loose.parameters, strict.dialect, strict=False):
        return loose
    if not judge(strict.parameters, strict.dialect, strict=False):
        return replace(strict, strict=False, verdict=Verdict.LOOSE, reason=reason, baseline=True)
    return _sendable(loose)


def _sendable(loose: CompiledTool, *, salvage: bool = True) -> CompiledTool:
    """A loose tool that the provider does not refuse the whole request for; ``salvage``: made from its own schema."""
    if not judge(loose.parameters, loose.dialect, strict=False):
        return loose
    parameters = _nearest_allowed(loose.parameters, loose.dialect) if salvage else dict(_ANY_OBJECT)
    return replace(loose, parameters=parameters, baseline=True)


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


def _over_limit(strict: CompiledTool) -> str | None:
    limit = exceeded(strict.counts, strict.dialect)
    if limit is None:
        return None
    return f"{strict.counts[limit.name]:,} {NAMES[limit.name]}, where the provider's limit is {limit.most:,}"


def _nearest_allowed(parameters: Any, dialect: Dialect) -> Any:
    """What is sent for a tool whose schema the provider refuses and that could not be compiled either.

    The schema with a root that says it is an object, if that is enough; else an object of any kind.
    """
    if type(parameters) is dict:
        root = {name: value for name, value in parameters.items() if name not in dialect.baseline.forbidden_root}
        candidate = {**root, "type": "object", "properties": parameters.get("properties", {})}
        if not judge(candidate, dialect, strict=False):
            return candidate
    return dict(_ANY_OBJECT)
