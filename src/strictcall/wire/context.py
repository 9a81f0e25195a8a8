"""What every lowering rule is given: the dialect, the policy, the definitions, and where to report changes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from strictcall.change import Change, Effect
from strictcall.dialect.model import Dialect, State
from strictcall.policy import Policy
from strictcall.shape.model import Definitions, Residue, Shape
from strictcall.value import replace
from strictcall.wire.codec import Codec
from strictcall.wire.codes import CODES
from strictcall.wire.plan import AS_USUAL, Plan

Lowered = tuple[Shape, Codec | None]
"""A wire shape and the codec between it and the contract's shape; ``None`` where the two are the same."""

Rule = Callable[[Any, "Context"], Lowered]


AnyShape = TypeVar("AnyShape", bound=Shape)


class Refusal(Exception):
    """The shape cannot be lowered under this dialect and policy; ``reason`` is a fact about the schema."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Context:
    """One lowering. ``definitions`` are the contract's; ``wire`` collects the wire's own, which wire references name.

    ``wire`` and ``codecs`` fill up by definition name. Of those that are not there yet, ``estimates`` and ``levels``
    say what the round before found, and ``leaned_on`` which were asked for. ``cuts`` are the references, as target
    and pointer, that close a cycle in a dialect without recursion.
    """

    dialect: Dialect
    policy: Policy
    definitions: Definitions
    lower: Rule
    estimates: Definitions = field(default_factory=dict)
    codecs: dict[str, Codec | None] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    leaned_on: set[str] = field(default_factory=set)
    cuts: frozenset[tuple[str, str]] = frozenset()
    wire: dict[str, Shape] = field(default_factory=dict)
    written_in_place: int = 0
    plan: Plan = AS_USUAL
    known: Definitions = field(init=False)
    """The wire's definitions, with estimates of those that are not finished."""
    _changes: dict[tuple[str, str, str], Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = ChainMap(self.wire, cast("dict[str, Shape]", self.estimates))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every change so far, by pointer."""
        return tuple(sorted(self._changes.values(), key=_pointer))

    def change(self, code: str, pointer: str, message: str, effect: Effect | None = None) -> None:
        """Report a rewrite; its effect is the code's unless said otherwise."""
        self._changes[code, pointer, message] = Change(code, pointer, effect or CODES[code].effect, message)

    def unheld(self, shape: AnyShape, code: str, pointer: str, message: str, hint: str) -> AnyShape:
        """Report a constraint that the wire does not hold; the shape carries it on as a hint."""
        self.change(code, pointer, message)
        return replace(shape, residue=(*shape.residue, Residue(code, pointer, hint)))

    def holds(self, keyword: str, value: Any = None) -> bool:
        """Whether the dialect's decoder enforces a keyword with this value as the standard means it."""
        return self.dialect.state(keyword, value) is State.ENFORCED

    def keeps(self, keyword: str, value: Any = None) -> bool:
        """Whether a keyword may at least stand in a schema."""
        return self.dialect.state(keyword, value) in (State.ENFORCED, State.IGNORED)


def _pointer(change: Change) -> str:
    return change.pointer


def lowered_notes(notes: Mapping[str, Any], codec: Codec | None) -> Mapping[str, Any]:
    """Annotations for the wire: values in the contract's form would mislead where the wire's form is another."""
    return notes if codec is None or not codec.transforms else without_values(notes)


def without_values(notes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Annotations without those that hold values of the contract."""
    if notes.keys().isdisjoint(_VALUE_NOTES):
        return notes
    return {keyword: value for keyword, value in notes.items() if keyword not in _VALUE_NOTES}


_VALUE_NOTES = frozenset({"default", "examples", "example"})
