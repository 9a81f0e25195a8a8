"""Codecs: how a value of the wire form is read back into the contract's form, and written again.

A codec is two closures made once, when the tool is compiled. ``None`` stands for the codec that changes and checks
nothing, so an unchanged subtree costs nothing to decode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from strictcall.errors import Fault
from strictcall.json_value import excerpt, pointer
from strictcall.shape.check import MOST_FAULTS, MOST_SOUGHT, unknown_name
from strictcall.value import value

Trail = tuple[Any, Any] | None
"""Where a value stands in the contract's arguments: the trail of its container and its key; ``None`` at the root."""


def place(trail: Trail) -> str:
    """A trail as a JSON Pointer."""
    tokens: list[str | int] = []
    while trail is not None:
        trail, token = trail
        tokens.append(token)
    return pointer(reversed(tokens))


class Enough(Exception):
    """So many faults were met that telling more of them would help nobody."""


@dataclass(slots=True)
class Run:
    """One decoding or encoding: the faults met so far, and which forms are read.

    ``either`` reads each node in its wire form and, only if it does not fit, in the contract's form. ``unknown_names``:
    some fault was a name that an object does not take.
    """

    either: bool = False
    faults: list[Fault] = field(default_factory=list)
    unknown_names: bool = False

    def misfit(self, value: Any, trail: Trail, expected: str) -> Any:
        """Report a value that has not the form expected of it; gives it back, so that others can be reported too."""
        self._report(Fault(place(trail), expected, excerpt(value)))
        return value

    def unknown(self, name: str, trail: Trail, declared: list[str]) -> None:
        """Report a name that an object does not take."""
        self.unknown_names = True
        self._report(unknown_name(name, place(trail), declared, seek=len(self.faults) < MOST_SOUGHT))

    def _report(self, fault: Fault) -> None:
        self.faults.append(fault)
        if len(self.faults) >= MOST_FAULTS:
            raise Enough


Step = Callable[[Any, Trail, Run], Any]


@value
class Rewrite:
    """How decoding can be done to JSON text while it arrives: what it does is leave out nulls and rename members.

    ``fields`` is for an object: by the name on the wire, the contract's name, whether a null is left out, and what is
    done to the value. ``items`` is for an array: what is done to each item. One of them is ``None``.
    """

    fields: Mapping[str, RewrittenField] | None = None
    items: Below = None


@value
class RewrittenField:
    """A member of an object that is rewritten while it arrives."""

    name: str
    null_is_absent: bool
    below: Below


Below = Rewrite | Step | None
"""What is done to a value: it is rewritten while it arrives, decoded when it is complete, or copied."""


def unwritten() -> None:
    """The answer of a codec that cannot be done while a value arrives."""


@value
class Codec:
    """``decode`` turns a wire value into the contract's, ``encode`` goes the other way; both report misfits to the run.

    ``transforms`` is false for a codec that only checks and hands on what it was given. ``rewrite`` gives, for one that
    does more, how decoding can be done while a value arrives, or ``None`` where it cannot: few tools are asked.
    """

    decode: Step
    encode: Step
    transforms: bool = True
    rewrite: Callable[[], Rewrite | None] = unwritten


def apply(codec: Codec | None) -> Step:
    """A codec's decoding step, for whoever must call one either way."""
    return codec.decode if codec is not None else _same


def _same(value: Any, trail: Trail, run: Run) -> Any:
    return value


def encoder(codec: Codec | None) -> Step:
    """A codec's encoding step."""
    return codec.encode if codec is not None else _same


def below(codec: Codec | None) -> Below:
    """What is done with a codec to a value that arrives piece by piece."""
    if codec is None or not codec.transforms:
        return None
    return codec.rewrite() or codec.decode


def level(codec: Codec | None) -> int:
    """How much a codec does: 0 nothing, 1 only checks, 2 transforms."""
    if codec is None:
        return 0
    return 2 if codec.transforms else 1
