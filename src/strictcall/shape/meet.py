"""The intersection of two shapes: what ``allOf``, a reference's siblings and a union's surroundings mean.

The result is never narrower than the true intersection; what it cannot hold is kept as residue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from strictcall.shape.admit import admits, matches
from strictcall.shape.model import (
    NO_NOTES,
    Anything,
    Boolean,
    Choice,
    Definitions,
    Field,
    List,
    Literal,
    Nothing,
    Null,
    Number,
    Openness,
    Record,
    Ref,
    Residue,
    Shape,
    Text,
)
from strictcall.shape.simplify import bounded, possible, union, with_notes
from strictcall.value import replace

MOST_BRANCHES: Final = 64
"""How many branches two unions may multiply to; beyond that the larger is kept as residue."""
MOST_DEPTH: Final = 40
MOST_STEPS: Final = 5_000
"""How many intersections one contract may cost; what comes after that is kept as residue."""


class Meet:
    """Intersects shapes. ``resolve`` gives a reference's shape, or ``None`` while that is still being read."""

    def __init__(self, resolve: Callable[[Ref], Shape | None], definitions: Definitions) -> None:
        self._resolve = resolve
        self._definitions = definitions
        self._depth = 0
        self._steps = 0

    def __call__(self, left: Shape, right: Shape) -> Shape:
        """The intersection; annotations of ``right`` win over those of ``left``."""
        if left is right:
            return left
        if type(left) is Anything:
            return _onto(right, left)
        if type(right) is Anything:
            return with_notes(left, right.notes, right.residue)
        if type(left) is Nothing or type(right) is Nothing:
            return Nothing(left.pointer)
        if type(left) is Ref and type(right) is Ref and left.name == right.name:
            return with_notes(left, right.notes, right.residue)
        self._steps += 1
        if self._depth >= MOST_DEPTH or self._steps > MOST_STEPS:
            return _unheld(left, right)
        self._depth += 1
        try:
            return self._distinct(left, right)
        finally:
            self._depth -= 1

    def _distinct(self, left: Shape, right: Shape) -> Shape:
        if type(left) is Ref or type(right) is Ref:
            return self._reference(left, right)
        if type(left) is Choice:
            return self._choice(left, right, swapped=False)
        if type(right) is Choice:
            return self._choice(right, left, swapped=True)
        notes, residue = {**left.notes, **right.notes}, left.residue + right.residue
        if type(left) is Literal:
            return self._literal(left, right, notes, residue)
        if type(right) is Literal:
            return self._literal(right, left, notes, residue)
        if type(left) is not type(right):
            return Nothing(left.pointer)
        met = self._same_kind(left, right)
        met = replace(met, pointer=left.pointer, notes=notes or NO_NOTES, residue=residue + met.residue)
        return possible(bounded(met) if type(met) is List else met)

    def _same_kind(self, left: Shape, right: Shape) -> Shape:
        match left, right:
            case Number(), Number():
                return _numbers(left, right)
            case Text(), Text():
                return _texts(left, right)
            case List(), List():
                return self._lists(left, right)
            case Record(), Record():
                return self._records(left, right)
        return replace(left, residue=())

    def _reference(self, left: Shape, right: Shape) -> Shape:
        targets = [self._resolve(shape) if type(shape) is Ref else shape for shape in (left, right)]
        if targets[0] is None or targets[1] is None:
            return _unheld(left, right)
        notes = {**left.notes, **right.notes}
        residue = tuple(r for shape in (left, right) if type(shape) is Ref for r in shape.residue)
        return with_notes(self(targets[0], targets[1]), notes, residue)

    def _choice(self, choice: Choice, other: Shape, *, swapped: bool) -> Shape:
        width = len(other.branches) if type(other) is Choice else 1
        if len(choice.branches) * width > MOST_BRANCHES:
            return _unheld(choice, other)
        bare = replace(other, notes=NO_NOTES, residue=()) if other.notes or other.residue else other
        branches = [self(bare, branch) for branch in choice.branches]
        notes = {**choice.notes, **other.notes} if not swapped else {**other.notes, **choice.notes}
        return union(
            branches,
            pointer=choice.pointer,
            notes=notes,
            residue=choice.residue + other.residue,
            exclusive=choice.exclusive,
        )

    def _literal(self, literal: Literal, other: Shape, notes: Any, residue: tuple[Residue, ...]) -> Shape:
        bare = replace(other, residue=())
        values = tuple(value for value in literal.values if admits(bare, value, self._definitions))
        if not values:
            return Nothing(literal.pointer)
        declared = literal.declared or _DECLARED.get(type(other))
        if type(other) is Number and other.integer:
            declared = "integer"
        return replace(literal, notes=notes or NO_NOTES, residue=residue, values=values, declared=declared)

    def _lists(self, left: List, right: List) -> Shape:
        width = max(len(left.prefix), len(right.prefix))
        prefix = tuple(self(_item(left, index), _item(right, index)) for index in range(width))
        maxima = [m for m in (left.max_items, right.max_items) if m is not None]
        return List(
            prefix=prefix,
            rest=self(left.rest, right.rest),
            min_items=max(left.min_items, right.min_items),
            max_items=min(maxima) if maxima else None,
            unique=left.unique or right.unique,
        )

    def _records(self, left: Record, right: Record) -> Shape:
        fields = {}
        for name in [*left.fields, *(name for name in right.fields if name not in left.fields)]:
            fields[name] = self._field(name, left, right)
        maxima = [m for m in (left.max_properties, right.max_properties) if m is not None]
        names = left.names or right.names
        if left.names is not None and right.names is not None:
            names = self(left.names, right.names)
        openness = _openness(left, right)
        patterns, residue = self._patterns(left, right)
        return Record(
            residue=residue,
            fields=fields,
            patterns=patterns,
            rest=Nothing() if openness is Openness.CLOSED else self(left.rest, right.rest),
            openness=openness,
            names=names,
            min_properties=max(left.min_properties, right.min_properties),
            max_properties=min(maxima) if maxima else None,
        )

    def _field(self, name: str, left: Record, right: Record) -> Field:
        one, two = left.fields.get(name), right.fields.get(name)
        if one is not None and two is not None:
            if one.conditional != two.conditional:
                # A declared name is what it is; what the other side's branches say of it is residue already.
                declared, joined = (two, one) if one.conditional else (one, two)
                return replace(declared, required=declared.required or joined.required)
            required, named = one.required or two.required, one.named or two.named
            return Field(self(one.shape, two.shape), required, one.conditional, named)
        return self._one_sided(one, right, name) if one is not None else self._one_sided(cast("Field", two), left, name)

    def _one_sided(self, field: Field, other: Record, name: str) -> Field:
        """A field that the other record does not declare, met with what that says of any such name."""
        outside = self._outside(other, name)
        if type(outside) is Anything and not outside.residue:
            return field
        return replace(field, shape=self(field.shape, outside))

    def _outside(self, record: Record, name: str) -> Shape:
        """What a record demands of a name that it does not declare; every matching pattern counts."""
        found = [shape for pattern, shape in record.patterns.items() if matches(pattern, name)]
        if not found:
            return record.rest
        met = found[0]
        for shape in found[1:]:
            met = self(met, shape)
        return met

    def _patterns(self, left: Record, right: Record) -> tuple[dict[str, Shape], tuple[Residue, ...]]:
        patterns: dict[str, Shape] = {}
        residue: list[Residue] = []
        for one, two in ((left, right), (right, left)):
            for pattern, shape in one.patterns.items():
                if pattern in patterns:
                    continue
                if pattern in two.patterns:
                    patterns[pattern] = self(shape, two.patterns[pattern])
                elif two.openness is Openness.CLOSED and not two.patterns:
                    continue
                else:
                    patterns[pattern] = shape
                    if type(two.rest) is not Anything or two.patterns:
                        residue.append(Residue("pattern-names", one.pointer, f"names matching {pattern}"))
        return patterns, tuple(residue)


_DECLARED: Final[Mapping[type[Shape], str]] = {
    Text: "string",
    Number: "number",
    Boolean: "boolean",
    Null: "null",
    List: "array",
    Record: "object",
}


def _onto(shape: Shape, below: Shape) -> Shape:
    if not below.notes and not below.residue:
        return shape
    notes = {**below.notes, **shape.notes}
    return replace(shape, notes=notes, residue=below.residue + shape.residue)


def _unheld(left: Shape, right: Shape) -> Shape:
    """The left side alone, with the right side kept as residue."""
    residue = Residue("not-intersected", right.pointer or left.pointer, "a further schema")
    return with_notes(left, right.notes, (*right.residue, residue))


def _openness(left: Record, right: Record) -> Openness:
    found = {left.openness, right.openness}
    for openness in (Openness.CLOSED, Openness.OPEN):
        if openness in found:
            return openness
    return Openness.OMITTED


def _item(shape: List, index: int) -> Shape:
    return shape.prefix[index] if index < len(shape.prefix) else shape.rest


def _numbers(left: Number, right: Number) -> Number:
    bounds = dict(left.bounds)
    residue: list[Residue] = []
    for keyword, value in right.bounds.items():
        if keyword not in bounds:
            bounds[keyword] = value
        elif keyword == "multipleOf":
            if bounds[keyword] != value:
                residue.append(Residue("several-multiples", right.pointer, f"multipleOf {value}"))
        else:
            tighter = max if keyword in ("minimum", "exclusiveMinimum") else min
            bounds[keyword] = tighter(bounds[keyword], value)
    return Number(
        residue=tuple(residue),
        integer=left.integer or right.integer,
        bounds=bounds,
        format=right.format or left.format,
    )


def _texts(left: Text, right: Text) -> Text:
    maxima = [m for m in (left.max_length, right.max_length) if m is not None]
    return Text(
        min_length=max(left.min_length, right.min_length),
        max_length=min(maxima) if maxima else None,
        patterns=tuple(dict.fromkeys(left.patterns + right.patterns)),
        format=right.format or left.format,
    )
