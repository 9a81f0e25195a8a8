"""Values that fit a schema as far as can be told, whatever the schema holds: by a grammar where one can be made that
passes over what it does not know, else by structure; both looked over by a validator.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from strictcall.emulator.answers.grammar import Grammar, GrammarRefusedError
from strictcall.emulator.answers.structure import Structure

_TRIES: Final = 6
_BUDGET: Final = 2_000


class Loosely:
    """Makes values for one schema, any JSON value at all, and says whether others fit it."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._validator = _validator(schema)
        self._grammar = _grammar(schema)

    def fits(self, value: Any) -> bool | None:
        """Whether the schema admits a value; ``None`` where no validator takes the schema."""
        return None if self._validator is None else bool(self._validator.is_valid(value))

    def value(self, rng: random.Random) -> Any:
        """One value, the first that fits among a few."""
        value: Any = None
        for attempt in range(2 * _TRIES):
            grammar = self._grammar if attempt < _TRIES else None
            written = grammar.sample(rng, budget_bytes=_BUDGET) if grammar is not None else None
            whole = written is not None and written.complete
            value = json.loads(written.text) if written and whole else Structure(self._schema, rng).value()
            if self.fits(value) is not False:
                break
        return value

    def arguments(self, rng: random.Random) -> dict[str, Any]:
        """One object: an empty one where the schema takes none."""
        for _ in range(_TRIES):
            value = self.value(rng)
            if isinstance(value, dict) and _is_text(value):
                return value
        return {}


def loosely(schema: Any) -> Loosely:
    """The maker of values for a schema; the last ones asked for are kept. A schema that is nested too deep to read, or
    holds a number of too many digits, says nothing.
    """
    try:
        return _cached(json.dumps(schema))
    except (RecursionError, ValueError):
        return _cached("{}")


@lru_cache(maxsize=128)
def _cached(text: str) -> Loosely:
    return Loosely(json.loads(text))


def _grammar(schema: Any) -> Grammar | None:
    """A grammar, or nothing where none is to be had, or where its texts are too long, if they end at all."""
    try:
        found = Grammar(schema, lenient=True)
    except GrammarRefusedError:
        return None
    trial = found.sample(random.Random(0), budget_bytes=_BUDGET)  # noqa: S311 - a seed, not a secret
    return found if trial.complete else None


def _is_text(value: Any) -> bool:
    """Whether a value can be written: half a surrogate pair cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _nothing(uri: str) -> Any:
    raise LookupError(uri)


def _validator(schema: Any) -> Any:
    """A validator, or nothing where the schema is none or refers to what is not in it."""
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=False, retriever=_nothing)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError, ValueError):
        return None
