"""What the judge asks of each schema of a tool that is not strict."""

from __future__ import annotations

import re
from typing import Any

from strictcall.dialect.document import Node
from strictcall.dialect.findings import Findings, quoted
from strictcall.dialect.model import NameRule
from strictcall.dialect.vocabulary import REST, SHAPES, literal_types

KINDS = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "const", "enum", "if", "items", "not", "oneOf", "properties", "type"}
)
"""A property that has one of these says what kind of value it is."""

LITERALS = frozenset({"const", "enum"})


def breaks_name_rule(name: str, rule: NameRule) -> bool:
    """Whether a name is not as the rule wants it."""
    if (rule.max_length is not None and len(name) > rule.max_length) or name in rule.forbidden:
        return True
    return rule.pattern is not None and re.fullmatch(rule.pattern, name) is None


class LooseChecks:
    """The dialect's baseline, asked of one schema at a time."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._dialect = findings.dialect
        self._baseline = findings.dialect.baseline

    def node(self, node: Node) -> None:
        """Judge one schema, without those within it."""
        schema = node.value
        if isinstance(schema, bool):
            self._boolean(node)
        elif type(schema) is dict:
            if node.parent is None:
                self._root(node, schema)
            self._schema(node, schema)
        elif self._baseline.well_formed:
            self._findings.at(node, rule="not-a-schema", message=f"{quoted(schema)} is not a schema")

    def _boolean(self, node: Node) -> None:
        if node.parent is None and self._baseline.object_root:
            self._findings.at(node, rule="root-not-object", message="the root must say type: object")
        elif not self._baseline.boolean_schemas and node.keyword not in REST:
            message = f"{str(node.value).lower()} stands for a schema"
            self._findings.at(node, rule="boolean-schema", message=message)

    def _root(self, node: Node, schema: dict[str, Any]) -> None:
        if self._baseline.object_root and schema.get("type") != "object":
            self._findings.at(node, rule="root-not-object", message="the root must say type: object")
        for keyword in sorted(self._baseline.forbidden_root & schema.keys()):
            self._findings.at(node, keyword, rule="root-keyword", message=f"{keyword} may not stand at the root")
        if self._baseline.root_keywords:
            for keyword in sorted(schema.keys() - self._baseline.root_keywords):
                message = f"{quoted(keyword)} may not stand at the root"
                self._findings.at(node, keyword, rule="root-keyword", message=message)
        if self._baseline.properties_required and "properties" not in schema:
            self._findings.at(node, rule="properties-missing", message="the root must say its properties")

    def _schema(self, node: Node, schema: dict[str, Any]) -> None:
        if self._baseline.well_formed:
            for keyword, value in schema.items():
                shape = SHAPES.get(keyword)
                if shape is not None and not shape[1](value):
                    message = f"{keyword} must be {shape[0]}, not {quoted(value)}"
                    self._findings.at(node, keyword, rule="not-a-schema", message=message)
        for keyword in sorted(self._baseline.forbidden & schema.keys()):
            self._findings.keyword(
                node, "keyword-rejected", self._dialect.keyword(keyword), f"{keyword} is not accepted"
            )
        if self._baseline.required_needs_properties and "required" in schema and "properties" not in schema:
            self._findings.at(node, rule="properties-missing", message="required stands without properties")
        kinds = schema.get("type")
        is_array = kinds == "array" or (type(kinds) is list and "array" in kinds)
        if self._baseline.items_required and is_array and "items" not in schema:
            self._findings.at(node, rule="items-missing", message="an array must say its items")
        telling = self._dialect.kinds | LITERALS if self._baseline.typed_schemas else KINDS
        asked = self._baseline.typed_schemas or (self._baseline.typed_properties and node.keyword == "properties")
        if asked and not telling & schema.keys():
            self._findings.at(node, rule="type-missing", message="the schema must say its type")
        if self._baseline.literals:
            self._literals(node, schema)
        if self._baseline.property_names and type(schema.get("properties")) is dict:
            for name in schema["properties"]:
                if breaks_name_rule(name, self._dialect.property_name):
                    message = f"the name {quoted(name)} is not one that is taken"
                    self._findings.at(node, "properties", name, rule="property-name", message=message)

    def _literals(self, node: Node, schema: dict[str, Any]) -> None:
        values = schema.get("enum")
        for index, value in enumerate(values if type(values) is list else []):
            if literal_types(value).isdisjoint(self._dialect.literals):
                message = f"a literal may not be {quoted(value)}"
                self._findings.at(node, "enum", str(index), rule="literal-type", message=message)
                return
