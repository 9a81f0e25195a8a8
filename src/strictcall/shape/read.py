"""Reading: a schema's meaning as a shape.

The schema has been accepted by a validator of its own draft before it comes here, so keywords have the types that the
draft gives them. Every rule may only widen what it cannot hold; the rest is residue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.json_value import escape
from strictcall.shape.condition import Conditions
from strictcall.shape.draft import Draft
from strictcall.shape.meet import Meet
from strictcall.shape.model import (
    NO_NOTES,
    ROOT,
    Anything,
    Boolean,
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
from strictcall.shape.prune import pruned
from strictcall.shape.resolve import Place, References
from strictcall.shape.simplify import bounded, possible, union, with_notes
from strictcall.value import replace

MOST_NODES: Final = 50_000
"""How many schemas may be read for one contract, merged ones counted as often as they are."""
MOST_PATTERNS: Final = 100
"""How many patterns one ``patternProperties`` may have: each is tried on each name."""
MOST_DEPTH: Final = 60
"""How deep reading may go through nested schemas and chains of merged references."""

ANNOTATIONS: Final = ("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly")
BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_EVERY_TYPE: Final = ("null", "boolean", "number", "string", "array", "object")
_TYPE_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "number": frozenset(BOUNDS),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset(
        {
            "properties",
            "required",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
        }
    ),
}
_ASSERTIONS: Final = frozenset().union(*_TYPE_KEYWORDS.values()) - {"format"}
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_COMBINING: Final = frozenset({*_REFERENCES, "allOf", "anyOf", "oneOf", "$id", "id"})
_CONDITIONAL: Final = frozenset(
    {"not", "if", "dependentRequired", "dependentSchemas", "contains", "unevaluatedProperties", "unevaluatedItems"}
)
_BEYOND: Final = _COMBINING | _CONDITIONAL


class TooLarge(Exception):
    """A schema is larger or deeper than this reads; the text says how."""


class Reader:
    """Reads one document. ``definitions`` collects the shapes that references name."""

    def __init__(self, document: Any, draft: Draft) -> None:
        self.document = document
        self.definitions: dict[str, Shape] = {}
        self.untyped = False
        """Whether some schema read so far constrains values of certain types without saying that they are of those."""
        self._view = draft.view
        self._references = References(document, draft)
        self._pending: dict[str, Place] = {}
        self._reading: set[str] = set()
        self._meet = Meet(self.resolve, self.definitions)
        self._conditions = Conditions(self.read, self._view)
        self._nodes = 0
        self._depth = 0

    def root(self) -> Shape:
        """The document's shape; afterwards ``definitions`` holds everything that it refers to. Reads once only."""
        place = self._references.root
        self._reading.add(ROOT)
        shape = self.read(self.document, place)
        self._reading.discard(ROOT)
        self.definitions[ROOT] = shape
        while self._pending:
            self._define(next(iter(self._pending)))
        if self._references.used:
            self.definitions = pruned(self.definitions)
        # They refer back to here: without them all is freed at once, with no work left for the garbage collector.
        del self._meet, self._conditions
        return self.definitions[ROOT]

    @property
    def refers(self) -> bool:
        """Whether the document refers to anything."""
        return self._references.used

    def resolve(self, ref: Ref) -> Shape | None:
        """What a reference stands for, or ``None`` while that is being read."""
        shape: Shape = ref
        seen: set[str] = set()
        while type(shape) is Ref:
            if shape.name in seen:
                return Anything(ref.pointer)
            seen.add(shape.name)
            if shape.name in self._pending:
                self._define(shape.name)
            if shape.name not in self.definitions:
                return None
            shape = self.definitions[shape.name]
        return shape

    def _define(self, name: str) -> None:
        place = self._pending.pop(name)
        self._reading.add(name)
        shape = self.read(self._references.node(name), place)
        self._reading.discard(name)
        self.definitions[name] = shape

    def read(self, node: Any, place: Place) -> Shape:
        """One schema's shape. Raises ``TooLarge`` beyond the budgets."""
        if node is True:
            return Anything(place.pointer)
        if node is False:
            return Nothing(place.pointer)
        self._nodes += 1
        if self._nodes > MOST_NODES:
            self._spend(0)
        if self._depth >= MOST_DEPTH:
            raise TooLarge(f"the schema nests or refers more than {MOST_DEPTH} levels deep")
        self._depth += 1
        try:
            view = self._view(node)
            if view.keys().isdisjoint(_BEYOND):
                return self._own(view, place, _notes(view))
            return self._combined(view, self._references.enter(node, place))
        finally:
            self._depth -= 1

    def _spend(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise TooLarge(f"the schema has more than {MOST_NODES:,} nodes")

    def _combined(self, view: Mapping[str, Any], place: Place) -> Shape:
        """A schema with references, unions, intersections or conditions: its own keywords met with all of them."""
        notes = _notes(view)
        shape = self._own(view, place, NO_NOTES)
        for keyword in _REFERENCES:
            if keyword in view:
                shape = self._meet(shape, self._reference(keyword, view[keyword], place))
        for index, branch in enumerate(view.get("allOf", ())):
            shape = self._meet(shape, self.read(branch, place.at(f"/allOf/{index}")))
        for keyword in ("anyOf", "oneOf"):
            if keyword in view:
                shape = self._union(keyword, view[keyword], shape, place)
        if not view.keys().isdisjoint(_CONDITIONAL):
            shape = self._conditions.apply(view, shape, place)
            shape = self._unevaluated(view, shape, place)
        return with_notes(replace(shape, pointer=place.pointer), notes)

    def _reference(self, keyword: str, target: str, place: Place) -> Shape:
        found = self._references.find(keyword, target, place)
        if found is None:
            text = "a reference that only the local check follows"
            return Anything(place.pointer, NO_NOTES, (Residue("reference-unread", f"{place.pointer}/{keyword}", text),))
        name, at = found
        if name not in self.definitions and name not in self._reading and name not in self._pending:
            self._pending[name] = at
        return Ref(place.pointer, name=name)

    def _union(self, keyword: str, branches: list[Any], shape: Shape, place: Place) -> Shape:
        if self._conditions.only_constrain(branches, shape):
            return self._conditions.join(keyword, branches, shape, place)
        read = [self.read(branch, place.at(f"/{keyword}/{index}")) for index, branch in enumerate(branches)]
        choice = union(read, pointer=place.pointer, exclusive=keyword == "oneOf")
        return self._meet(shape, choice)

    def _unevaluated(self, view: Mapping[str, Any], shape: Shape, place: Place) -> Shape:
        """``unevaluated*`` speak of what every other keyword of the schema has left over."""
        if "unevaluatedProperties" in view:
            shape = self._unevaluated_properties(view, shape, place)
        if "unevaluatedItems" in view and "items" not in view:
            rest = self.read(view["unevaluatedItems"], place.at("/unevaluatedItems"))
            if type(shape) is List and view.keys().isdisjoint(_COMBINING | {"contains", "if"}):
                shape = possible(bounded(replace(shape, rest=rest)))
            elif type(rest) is not Anything:
                residue = Residue("unevaluated", f"{place.pointer}/unevaluatedItems", "no further items")
                shape = with_notes(shape, NO_NOTES, (residue,))
        return shape

    def _unevaluated_properties(self, view: Mapping[str, Any], shape: Shape, place: Place) -> Shape:
        rest = self.read(view["unevaluatedProperties"], place.at("/unevaluatedProperties"))
        others = {keyword: value for keyword, value in view.items() if keyword != "unevaluatedProperties"}
        if (
            type(shape) is Record
            and shape.openness is Openness.OMITTED
            and not self._evaluates_all(others, place, set())
        ):
            openness = Openness.CLOSED if type(rest) is Nothing else Openness.OPEN
            fields = {
                name: field if field.named else replace(field, shape=self._meet(field.shape, rest))
                for name, field in shape.fields.items()
            }
            return possible(replace(shape, fields=fields, rest=rest, openness=openness))
        if type(shape) is Record and type(shape.rest) in (Anything, Nothing) and shape.openness is not Openness.OMITTED:
            return shape
        if type(rest) is Anything:
            return shape
        residue = Residue("unevaluated", f"{place.pointer}/unevaluatedProperties", "no further names")
        return with_notes(shape, NO_NOTES, (residue,))

    def _evaluates_all(self, node: Any, place: Place, seen: set[str]) -> bool:
        """Whether some keyword that applies in place evaluates every name, so that none is left over."""
        if type(node) is not dict:
            return False
        if "additionalProperties" in node or "unevaluatedProperties" in node:
            return True
        for keyword in _REFERENCES:
            found = self._references.find(keyword, node[keyword], place) if keyword in node else None
            if found is not None and found[0] not in seen:
                seen.add(found[0])
                if self._evaluates_all(self._references.node(found[0]), found[1], seen):
                    return True
        below = [item for keyword in ("allOf", "anyOf", "oneOf") for item in node.get(keyword, ())]
        below += [node.get(keyword) for keyword in ("if", "then", "else")]
        below += list(node.get("dependentSchemas", {}).values())
        return any(self._evaluates_all(item, place, seen) for item in below)

    def _own(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        """What a schema says by its own keywords, unions and references left aside."""
        declared = view.get("type")
        if "const" in view or "enum" in view:
            return self._literal(view, declared, place, notes)
        if type(declared) is str:
            return _KINDS[declared](self, view, place, notes)
        if declared is None:
            if view.keys().isdisjoint(_ASSERTIONS):
                return Anything(place.pointer, notes)
            self.untyped = True
            declared = _EVERY_TYPE
        elif "number" in declared and "integer" in declared:
            declared = [name for name in declared if name != "integer"]
        branches = [_KINDS[name](self, view, place, NO_NOTES) for name in declared]
        return union(branches, pointer=place.pointer, notes=notes)

    def _literal(self, view: Mapping[str, Any], declared: Any, place: Place, notes: Mapping[str, Any]) -> Shape:
        values = (view["const"],) if "const" in view else tuple(view["enum"])
        if "const" in view and "enum" in view:
            listed = Literal(values=tuple(view["enum"]))
            met = self._meet(Literal(place.pointer, values=values), listed)
            values = met.values if type(met) is Literal else ()
        if not values:
            return Nothing(place.pointer)
        kind = declared if type(declared) is str else None
        literal: Shape = Literal(place.pointer, notes, (), values, kind, "const" in view)
        if values == (None,):
            literal = Null(place.pointer, notes)
        around = {name: item for name, item in view.items() if name not in ("const", "enum")}
        if declared is not None or not around.keys().isdisjoint(_ASSERTIONS):
            literal = self._meet(literal, self._own(around, place, NO_NOTES))
        return literal

    def _number(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        bounds = {keyword: view[keyword] for keyword in BOUNDS if keyword in view}
        return possible(Number(place.pointer, notes, (), False, bounds or NO_NOTES, view.get("format")))

    def _integer(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        bounds = {keyword: view[keyword] for keyword in BOUNDS if keyword in view}
        return possible(Number(place.pointer, notes, (), True, bounds or NO_NOTES, view.get("format")))

    def _text(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        patterns = (view["pattern"],) if "pattern" in view else ()
        maximum = view.get("maxLength")
        text = Text(
            place.pointer,
            notes,
            (),
            int(view.get("minLength", 0)),
            None if maximum is None else int(maximum),
            patterns,
            view.get("format"),
        )
        return possible(text)

    def _boolean(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        return Boolean(place.pointer, notes)

    def _null(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        return Null(place.pointer, notes)

    def _array(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        listed = view.get("prefixItems", ())
        prefix = tuple(self.read(item, place.at(f"/prefixItems/{index}")) for index, item in enumerate(listed))
        rest = self.read(view["items"], place.at("/items")) if "items" in view else Anything(place.pointer)
        maximum = view.get("maxItems")
        array = List(
            place.pointer,
            notes,
            (),
            prefix,
            rest,
            int(view.get("minItems", 0)),
            None if maximum is None else int(maximum),
            bool(view.get("uniqueItems", False)),
        )
        return possible(bounded(array))

    def _object(self, view: Mapping[str, Any], place: Place, notes: Mapping[str, Any]) -> Shape:
        required = view.get("required", ())
        demanded = frozenset(required) if required else frozenset()
        patterns = {
            pattern: self.read(item, place.at(f"/patternProperties/{escape(pattern)}"))
            for pattern, item in view.get("patternProperties", {}).items()
        }
        rest, openness = self._rest(view, place)
        inside = f"{place.pointer}/properties/"
        fields = {
            name: Field(self.read(item, Place(f"{inside}{escape(name)}", place.resolver)), name in demanded)
            for name, item in view.get("properties", {}).items()
        }
        self._spend(len(fields) + len(required) + len(patterns) * (len(fields) + len(required)))
        if len(patterns) > MOST_PATTERNS:
            raise TooLarge(f"{place.pointer or 'the root'} has more than {MOST_PATTERNS} name patterns")
        for name in required:
            if name not in fields:
                fields[name] = Field(Anything(place.pointer), True, named=False)
        names = self.read(view["propertyNames"], place.at("/propertyNames")) if "propertyNames" in view else None
        if type(names) is Nothing:
            # No name is allowed at all, so the object is the empty one.
            fields, patterns, rest, openness, names = {}, {}, names, Openness.CLOSED, None
            if required:
                return Nothing(place.pointer)
        maximum = view.get("maxProperties")
        record = Record(
            place.pointer,
            notes,
            (),
            fields,
            patterns,
            rest,
            openness,
            None if type(names) is Anything and not names.residue else names,
            int(view.get("minProperties", 0)),
            None if maximum is None else int(maximum),
        )
        return _without_forbidden(self._settled(record, view.get("properties", {})))

    def _settled(self, record: Record, declared: Mapping[str, Any]) -> Shape:
        """Names that were demanded but not declared take what is left for them; declared ones must suit patterns."""
        if not record.patterns and len(declared) == len(record.fields):
            settled = record
        else:
            bare = Record(patterns=record.patterns, rest=record.rest, openness=record.openness)
            blank = replace(record, patterns={}, rest=Anything(), openness=Openness.OMITTED)
            ghosts = {name: field for name, field in record.fields.items() if name not in declared}
            kept = {name: field for name, field in record.fields.items() if name in declared}
            fields: dict[str, Field] = {}
            for part, against in ((kept, replace(bare, rest=Anything(), openness=Openness.OMITTED)), (ghosts, bare)):
                if part:
                    met = self._meet(replace(blank, fields=part, notes=NO_NOTES), against)
                    if type(met) is not Record:
                        return Nothing(record.pointer)
                    fields.update(met.fields)
            settled = replace(record, fields={name: fields[name] for name in record.fields})
        return possible(settled)

    def _rest(self, view: Mapping[str, Any], place: Place) -> tuple[Shape, Openness]:
        if "additionalProperties" not in view:
            return Anything(place.pointer), Openness.OMITTED
        rest = self.read(view["additionalProperties"], place.at("/additionalProperties"))
        return rest, Openness.CLOSED if type(rest) is Nothing else Openness.OPEN


def _without_forbidden(shape: Shape) -> Shape:
    """A record without the patterns that no value is allowed for: what matches them is no name of it."""
    if type(shape) is not Record or not any(type(item) is Nothing for item in shape.patterns.values()):
        return shape
    patterns = {pattern: item for pattern, item in shape.patterns.items() if type(item) is not Nothing}
    residue = shape.residue
    if shape.openness is not Openness.CLOSED:
        forbidden = " | ".join(repr(pattern) for pattern in shape.patterns if pattern not in patterns)
        residue = (*residue, Residue("name-forbidden", shape.pointer, f"no names like {forbidden}"))
    return replace(shape, patterns=patterns, residue=residue)


Rule = Callable[[Reader, Mapping[str, Any], Place, Mapping[str, Any]], Shape]
_KINDS: Final[Mapping[str, Rule]] = {
    "string": Reader._text,
    "number": Reader._number,
    "integer": Reader._integer,
    "boolean": Reader._boolean,
    "null": Reader._null,
    "array": Reader._array,
    "object": Reader._object,
}
_ANNOTATION_SET: Final = frozenset(ANNOTATIONS)


def _notes(view: Mapping[str, Any]) -> Mapping[str, Any]:
    if view.keys().isdisjoint(_ANNOTATION_SET):
        return NO_NOTES
    return {keyword: view[keyword] for keyword in view if keyword in _ANNOTATION_SET}
