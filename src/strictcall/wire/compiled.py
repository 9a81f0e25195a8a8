"""A compiled tool: a wire schema together with its own inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from strictcall.change import Change, Verdict
from strictcall.dialect.model import Dialect
from strictcall.errors import ArgumentsError, Fault
from strictcall.json_value import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_WIRE_DEPTH,
    LimitError,
    check_limits,
    excerpt,
    is_small,
    parse,
)
from strictcall.policy import Policy
from strictcall.shape.contract import Contract
from strictcall.tool import Tool
from strictcall.wire.codec import Codec, Enough, Run
from strictcall.wire.lower import Wire
from strictcall.wire.mend import Repair, mend

MOST_MENDED: Final = 10_000
"""Arguments of more values than this are not mended: that walks them several times."""

Form = Literal["wire", "either"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Arguments as read: in contract form, what was repaired on the way, and what is wrong with them.

    ``invented``: a fault is a name that was never declared.
    """

    arguments: Any
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()
    invented: bool = False


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool compiled for one dialect under one policy.

    - ``tool``: the tool as its author wrote it; ``name``: its name on the wire; ``description``: the tool's own.
    - ``parameters``: the wire schema. For a loose tool it is the very object that came in, unless ``baseline``.
    - ``strict``: whether the tool may be marked strict; ``verdict``: how well the wire keeps the contract.
    - ``changes``: every rewrite, by pointer and code; ``reason``: why a tool is loose, a fact about its schema.
    - ``baseline``: whether a loose tool had to be rewritten because the provider would refuse the request even
      without strict.
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
    _wire: Wire | None = field(default=None, repr=False, compare=False)
    _takes_object: bool = field(default=False, repr=False, compare=False)
    _counts: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def counts(self) -> Mapping[str, int]:
        """What the wire schema counts against a provider's limits, by the dialect's names for them; empty without
        limits.
        """
        return self._counts

    @property
    def identity(self) -> bool:
        """Whether the codec changes and checks nothing: wire and contract form are the same."""
        return self._codec is None

    @property
    def _transforms(self) -> bool:
        return self._codec is not None and self._codec.transforms

    def decode(self, arguments: Any, form: Form = "wire") -> Any:
        """The arguments that the tool declared, from those that the model wrote.

        ``arguments`` is JSON text or a JSON value; blank text and null mean ``{}``. ``form="wire"`` takes the wire
        form only, except that a field that may be null may be left out; ``"either"`` (calls that no decoder held to
        the schema) reads each node in its wire form and, only if it does not fit, as the contract has it.

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
        value = _value(arguments, MAX_WIRE_DEPTH if self._transforms else MAX_DEPTH)
        reading = self._decoded(value, arguments, either)
        if not either or not reading.faults or not is_small(value, MOST_MENDED):
            return reading
        if not reading.invented and not self._faults(value):
            # It only looked like the wire form, and is what the contract takes as it came.
            return Reading(value)
        repaired: tuple[Repair, ...] = ()
        if self._wire is not None:
            value, repaired = mend(value, self._wire.root, self._wire.definitions)
        again = self._decoded(value, arguments, either) if repaired else reading
        if again.faults and self._contract is not None:
            value, further = mend(again.arguments, self._contract.shape, self._contract.definitions)
            repaired += further
            again = Reading(value, (), tuple(self._faults(value))) if further else again
        return Reading(again.arguments, repaired, again.faults) if not again.faults else reading

    def _decoded(self, value: Any, arguments: Any, either: bool) -> Reading:
        run = Run(either)
        if self._codec is not None:
            try:
                value = self._codec.decode(value, None, run)
            except Enough:
                return Reading(None, (), tuple(run.faults), run.unknown_names)
        if _may_be_deep(arguments, known=not self._transforms):
            check_limits(value, MAX_DEPTH)
        return Reading(value, (), _joined(run.faults, self._faults(value)), run.unknown_names)

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
        if self._takes_object and type(arguments) is not dict:
            return [Fault("", "must be an object", excerpt(arguments))]
        return self._contract.faults(arguments) if self._contract is not None else []


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
