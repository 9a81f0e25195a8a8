"""What Anthropic says to a request that breaks a rule of its dialect.

The wordings were read from published error reports. A rule whose wording is not known is told in the judge's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.dialect import load
from strictcall.dialect.model import Violation
from strictcall.emulator.apis.messages_wording import at, extra
from strictcall.emulator.apis.schema_place import Spot, spot
from strictcall.emulator.conversation import OfferedTool
from strictcall.emulator.refusal import Breach, Refusal

NAME: Final = "^[a-zA-Z0-9_-]{1,128}$"
_ABOVE: Final = re.compile(r"(\d+), (\d+) at most")
_WHOLE: Final = "Schema is too complex for compilation"


def word(breach: Breach, dialect: str) -> Refusal:
    """What Anthropic says to a breach."""
    return _WORDED[breach.kind](breach, dialect)


# --- schemas ----------------------------------------------------------------------------------------------------------


def _schema(breach: Breach, dialect: str) -> Refusal:
    del dialect
    tool, violation = _tool(breach), _violation(breach)
    return _of_schema(tool.schema, violation, tool.place, tool.schema_place)


def _output(breach: Breach, dialect: str) -> Refusal:
    del dialect
    output, violation = breach.output, _violation(breach)
    if output is None:
        raise ValueError(breach)
    return _of_schema(output.schema, violation, output.place, output.place)


def _of_schema(schema: Any, violation: Violation, place: str, schema_place: str) -> Refusal:
    if violation.rule.startswith("limit-") or violation.rule == "too-large":
        return Refusal(violation.phrase or _WHOLE)
    found = spot(schema, violation.pointer)
    own = _AT_ROOT.get(violation.rule)
    if own is not None:
        return own(found, violation, schema_place)
    told = _STRICT.get(violation.rule)
    return at(place, _known(violation) if told is None else told(found, violation))


def _known(violation: Violation) -> str:
    return violation.phrase or violation.message


def _root_not_object(found: Spot, violation: Violation, place: str) -> Refusal:
    if not isinstance(found.schema, dict):
        return _boolean(found, violation, place)
    said = found.schema.get("type") is not None
    return at(f"{place}.type", "Input should be 'object'" if said else "Field required")


def _root_keyword(found: Spot, violation: Violation, place: str) -> Refusal:
    del found
    return at(place, _known(violation))


def _boolean(found: Spot, violation: Violation, place: str) -> Refusal:
    del violation
    if found.tokens:
        return _invalid_schema(place)
    return at(place, "Input does not match the expected shape.")


def _not_a_schema(found: Spot, violation: Violation, place: str) -> Refusal:
    if found.rest or found.tokens or isinstance(found.schema, dict):
        return _invalid_schema(place)
    return _boolean(found, violation, place)


def _invalid_schema(place: str) -> Refusal:
    return at(
        place,
        "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). "
        "Learn more about tool use at https://docs.claude.com/en/docs/tool-use.",
    )


def _property_name(found: Spot, violation: Violation, place: str) -> Refusal:
    inside = "".join(f".{token}" for token in found.tokens[:-1])
    return at(f"{place}{inside}", _known(violation))


_AT_ROOT: Final[Mapping[str, Callable[[Spot, Violation, str], Refusal]]] = {
    "root-not-object": _root_not_object,
    "root-keyword": _root_keyword,
    "boolean-schema": _boolean,
    "not-a-schema": _not_a_schema,
    "not-json": _not_a_schema,
    "property-name": _property_name,
}
"""Rules that hold for every tool: they are told of the schema, and not of the tool."""


def _keyword(found: Spot, violation: Violation) -> str:
    """A keyword that is not taken: where the schema says its type, all such keywords of that type are named."""
    name = violation.pointer.rpartition("/")[2]
    node = found.schema if found.rest else None
    kind = node.get("type") if isinstance(node, dict) else None
    if not isinstance(node, dict) or not isinstance(kind, str) or name not in _OF_TYPE:
        return violation.phrase or f"property '{name}' is not supported"
    beside = sorted(word for word in node if word in _OF_TYPE)
    if len(beside) == 1:
        return f"For '{kind}' type, property '{name}' is not supported"
    return f"For '{kind}' type, properties {', '.join(beside)} are not supported"


_OF_TYPE: Final = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
        "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems", "patternProperties",
        "propertyNames", "minProperties", "maxProperties",
    }
)  # fmt: skip
"""Keywords that are told together with the type that they constrain."""


def _open(found: Spot, violation: Violation) -> str:
    del violation
    node = found.schema if isinstance(found.schema, dict) else {}
    if found.tokens[-1:] == ("additionalProperties",) and not found.rest:
        given = "true" if found.schema is True else "object"
    elif "additionalProperties" not in node:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    else:
        given = "true" if node["additionalProperties"] is True else "object"
    return (
        f"For 'object' type, 'additionalProperties: {given}' is not supported. "
        "Please set 'additionalProperties' to false"
    )


def _value(found: Spot, violation: Violation) -> str:
    node = found.schema if isinstance(found.schema, dict) else {}
    if found.keyword != "minItems":
        return _known(violation)
    most = node.get("maxItems", "∞")
    return (
        f"For 'array' type, 'minItems' values other than 0 or 1 are not supported (got: [{node['minItems']}, {most}])"
    )


def _untyped(found: Spot, violation: Violation) -> str:
    if found.schema == {}:
        return "Empty schema ({}) that accepts any JSON value is not supported."
    return _known(violation)


_STRICT: Final[Mapping[str, Callable[[Spot, Violation], str]]] = {
    "keyword-rejected": _keyword,
    "additional-open": _open,
    "value-rejected": _value,
    "type-missing": _untyped,
}
"""How Anthropic words the breach of a rule of strict schemas, in full."""


# --- the request ------------------------------------------------------------------------------------------------------


def _limit(breach: Breach, dialect: str) -> Refusal:
    del dialect
    violation = _violation(breach)
    found = _ABOVE.search(violation.message)
    sentence = _LIMITS.get(violation.rule)
    if found is None or sentence is None:
        return Refusal(_known(violation))
    return Refusal(sentence.format(given=found[1], most=found[2]))


_LIMITS: Final = {
    "limit-strict-tools": "Too many strict tools ({given}). The maximum number of strict tools supported is {most}. "
    "Try reducing the number of tools marked as strict.",
    "limit-optional": "Schemas contains too many optional parameters ({given}), which would make grammar compilation "
    "inefficient. Reduce the number of optional parameters in your tool schemas (limit: {most}).",
    "limit-unions": "Schemas contains too many parameters with union types ({given} parameters with type arrays or "
    "anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters "
    "(limit: {most} parameters with unions).",
}


def _tool_name(breach: Breach, dialect: str) -> Refusal:
    tool, violation = _tool(breach), _violation(breach)
    place = f"{tool.place}.name"
    if not tool.name:
        return at(place, "String should have at least 1 character")
    pattern = load(dialect).tool_name.pattern
    return at(place, violation.phrase or f"String should match pattern '{pattern or NAME}'")


def _description(breach: Breach, dialect: str) -> Refusal:
    most = load(dialect).description_limit
    return at(f"{_tool(breach).place}.description", f"String should have at most {most} characters")


def _duplicate(breach: Breach, dialect: str) -> Refusal:
    del breach, dialect
    return at("tools", "Tool names must be unique.")


def _parallel(breach: Breach, dialect: str) -> Refusal:
    del breach, dialect
    return at("tool_choice", "`disable_parallel_tool_use` must be true when a tool is strict")


def _mixed(breach: Breach, dialect: str) -> Refusal:
    del dialect
    return at(f"{_tool(breach).place}.strict", "either all tools or none may be strict")


def _field(breach: Breach, dialect: str) -> Refusal:
    del dialect
    return extra(breach.field)


def _choice(breach: Breach, dialect: str) -> Refusal:
    del dialect
    if not breach.field:
        return Refusal("tool_choice.any may only be specified while providing tools")
    return Refusal(f"Tool '{breach.field}' not found in provided tools")


def _tool(breach: Breach) -> OfferedTool:
    if breach.tool is None:
        raise ValueError(breach)
    return breach.tool


def _violation(breach: Breach) -> Violation:
    if breach.violation is None:
        raise ValueError(breach)
    return breach.violation


_WORDED: Final[Mapping[str, Callable[[Breach, str], Refusal]]] = {
    "schema": _schema,
    "tool_name": _tool_name,
    "description": _description,
    "duplicate_name": _duplicate,
    "limit": _limit,
    "parallel": _parallel,
    "mixed_strict": _mixed,
    "strict_field": _field,
    "choice": _choice,
    "output": _output,
    "unknown_field": _field,
}
