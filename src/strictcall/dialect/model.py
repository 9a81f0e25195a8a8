"""A dialect: what one provider's strict decoder accepts, as a frozen value.

A dialect is data. The lowering asks it how to write things; the judge walks JSON against it. Neither knows a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal


class State(StrEnum):
    """What a decoder does with a keyword."""

    ENFORCED = "enforced"
    """Accepted, and the decoder holds it."""
    NARROWER = "narrower"
    """Accepted, but read more narrowly than the standard says (an unanchored ``pattern`` taken as a whole match)."""
    IGNORED = "ignored"
    """Accepted and not held: it may stay for the model to read."""
    REJECTED = "rejected"
    """The request is refused."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule comes from: a page, specification section or report, and when it was read (ISO date)."""

    url: str
    date: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """The state of one JSON Schema keyword in a dialect.

    ``values``: the only values accepted, where there is such a list (``minItems`` 0 and 1); any other is rejected.
    ``least`` and ``most`` bound a value that is a number, ``digits`` its significant decimal digits; a number outside
    is rejected too. ``phrase``: the provider's own wording of the refusal, where known. ``source`` names an entry of
    ``Dialect.sources``.
    """

    name: str
    state: State
    values: tuple[Any, ...] | None = None
    least: float | None = None
    most: float | None = None
    digits: int | None = None
    phrase: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a name may look like: ``pattern`` is a regular expression for the whole name; ``None`` allows any text."""

    pattern: str | None = None
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class RootRule:
    """What the root of a tool's parameters must be.

    ``forbidden`` keywords may not stand at the root of a strict schema, whatever their state elsewhere.
    """

    object_only: bool = True
    forbidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Limit:
    """A ceiling. ``per`` says whether it holds for one tool's schema or over all strict tools of a request.

    ``name`` is one of the measures that ``strictcall.dialect.measure`` takes.
    """

    name: str
    most: int
    per: Literal["tool", "request"] = "tool"
    phrase: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """Where a rule of the judge other than a keyword's comes from, and how the provider words its breach."""

    phrase: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """What holds even for a tool that is not strict; a breach refuses the whole request.

    ``object_root``: the root must say ``type: object``. ``forbidden_root``: keywords that may not stand at the root.
    ``items_required``: every ``type: array`` needs ``items``. ``properties_required``: a root object needs
    ``properties``.
    ``typed_properties``: every property schema needs one of the keywords that give it a kind (``type``, ``anyOf``,
    ``$ref``, ``enum``, ``const`` …). ``boolean_schemas``: whether ``true``/``false`` may stand for a schema.
    ``property_names``: whether the dialect's rule for property names holds here too. ``well_formed``: whether a schema
    that is not a JSON Schema (a keyword whose value has the wrong type) is refused.
    """

    object_root: bool = False
    forbidden_root: frozenset[str] = frozenset()
    items_required: bool = False
    properties_required: bool = False
    typed_properties: bool = False
    boolean_schemas: bool = True
    property_names: bool = False
    well_formed: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's strict decoder accepts, and how things are written for it.

    - ``keywords``: the state of each keyword that the dialect names; every other keyword has the state ``others``.
    - ``formats``: the ``format`` names accepted; ``None`` accepts any. A name off the list is rejected.
    - ``optional``: how an optional property is written: really ``absent``, or required and ``null``.
    - ``null``: how "T or null" is written for a plain T: a ``type_list`` or ``any_of``.
    - ``const``: whether a single literal is written as ``const`` or as a one-member ``enum``.
    - ``literals``: the JSON types (string, number, boolean, null, array, object) that ``enum`` and ``const`` may hold.
    - ``typed_literals``: whether ``type`` must stand beside ``enum`` and ``const``.
    - ``mixed_literals``: whether one ``enum`` may hold values of several JSON types.
    - ``open_objects``: whether ``additionalProperties`` may be other than ``false``; where not, it must be ``false``
      everywhere.
    - ``untyped``: whether a schema may say nothing about its type (``{}``), and boolean schemas be used.
    - ``untyped_items``: whether an array may leave ``items`` out.
    - ``properties_required``: whether every object schema must have ``properties``, if only empty ones.
    - ``patterns``: how many patterns one ``patternProperties`` may have; ``None`` is any number.
    - ``counts_with_optional``: whether ``minProperties`` and ``maxProperties`` may stand on an object that declares
      properties which are not required.
    - ``all_of_references``: whether a branch of ``allOf`` may be a ``$ref``.
    - ``recursion``: whether ``$ref`` may lead back to itself.
    - ``reference_siblings``: keywords that may stand beside ``$ref``.
    - ``regex_forbidden``: names of regular-expression constructs that ``pattern`` may not use, with an expression that
      finds each in a pattern's source.
    - ``strict_marking``: what a loose tool carries in a request: ``false``, nothing (``absent``), or it is
      ``forbidden``.
    - ``parallel_with_strict``: whether calls may be parallel when a tool is strict.
    - ``all_or_none``: whether one loose tool makes every tool of the request loose.
    - ``rules``: the source and wording of the judge's other rules, by rule id.
    """

    name: str
    title: str
    sources: Mapping[str, Source] = field(default_factory=dict)
    parent: str | None = None
    keywords: Mapping[str, Keyword] = field(default_factory=dict)
    others: State = State.REJECTED
    formats: frozenset[str] | None = None
    optional: Literal["absent", "null"] = "null"
    null: Literal["type_list", "any_of"] = "any_of"
    const: Literal["const", "enum"] = "enum"
    literals: frozenset[str] = frozenset({"string"})
    typed_literals: bool = True
    mixed_literals: bool = False
    open_objects: bool = False
    untyped: bool = False
    untyped_items: bool = False
    properties_required: bool = False
    patterns: int | None = None
    counts_with_optional: bool = True
    all_of_references: bool = True
    recursion: bool = False
    reference_siblings: frozenset[str] = frozenset()
    regex_forbidden: Mapping[str, str] = field(default_factory=dict)
    root: RootRule = RootRule()
    tool_name: NameRule = NameRule()
    property_name: NameRule = NameRule()
    limits: tuple[Limit, ...] = ()
    baseline: Baseline = Baseline()
    strict_marking: Literal["false", "absent", "forbidden"] = "false"
    parallel_with_strict: bool = True
    all_or_none: bool = False
    rules: Mapping[str, Wording] = field(default_factory=dict)

    def keyword(self, name: str) -> Keyword:
        """The rule for a keyword, listed or not."""
        return self.keywords.get(name) or Keyword(name, self.others)

    def state(self, name: str, value: Any = None) -> State:
        """What the decoder does with a keyword that has this value, or in general where no value is given."""
        rule = self.keywords.get(name)
        if rule is None:
            return self.others
        return rule.state if value is None or admits(rule, value) else State.REJECTED


def admits(rule: Keyword, value: Any) -> bool:
    """Whether a keyword may have this value, as far as ``values``, ``least``, ``most`` and ``digits`` say."""
    if rule.values is not None and not any(_same(value, item) for item in rule.values):
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    if (rule.least is not None and value < rule.least) or (rule.most is not None and value > rule.most):
        return False
    return rule.digits is None or _digits(value) <= rule.digits


def _same(left: Any, right: Any) -> bool:
    """Equality of two JSON scalars; containers never match."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return (left is None or isinstance(left, str | int | float)) and bool(left == right)


def _digits(value: float) -> int:
    """The significant decimal digits of a number as JSON text writes it."""
    if isinstance(value, int) and value.bit_length() > 256:
        return value.bit_length() * 3 // 10
    return len(f"{Decimal(repr(value)).normalize():f}".replace(".", "").strip("-0"))


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where a schema breaks a dialect's rules.

    ``pointer`` is a JSON Pointer into the schema; ``rule`` a stable id such as ``keyword-rejected``; ``phrase`` the
    provider's own wording where it is known; ``source`` the address that the rule was read from.
    """

    pointer: str
    rule: str
    message: str
    phrase: str | None = None
    source: str | None = None
