"""What the judge asks of each schema of a strict tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from strictcall.dialect.document import Node
from strictcall.dialect.findings import Findings, quoted
from strictcall.dialect.form_checks import UNIONS, forms_of
from strictcall.dialect.loose_checks import breaks_name_rule
from strictcall.dialect.model import Keyword, State, admits
from strictcall.dialect.vocabulary import JSON_TYPES, REST, SHAPES, in_lower_case, literal_types

EVERY_TYPE = JSON_TYPES - {"integer"}
OBJECT_KEYWORDS = frozenset({"properties", "required", "additionalProperties", "patternProperties"})
COUNT = SHAPES["minItems"][0]
MOST_NAMES = 1_000
Asked = tuple[Keyword, str, Callable[[Any], bool] | None, bool]
MAY_BE_FALSE = REST | {"items", "patternProperties", "properties", "anyOf"}
BOUNDS = (
    ("minimum", "maximum", False),
    ("exclusiveMinimum", "maximum", True),
    ("minimum", "exclusiveMaximum", True),
    ("exclusiveMinimum", "exclusiveMaximum", True),
    ("minLength", "maxLength", False),
    ("minItems", "maxItems", False),
    ("minProperties", "maxProperties", False),
)
"""Pairs of a lower and an upper bound, and whether the two may not even be equal."""
SOME_CHECK = frozenset({"enum", "const", "format", "pattern", "$ref"} | {upper for _, upper, _ in BOUNDS})
"""Keywords without which there is nothing to ask of the values that a schema takes."""
MOST_PATTERN = 100_000
"""A longer pattern is refused unread."""


class Checks:
    """A dialect's rules for a strict tool, asked of one schema at a time."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._dialect = findings.dialect
        self._asked: dict[str, Asked] = {}
        self._constructs = {name: re.compile(found) for name, found in self._dialect.regex_forbidden.items()}
        self._forms = forms_of(self._dialect)
        self._may_close = self._dialect.state("additionalProperties") in (State.ENFORCED, State.NARROWER)

    def node(self, node: Node) -> None:
        """Judge one schema, without those within it."""
        schema = node.value
        if isinstance(schema, bool):
            self._boolean(node)
        elif type(schema) is not dict:
            self._say(node, rule="not-a-schema", message=f"{quoted(schema)} is not a schema")
        else:
            sound = self._keywords(node, schema)
            kinds = sound.get("type")
            if node.parent is None:
                self._root(node, sound)
            types = EVERY_TYPE if kinds is None else frozenset((kinds,) if type(kinds) is str else kinds)
            self._type(node, schema)
            if not OBJECT_KEYWORDS.isdisjoint(sound) or (kinds is not None and "object" in types):
                self._object(node, sound, schema)
            if kinds is not None and "array" in types:
                self._array(node, sound, schema)
            if not SOME_CHECK.isdisjoint(sound):
                self._values(node, sound, types)
            for form in self._forms:
                form(self._findings, node, sound)

    def _root(self, node: Node, sound: dict[str, Any]) -> None:
        rule = self._dialect.root
        branches = [branch for keyword in UNIONS for branch in sound.get(keyword, ())] if rule.object_union else []
        if branches:
            if not all(map(_is_object_or_reference, branches)):
                message = "each branch of a union at the root must be an object"
                self._say(node, rule="root-not-object", message=message)
        elif rule.object_only and sound.get("type") != "object":
            self._say(node, rule="root-not-object", message="the root must say type: object")
        if rule.properties_required and "properties" not in sound:
            self._say(node, rule="properties-missing", message="the root must say its properties")

    def _values(self, node: Node, sound: dict[str, Any], types: frozenset[str]) -> None:
        if "enum" in sound or "const" in sound:
            self._literals(node, sound, types)
        if "string" in types:
            self._text(node, sound)
        self._bounds(node, sound)
        if "$ref" in sound:
            self._reference(node, sound)

    def _say(self, node: Node, *tokens: str, rule: str, message: str) -> None:
        self._findings.at(node, *tokens, rule=rule, message=message)

    def _boolean(self, node: Node) -> None:
        if node.keyword in REST:
            return  # said of the object that holds it, where it may not be so
        if not self._dialect.untyped or (node.value is False and node.keyword not in MAY_BE_FALSE):
            word = str(node.value).lower()
            self._say(node, rule="boolean-schema", message=f"{word} stands for a schema")

    def _keywords(self, node: Node, schema: dict[str, Any]) -> dict[str, Any]:
        """Judge each keyword by itself; returns those that are accepted and well formed."""
        sound: dict[str, Any] = {}
        forbidden = self._dialect.root.forbidden if node.parent is None else frozenset()
        for name, value in schema.items():
            asked = self._asked.get(name) or self._ask(name)
            rule, words, test, bounded = asked
            if name == "type" and self._dialect.type_case == "any":
                value = in_lower_case(value)
            if name in forbidden:
                self._say(node, name, rule="root-keyword", message=f"{name} may not stand at the root")
            elif rule.state is State.REJECTED:
                self._findings.keyword(node, "keyword-rejected", rule, f"{quoted(name)} is not accepted")
            elif test is not None and not test(value):
                self._say(node, name, rule="not-a-schema", message=f"{name} must be {words}, not {quoted(value)}")
            elif bounded and not admits(rule, value):
                self._findings.keyword(node, "value-rejected", rule, f"{name} may not be {quoted(value)}")
            else:
                sound[name] = value
        return sound

    def _ask(self, name: str) -> Asked:
        """What is asked of a keyword's value: its rule, the shape in words and as a test, and whether it is bounded."""
        rule = self._dialect.keyword(name)
        words, test = SHAPES.get(name, ("", None))
        if words == COUNT:
            test = _is_whole
        bounded = any(part is not None for part in (rule.values, rule.least, rule.most, rule.digits))
        if len(self._asked) < MOST_NAMES:
            self._asked[name] = (rule, words, test, bounded)
        return rule, words, test, bounded

    # types and literals

    def _type(self, node: Node, schema: dict[str, Any]) -> None:
        if self._dialect.untyped or node.parent is None or (not schema and self._dialect.empty_schemas):
            return
        said = not self._dialect.kinds.isdisjoint(schema)
        if not said and not (not self._dialect.typed_literals and ("enum" in schema or "const" in schema)):
            self._say(node, rule="type-missing", message="the schema must say its type")

    def _literals(self, node: Node, sound: dict[str, Any], declared: frozenset[str]) -> None:
        if sound.get("enum") == []:
            self._say(node, "enum", rule="empty-enum", message="enum is empty")
        met: set[str] = set()
        within = False
        for tokens, value in _literals(sound):
            types = literal_types(value)
            met.add("number" if "number" in types else next(iter(types)))
            if types.isdisjoint(self._dialect.literals):
                message = f"a literal may not be {quoted(value)}"
                self._say(node, *tokens, rule="literal-type", message=message)
            elif not types.isdisjoint(declared):
                within = True
            elif self._dialect.typed_literals:
                message = f"{quoted(value)} is not of the type beside it"
                self._say(node, *tokens, rule="literal-contradiction", message=message)
        if met and not within and not self._dialect.typed_literals and not met.isdisjoint(self._dialect.literals):
            self._say(node, rule="unsatisfiable", message="no literal is of the type beside it")
        if not self._dialect.mixed_literals and len(met - {"null"}) > 1:
            message = f"enum holds values of {len(met - {'null'})} JSON types"
            self._say(node, "enum", rule="literal-mixed", message=message)

    # objects and arrays

    def _object(self, node: Node, sound: dict[str, Any], schema: dict[str, Any]) -> None:
        dialect = self._dialect
        properties = sound.get("properties", {})
        closed = sound.get("additionalProperties") is False
        if not dialect.open_objects and not closed and self._may_close:
            tokens = ("additionalProperties",) if "additionalProperties" in schema else ()
            self._say(node, *tokens, rule="additional-open", message="an object must say additionalProperties: false")
        if dialect.properties_required and "properties" not in schema:
            self._say(node, rule="properties-missing", message="an object must say its properties")
        for name in properties:
            if breaks_name_rule(name, dialect.property_name):
                message = f"the name {quoted(name)} is not one that is taken"
                self._say(node, "properties", name, rule="property-name", message=message)
        by_default = dialect.additional_default == "closed" and "additionalProperties" not in schema
        known = closed or (by_default and bool(properties)) or dialect.required_declared
        self._required(node, sound, closed=known)
        self._patterns(node, sound)

    def _required(self, node: Node, sound: dict[str, Any], *, closed: bool) -> None:
        properties = sound.get("properties", {})
        required = dict.fromkeys(sound.get("required", ()))
        optional = [name for name in properties if name not in required]
        if self._dialect.optional == "null":
            for name in optional:
                message = f"{quoted(name)} must be in required"
                self._say(node, "properties", name, rule="required-missing", message=message)
        for name in required:
            if properties.get(name) is False and self._dialect.untyped:
                message = "false stands for a required property"
                self._say(node, "properties", name, rule="boolean-schema", message=message)
        if closed and "patternProperties" not in sound:
            for name in required:
                if name not in properties:
                    message = f"required names {quoted(name)}, which is no property"
                    self._say(node, "required", rule="required-unknown", message=message)
        counts = [name for name in ("minProperties", "maxProperties") if name in sound]
        if counts and optional and not self._dialect.counts_with_optional and sound.get("minProperties") != 0:
            message = f"{counts[0]} may not stand beside an optional property"
            self._say(node, counts[0], rule="counts-with-optional", message=message)
        if closed and "patternProperties" not in sound and sound.get("minProperties", 0) > len(properties):
            message = "minProperties is above the number of properties"
            self._say(node, "minProperties", rule="unsatisfiable", message=message)

    def _patterns(self, node: Node, sound: dict[str, Any]) -> None:
        patterns = sound.get("patternProperties", {})
        most = self._dialect.patterns
        if most is not None and len(patterns) > most:
            message = f"patternProperties has {len(patterns)} patterns, {most} at most are taken"
            self._say(node, "patternProperties", rule="patterns-many", message=message)
        for pattern in patterns:
            self._pattern(node, pattern, "patternProperties", pattern)

    def _array(self, node: Node, sound: dict[str, Any], schema: dict[str, Any]) -> None:
        if not self._dialect.untyped_items and "items" not in schema and "prefixItems" not in sound:
            self._say(node, rule="items-missing", message="an array must say its items")
        leading = sound.get("prefixItems")
        if leading is not None and sound.get("items") is False and sound.get("minItems", 0) > len(leading):
            message = "minItems is above the number of items"
            self._say(node, "minItems", rule="unsatisfiable", message=message)

    # text and numbers

    def _text(self, node: Node, sound: dict[str, Any]) -> None:
        name = sound.get("format")
        known = self._dialect.formats
        if name is not None and known is not None and name not in known and self._dialect.other_formats == "rejected":
            self._say(node, "format", rule="format-unknown", message=f"the format {quoted(name)} is not known")
        if "pattern" in sound:
            self._pattern(node, sound["pattern"], "pattern")

    def _pattern(self, node: Node, pattern: str, *tokens: str) -> None:
        if len(pattern) > MOST_PATTERN:
            message = f"the pattern has more than {MOST_PATTERN} characters"
            self._say(node, *tokens, rule="regex-construct", message=message)
            return
        for name, construct in self._constructs.items():
            if construct.search(pattern):
                message = f"the pattern uses {name.replace('_', ' ')}"
                self._say(node, *tokens, rule="regex-construct", message=message)
                return

    def _bounds(self, node: Node, sound: dict[str, Any]) -> None:
        for lower, upper, apart in BOUNDS:
            if lower in sound and upper in sound:
                low, high = sound[lower], sound[upper]
                if low > high or (apart and low == high):
                    message = f"{lower} leaves nothing below {upper}"
                    self._say(node, lower, rule="unsatisfiable", message=message)

    # references

    def _reference(self, node: Node, sound: dict[str, Any]) -> None:
        if node.keyword == "allOf" and not self._dialect.all_of_references:
            self._say(node, rule="all-of-reference", message="a branch of allOf may not be a $ref")
        for name in sound:
            if name != "$ref" and name not in self._dialect.reference_siblings:
                message = f"{quoted(name)} may not stand beside $ref"
                self._say(node, name, rule="reference-siblings", message=message)


def _is_object_or_reference(schema: Any) -> bool:
    return type(schema) is dict and (schema.get("type") == "object" or "$ref" in schema)


def _literals(sound: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The first literal of each kind that a schema holds, with its pointer tokens: one tells what they all are."""
    values = sound.get("enum", [])
    met: set[object] = set()
    for index, value in enumerate(
        values[:1] if len(set(map(type, values))) == 1 and type(values[0]) in (int, str) else values
    ):
        kind = (float, value.is_integer()) if isinstance(value, float) else type(value)
        if kind not in met:
            met.add(kind)
            yield ("enum", str(index)), value
    if "const" in sound:
        yield ("const",), sound["const"]


def _is_whole(value: Any) -> bool:
    """Whether a count is written as providers read it: JSON Schema takes ``2.0`` too, engines do not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
