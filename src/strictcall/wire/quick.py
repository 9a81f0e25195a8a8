"""The quick way to read a call: what nearly every call needs and nothing else, prepared once for each tool.

It gives up rather than report: whatever is not plainly right is read again the long way, which tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jiter import from_json

from strictcall.json_value import MAX_BYTES, parse_plain
from strictcall.shape.admit import follow
from strictcall.shape.contract import Contract
from strictcall.shape.model import (
    Anything,
    Choice,
    Definitions,
    List,
    Literal,
    Openness,
    Record,
    Shape,
)
from strictcall.wire.codec import Codec, Enough, Run, Step, Trail
from strictcall.wire.lower import Wire

QuickReader = Callable[[Any], Any]
"""Gives a call's arguments in contract form, or ``None`` where they must be read the long way, as all that is no text.
"""

Check = Callable[[Any], bool]


class _NoFaults(Run):
    """A decoding that ends at the first fault; it holds nothing, so all calls share one."""

    def misfit(self, value: Any, trail: Trail, expected: str) -> Any:
        raise Enough

    def unknown(self, name: str, trail: Trail, declared: list[str]) -> None:
        raise Enough


_NO_FAULTS: Final = _NoFaults()
_GIVES_UP: Final = (ValueError, Enough, RecursionError)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def undecided(text: Any) -> None:
    """The reader of a tool for which there is no quick way."""


def quick_reader(codec: Codec | None, contract: Contract | None, wire: Wire | None) -> QuickReader:
    """The quick way to read calls in wire form of a tool whose arguments are an object."""
    is_valid = contract.quick_check() if contract is not None else None
    if contract is None or is_valid is None:
        return undecided
    decode = None if codec is None else codec.decode
    known = wire is not None and _is_all_known(contract, wire)
    if wire is not None and known and sum(type(part) is Record for part in _parts(wire.root, wire.definitions)) == 1:
        return _flat(decode, is_valid)
    return _nested(_parse_known if known else parse_plain, decode, is_valid)


def _nested(parse: Callable[[bytes], Any], decode: Step | None, is_valid: Check) -> QuickReader:
    """The reader of any objects, from what ``parse`` makes of their text; that raises ``ValueError`` to give up."""

    def read(text: Any) -> Any:
        try:
            if type(text) is str:
                text = text.encode()
            elif type(text) is not bytes:
                return None
            value = parse(text)
            if type(value) is not dict:
                return None
            if decode is not None:
                value = decode(value, None, _NO_FAULTS)
        except _GIVES_UP:
            return None
        return value if is_valid(value) else None

    return read


def _flat(decode: Step | None, is_valid: Check) -> QuickReader:
    """The reader of objects without further objects in them. All is in one place, since calls would cost as much as
    what they do.
    """

    def read(text: Any) -> Any:
        try:
            if type(text) is str:
                text = text.encode()
            elif type(text) is not bytes:
                return None
            if len(text) > MAX_BYTES:
                return None
            value = from_json(text)
            # Each member has a colon, so where there are no more of them than names, no name came twice.
            if type(value) is not dict or (text.count(b":") != len(value) and _most_members(text) != len(value)):
                return None
            if decode is not None:
                value = decode(value, None, _NO_FAULTS)
        except _GIVES_UP:
            return None
        return value if is_valid(value) else None

    return read


def _parse_known(raw: bytes) -> Any:
    """The value of a text, which may hold infinities and be as deep as the parser goes."""
    return from_json(raw, catch_duplicate_keys=True) if len(raw) <= MAX_BYTES else None


def _most_members(raw: bytes) -> int:
    """How many members a JSON text has at most: a quote or white space stands before the colon of each."""
    return raw.count(b'":') + sum(map(raw.count, (b" :", b"\n:", b"\t:", b"\r:")))


def _is_all_known(contract: Contract, wire: Wire) -> bool:
    """Whether the local check refuses infinities and too deep values in any case, so that none need be looked for: it
    does where every value has declared types.
    """
    if contract.untyped or any(change.code == "part-text" for change in wire.changes):
        return False
    closed = {change.pointer for change in wire.changes if change.code == "object-closed"}
    for part in _parts(contract.shape, contract.definitions):
        known = _is_known(part)
        if type(part) is Record and part.openness is Openness.OMITTED and part.pointer in closed:
            # The codec holds that it is closed. One without properties may well be carried as it is, but not the root.
            known = _has_typed_fields(part) and not part.min_properties and bool(part.fields or part is contract.shape)
        if not known:
            return False
    return all(map(_is_known, _parts(wire.root, wire.definitions)))


def _is_known(shape: Shape) -> bool:
    """Whether a shape says of what types its values are, its parts left aside."""
    match shape:
        case Record():
            return shape.openness is Openness.CLOSED and _has_typed_fields(shape)
        case Literal():
            return _SCALARS.issuperset(map(type, shape.values))
    return type(shape) is not Anything


def _has_typed_fields(shape: Record) -> bool:
    return not shape.patterns and not any(field.conditional for field in shape.fields.values())


def _parts(root: Shape, definitions: Definitions) -> list[Shape]:
    """A shape and all that it is made of, but what an object takes under undeclared names; each definition once."""
    found: list[Shape] = []
    seen: set[int] = set()
    pending = [root]
    while pending:
        part = follow(pending.pop(), definitions)
        if id(part) in seen:
            continue
        seen.add(id(part))
        found.append(part)
        if type(part) is Choice:
            pending += part.branches
        elif type(part) is List:
            pending += [*part.prefix, part.rest]
        elif type(part) is Record:
            pending += [field.shape for field in part.fields.values()]
    return found
