"""A dialect: what one provider's strict decoder accepts, as a frozen value.

A dialect is data. The lowering asks it how to write things; the judge walks JSON against it. Neither knows a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

Target = Literal["tool", "output"]
"""What a schema is for: a tool's arguments, or structured output."""


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
    ``least`` and ``most`` bound a value that is a number, ``digits`` its significant decimal digits, where a decoder
    scales it by ten in binary until it is whole; a number outside is rejected too. ``held_most``: a number above it
    is accepted and not held. ``phrase``: the provider's own wording of the refusal, where known. ``source`` names an
    entry of ``Dialect.sources``.
    """

    name: str
    state: State
    values: tuple[Any, ...] | None = None
    least: float | None = None
    most: float | None = None
    digits: int | None = None
    held_most: float | None = None
    phrase: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a name may look like.

    ``pattern`` is a regular expression for the whole name; ``None`` allows any text. ``forbidden`` names are taken by
    the provider itself.
    """

    pattern: str | None = None
    max_length: int | None = None
    forbidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RootRule:
    """What the root of a tool's parameters must be.

    ``forbidden`` keywords may not stand at the root of a strict schema, whatever their state elsewhere.
    ``object_union``: a root that is a union is taken where each of its branches is an object.
    ``properties_required``: the root must have ``properties``, if only empty ones.
    """

    object_only: bool = True
    forbidden: frozenset[str] = frozenset()
    object_union: bool = False
    properties_required: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """A ceiling. ``per`` says whether it holds for one tool's schema or over all strict tools of a request.

    ``name`` is one of the measures that ``strictcall.dialect.measure`` takes; or, for a request, ``strict_tools`` or
    ``tools`` (every tool counts, the loose ones too).
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

    ``same_as_strict``: everything that is said of a strict tool holds here too, and the other fields say nothing more.
    ``object_root``: the root must say ``type: object``. ``forbidden_root``: keywords that may not stand at the root.
    ``items_required``: every ``type: array`` needs ``items``. ``properties_required``: a root object needs
    ``properties``.
    ``typed_properties``: every property schema needs one of the keywords that give it a kind (``type``, ``anyOf``,
    ``$ref``, ``enum``, ``const`` …). ``boolean_schemas``: whether ``true``/``false`` may stand for a schema.
    ``property_names``: whether the dialect's rule for property names holds here too. ``well_formed``: whether a schema
    that is not a JSON Schema (a keyword whose value has the wrong type) is refused. ``forbidden``: keywords refused
    wherever they stand. ``root_keywords``: the only keywords that may stand at the root; empty allows any.
    ``required_needs_properties``: ``required`` may not stand without ``properties``. ``typed_schemas``: every
    schema needs a literal or one of ``Dialect.kinds``. ``literals``: whether the dialect's rule for the types of
    literals holds.
    """

    same_as_strict: bool = False
    object_root: bool = False
    forbidden_root: frozenset[str] = frozenset()
    items_required: bool = False
    properties_required: bool = False
    typed_properties: bool = False
    boolean_schemas: bool = True
    property_names: bool = False
    well_formed: bool = False
    forbidden: frozenset[str] = frozenset()
    root_keywords: frozenset[str] = frozenset()
    required_needs_properties: bool = False
    typed_schemas: bool = False
    literals: bool = False


@dataclass(frozen=True, slots=True)
class Tagged:
    """Calls that may stand in the text of an answer.

    ``format`` is that in which they do, as ``strictcall.tagged`` names it, or ``auto``, where servers leave in the text
    what their own parser does not read; ``none`` where no source says that they do.
    """

    format: str = "none"
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's strict decoder accepts, and how things are written for it.

    Keywords and types:

    - ``keywords``: the state of each keyword that the dialect names; every other keyword has the state ``others``.
    - ``conflicts``: pairs of keyword groups; no keyword of the first may stand beside any of the second.
    - ``type_lists``: which lists ``type`` may have: ``none``, lists of ``scalars`` (no array or object among them), or
      ``any``.
    - ``list_siblings``: keywords that may stand beside a list in ``type``; ``None`` is any.
    - ``stray_keywords``: whether a keyword may stand beside a ``type`` that it says nothing about (``minLength`` beside
      ``integer``).
    - ``type_case``: whether the names of types are taken in the ``exact`` standard case only, or in ``any`` case.
    - ``untyped``: whether a schema may say nothing about its type (``{}``), and boolean schemas be used.
    - ``kinds``: the keywords any of which says what a schema admits, where ``untyped`` is false.
    - ``empty_schemas``: whether ``{}`` is taken although a type must be said; it means less than anything then.
    - ``formats``: the ``format`` names held; ``None`` accepts any. ``other_formats``: what a name off the list is.
    - ``pattern_anchoring``: a ``pattern`` is a ``search`` (the standard), is taken for the ``whole`` text whatever
      anchors it has, or ``must`` start with ``^`` and end with ``$``.
    - ``regex_forbidden``: names of regular-expression constructs that ``pattern`` may not use, with an expression that
      finds each in a pattern's source.

    Null, literals and unions:

    - ``null``: how "T or null" is written for a plain T: a ``type_list``, ``any_of``, or ``nullable: true`` beside T.
    - ``const``: whether a single literal is written as ``const`` or as a one-member ``enum``.
    - ``literals``: the JSON types (string, number, boolean, null, array, object) that ``enum`` and ``const`` may hold.
    - ``empty_literals``: whether the empty text may be a literal.
    - ``typed_literals``: whether ``type`` must stand beside ``enum`` and ``const``.
    - ``mixed_literals``: whether one ``enum`` may hold values of several JSON types.
    - ``long_enum``: an enum of more values than this is a long one, for ``longest_enum_characters``.
    - ``union_siblings``: keywords that may stand beside ``anyOf`` or ``oneOf``; ``None`` is any. Definitions and
      ``$id`` may stand beside one at the root.
    - ``first_keys``: whether the branches of a union that are objects may begin with ``any`` property, or must begin
      with ``distinct`` ones.
    - ``all_of_references``: whether a branch of ``allOf`` may be a ``$ref``.

    Objects and arrays:

    - ``optional``: how an optional property is written: really ``absent``, or required and ``null``.
    - ``open_objects``: whether ``additionalProperties`` may be other than ``false``; where not, it must be ``false``
      everywhere, or not be said where the keyword is rejected or ignored.
    - ``additional_default``: what an object is that does not say ``additionalProperties``: ``open`` or ``closed``.
    - ``properties_required``: whether every object schema must have ``properties``, if only empty ones.
    - ``empty_objects``: where an object may declare no property: ``anywhere``, at the ``root`` only, or ``nowhere``
      (a schema of ``additionalProperties`` declares some).
    - ``required_always``: whether every object must have ``required``, if only an empty one.
    - ``required_declared``: whether ``required`` may name only declared properties, on an open object too.
    - ``some_required``: whether every object that declares properties must require one at least.
    - ``patterns``: how many patterns one ``patternProperties`` may have; ``None`` is any number.
    - ``counts_with_optional``: whether ``minProperties`` and ``maxProperties`` may stand on an object that declares
      properties which are not required.
    - ``untyped_items``: whether an array may leave ``items`` out.

    References (``references`` says whether they may be used at all):

    - ``recursion``: whether ``$ref`` may lead back to itself; ``optional``: only through a property that is not
      required.
    - ``definitions``: the keyword that holds definitions, and ``definitions_at`` whether ``anywhere`` or at the
      ``root`` only.
    - ``definition_name``: what a definition's name may look like.
    - ``reference_targets``: whether a reference may lead to ``any`` schema, only to the root and to ``definitions``, or
      only to ``named`` definitions.
    - ``reference_siblings``: keywords that may stand beside ``$ref``.

    Names, descriptions and requests:

    - ``description_limit`` and ``property_description_limit``: the most characters of a tool's description, and of one
      within a schema; ``None`` where there is no ceiling.
    - ``enforced``: whether the ``decoder`` holds a strict tool's schema, or it is accepted and ``none`` of it held.
    - ``strict_place``: where strictness is marked: in the ``function``, beside it on the ``tool``, once on the
      ``request``, by the ``mode`` of the tool choice, or nowhere (``none``). ``strict_field`` is the field's name there
      and ``strict_value`` what a strict tool (or a request with one) has in it.
    - ``strict_default``: what a server does where nothing is marked: ``loose``, ``strict``, or it ``tries`` strict.
    - ``strict_marking``: what a loose tool carries in a request: ``false``, nothing (``absent``), or it is
      ``forbidden``.
    - ``parallel_with_strict``: whether calls may be parallel when a tool is strict.
    - ``all_or_none``: whether one loose tool makes every tool of the request loose.
    - ``unknown_fields``: whether a request with a field that the API does not know is ``rejected``, or the field
      ``ignored``.
    - ``schema_language``: what a schema is written in: JSON Schema (``json_schema``), or the part of it that OpenAPI
      3.0 has (``openapi``). An API that takes both has a field for each.
    - ``output_beside_tools``: whether a request may have tools and ask for structured output too.
    - ``tagged``: whether calls may stand in the text of an answer.
    - ``rules``: the source and wording of the judge's other rules, by rule id.
    - ``silent``: ids of rules whose breach is not refused: such a schema is taken, and what breaks the rule is passed
      over or held in part. It must not be written, and the judge speaks of it only where asked to.
    - ``target``: whether this is said of a ``tool`` or of structured ``output``.
    """

    name: str
    title: str
    sources: Mapping[str, Source] = field(default_factory=dict)
    parent: str | None = None
    target: Target = "tool"
    keywords: Mapping[str, Keyword] = field(default_factory=dict)
    others: State = State.REJECTED
    conflicts: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    type_lists: Literal["none", "scalars", "any"] = "any"
    list_siblings: frozenset[str] | None = None
    stray_keywords: bool = True
    type_case: Literal["exact", "any"] = "exact"
    untyped: bool = False
    kinds: frozenset[str] = frozenset({"$ref", "allOf", "anyOf", "oneOf", "type"})
    empty_schemas: bool = False
    formats: frozenset[str] | None = None
    other_formats: Literal["rejected", "ignored"] = "rejected"
    pattern_anchoring: Literal["search", "whole", "must"] = "search"
    regex_forbidden: Mapping[str, str] = field(default_factory=dict)
    null: Literal["type_list", "any_of", "nullable"] = "any_of"
    const: Literal["const", "enum"] = "enum"
    literals: frozenset[str] = frozenset({"string"})
    empty_literals: bool = True
    typed_literals: bool = True
    mixed_literals: bool = False
    long_enum: int = 250
    union_siblings: frozenset[str] | None = None
    first_keys: Literal["any", "distinct"] = "any"
    all_of_references: bool = True
    optional: Literal["absent", "null"] = "null"
    open_objects: bool = False
    additional_default: Literal["open", "closed"] = "open"
    properties_required: bool = False
    empty_objects: Literal["anywhere", "root", "nowhere"] = "anywhere"
    required_always: bool = False
    required_declared: bool = False
    some_required: bool = False
    patterns: int | None = None
    counts_with_optional: bool = True
    untyped_items: bool = False
    recursion: bool | Literal["optional"] = False
    definitions: Literal["$defs", "definitions"] = "$defs"
    definitions_at: Literal["anywhere", "root"] = "anywhere"
    definition_name: NameRule = NameRule()
    reference_targets: Literal["any", "definitions", "named"] = "any"
    reference_siblings: frozenset[str] = frozenset()
    root: RootRule = RootRule()
    tool_name: NameRule = NameRule()
    property_name: NameRule = NameRule()
    description_limit: int | None = None
    property_description_limit: int | None = None
    limits: tuple[Limit, ...] = ()
    baseline: Baseline = Baseline()
    enforced: Literal["decoder", "none"] = "decoder"
    strict_place: Literal["function", "tool", "request", "mode", "none"] = "function"
    strict_field: str = "strict"
    strict_value: bool | str = True
    strict_default: Literal["loose", "strict", "tries"] = "loose"
    strict_marking: Literal["false", "absent", "forbidden"] = "false"
    parallel_with_strict: bool = True
    all_or_none: bool = False
    unknown_fields: Literal["rejected", "ignored"] = "ignored"
    schema_language: Literal["json_schema", "openapi"] = "json_schema"
    output_beside_tools: bool = True
    tagged: Tagged = Tagged()
    rules: Mapping[str, Wording] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()

    @property
    def references(self) -> bool:
        """Whether ``$ref`` and definitions may be used at all; where not, what is referred to is written in place."""
        return self.state("$ref") in (State.ENFORCED, State.NARROWER)

    @property
    def enum_null(self) -> bool:
        """Whether an enum may hold null."""
        return "null" in self.literals

    def keyword(self, name: str) -> Keyword:
        """The rule for a keyword, listed or not."""
        return self.keywords.get(name) or Keyword(name, self.others)

    def state(self, name: str, value: Any = None) -> State:
        """What the decoder does with a keyword that has this value, or in general where no value is given."""
        rule = self.keywords.get(name)
        if rule is None:
            return self.others
        if value is None:
            return rule.state
        if not admits(rule, value):
            return State.REJECTED
        return State.IGNORED if _is_above(value, rule.held_most) and rule.state is State.ENFORCED else rule.state


def admits(rule: Keyword, value: Any) -> bool:
    """Whether a keyword may have this value, as far as ``values``, ``least``, ``most`` and ``digits`` say."""
    if rule.values is not None and not any(_same(value, item) for item in rule.values):
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    if (rule.least is not None and value < rule.least) or (rule.most is not None and value > rule.most):
        return False
    if rule.digits is None:
        return True
    # Of a fraction with as many digits as there may be, binary keeps too few to be sure of them all.
    most = rule.digits if isinstance(value, int) or value.is_integer() else max(rule.digits - 1, 1)
    return _digits(value) <= most and _becomes_whole(value, rule.digits)


def _is_above(value: Any, most: float | None) -> bool:
    return most is not None and not isinstance(value, bool) and isinstance(value, int | float) and value > most


def _same(left: Any, right: Any) -> bool:
    """Equality of two JSON scalars; containers never match."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return (left is None or isinstance(left, str | int | float)) and bool(left == right)


def _becomes_whole(value: float, digits: int) -> bool:
    """Whether a number is whole after so many multiplications by ten at most, in binary: 0.07 never is."""
    for _ in range(digits + 1):
        if isinstance(value, int) or value.is_integer():
            return True
        value *= 10
    return False


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
