"""A compiled tool: a wire schema together with its own inverse."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from strictcall.change import Change, Verdict
from strictcall.dialect.held import held
from strictcall.dialect.model import Dialect
from strictcall.errors import ArgumentsError, Fault
from strictcall.json_value import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_WIRE_DEPTH,
    LimitError,
    check_limits,
    copier,
    excerpt,
    is_small,
    parse,
)
from strictcall.policy import Policy
from strictcall.shape.check import LocalCheck
from strictcall.shape.contract import Contract
from strictcall.shape.draft import DRAFTS
from strictcall.shape.model import Definitions, Shape
from strictcall.tool import Tool
from strictcall.value import value
from strictcall.wire.codec import Below, Codec, Enough, Run, below
from strictcall.wire.lower import Wire
from strictcall.wire.mend import Repair, mend
from strictcall.wire.quick import QuickReader, quick_reader

MOST_MENDED: Final = 10_000
"""Arguments of more values than this are not mended: that walks them several times."""

Form = Literal["wire", "either"]


@value
class Reading:
    """Arguments as read: in contract form, what was repaired on the way, and what is wrong with them.

    ``invented``: a fault is a name that was never declared.
    """

    arguments: Any
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()
    invented: bool = False


@value
class Compilation:
    """What compiling a schema gave, for every tool of the same name and schema.

    ``schema``: the wire schema; ``None`` where the tool's own parameters are sent as they came. The other fields are
    those of ``CompiledTool``. ``takes_object``: the arguments are an object on both sides. ``readable``: the schema is
    JSON within the budgets.
    """

    name: str
    schema: Any
    strict: bool
    verdict: Verdict
    changes: tuple[Change, ...]
    reason: str | None
    dialect: Dialect
    policy: Policy
    contract: Contract | None = None
    wire: Wire | None = None
    codec: Codec | None = None
    takes_object: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    readable: bool = True
    _quick: list[QuickReader] = field(default_factory=list, repr=False, compare=False)
    _copier: list[Callable[[], Any]] = field(default_factory=list, repr=False, compare=False)
    _wire_check: list[LocalCheck] = field(default_factory=list, repr=False, compare=False)
    _fingerprint: list[str] = field(default_factory=list, repr=False, compare=False)
    _below: list[Below] = field(default_factory=list, repr=False, compare=False)

    def below(self) -> Below:
        """What is done to a call in wire form while it arrives."""
        if not self._below:
            self._below.append(below(self.codec))
        return self._below[0]

    def fresh_schema(self) -> Any:
        """A copy of the wire schema, each time another."""
        if not self._copier:
            self._copier.append(copier(self.schema))
        return self._copier[0]()

    def fingerprint(self, parameters: Any) -> str:
        """What tells this wire schema from others; ``parameters`` is what stands for it where nothing was rewritten."""
        if not self._fingerprint:
            import hashlib  # noqa: PLC0415 - loads a library of its own, and few tools are asked

            schema = parameters if self.schema is None else self.schema
            said = json.dumps([self.name, self.strict, schema], sort_keys=True, default=repr)
            self._fingerprint.append(hashlib.sha256(said.encode()).hexdigest()[:32])
        return self._fingerprint[0]

    def admits_wire(self, value: Any) -> bool:
        """Whether the wire schema, read as draft 2020-12, has nothing against a value."""
        if not self._wire_check:
            self._wire_check.append(
                LocalCheck(held(self.schema, self.dialect), DRAFTS["2020-12"], assert_formats=False)
            )
        return bool(self._wire_check[0].admits(value))

    def quick(self) -> QuickReader:
        """The quick way to read calls, prepared at its first use."""
        if not self._quick:
            self._quick.append(quick_reader(self.codec, self.contract, self.wire))
        return self._quick[0]

    @property
    def transforms(self) -> bool:
        """Whether the codec makes other values of those it is given."""
        return self.codec is not None and self.codec.transforms


@dataclass(slots=True)
class CompiledTool:
    """A tool compiled for one dialect under one policy. It does not change: all it shows is read only."""

    _tool: Tool
    _made: Compilation = field(repr=False)
    _parameters: Any = field(init=False, repr=False, compare=False)
    _quick: QuickReader = field(init=False, repr=False, compare=False)

    @property
    def tool(self) -> Tool:
        """The tool as its author wrote it."""
        return self._tool

    @property
    def name(self) -> str:
        """The tool's name on the wire."""
        return self._made.name

    @property
    def description(self) -> str | None:
        """The tool's own description."""
        return self._tool.description

    @property
    def parameters(self) -> Any:
        """The wire schema, a copy of this tool's own. For a loose tool the very object that came in, unless
        ``baseline``.
        """
        if self._made.schema is None:
            return self._tool.parameters
        if not hasattr(self, "_parameters"):
            # What many tools share is not handed out: a caller may well change the dict that he sends.
            self._parameters = self._made.fresh_schema()
        return self._parameters

    @property
    def strict(self) -> bool:
        """Whether the tool may be marked strict."""
        return self._made.strict

    @property
    def verdict(self) -> Verdict:
        """How well the wire keeps the contract."""
        return self._made.verdict

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every rewrite, by pointer and code."""
        return self._made.changes

    @property
    def reason(self) -> str | None:
        """Why a tool is loose, a fact about its schema."""
        return self._made.reason

    @property
    def baseline(self) -> bool:
        """Whether a loose tool had to be rewritten because the provider would refuse it even without strict."""
        return not self._made.strict and self._made.schema is not None

    @property
    def dialect(self) -> Dialect:
        """The dialect that the tool was compiled for."""
        return self._made.dialect

    @property
    def policy(self) -> Policy:
        """The policy that the tool was compiled under."""
        return self._made.policy

    @property
    def counts(self) -> Mapping[str, int]:
        """What the wire schema counts against a provider's limits, by the dialect's names for them; empty without
        limits.
        """
        return self._made.counts

    @property
    def identity(self) -> bool:
        """Whether the codec changes and checks nothing: wire and contract form are the same."""
        return self._made.codec is None

    @property
    def fingerprint(self) -> str:
        """What tells the wire form of this tool from others: a call that answered the same one may be replayed as it
        was said.
        """
        return self._made.fingerprint(self._tool.parameters)

    @property
    def below(self) -> Below | Literal["hold"]:
        """What is done to arguments in wire form while they arrive: they are copied (``None``), rewritten, or held
        until they are complete, as those of a loose tool are, which may have to be mended.
        """
        if not self.strict:
            return "hold"
        return self._made.below()

    @property
    def shapes(self) -> tuple[tuple[Shape, Definitions], ...]:
        """What the arguments are in wire form, and what they are in the contract's, each with its definitions; what is
        not known is left out.
        """
        wire, contract = self._made.wire, self._made.contract
        on_wire = () if wire is None else ((wire.root, wire.definitions),)
        return on_wire if contract is None else (*on_wire, (contract.shape, contract.definitions))

    def is_wire_form(self, arguments: Any) -> bool:
        """Whether arguments, a JSON value, are such as the wire schema admits."""
        return self._made.schema is None or self._made.admits_wire(arguments)

    def decode(self, arguments: Any, form: Form = "wire") -> Any:
        """The arguments that the tool declared, from those that the model wrote.

        ``arguments`` is JSON text or a JSON value; blank text and null mean ``{}``. ``form="wire"`` takes the wire
        form only, except that a field that may be null may be left out; ``"either"`` (calls that no decoder held to
        the schema) reads each node in its wire form and, only if it does not fit, as the contract has it.

        Raises ``ArgumentsError`` naming each fault.
        """
        if form == "wire":
            try:
                value = self._quick(arguments)
            except AttributeError:
                self._quick = self._made.quick()
                value = self._quick(arguments)
            if value is not None:
                return value
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
        value = _value(arguments, MAX_WIRE_DEPTH if self._made.transforms else MAX_DEPTH)
        reading = self._decoded(value, arguments, either)
        if not either or not reading.faults or not is_small(value, MOST_MENDED):
            return reading
        if not reading.invented and not self._faults(value):
            # It only looked like the wire form, and is what the contract takes as it came.
            return Reading(value)
        repaired: tuple[Repair, ...] = ()
        if self._made.wire is not None:
            value, repaired = mend(value, self._made.wire.root, self._made.wire.definitions)
        again = self._decoded(value, arguments, either) if repaired else reading
        if again.faults and self._made.contract is not None:
            value, further = mend(again.arguments, self._made.contract.shape, self._made.contract.definitions)
            repaired += further
            again = Reading(value, (), tuple(self._faults(value))) if further else again
        return Reading(again.arguments, repaired, again.faults) if not again.faults else reading

    def _decoded(self, value: Any, arguments: Any, either: bool) -> Reading:
        run = Run(either)
        if self._made.codec is not None:
            try:
                value = self._made.codec.decode(value, None, run)
            except Enough:
                return Reading(None, (), tuple(run.faults), run.unknown_names)
        if _may_be_deep(arguments, known=not self._made.transforms):
            check_limits(value, MAX_DEPTH)
        return Reading(value, (), _joined(run.faults, self._faults(value)), run.unknown_names)

    def encode(self, arguments: Any) -> Any:
        """The wire form of arguments in contract form: for history, and for tests.

        Raises ``ArgumentsError`` for arguments that the contract does not admit, or that the wire cannot say.
        """
        faults = self.check(arguments)
        if faults:
            raise ArgumentsError(faults)
        if self._made.codec is None:
            return arguments
        run = Run()
        try:
            wire = self._made.codec.encode(arguments, None, run)
        except Enough:
            raise ArgumentsError(run.faults) from None
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
        if self._made.takes_object and type(arguments) is not dict:
            return [Fault("", "must be an object", excerpt(arguments))]
        return self._made.contract.faults(arguments) if self._made.contract is not None else []


def _value(arguments: Any, max_depth: int) -> Any:
    """Arguments as a JSON value within the limits. Raises ``LimitError``."""
    if isinstance(arguments, str | bytes | bytearray | memoryview):
        text = arguments if isinstance(arguments, str) else bytes(arguments)
        value = parse(text, max_depth) if len(text) > MAX_BYTES or text.strip() else None
    else:
        value = arguments
        check_limits(value, max_depth)
    return {} if value is None else value


def _may_be_deep(arguments: Any, *, known: bool) -> bool:
    """Whether what is read from these arguments could nest too deep: a text needs a bracket for each level.

    ``known``: a value that is not text is read as it is, so its depth is known already.
    """
    if isinstance(arguments, str):
        return arguments.count("[") + arguments.count("{") > MAX_DEPTH
    if isinstance(arguments, bytes | bytearray):
        return arguments.count(b"[") + arguments.count(b"{") > MAX_DEPTH
    return not known


def _joined(wire: list[Fault], contract: list[Fault]) -> tuple[Fault, ...]:
    """The codec's faults, and the local check's where the codec has not spoken of the place or one around it."""
    if not wire:
        return tuple(contract)
    told = {fault.pointer for fault in wire}
    further = [f for f in contract if not any(f.pointer == p or f.pointer.startswith(p + "/") for p in told)]
    return tuple(dict.fromkeys([*wire, *further]))
