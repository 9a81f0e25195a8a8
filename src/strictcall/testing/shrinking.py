"""From a case that breaks a law to the smallest one found that breaks it the same way."""

from __future__ import annotations

import time
from typing import Any, Final

from strictcall.json_value import objects_in
from strictcall.testing import laws
from strictcall.testing.case import Case, LawBroken, Tried
from strictcall.testing.comparing import text
from strictcall.testing.smaller import reduce, smaller_schemas, smaller_values
from strictcall.tool import Tool

TRIES: Final = 3_000
SECONDS: Final = 20.0
"""A search ends after so many cases or so long, whichever comes first."""
ROUNDS: Final = 4


def breach(case: Case, tried: Tried) -> LawBroken | None:
    """How a case breaks a law with a value, or by itself; ``None`` where it keeps them."""
    try:
        if tried.form is None:
            laws.whole(case)
        elif tried.form == "contract":
            laws.sayable(case, tried.value)
        else:
            laws.sound(case, text(tried.value), tried.value)
            laws.guarded(case, tried.value)
    except LawBroken as found:
        return found
    return None


def smallest(first: LawBroken, *, tries: int = TRIES, seconds: float = SECONDS) -> LawBroken:
    """The smallest case found that breaks the same law in the same words, or ``first`` itself.

    The value is made smaller, and the contract; a property that goes from the contract goes from the value with it.
    """
    search = _Search(first, tries, time.monotonic() + seconds)
    search.run()
    search.best.smaller = search.tried
    return search.best


class _Search:
    def __init__(self, first: LawBroken, tries: int, end: float) -> None:
        self.best = first
        self.tried = 0
        self._kind = _kind(first)
        self._tries = tries
        self._end = end
        self._seen: set[tuple[str, str]] = set()

    def run(self) -> None:
        """Value and contract in turn, until neither gets smaller."""
        for _ in range(ROUNDS):
            before = (text(self._contract), text(self.best.value))
            if self.best.form is not None:
                reduce(self.best.value, self._with_value, smaller_values)
            reduce(self._contract, self._with_contract, smaller_schemas)
            if (text(self._contract), text(self.best.value)) == before:
                return

    @property
    def _contract(self) -> Any:
        return self.best.tool.parameters

    def _with_value(self, value: Any) -> bool:
        return self._breaks(self._contract, value)

    def _with_contract(self, contract: Any) -> bool:
        gone = declared(self._contract) - declared(contract)
        value = self.best.value
        values = [value, outermost_without(value, gone), without(value, gone)] if gone else [value]
        return any(self._breaks(contract, smaller) for smaller in values)

    def _breaks(self, contract: Any, value: Any) -> bool:
        """Whether this case breaks the law the same way; if so, it is the best so far."""
        key = (text(contract), text(value))
        if key in self._seen or self.tried >= self._tries or time.monotonic() > self._end:
            return False
        self._seen.add(key)
        self.tried += 1
        old = self.best
        case = Case(
            Tool(old.tool.name, old.tool.description, contract), old.case.dialect, old.policy, old.case.arguments
        )
        found = breach(case, Tried(old.form, value))
        if found is None or _kind(found) != self._kind or _size(found) > _size(old):
            return False
        self.best = found
        return True


def _kind(found: LawBroken) -> tuple[object, ...]:
    """What must stay as it is while a case gets smaller: the law, what happened, and the tool's standing."""
    compiled = found.case.known
    standing = (compiled.strict, compiled.baseline) if compiled is not None else ()
    return found.law, found.message, standing


def _size(found: LawBroken) -> int:
    """How much there is to read. A looser contract may be shorter and yet its wire schema longer."""
    changes = [change.message for change in found.changes]
    return sum(len(text(part)) for part in (found.tool.parameters, found.wire, found.value, changes))


def declared(contract: Any) -> set[str]:
    """Every name that some ``properties`` of a schema declares."""
    found: set[str] = set()
    for node in objects_in(contract):
        properties = node.get("properties")
        if isinstance(properties, dict):
            found.update(properties)
    return found


def outermost_without(value: Any, names: set[str]) -> Any:
    """A value without the members of these names that are its own."""
    return {name: item for name, item in value.items() if name not in names} if isinstance(value, dict) else value


def without(value: Any, names: set[str]) -> Any:
    """A value without the members of these names, at any depth."""
    if isinstance(value, dict):
        return {name: without(item, names) for name, item in value.items() if name not in names}
    return [without(item, names) for item in value] if isinstance(value, list) else value
