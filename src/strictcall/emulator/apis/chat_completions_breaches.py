"""What OpenAI, and those who speak its Chat Completions, say to a request that breaks a rule of their dialect.

The wordings were read from published error reports; a rule whose wording is not known is told in the judge's words
within the same envelope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.dialect import load
from strictcall.dialect.model import Violation
from strictcall.emulator.apis.chat_completions_wording import pattern_broken, shown, too_long
from strictcall.emulator.apis.schema_place import Spot, spot
from strictcall.emulator.refusal import Breach, Refusal


def word(breach: Breach, dialect: str) -> Refusal:
    """What the provider whose dialect it is says to a breach of its rules."""
    refusal = _WORDED[breach.kind](breach, dialect)
    if dialect == "deepseek":
        # It names no parameter, and its code is the error's type.
        return Refusal(refusal.message, refusal.status, code="invalid_request_error")
    return refusal


def _schema(breach: Breach, dialect: str) -> Refusal:
    tool, violation = breach.tool, breach.violation
    if tool is None or violation is None:
        return Refusal("Invalid schema.", code="invalid_function_parameters")
    told = _told(tool.schema, violation, dialect, tool.schema_place, f"function '{tool.name}'", f"tool {tool.name}")
    return Refusal(told, param=tool.schema_place, code="invalid_function_parameters")


def _output(breach: Breach, dialect: str) -> Refusal:
    output, violation = breach.output, breach.violation
    if output is None or violation is None:
        return Refusal("Invalid schema for response_format.", param="response_format")
    told = _told(
        output.schema, violation, dialect, output.place, f"response_format '{output.name}'", f"output {output.name}"
    )
    return Refusal(told, param="response_format")


def _told(schema: Any, violation: Violation, dialect: str, place: str, subject: str, name: str) -> str:
    at = spot({} if schema is None else schema, violation.pointer)
    if dialect == "groq":
        pointer = "".join(f"/{token}" for token in at.tokens)
        return f"invalid JSON schema for {name}, {place}: {pointer}: {_phrase(violation)}"
    if dialect == "kimi":
        path = ".".join(at.tokens) or "root"
        phrase = _KIMI_PLACE.sub("", _phrase(violation))
        return (
            "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, "
            f"details: <At path '{path}': {phrase}>"
        )
    if dialect == "deepseek" and violation.rule == "root-not-object":
        return f"Invalid schema for {subject}: {_root_type(at, violation, null='null')}."
    told = _OPENAI_PHRASES.get(violation.rule) if dialect in _LIKE_OPENAI else None
    sentence = _in_context(at, _phrase(violation)) if told is None else told(at, violation)
    return f"Invalid schema for {subject}: {sentence}."


_KIMI_PLACE: Final = re.compile(r"^At path '[^']*': ")
_LIKE_OPENAI: Final = frozenset({"openai", "openai-finetuned", "azure-openai", "openrouter", "deepseek"})


def _phrase(violation: Violation) -> str:
    return (violation.phrase or violation.message).rstrip(".")


def _in_context(at: Spot, phrase: str, opening: str = "In context=") -> str:
    return f"{opening}{at.tokens!r}, {phrase}"


def _root_type(at: Spot, violation: Violation, null: str = '"None"') -> str:
    del violation
    kind = at.schema.get("type") if isinstance(at.schema, dict) else None
    given = null if kind is None else f'"{shown(kind)}"'
    return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {given}'"


def _root_keyword(at: Spot, violation: Violation) -> str:
    del at
    return f"schema {_phrase(violation).removeprefix('schema ')}"


def _required(at: Spot, tail: str) -> str:
    rule = "'required' is required to be supplied and to be an array including every key in properties"
    return _in_context(at, f"{rule}. {tail}")


def _required_missing(at: Spot, violation: Violation) -> str:
    # The judge points at the property; OpenAI at the object that it is a property of.
    tokens, name = (at.tokens[:-2], at.tokens[-1]) if not at.rest and at.tokens else (at.tokens, at.rest[-1])
    del violation
    return _required(Spot(tokens, (), None), f"Missing '{name}'")


def _required_unknown(at: Spot, violation: Violation) -> str:
    del violation
    declared = at.schema.get("properties", {}) if isinstance(at.schema, dict) else {}
    extra = [name for name in at.schema.get("required", []) if name not in declared]
    return _required(at, f"Extra required key '{shown(extra[0]) if extra else ''}' supplied")


def _additional(at: Spot, violation: Violation) -> str:
    tokens = at.tokens[:-1] if at.tokens and at.tokens[-1] == "additionalProperties" else at.tokens
    return _in_context(Spot(tokens, (), None), _phrase(violation))


def _keyword(at: Spot, violation: Violation) -> str:
    # A keyword that holds a schema is a schema's place too: the judge means the keyword.
    if at.keyword is None and at.tokens:
        at = Spot(at.tokens[:-1], at.tokens[-1:], None)
    del violation
    return _in_context(at, f"'{at.keyword}' is not permitted")


def _items(at: Spot, violation: Violation) -> str:
    # Where the type is a list, the array is one of its entries.
    kinds = at.schema.get("type") if isinstance(at.schema, dict) else None
    within = ("type", str(kinds.index("array"))) if isinstance(kinds, list) and "array" in kinds else ()
    return _in_context(Spot((*at.tokens, *within), (), None), _phrase(violation))


def _siblings(at: Spot, violation: Violation) -> str:
    del violation
    others = {name for name in at.schema if name != "$ref"} if isinstance(at.schema, dict) else set()
    return _in_context(at, f"$ref cannot have keywords {{{', '.join(map(repr, sorted(others)))}}}", "context=")


def _format(at: Spot, violation: Violation) -> str:
    del violation
    return _in_context(at, f"'{shown(at.value)}' is not a valid format")


def _not_a_schema(at: Spot, violation: Violation) -> str:
    wanted = _SHAPES.get(at.keyword or "")
    if wanted is None:
        return f"{shown(at.value, quote=True)} is not valid under any of the given schemas"
    del violation
    return f"{shown(at.value, quote=True)} is not of type '{wanted}'"


def _literal(at: Spot, violation: Violation) -> str:
    del violation
    given = shown(at.value, quote=True)
    return f"{given} is not valid under any of the given schemas. Please ensure it is a valid JSON Schema"


_SHAPES: Final = {
    **dict.fromkeys(("required", "enum", "anyOf", "oneOf", "allOf", "prefixItems"), "array"),
    **dict.fromkeys(("properties", "$defs", "definitions", "patternProperties"), "object"),
    **dict.fromkeys(("description", "title", "pattern", "format", "$ref", "$schema"), "string"),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), "integer"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    "uniqueItems": "boolean",
}
"""The type that JSON Schema gives the value of a keyword."""


def _ceiling(text: str) -> Callable[[Spot, Violation], str]:
    def told(at: Spot, violation: Violation) -> str:
        del at
        count, most = _counts(violation)
        return text.format(count=count, most=most)

    return told


def _counts(violation: Violation) -> tuple[int, int]:
    """How many there are and how many may be, as the judge's message has them."""
    numbers = [int(number) for number in re.findall(r"\d+", violation.message)]
    return (numbers[0], numbers[1]) if len(numbers) > 1 else (0, 0)


_OPENAI_PHRASES: Final[Mapping[str, Callable[[Spot, Violation], str]]] = {
    "root-not-object": _root_type,
    "root-keyword": _root_keyword,
    "required-missing": _required_missing,
    "required-unknown": _required_unknown,
    "additional-open": _additional,
    "keyword-rejected": _keyword,
    "items-missing": _items,
    "reference-siblings": _siblings,
    "format-unknown": _format,
    "not-a-schema": _not_a_schema,
    "literal-type": _literal,
    "limit-depth": _ceiling("{count} levels of nesting exceeds limit of {most}"),
    "limit-properties": _ceiling(
        "Expected at most {most} object properties in total within a single schema when using structured outputs, "
        "but got {count}"
    ),
    "limit-enum-values": _ceiling(
        "Expected at most {most} enum values in total within a single schema when using structured outputs, "
        "but got {count}. Consider reducing the number of enums, or use 'strict: false' to opt out of structured "
        "outputs"
    ),
}
"""How OpenAI words the breach of a rule, in full."""


def _tool_name(breach: Breach, dialect: str) -> Refusal:
    name = "" if breach.tool is None else breach.tool.name
    place = _place(breach, "name")
    rule = load(dialect).tool_name
    if not name:
        message = (
            f"Invalid '{place}': empty string. Expected a string with minimum length 1, "
            "but got an empty string instead."
        )
        return Refusal(message, param=place, code="empty_string")
    if rule.max_length is not None and len(name) > rule.max_length:
        return too_long(place, "string", rule.max_length, len(name))
    if name in rule.forbidden or rule.pattern is None:
        return Refusal(f"Invalid '{place}': {_violated(breach)}.", param=place, code="invalid_value")
    return pattern_broken(place, rule.pattern)


def _description(breach: Breach, dialect: str) -> Refusal:
    text = (breach.tool.description or "") if breach.tool is not None else ""
    return too_long(_place(breach, "description"), "string", load(dialect).description_limit or 0, len(text))


def _duplicate(breach: Breach, dialect: str) -> Refusal:
    del breach, dialect
    return Refusal("Tool names must be unique.", param="tools", code="invalid_value")


def _limit(breach: Breach, dialect: str) -> Refusal:
    del dialect
    violation = breach.violation
    if violation is not None and violation.rule == "limit-tools":
        count, most = _counts(violation)
        return too_long("tools", "array", most, count)
    return Refusal(f"Invalid 'tools': {_violated(breach)}.", param="tools", code="invalid_value")


def _parallel(breach: Breach, dialect: str) -> Refusal:
    del breach, dialect
    message = (
        "Invalid value for 'parallel_tool_calls': parallel function calls are not supported with structured outputs. "
        "Set 'parallel_tool_calls' to false."
    )
    return Refusal(message, param="parallel_tool_calls", code="invalid_value")


def _mixed(breach: Breach, dialect: str) -> Refusal:
    del dialect
    place = _place(breach, "strict")
    return Refusal(f"Invalid '{place}': when one function is strict, every function must be.", param=place)


def _strict_field(breach: Breach, dialect: str) -> Refusal:
    if dialect == "cohere":
        return Refusal("unknown field: parameter 'strict' is not a valid field")
    return Refusal(f"Unknown parameter: '{breach.field}'.", param=breach.field, code="unknown_parameter")


def _choice(breach: Breach, dialect: str) -> Refusal:
    del dialect
    if not breach.field:
        return Refusal("Tool choice 'required' must be specified with 'tools' parameter.", param="tool_choice")
    return Refusal("Tool choice 'function' not found in 'tools' parameter.", param="tool_choice")


def _unknown_field(breach: Breach, dialect: str) -> Refusal:
    if dialect == "mistral":
        return Refusal("Extra inputs are not permitted", 422, param=breach.field)
    return Refusal(f"Unrecognized request argument supplied: {breach.field}")


def _violated(breach: Breach) -> str:
    return "it breaks a rule" if breach.violation is None else _phrase(breach.violation)


def _place(breach: Breach, name: str) -> str:
    return "tools" if breach.tool is None else f"{breach.tool.place}.{name}"


_WORDED: Final[Mapping[str, Callable[[Breach, str], Refusal]]] = {
    "schema": _schema,
    "tool_name": _tool_name,
    "description": _description,
    "duplicate_name": _duplicate,
    "limit": _limit,
    "parallel": _parallel,
    "mixed_strict": _mixed,
    "strict_field": _strict_field,
    "choice": _choice,
    "output": _output,
    "unknown_field": _unknown_field,
}
