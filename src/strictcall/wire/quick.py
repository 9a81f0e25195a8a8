"""The quick way to read a call: what nearly every call needs and nothing else, prepared once for each tool.

It gives up rather than report: whatever is not plainly right is read again the long way, which tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from strictcall.json_value import LimitError, parse_plain
from strictcall.shape.contract import Contract
from strictcall.wire.codec import Codec, Enough, Run, Trail

UNDECIDED: Final = object()
"""The answer for a call that must be read the long way."""

QuickReader = Callable[[str | bytes], Any]
"""Gives a call's arguments in contract form, or ``UNDECIDED``."""


class _NoFaults(Run):
    """A decoding that ends at the first fault; it holds nothing, so all calls share one."""

    def misfit(self, value: Any, trail: Trail, expected: str) -> Any:
        raise Enough

    def unknown(self, name: str, trail: Trail, declared: list[str]) -> None:
        raise Enough


_NO_FAULTS: Final = _NoFaults()


def undecided(text: str | bytes) -> Any:
    """The reader of a tool for which there is no quick way."""
    return UNDECIDED


def quick_reader(codec: Codec | None, contract: Contract | None) -> QuickReader:
    """The quick way to read calls in wire form of a tool whose arguments are an object."""
    is_valid = contract.quick_check() if contract is not None else None
    if is_valid is None:
        return undecided
    decode = codec.decode if codec is not None else None

    def read(text: str | bytes) -> Any:
        try:
            value = parse_plain(text)
            if type(value) is not dict:
                return UNDECIDED
            if decode is not None:
                value = decode(value, None, _NO_FAULTS)
        except (LimitError, Enough, RecursionError):
            return UNDECIDED
        return value if is_valid(value) else UNDECIDED

    return read
