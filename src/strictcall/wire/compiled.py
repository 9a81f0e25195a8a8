"""Compiling: a tool becomes a wire schema together with its own inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from strictcall.change import Change, Effect, Verdict, verdict_of
from strictcall.dialect.judge import judge
from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.errors import ArgumentsError, Fault
from strictcall.json_value import MAX_DEPTH, MAX_WIRE_DEPTH, LimitError, check_limits, excerpt, parse
from strictcall.policy import Policy
from strictcall.shape.contract import Contract, Unreadable, read_contract
from strictcall.tool import Tool
from strictcall.wire.budget import NAMES, count, exceeded
from strictcall.wire.codec import Codec, Run
from strictcall.wire.codes import CODES
from strictcall.wire.context import Refusal
from strictcall.wire.lower import Wire, lower_contract
from strictcall.wire.mend import Repair, mend
from strictcall.wire.names import legal_name
from strictcall.wire.write import Writer

Form = Literal["wire", "either"]

_ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": True}
"""What is sent for a tool whose own schema no provider would take and that cannot be read either."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Arguments as read: in contract form, what was repaired on the way, and what is wrong with them."""

    arguments: Any
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool compiled for one dialect under one policy.

    - ``tool``: the tool as its author wrote it; ``name``: its name on the wire; ``description``: the tool's own.
    - ``parameters``: the wire schema. For a loose tool it is the very object that came in, unless ``baseline``.
    - ``strict``: whether the tool may be marked strict; ``verdict``: how well the wire keeps the contract.
    - ``changes``: every rewrite, by pointer and code; ``reason``: why a tool is loose, a fact about its schema.
    - ``baseline``: whether a loose tool had to be rewritten because the provider would refuse the request even without strict.
    """

    tool: Tool
    name: str
    description: str | None
    parameters: Any
    strict: bool
    verdict: Verdict
    changes: tuple[Change, ...]
    reason: str | None
    baseline: bool
    dialect: Dialect
    policy: Policy
    _codec: Codec | None = field(default=None, repr=False, compare=False)
    _contract: Contract | None = field(default=None, repr=False, compare=False)
    _takes_object: bool = field(default=False, repr=False, compare=False)

    @property
    def identity(self) -> bool:
        """Whether the codec changes and checks nothing: wire and contract form are the same."""
        return self._codec is None

    def decode(self, arguments: Any, form: Form = "wire") -> Any:
        """The arguments that the tool declared, from those that the model wrote.

        ``arguments`` is JSON text or a JSON value; blank text and null mean ``{}``. ``form="wire"`` takes the wire form only,
        except that a field that may be null may be left out; ``"either"`` (calls that no decoder held to the schema) reads each
        node in its wire form and, only if it does not fit, as the contract has it.

        Raises ``ArgumentsError`` naming each fault.
        """
        reading = self.read(arguments, form)
        if reading.faults:
            raise ArgumentsError(reading.faults)
        return reading.arguments

    def read(self, arguments: Any, form: Form = "wire") -> Reading:
        """As ``decode``, but faults are given back, with the repairs that ``form="either"`` made."""
        if form not in ("wire", "either"):
            raise ValueError(f"form is 'wire' or 'either', not {form!r}")
        try:
            return self._read(arguments, form == "either")
        except LimitError as error:
            return Reading(None, (), (Fault("", str(error)),))
        except RecursionError:
            return Reading(None, (), (Fault("", "the arguments nest too deep to be read here"),))

    def _read(self, arguments: Any, either: bool) -> Reading:
        value = _value(arguments)
        run = Run(either)
        if self._codec is not None:
            value = self._codec.decode(value, None, run)
        if _may_be_deep(arguments):
            check_limits(value, MAX_DEPTH)
        repairs: tuple[Repair, ...] = ()
        contract = self._contract
        if either and contract is not None and not run.faults and not contract.check.admits(value):
            value, repairs = mend(value, contract.shape, contract.definitions)
        return Reading(value, repairs, _joined(run.faults, self._faults(value)))

    def encode(self, arguments: Any) -> Any:
        """The wire form of arguments in contract form: for history, and for tests.

        Raises ``ArgumentsError`` for arguments that the contract does not admit, or that the wire cannot say.
        """
        faults = self.check(arguments)
        if faults:
            raise ArgumentsError(faults)
        if self._codec is None:
            return arguments
        run = Run()
        try:
            wire = self._codec.encode(arguments, None, run)
        except RecursionError:
            raise ArgumentsError([Fault("", "the arguments nest too deep to be written here")]) from None
        if run.faults:
            raise ArgumentsError(run.faults)
        return wire

    def check(self, arguments: Any) -> tuple[Fault, ...]:
        """What is wrong with arguments in contract form, by the local check alone; empty when they are admitted."""
        try:
            check_limits(arguments, MAX_DEPTH)
        except LimitError as error:
            return (Fault("", str(error)),)
        return tuple(self._faults(arguments))

    def _faults(self, arguments: Any) -> list[Fault]:
        if self._takes_object and type(arguments) is not dict:
            return [Fault("", "must be an object", excerpt(arguments))]
        return self._contract.faults(arguments) if self._contract is not None else []


def _value(arguments: Any) -> Any:
    """Arguments as a JSON value within the limits. Raises ``LimitError``."""
    if isinstance(arguments, str | bytes | bytearray | memoryview):
        text = arguments if isinstance(arguments, str) else bytes(arguments)
        value = parse(text) if text.strip() else None
    else:
        value = arguments
        check_limits(value, MAX_WIRE_DEPTH)
    return {} if value is None else value


def _may_be_deep(arguments: Any) -> bool:
    """Whether what is read from these arguments could nest too deep: a text needs a bracket for each level."""
    if isinstance(arguments, str):
        return arguments.count("[") + arguments.count("{") > MAX_DEPTH
    if isinstance(arguments, bytes | bytearray):
        return arguments.count(b"[") + arguments.count(b"{") > MAX_DEPTH
    return True


def _joined(wire: list[Fault], contract: list[Fault]) -> tuple[Fault, ...]:
    """The codec's faults, and the local check's where the codec has not spoken of the place or one around it."""
    if not wire:
        return tuple(contract)
    told = {fault.pointer for fault in wire}
    further = [f for f in contract if not any(f.pointer == p or f.pointer.startswith(p + "/") for p in told)]
    return tuple(dict.fromkeys([*wire, *further]))


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
    """Compile a schema that may describe any value, not only an object. ``draft`` is assumed where ``$schema`` is absent."""
    return _compile(Tool(name, None, schema), dialect, policy or Policy(), arguments=False, draft=draft)


def _compile(tool: Tool, dialect: str | Dialect, policy: Policy, *, arguments: bool, draft: str) -> CompiledTool:
    used = load(dialect) if isinstance(dialect, str) else dialect
    try:
        contract = read_contract(
            tool.parameters,
            default_draft=draft,
            implied_types=policy.implied_types,
            assert_formats=policy.formats == "assert",
        )
    except Unreadable as error:
        return _loose(tool, used, policy, error.reason, None, None)
    try:
        wire = lower_contract(contract, used, policy, arguments=arguments)
    except Refusal as error:
        return _loose(tool, used, policy, error.reason, contract, None)
    except RecursionError:
        return _loose(tool, used, policy, "the schema nests too deep to be compiled here", contract, None)
    schema = Writer(used, wire.definitions, wire.root, hints=policy.hints).schema()
    changes = contract.changes + wire.changes
    reason = _unfit(changes, policy) or _over_limit(wire, schema, used)
    if reason is not None:
        return _loose(tool, used, policy, reason, contract, (schema, wire))
    return CompiledTool(
        tool,
        legal_name(tool.name, used.tool_name),
        tool.description,
        schema,
        True,
        verdict_of(changes),
        changes,
        None,
        False,
        used,
        policy,
        wire.codec,
        contract,
        arguments and not wire.wrapped,
    )


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


def _over_limit(wire: Wire, schema: Any, dialect: Dialect) -> str | None:
    if not dialect.limits:
        return None
    counts = count(wire.root, wire.definitions, schema)
    limit = exceeded(counts, dialect)
    if limit is None:
        return None
    return f"{counts[limit.name]:,} {NAMES[limit.name]}, where the provider's limit is {limit.most:,}"


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


def _loose(
    tool: Tool,
    dialect: Dialect,
    policy: Policy,
    reason: str,
    contract: Contract | None,
    compiled: tuple[dict[str, Any], Wire] | None,
) -> CompiledTool:
    """A tool that is sent as it came; or, where the provider would refuse the request for it, in baseline form."""
    parameters: Any = tool.parameters
    changes: tuple[Change, ...] = ()
    codec: Codec | None = None
    baseline = bool(judge(parameters, dialect, strict=False))
    if baseline and contract is not None and compiled is not None and not judge(compiled[0], dialect, strict=False):
        parameters, codec = compiled[0], compiled[1].codec
        changes = contract.changes + compiled[1].changes
    elif baseline:
        parameters = _nearest_allowed(parameters, dialect)
    return CompiledTool(
        tool,
        legal_name(tool.name, dialect.tool_name),
        tool.description,
        parameters,
        False,
        Verdict.LOOSE,
        changes,
        reason,
        baseline,
        dialect,
        policy,
        codec,
        contract,
    )
