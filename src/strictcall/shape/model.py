"""Shapes: what a schema says, as a small closed set of frozen values.

A shape is always a superset of its contract: whatever was read in part, or not at all, only widens it and is kept as
``residue``, so that the local check can close the gap and a report can name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from strictcall.value import value

NO_NOTES: Final[Mapping[str, Any]] = MappingProxyType({})
"""The annotations of a schema that has none."""


def _no_notes() -> Mapping[str, Any]:
    return NO_NOTES


@value
class Residue:
    """A constraint that the shape does not hold.

    ``code`` is the change that reports it, ``pointer`` its place in the schema as written, ``text`` what it demands
    in a few characters, for a hint in the description.
    """

    code: str
    pointer: str
    text: str


@value
class Shape:
    """What every shape has.

    ``pointer`` is the place in the schema as written. ``notes`` are the annotations (title, description, default …) as
    written; ``residue`` is what the shape does not hold.
    """

    pointer: str = ""
    notes: Mapping[str, Any] = field(default_factory=_no_notes)
    residue: tuple[Residue, ...] = ()


@value
class Anything(Shape):
    """Any JSON value."""


@value
class Nothing(Shape):
    """No value at all (the schema ``false``)."""


@value
class Null(Shape):
    """The value null."""


@value
class Boolean(Shape):
    """true or false."""


@value
class Number(Shape):
    """A number, or an integer.

    ``bounds`` maps JSON Schema's own keywords (``minimum``, ``exclusiveMaximum``, ``multipleOf`` …) to their values;
    ``format`` names one, as on text.
    """

    integer: bool = False
    bounds: Mapping[str, Any] = field(default_factory=_no_notes)
    format: str | None = None


@value
class Text(Shape):
    """A string. Lengths count code points; ``patterns`` are searched for anywhere in it, all of them must match."""

    min_length: int = 0
    max_length: int | None = None
    patterns: tuple[str, ...] = ()
    format: str | None = None


@value
class Literal(Shape):
    """One of these JSON values.

    ``declared`` is the ``type`` that stood beside them, if it was a single one; ``const``: it was written as ``const``.
    """

    values: tuple[Any, ...] = ()
    declared: str | None = None
    const: bool = False


@value
class List(Shape):
    """An array: the first items by position, the others by ``rest``."""

    prefix: tuple[Shape, ...] = ()
    rest: Shape = field(default_factory=Anything)
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False


class Openness(Enum):
    """Whether an object takes names that it does not declare."""

    CLOSED = "closed"
    """No: ``additionalProperties: false``."""
    OMITTED = "omitted"
    """Yes, but only because the schema does not say."""
    OPEN = "open"
    """Yes, expressly."""


@value
class Field:
    """A declared name of a record.

    ``conditional``: the name occurs only in branches that constrain the record (``if``, ``anyOf`` of ``required`` …);
    its shape then speaks for those branches only. ``named``: some ``properties`` has the name, not only a
    ``required``.
    """

    shape: Shape
    required: bool = False
    conditional: bool = False
    named: bool = True


@value
class Record(Shape):
    """An object: declared ``fields``, names that match ``patterns``, and every other name by ``rest``.

    ``rest`` is ``Nothing`` exactly when ``openness`` is ``CLOSED``. ``names`` is what every name must be, where the
    schema restricts it.
    """

    fields: Mapping[str, Field] = field(default_factory=dict)
    patterns: Mapping[str, Shape] = field(default_factory=dict)
    rest: Shape = field(default_factory=Anything)
    openness: Openness = Openness.OMITTED
    names: Shape | None = None
    min_properties: int = 0
    max_properties: int | None = None

    @property
    def is_map(self) -> bool:
        """Whether the record declares no name and takes any: a map, or an object of free form."""
        return not self.fields and (self.openness is not Openness.CLOSED or bool(self.patterns))


@value
class Choice(Shape):
    """One of these branches; ``exclusive`` (``oneOf``) when a value may fit no second one."""

    branches: tuple[Shape, ...] = ()
    exclusive: bool = False


@value
class Ref(Shape):
    """A shape kept under a name among the definitions, which may lead back to itself."""

    name: str = ""


Definitions = Mapping[str, Shape]
"""Shapes by the names that ``Ref`` uses."""

ROOT: Final = "#"
"""The name of the whole document among its definitions."""
