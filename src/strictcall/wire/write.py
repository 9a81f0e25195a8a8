"""Writing: a wire shape as JSON Schema, in the dialect's spelling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.dialect.model import Dialect, State
from strictcall.json_value import escape
from strictcall.shape.admit import kinds_of
from strictcall.shape.model import (
    ROOT,
    Anything,
    Boolean,
    Choice,
    Definitions,
    List,
    Literal,
    Nothing,
    Null,
    Number,
    Openness,
    Record,
    Ref,
    Shape,
    Text,
)
from strictcall.shape.simplify import with_notes
from strictcall.wire.budget import Counter
from strictcall.wire.hints import described, said
from strictcall.wire.names import unused

_TYPED: Final = frozenset({Boolean, Number, Text})
_SIMPLE: Final = _TYPED | {Null}
"""Kinds of shape that may share one node with a list of types: no two of them speak through the same keyword."""


class Writer:
    """Writes one wire schema. ``hints``: whether constraints that the wire does not hold are said in descriptions."""

    def __init__(self, dialect: Dialect, definitions: Definitions, root: Shape, *, hints: bool) -> None:
        self._dialect = dialect
        self._definitions = definitions
        self._hints = hints
        self._root = root
        self.counter = Counter(dialect.long_enum)
        self._widest = next((limit.most for limit in dialect.limits if limit.name == "union_branches"), None)
        self._written: dict[str, Any] = {}
        self._waiting: deque[str] = deque()

    def schema(self) -> dict[str, Any]:
        """The whole schema, with the definitions that it uses in the order of their first use."""
        self.counter.begin("")
        schema = self._node(self._root)
        for keyword in self._dialect.root.forbidden & schema.keys():
            # Only annotations can be meant: the lowering leaves no union and no literal at the root.
            del schema[keyword]
        if self._dialect.root.properties_required:
            schema.setdefault("properties", {})
        defined: dict[str, Any] = {}
        while self._waiting:
            name = self._waiting.popleft()
            self.counter.begin(self._name(name))
            defined[self._name(name)] = self._node(self._definitions[name])
        if defined:
            schema[self._dialect.definitions] = defined
        return schema

    def _node(self, shape: Shape) -> dict[str, Any]:
        return _WRITERS[type(shape)](self, shape)

    def _with_notes(self, node: dict[str, Any], shape: Shape) -> dict[str, Any]:
        """A node with the annotations that the dialect takes, and the hints, behind what it says of its values."""
        if not shape.notes and not shape.residue:
            return node
        for keyword, value in shape.notes.items():
            if keyword != "description" and self._dialect.state(keyword) is not State.REJECTED:
                node[keyword] = value  # noqa: PERF403 - a comprehension makes a second dict each time
        description = shape.notes.get("description")
        if shape.residue:
            description = described(description, said(shape.residue, hints=self._hints))
        if description is not None and self._dialect.state("description") is not State.REJECTED:
            node["description"] = description
        return node

    def _says_more(self, shape: Shape) -> bool:
        """Whether a shape has annotations or hints that would be written."""
        return bool(shape.notes or shape.residue) and bool(self._with_notes({}, shape))

    def _anything(self, shape: Anything) -> dict[str, Any]:
        return self._with_notes({}, shape)

    def _nothing(self, shape: Nothing) -> dict[str, Any]:
        raise AssertionError("a shape without values is never written")

    def _null(self, shape: Null) -> dict[str, Any]:
        return self._with_notes({"type": "null"}, shape)

    def _boolean(self, shape: Boolean) -> dict[str, Any]:
        return self._with_notes({"type": "boolean"}, shape)

    def _number(self, shape: Number) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "integer" if shape.integer else "number", **shape.bounds}
        if shape.format is not None:
            node["format"] = shape.format
        return self._with_notes(node, shape)

    def _text(self, shape: Text) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "string"}
        if shape.min_length:
            node["minLength"] = shape.min_length
        if shape.max_length is not None:
            node["maxLength"] = shape.max_length
        if shape.patterns:
            node["pattern"] = shape.patterns[0]
        if shape.format is not None:
            node["format"] = shape.format
        return self._with_notes(node, shape)

    def _literal(self, shape: Literal) -> dict[str, Any]:
        node: dict[str, Any] = {}
        self.counter.literals(shape.values)
        kind = _literal_type(shape)
        if kind is not None and (self._dialect.typed_literals or shape.declared is not None):
            node["type"] = kind
        if shape.const and self._dialect.const == "const":
            node["const"] = shape.values[0]
        else:
            node["enum"] = list(shape.values)
        return self._with_notes(node, shape)

    def _list(self, shape: List) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "array"}
        self.counter.enter()
        if shape.prefix:
            node["prefixItems"] = [self._node(item) for item in shape.prefix]
        # An array that ends with its positions says so by its length alone, where the engine would ask for no item
        # type.
        if not (_says_nothing(shape.rest) and self._dialect.untyped_items) and not (
            shape.prefix and shape.max_items == len(shape.prefix)
        ):
            node["items"] = self._node(shape.rest)
        if shape.min_items:
            node["minItems"] = shape.min_items
        if shape.max_items is not None:
            node["maxItems"] = shape.max_items
            self.counter.item_bounds += shape.max_items
        if shape.unique:
            node["uniqueItems"] = True
        self.counter.leave()
        return self._with_notes(node, shape)

    def _record(self, shape: Record) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "object"}
        self.counter.enter()
        self.counter.fields(shape, self._definitions)
        all_required = self._dialect.optional == "null"
        if shape.fields or all_required or shape.openness is Openness.CLOSED:
            node["properties"] = {name: self._node(field.shape) for name, field in shape.fields.items()}
        required = [name for name, field in shape.fields.items() if field.required]
        if required or all_required or self._dialect.required_always:
            node["required"] = required
        if shape.patterns:
            node["patternProperties"] = {pattern: self._node(item) for pattern, item in shape.patterns.items()}
        if shape.openness is Openness.CLOSED:
            if self._dialect.state("additionalProperties", False) is not State.REJECTED:
                node["additionalProperties"] = False
        elif self._says_it_is_open(shape):
            node["additionalProperties"] = True if _says_nothing(shape.rest) else self._node(shape.rest)
        if shape.min_properties:
            node["minProperties"] = shape.min_properties
        if shape.max_properties is not None:
            node["maxProperties"] = shape.max_properties
        self.counter.leave()
        return self._with_notes(node, shape)

    def _says_it_is_open(self, shape: Record) -> bool:
        """Whether an open object must say so: one that is open by omission only where silence would close it, or where
        its further values have a form of their own.
        """
        said = shape.openness is Openness.OPEN or self._dialect.additional_default == "closed"
        return said or type(shape.rest) is not Anything

    def _choice(self, shape: Choice) -> dict[str, Any]:
        if self._dialect.null == "type_list" and _is_scalar_or_null(shape):
            # What nearly every optional property is.
            node = self._node(shape.branches[0])
            node["type"] = [node["type"], "null"]
            return self._with_notes(node, shape)
        plain = not any(map(self._says_more, shape.branches))
        if plain and self._dialect.null == "type_list" and _is_simple(shape):
            node = {"type": []}
            for branch in shape.branches:
                part = self._node(branch)
                node["type"].append(part.pop("type"))
                node.update(part)
            return self._with_notes(node, shape)
        if self._dialect.null == "nullable":
            return self._nullable(shape)
        return self._union([self._node(branch) for branch in shape.branches], shape)

    def _nullable(self, shape: Choice) -> dict[str, Any]:
        """A choice where null is no type but a mark on another form."""
        others = [branch for branch in shape.branches if type(branch) is not Null]
        if len(others) == 1:
            whole = self._node(with_notes(others[0], shape.notes, shape.residue))
        else:
            whole = self._union([self._node(branch) for branch in others], shape)
        if len(others) < len(shape.branches):
            marked = whole
            while "anyOf" in marked:
                marked = marked["anyOf"][0]
            marked["nullable"] = True
        return whole

    def _union(self, nodes: list[dict[str, Any]], shape: Shape) -> dict[str, Any]:
        """A union of forms, with the shape's annotations beside it, or on its first form where they may not stand
        there.
        """
        # An inner union that has nothing left to say of itself would be read as part of this one.
        nodes = [form for node in nodes for form in _forms(node)]
        widest = self._widest
        while widest is not None and len(nodes) > widest:
            # The widest unions are written as unions of unions.
            groups = [nodes[at : at + widest] for at in range(0, len(nodes), widest)]
            nodes = [{"anyOf": group} if len(group) > 1 else group[0] for group in groups]
        self.counter.union(len(nodes))
        allowed = self._dialect.union_siblings
        annotated = self._with_notes({}, shape)
        if allowed is None or allowed.issuperset(annotated):
            return {"anyOf": nodes, **annotated}
        outside = {keyword: value for keyword, value in annotated.items() if keyword in allowed}
        inside = {k: value for k, value in annotated.items() if k not in allowed and k in ("title", "description")}
        first = next((node for node in nodes if "type" in node), None)
        if first is not None:
            moved = {keyword: value for keyword, value in inside.items() if keyword not in first}
            if moved and "description" in first:
                moved["description"] = first.pop("description")  # stands last, wherever a title comes from
            first.update(moved)
        return {"anyOf": nodes, **outside}

    def _reference(self, shape: Ref) -> dict[str, Any]:
        node = {"$ref": self._target(shape.name)}
        annotated = self._with_notes({}, shape)
        if not annotated:
            return node
        if self._dialect.reference_siblings.issuperset(annotated):
            return {**node, **annotated}
        if self._dialect.union_siblings is not None and not self._dialect.union_siblings.issuperset(annotated):
            return node
        return {"anyOf": [node], **annotated}

    def _target(self, name: str) -> str:
        if name == ROOT and self._definitions[ROOT] is self._root and self._dialect.reference_targets != "named":
            self.counter.refer("")
            return "#"
        self.counter.refer(self._name(name))
        if name not in self._written:
            self._written[name] = True
            self._waiting.append(name)
        return f"#/{self._dialect.definitions}/{escape(self._name(name))}"

    def _name(self, name: str) -> str:
        """The key of a definition; the contract's root needs one where it is not the wire's."""
        if name != ROOT:
            return name
        return unused("arguments", self._definitions)


def _forms(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The forms of a union that says nothing else, at whatever depth; or the node."""
    return [form for branch in node["anyOf"] for form in _forms(branch)] if node.keys() == {"anyOf"} else [node]


def _says_nothing(shape: Shape) -> bool:
    """Whether a shape takes any value and has nothing to say of it."""
    return type(shape) is Anything and not shape.notes and not shape.residue


def _literal_type(shape: Literal) -> str | None:
    kinds = kinds_of(shape.values)
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind == "number" and shape.declared != "number" and all(type(value) is int for value in shape.values):
        return "integer"
    return kind


def _is_scalar_or_null(shape: Choice) -> bool:
    """Whether a choice is between one scalar type and null, and says nothing of either alone."""
    if len(shape.branches) != 2:
        return False
    one, null = shape.branches
    return type(null) is Null and type(one) in _TYPED and not (one.notes or one.residue or null.notes or null.residue)


def _is_simple(shape: Choice) -> bool:
    """Whether the branches can be one node with a list of types."""
    kinds = {type(branch) for branch in shape.branches}
    if len(kinds) < len(shape.branches) or not kinds.issubset(_SIMPLE):
        return False
    return sum(branch.format is not None for branch in shape.branches if type(branch) in (Number, Text)) < 2  # type: ignore[attr-defined]


_WRITERS: Final[Mapping[type[Shape], Callable[[Writer, Any], dict[str, Any]]]] = {
    Anything: Writer._anything,
    Nothing: Writer._nothing,
    Null: Writer._null,
    Boolean: Writer._boolean,
    Number: Writer._number,
    Text: Writer._text,
    Literal: Writer._literal,
    List: Writer._list,
    Record: Writer._record,
    Choice: Writer._choice,
    Ref: Writer._reference,
}
