"""Contracts of every kind: schemas that use each keyword which a tool's author may use, in sizes that stay readable.

``contract`` makes one from a picker; ``contracts()`` is the Hypothesis strategy. ``tolerated`` lets in the spellings
that are no JSON Schema but are found in the wild (``nullable``, an array as ``items``, ``type: any`` and the like).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from laws.drawing import Drawn
from strictcall.testing.odd import LITERALS, NAMES, NUMBERS, WORDS
from strictcall.testing.picking import Picker, chance, some

FORMATS = ["date", "date-time", "email", "uri", "uuid", "int32", "x-own"]
PATTERNS = ["^[a-z]+$", "a", "^x-", "^(?=.*1)[a-z0-9]+$", "^.{1,3}$", r"^\d+$", "^[^\\n]*$"]
KEYWORDS = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "uniqueItems",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "$ref",
    "$anchor",
    "$defs",
    "definitions",
    "$schema",
    "default",
    "examples",
    "title",
    "description",
    "$comment",
    "deprecated",
]
TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"]
REFERENCE_SIBLINGS: list[dict[str, Any]] = [
    {"description": "see"},
    {"maxProperties": 2},
    {"minLength": 1},
    {"title": "T"},
]
DEFINITIONS = ["A", "B", "my type", "t/i~l"]


class Builder:
    """Builds one contract; knows which definitions it may refer to."""

    def __init__(self, pick: Picker, *, tolerated: bool = True, draft7: bool = False) -> None:
        self.pick = pick
        self.tolerated = tolerated
        self.draft7 = draft7
        self.holder = "definitions" if draft7 else "$defs"
        self.defined = some(pick, DEFINITIONS, 2)

    def root(self) -> Any:
        """A whole contract."""
        schema = self.object(3) if chance(self.pick, 88) else self.node(3)
        if not isinstance(schema, dict):
            return schema
        if self.defined:
            schema[self.holder] = {name: self.definition(name) for name in self.defined}
        if self.draft7:
            schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        return schema

    def definition(self, name: str) -> Any:
        node = self.node(2)
        if isinstance(node, dict) and name == "A" and not self.draft7:
            node["$anchor"] = "spot"
        return node

    def node(self, depth: int) -> Any:
        """One schema, at most ``depth`` levels deep."""
        kinds = SIMPLE if depth <= 0 else SIMPLE + NESTED
        schema = self.pick.one(kinds)(self, depth - 1)
        if isinstance(schema, dict) and chance(self.pick, 25):
            self.annotate(schema)
        return schema

    def annotate(self, schema: dict[str, Any]) -> None:
        keyword, value = self.pick.one(ANNOTATIONS)
        schema.setdefault(keyword, value)

    def text(self, _depth: int) -> Any:
        schema: dict[str, Any] = {"type": "string"}
        for keyword in some(self.pick, ["minLength", "maxLength", "pattern", "format"], 2):
            schema[keyword] = {
                "minLength": self.pick.number(0, 2),
                "maxLength": self.pick.number(2, 9),
                "pattern": self.pick.one(PATTERNS),
                "format": self.pick.one(FORMATS),
            }[keyword]
        return schema

    def number(self, _depth: int) -> Any:
        schema: dict[str, Any] = {"type": self.pick.one(["integer", "number"])}
        for keyword in some(self.pick, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], 2):
            schema[keyword] = self.pick.one([1, 2, 0.5]) if keyword == "multipleOf" else self.pick.one(NUMBERS)
        if self.tolerated and "minimum" in schema and chance(self.pick, 15):
            schema["exclusiveMinimum"] = True
        return schema

    def plain(self, _depth: int) -> Any:
        return {"type": self.pick.one(["boolean", "null", "string", "integer"])}

    def enum(self, _depth: int) -> Any:
        schema: dict[str, Any] = {"enum": some(self.pick, LITERALS, 4) or ["x"]}
        if chance(self.pick, 40):
            schema["enum"] = some(self.pick, WORDS, 4) or ["x"]
            schema["type"] = "string"
        return schema

    def const(self, _depth: int) -> Any:
        return {"const": self.pick.one(LITERALS)}

    def anything(self, _depth: int) -> Any:
        odd: list[Any] = [{}, True, False, {"description": "anything"}, {"type": "object"}, {"type": "array"}]
        if self.tolerated:
            odd += [{"type": "any"}, {"type": "string", "nullable": True}]
        return self.pick.one(odd)

    def type_list(self, depth: int) -> Any:
        schema: dict[str, Any] = {"type": some(self.pick, TYPES, 3) or ["string", "null"]}
        if "object" in schema["type"] and depth > 0:
            schema["properties"] = {self.pick.one(NAMES): self.node(depth - 1)}
        if "string" in schema["type"] and chance(self.pick, 30):
            schema["maxLength"] = 3
        return schema

    def reference(self, _depth: int) -> Any:
        targets = ["#"] + [f"#/{self.holder}/{_escape(name)}" for name in self.defined]
        if "A" in self.defined and not self.draft7:
            targets.append("#spot")
        schema: dict[str, Any] = {"$ref": self.pick.one(targets)}
        if chance(self.pick, 30):
            schema.update(self.pick.one(REFERENCE_SIBLINGS))
        return schema

    def object(self, depth: int) -> dict[str, Any]:
        names = some(self.pick, NAMES, 4)
        schema: dict[str, Any] = {"type": "object", "properties": {name: self.node(depth - 1) for name in names}}
        if chance(self.pick, 60):
            schema["required"] = [name for name in names if chance(self.pick, 50)]
        if chance(self.pick, 45):
            forms = [False, False, True, {"type": "string"}, self.node(depth - 1)]
            schema["additionalProperties"] = self.pick.one(forms)
        if self.tolerated and chance(self.pick, 4) and names and isinstance(schema["properties"][names[0]], dict):
            schema["properties"][names[0]]["required"] = True
        for _ in range(self.pick.number(0, 2)):
            self.pick.one(OBJECT_KEYWORDS)(self, schema, names or ["a"])
        return schema

    def map(self, depth: int) -> Any:
        schema: dict[str, Any] = {"type": "object", "additionalProperties": self.node(depth - 1)}
        if chance(self.pick, 20):
            schema["minProperties"] = 1
        if chance(self.pick, 20):
            schema["propertyNames"] = {"pattern": self.pick.one(PATTERNS)}
        return schema

    def list(self, depth: int) -> Any:
        schema: dict[str, Any] = {"type": "array", "items": self.node(depth - 1)}
        for keyword in some(self.pick, ["minItems", "maxItems", "uniqueItems", "contains"], 2):
            schema[keyword] = {
                "minItems": self.pick.number(0, 2),
                "maxItems": self.pick.number(1, 4),
                "uniqueItems": True,
                "contains": self.node(0),
            }[keyword]
        if "contains" in schema and chance(self.pick, 30) and not self.draft7:
            schema[self.pick.one(["minContains", "maxContains"])] = self.pick.number(0, 2)
        return schema

    def tuple(self, depth: int) -> Any:
        members = [self.node(depth - 1) for _ in range(self.pick.number(1, 3))]
        old = self.draft7 or (self.tolerated and chance(self.pick, 20))
        first, rest = ("items", "additionalItems") if old else ("prefixItems", "items")
        schema: dict[str, Any] = {"type": "array", first: members}
        if chance(self.pick, 60):
            schema[rest] = self.pick.one([False, False, True, {"type": "integer"}])
        if chance(self.pick, 50):
            schema["minItems"] = len(members)
        if chance(self.pick, 30):
            schema["maxItems"] = len(members)
        return schema

    def union(self, depth: int) -> Any:
        keyword = self.pick.one(["anyOf", "oneOf"])
        branches = [self.node(depth - 1) for _ in range(self.pick.number(1, 3))]
        if chance(self.pick, 40):
            branches.append({"type": "null"})
        schema: dict[str, Any] = {keyword: branches}
        if chance(self.pick, 15):
            schema["type"] = "object"
        return schema

    def tagged(self, depth: int) -> Any:
        tags = ["add", "del", "mod"][: self.pick.number(2, 3)]
        branches = []
        for tag in tags:
            branch = self.object(depth - 1)
            branch["properties"].pop("kind", None)
            branch["properties"] = {"kind": {"const": tag}, **branch["properties"]}
            branch["required"] = sorted({"kind", *branch.get("required", [])} & branch["properties"].keys())
            branches.append(branch)
        return {self.pick.one(["anyOf", "oneOf"]): branches}

    def all_of(self, depth: int) -> Any:
        schema: dict[str, Any] = {"allOf": [self.node(depth - 1) for _ in range(self.pick.number(1, 2))]}
        if chance(self.pick, 50):
            schema.update(self.object(depth - 1))
        return schema

    def negated(self, _depth: int) -> Any:
        return {**self.pick.one([{"type": "string"}, {"type": "integer"}, {}]), "not": self.node(0)}

    def untyped(self, depth: int) -> Any:
        """Keywords of one kind, with no ``type`` beside them."""
        name = self.pick.one(NAMES)
        return self.pick.one(
            [
                {"properties": {name: self.node(depth - 1)}},
                {"items": self.node(depth - 1)},
                {"required": [name]},
                {"minimum": 1},
                {"maxLength": 3},
                {"additionalProperties": False},
            ]
        )


def _undeclared(_build: Builder, schema: dict[str, Any], _names: list[str]) -> None:
    others = [name for name in schema.get("required", []) if name != "ghost"]
    schema["required"] = [*others, "ghost"]


def _pattern_properties(build: Builder, schema: dict[str, Any], _names: list[str]) -> None:
    schema["patternProperties"] = {build.pick.one(["^x-", "^[a-c]", "1$"]): build.node(1)}


def _property_names(build: Builder, schema: dict[str, Any], names: list[str]) -> None:
    schema["propertyNames"] = build.pick.one([{"pattern": "^[a-z]"}, {"maxLength": 5}, {"enum": names}])


def _count(build: Builder, schema: dict[str, Any], _names: list[str]) -> None:
    schema[build.pick.one(["minProperties", "maxProperties"])] = build.pick.number(0, 3)


def _condition(build: Builder, schema: dict[str, Any], names: list[str]) -> None:
    name = build.pick.one(names)
    schema["if"] = {"properties": {name: build.node(0)}, "required": [name]}
    schema[build.pick.one(["then", "else"])] = build.pick.one(
        [{"required": [build.pick.one(names)]}, {"properties": {build.pick.one(NAMES): build.node(0)}}, False]
    )


def _dependent(build: Builder, schema: dict[str, Any], names: list[str]) -> None:
    needed = [build.pick.one(names)]
    inner = {"properties": {build.pick.one(NAMES): build.node(0)}, "required": needed}
    if build.draft7:
        schema["dependencies"] = {build.pick.one(names): build.pick.one([needed, inner])}
    elif chance(build.pick, 50):
        schema["dependentRequired"] = {build.pick.one(names): needed}
    else:
        schema["dependentSchemas"] = {build.pick.one(names): inner}


def _branches(build: Builder, schema: dict[str, Any], names: list[str]) -> None:
    choices = [{"required": [build.pick.one(names)]}, {"properties": {build.pick.one(NAMES): build.node(0)}}]
    schema[build.pick.one(["anyOf", "oneOf", "allOf"])] = choices


def _unevaluated(build: Builder, schema: dict[str, Any], _names: list[str]) -> None:
    if not build.draft7:
        schema["unevaluatedProperties"] = build.pick.one([False, False, True, {"type": "string"}])


def _negated_names(build: Builder, schema: dict[str, Any], names: list[str]) -> None:
    schema["not"] = {"required": [build.pick.one(names)]}


ANNOTATIONS: list[tuple[str, Any]] = [
    ("description", "What it is."),
    ("title", "Title"),
    ("default", None),
    ("default", "x"),
    ("default", {"type": "object", "properties": {"a": 1}}),
    ("examples", [{"type": "string"}]),
    ("deprecated", True),
    ("x-internal", {"$ref": "#/nowhere"}),
    ("$comment", "for people"),
]
SIMPLE: list[Callable[[Builder, int], Any]] = [
    Builder.plain,
    Builder.text,
    Builder.number,
    Builder.enum,
    Builder.const,
    Builder.anything,
    Builder.reference,
]
NESTED: list[Callable[[Builder, int], Any]] = [
    Builder.object,
    Builder.object,
    Builder.map,
    Builder.list,
    Builder.tuple,
    Builder.union,
    Builder.union,
    Builder.tagged,
    Builder.all_of,
    Builder.negated,
    Builder.type_list,
    Builder.untyped,
]
OBJECT_KEYWORDS = [
    _undeclared,
    _pattern_properties,
    _property_names,
    _count,
    _condition,
    _dependent,
    _branches,
    _unevaluated,
    _negated_names,
]


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace(" ", "%20")


def contract(pick: Picker, *, tolerated: bool = True) -> Any:
    """One contract."""
    draft7 = chance(pick, 10)
    return Builder(pick, tolerated=tolerated, draft7=draft7).root()


@st.composite
def contracts(draw: st.DrawFn, *, tolerated: bool = True) -> Any:
    """Contracts, as a Hypothesis strategy."""
    return contract(Drawn(draw), tolerated=tolerated)
