"""JSON Schema drafts: where subschemas sit, and how a node of each draft reads in the words of 2020-12."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

IN_VALUE: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""
IN_ARRAY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords whose value is a list of schemas (``items`` in drafts before 2020-12)."""
IN_MAP: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords whose value maps names to schemas."""

TYPE_NAMES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
ANNOTATION_TYPES: Final[Mapping[str, type]] = {
    "title": str,
    "description": str,
    "$comment": str,
    "format": str,
    "contentEncoding": str,
    "contentMediaType": str,
    "examples": list,
    "deprecated": bool,
    "readOnly": bool,
    "writeOnly": bool,
}
"""The type of value that each annotation has."""

View = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft: the short ``name`` used in options, its metaschema's ``uri``, the validator class of ``jsonschema_rs``,
    and ``view``, which gives one node's keywords in the words of 2020-12 (only the node's own level is rewritten).
    """

    name: str
    uri: str
    validator: str
    view: View


def _split_items(node: dict[str, Any]) -> None:
    """``items`` as a list, with ``additionalItems``, is what ``prefixItems`` and ``items`` are in 2020-12."""
    if isinstance(node.get("items"), list):
        node["prefixItems"] = node.pop("items")
        if "additionalItems" in node:
            node["items"] = node["additionalItems"]
    node.pop("additionalItems", None)


def split_dependencies(node: dict[str, Any]) -> None:
    """``dependencies`` became ``dependentRequired`` and ``dependentSchemas`` in 2019-09."""
    found = node.pop("dependencies", None)
    if not found:
        return
    required = {name: item for name, item in found.items() if isinstance(item, list)}
    schemas = {name: item for name, item in found.items() if not isinstance(item, list)}
    if required:
        node["dependentRequired"] = {**node.get("dependentRequired", {}), **required}
    if schemas:
        node["dependentSchemas"] = {**node.get("dependentSchemas", {}), **schemas}


def boolean_bounds(node: dict[str, Any]) -> None:
    """Draft 4's ``exclusiveMinimum: true`` makes ``minimum`` exclusive."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(node.get(exclusive), bool) and node.pop(exclusive) and bound in node:
            node[exclusive] = node.pop(bound)


_SINCE_2019: Final = (
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependentRequired",
    "dependentSchemas",
    "minContains",
    "maxContains",
    "$recursiveRef",
)
_SINCE_2020: Final = ("prefixItems", "$dynamicRef")
_SINCE_6: Final = ("const", "contains", "propertyNames")


def _without(node: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        node.pop(name, None)


def _view_2020(node: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$recursiveRef" not in node:
        return node
    return {name: value for name, value in node.items() if name != "$recursiveRef"}


def _reads_alike(node: Mapping[str, Any], special: frozenset[str]) -> bool:
    """Whether a node of an older draft has nothing that 2020-12 reads otherwise: nearly every node."""
    return special.isdisjoint(node) and type(node.get("items")) is not list


_SPECIAL_2019: Final = frozenset({*_SINCE_2020, "additionalItems"})
_SPECIAL_7: Final = _SPECIAL_2019 | {*_SINCE_2019, "$ref", "dependencies"}
_SPECIAL_6: Final = _SPECIAL_7 | {"if", "then", "else"}
_SPECIAL_4: Final = _SPECIAL_6 | {*_SINCE_6, "exclusiveMinimum", "exclusiveMaximum"}


def _view_2019(node: Mapping[str, Any]) -> Mapping[str, Any]:
    if _reads_alike(node, _SPECIAL_2019):
        return node
    view = dict(node)
    _without(view, _SINCE_2020)
    _split_items(view)
    return view


def _view_7(node: Mapping[str, Any]) -> Mapping[str, Any]:
    if _reads_alike(node, _SPECIAL_7):
        return node
    if "$ref" in node:
        # Drafts up to 7 ignore every keyword beside a reference; annotations are kept for the model to read.
        return {name: node[name] for name in ("$ref", "title", "description") if name in node}
    view = dict(node)
    _without(view, _SINCE_2020 + _SINCE_2019)
    _split_items(view)
    split_dependencies(view)
    return view


def _view_6(node: Mapping[str, Any]) -> Mapping[str, Any]:
    if _reads_alike(node, _SPECIAL_6):
        return node
    view = dict(_view_7(node))
    _without(view, ("if", "then", "else"))
    return view


def _view_4(node: Mapping[str, Any]) -> Mapping[str, Any]:
    if _reads_alike(node, _SPECIAL_4):
        return node
    view = dict(_view_6(node))
    _without(view, _SINCE_6)
    boolean_bounds(view)
    return view


DRAFTS: Final[Mapping[str, Draft]] = {
    draft.name: draft
    for draft in (
        Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", "Draft202012Validator", _view_2020),
        Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", "Draft201909Validator", _view_2019),
        Draft("7", "http://json-schema.org/draft-07/schema", "Draft7Validator", _view_7),
        Draft("6", "http://json-schema.org/draft-06/schema", "Draft6Validator", _view_6),
        Draft("4", "http://json-schema.org/draft-04/schema", "Draft4Validator", _view_4),
    )
}
"""Every draft that is read, by its short name."""

_BY_URI: Final = {draft.uri.split("://")[1]: draft for draft in DRAFTS.values()}


def detect(schema: Any, default: str) -> Draft | None:
    """The draft that ``$schema`` names, ``default`` where it is absent, ``None`` where it names another dialect."""
    declared = schema.get("$schema") if type(schema) is dict else None
    if declared is None:
        return DRAFTS[default]
    if type(declared) is not str:
        return None
    return _BY_URI.get(declared.partition("#")[0].rstrip("/").partition("://")[2])
