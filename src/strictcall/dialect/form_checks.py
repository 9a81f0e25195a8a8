"""What the judge asks of how things are written, where a dialect is particular about it.

Each check is one question about one schema. A dialect that leaves something open is not asked about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from strictcall.dialect.document import Node
from strictcall.dialect.findings import Findings, quoted
from strictcall.dialect.loose_checks import breaks_name_rule
from strictcall.dialect.model import Dialect, NameRule
from strictcall.dialect.vocabulary import ABOUT, DEFINITIONS

Form = Callable[[Findings, Node, dict[str, Any]], None]
"""Notes what is wrong with a schema, given those of its keywords that are accepted and well formed."""
UNIONS = ("anyOf", "oneOf")
AT_THE_ROOT = DEFINITIONS | {"$id"}
CONTAINERS = frozenset({"array", "object"})
SOME_OBJECT = frozenset({"properties", "required", "additionalProperties", "patternProperties"})


def forms_of(dialect: Dialect) -> tuple[Form, ...]:
    """The checks that a dialect calls for."""
    wanted: dict[Form, bool] = {
        _conflicts: bool(dialect.conflicts),
        _type_list: dialect.type_lists != "any",
        _list_siblings: dialect.list_siblings is not None,
        _stray: not dialect.stray_keywords,
        _union_siblings: dialect.union_siblings is not None,
        _first_keys: dialect.first_keys == "distinct",
        _empty_literals: not dialect.empty_literals,
        _anchors: dialect.pattern_anchoring == "must",
        _empty_object: dialect.empty_objects != "anywhere",
        _required: dialect.required_always or dialect.some_required,
        _definitions: dialect.definitions_at == "root" or dialect.definition_name != NameRule(),
        _target: dialect.reference_targets != "any",
        _description: dialect.property_description_limit is not None,
    }
    return tuple(form for form, asked in wanted.items() if asked)


def _conflicts(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    for first, second in findings.dialect.conflicts:
        here, there = sorted(first & sound.keys()), sorted(second & sound.keys())
        if here and there:
            message = f"{here[0]} may not stand beside {there[0]}"
            findings.at(node, here[0], rule="keyword-conflict", message=message)


def _type_list(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    kinds = sound.get("type")
    if type(kinds) is not list:
        return
    if findings.dialect.type_lists == "none":
        findings.at(node, "type", rule="type-list", message="type must be one text, not a list")
    elif not CONTAINERS.isdisjoint(kinds):
        findings.at(node, "type", rule="type-list", message="a list in type may not name array or object")


def _list_siblings(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    siblings = findings.dialect.list_siblings
    if type(sound.get("type")) is list and siblings is not None:
        for name in sound.keys() - siblings - {"type"}:
            message = f"{quoted(name)} may not stand beside a list in type"
            findings.at(node, name, rule="list-siblings", message=message)


def _stray(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    kinds = sound.get("type")
    if type(kinds) is str:
        for name in sound:
            about = ABOUT.get(name)
            if about is not None and kinds not in about:
                message = f"{quoted(name)} says nothing about {kinds}"
                findings.at(node, name, rule="keyword-stray", message=message)


def _union_siblings(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    union = next((keyword for keyword in UNIONS if keyword in sound), None)
    siblings = findings.dialect.union_siblings
    if union is None or siblings is None:
        return
    for name in sound:
        if name not in siblings and name not in UNIONS and not (node.parent is None and name in AT_THE_ROOT):
            message = f"{quoted(name)} may not stand beside {union}"
            findings.at(node, name, rule="union-siblings", message=message)


def _first_keys(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    for union in UNIONS:
        met: set[str] = set()
        for index, branch in enumerate(sound.get(union, ())):
            properties = branch.get("properties") if type(branch) is dict else None
            first = next(iter(properties), None) if type(properties) is dict else None
            if first is not None and first in met:
                message = f"another branch begins with {quoted(first)} too"
                findings.at(node, union, str(index), rule="first-key-shared", message=message)
            elif first is not None:
                met.add(first)


def _empty_literals(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    for tokens, value in _literals(sound):
        if value == "":
            findings.at(node, *tokens, rule="literal-empty", message="a literal may not be the empty text")
            return


def _literals(sound: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for index, value in enumerate(sound.get("enum", ())):
        yield ("enum", str(index)), value
    if "const" in sound:
        yield ("const",), sound["const"]


def _anchors(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    pattern = sound.get("pattern")
    if pattern is not None and not (pattern.startswith("^") and pattern.endswith("$")):
        findings.at(node, "pattern", rule="pattern-unanchored", message="the pattern must begin with ^ and end with $")


def _empty_object(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    kinds = sound.get("type")
    names_object = "object" in kinds if type(kinds) is list else kinds == "object"
    if not names_object and SOME_OBJECT.isdisjoint(sound):
        return
    if node.parent is None and findings.dialect.empty_objects == "root":
        return
    declares = sound.get("properties") or sound.get("patternProperties") or sound.get("additionalProperties")
    if not declares and type(sound.get("additionalProperties")) is not dict:
        findings.at(node, rule="object-empty", message="an object must declare a property")


def _required(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    properties = sound.get("properties", {})
    is_object = "properties" in sound or sound.get("type") == "object"
    if is_object and findings.dialect.required_always and "required" not in sound:
        findings.at(node, rule="required-absent", message="an object must have required, if only an empty one")
    if findings.dialect.some_required and properties and not set(properties) & set(sound.get("required", ())):
        findings.at(node, rule="required-none", message="an object must require one of its properties")


def _definitions(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    for keyword in sorted(DEFINITIONS & sound.keys()):
        if node.parent is not None and findings.dialect.definitions_at == "root":
            message = f"{keyword} may stand at the root only"
            findings.at(node, keyword, rule="definitions-place", message=message)
        for name in sound[keyword]:
            if breaks_name_rule(name, findings.dialect.definition_name):
                message = f"the name {quoted(name)} is not one that is taken"
                findings.at(node, keyword, name, rule="definition-name", message=message)


def _target(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    reference = sound.get("$ref")
    if reference is None or (reference == "#" and findings.dialect.reference_targets == "definitions"):
        return
    if not reference.startswith(f"#/{findings.dialect.definitions}/"):
        message = f"a reference must begin with #/{findings.dialect.definitions}/"
        findings.at(node, "$ref", rule="reference-target", message=message)


def _description(findings: Findings, node: Node, sound: dict[str, Any]) -> None:
    most = findings.dialect.property_description_limit
    text = sound.get("description")
    if most is not None and text is not None and len(text) > most:
        message = f"the description has {len(text)} characters, {most} at most are taken"
        findings.at(node, "description", rule="description-long", message=message)
