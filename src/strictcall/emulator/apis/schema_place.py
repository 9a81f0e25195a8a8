"""Where in a schema a violation is: the schema that is at fault, apart from the keyword in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strictcall.dialect.vocabulary import ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS


@dataclass(frozen=True, slots=True)
class Spot:
    """The nearest schema at or above a place: ``tokens`` lead to it from the root, ``rest`` from it to the place."""

    tokens: tuple[str, ...]
    rest: tuple[str, ...]
    schema: Any

    @property
    def keyword(self) -> str | None:
        """The keyword of the schema that the place is in; ``None`` where the place is the schema itself."""
        return self.rest[0] if self.rest else None

    @property
    def value(self) -> Any:
        """What stands at the place; ``None`` where nothing does."""
        value = self.schema
        for token in self.rest:
            value = _child(value, token)
        return value


def spot(schema: Any, pointer: str) -> Spot:
    """The schema that a JSON Pointer leads to or into."""
    tokens = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    at = 0
    while at < len(tokens):
        step = 1 if tokens[at] in ONE_SCHEMA else 2 if tokens[at] in SCHEMA_LISTS | SCHEMA_MAPS else 0
        child = schema
        for token in tokens[at : at + step]:
            child = _child(child, token)
        if not step or at + step > len(tokens) or not isinstance(child, dict | bool):
            break
        schema = child
        at += step
    return Spot(tokens[:at], tokens[at:], schema)


def _child(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
        return value[int(token)]
    return None
