"""Conditions: unions and implications whose branches only constrain the value they stand on.

``anyOf`` of ``required`` lists, ``if``/``then``, ``dependentRequired`` and ``not`` say which combinations of a
record's names are allowed, not what the record is. They become residue on it, with a hint, and never a union. Names
that occur only in such branches join the record as conditional, optional ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from strictcall.errors import cut
from strictcall.json_value import compact, escape
from strictcall.shape.model import NO_NOTES, Anything, Choice, Field, Openness, Record, Residue, Shape
from strictcall.shape.resolve import Place
from strictcall.shape.simplify import union, with_notes
from strictcall.value import replace

Read = Callable[[Any, Place], Shape]
View = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_SILENT: Final = frozenset({"title", "description", "$comment", "examples", "default"})
_CONSTRAINING: Final = _SILENT | {
    "type",
    "required",
    "properties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
}
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else")
_PLAIN: Final = _SILENT | {
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "format",
    "type",
    "not",
}
_TEXT_LENGTH: Final = 80


class Conditions:
    """Turns constraining keywords into residue. ``read`` reads a subschema, ``view`` gives a node in today's words."""

    def __init__(self, read: Read, view: View) -> None:
        self._read = read
        self._view = view

    def only_constrain(self, branches: list[Any], shape: Shape) -> bool:
        """Whether every branch of a union only says which of the record's names go together, or what they may be."""
        if type(shape) is not Record:
            return False
        return all(self._constrains(branch, shape.fields) for branch in branches)

    def _constrains(self, branch: Any, fields: Mapping[str, Any]) -> bool:
        if type(branch) is bool:
            return True
        view = self._view(branch)
        if not _CONSTRAINING.issuperset(view) or view.get("type", "object") != "object":
            return False
        for name, item in view.get("properties", {}).items():
            if name not in fields and type(item) is dict and not _is_plain(item):
                return False
        if "properties" in view and not fields:
            return False
        inner = [item for keyword in _BRANCHES for item in view.get(keyword, ())]
        inner += [view[keyword] for keyword in _SINGLE if keyword in view]
        return all(self._constrains(item, fields) for item in inner)

    def join(self, keyword: str, branches: list[Any], shape: Shape, place: Place) -> Shape:
        """A record with a union of constraints as residue."""
        words = {"anyOf": "at least one of", "oneOf": "exactly one of"}[keyword]
        text = f"{words}: " + " | ".join(_say(branch) for branch in branches)
        shape = self._with_names(shape, [(branch, place.at(f"/{keyword}/{i}")) for i, branch in enumerate(branches)])
        return _unheld(shape, "condition", place, keyword, text)

    def apply(self, view: Mapping[str, Any], shape: Shape, place: Place) -> Shape:
        """A shape with its conditional keywords as residue."""
        if "not" in view and view["not"] is not False:
            shape = _unheld(shape, "not-excluded", place, "not", "not " + _say(view["not"]))
        if "if" in view and ("then" in view or "else" in view):
            parts = [(view[keyword], place.at("/" + keyword)) for keyword in _SINGLE if keyword in view]
            text = " ".join(f"{keyword} {_say(view[keyword])}" for keyword in _SINGLE if keyword in view)
            shape = _unheld(self._with_names(shape, parts), "condition", place, "if", text)
        if view.get("dependentSchemas"):
            found = view["dependentSchemas"]
            parts = [(item, place.at(f"/dependentSchemas/{escape(name)}")) for name, item in found.items()]
            text = "; ".join(f"with {name}: {_say(item)}" for name, item in found.items())
            shape = _unheld(self._with_names(shape, parts), "condition", place, "dependentSchemas", text)
        if view.get("dependentRequired"):
            found = view["dependentRequired"]
            demanded = [{"required": [name, *others]} for name, others in found.items()]
            text = "; ".join(f"{name} needs {', '.join(others)}" for name, others in found.items() if others)
            shape = self._with_names(shape, [(item, place) for item in demanded])
            if text:
                shape = _unheld(shape, "condition", place, "dependentRequired", text)
        if ("contains" in view and view.get("minContains", 1) != 0) or "maxContains" in view:
            shape = _unheld(shape, "contains", place, "contains", "contains " + _say(view.get("contains")))
        return shape

    def _with_names(self, shape: Shape, parts: list[tuple[Any, Place]]) -> Shape:
        """A record that also takes the names of these branches, each of what the branches say of it together."""
        if type(shape) is Choice:
            branches = tuple(
                self._with_names(branch, parts) if type(branch) is Record else branch for branch in shape.branches
            )
            return replace(shape, branches=branches)
        if type(shape) is not Record or shape.openness is Openness.CLOSED:
            return shape
        found: dict[str, list[Shape]] = {}
        named: set[str] = set()
        for node, place in parts:
            for name, item, at in self._names(node, place):
                if name in shape.fields:
                    continue
                found.setdefault(name, []).append(Anything(at.pointer) if item is None else self._read(item, at))
                if item is not None:
                    named.add(name)
        joined = {name: Field(_either(shapes), False, True, name in named) for name, shapes in found.items()}
        return replace(shape, fields={**shape.fields, **joined}) if joined else shape

    def _names(self, node: Any, place: Place) -> Iterator[tuple[str, Any, Place]]:
        """Each name that a branch speaks of, with the schema it gives, if any."""
        if type(node) is not dict:
            return
        view = self._view(node)
        for name, item in view.get("properties", {}).items():
            yield name, item, place.at(f"/properties/{escape(name)}")
        for name in view.get("required", ()):
            if name not in view.get("properties", {}):
                yield name, None, place
        for keyword in _BRANCHES:
            for index, item in enumerate(view.get(keyword, ())):
                yield from self._names(item, place.at(f"/{keyword}/{index}"))
        for keyword in _SINGLE:
            yield from self._names(view.get(keyword), place.at("/" + keyword))
        for name, item in view.get("dependentSchemas", {}).items():
            yield from self._names(item, place.at(f"/dependentSchemas/{escape(name)}"))


def _is_plain(schema: Mapping[str, Any]) -> bool:
    """Whether a schema only bounds or lists what a value may be, and is at most a scalar by its type."""
    kinds = schema.get("type", ())
    return _PLAIN.issuperset(schema) and {"object", "array"}.isdisjoint([kinds] if type(kinds) is str else kinds)


def _either(shapes: list[Shape]) -> Shape:
    """What any of these say; those that say nothing of the kind give way to those that do."""
    telling = [shape for shape in shapes if type(shape) is not Anything]
    return union(telling, pointer=telling[0].pointer) if telling else shapes[0]


def _unheld(shape: Shape, code: str, place: Place, keyword: str, text: str) -> Shape:
    return with_notes(shape, NO_NOTES, (Residue(code, f"{place.pointer}/{keyword}", text),))


def _say(schema: Any) -> str:
    """A constraint in a few characters; what is not a list of names is quoted as JSON."""
    if type(schema) is dict and set(schema) == {"required"} and schema["required"]:
        return "+".join(schema["required"])[:_TEXT_LENGTH]
    told = {k: v for k, v in schema.items() if k not in _SILENT} if type(schema) is dict else schema
    return cut(compact(told), _TEXT_LENGTH)
