"""The rows: every hostile schema by name, large, deep and odd ones apart, and the dialects that each is run under.

A case that is large or deep takes its time, and little of what it does depends on the dialect: it is run under one, in
turn, unless all are asked for. The rest is run under each.
"""

from __future__ import annotations

from hostile import arguments
from hostile.schemas import (
    BOUNDS,
    DATA,
    IN_PLACE,
    MANY,
    NAMED,
    NUMBERS,
    OBJECTS,
    ODD_KEYS,
    ONE,
    PATTERNS,
    SURROGATE,
    WRONG,
    Build,
    bare_list,
    chain,
    chain_of,
    fan,
    in_data,
    in_many,
    in_named,
    in_one,
    loop,
    many_properties,
    nested_unions,
    objects_in_lists,
    one_property,
    placed,
    product,
    property_chain,
    ref,
    self_data,
    self_list,
    self_properties,
    self_root_list,
    shared_data,
    shared_objects,
)
from laws.contracts import KEYWORDS

DIALECTS = ("openai", "anthropic", "json_schema")
COSTLIEST = {
    "chain of properties": "anthropic",
    "shared objects": "anthropic",
    "product of allOf and oneOf": "anthropic",
    "nested unions": "json_schema",
    "deep items": "openai",
}
"""The dialect under which a case took the longest by far: there, and not in turn."""


def heavy() -> dict[str, Build]:
    """Cases that are large in themselves: each runs in a process of its own, so that its memory is its own."""
    cases: dict[str, Build] = {
        "100,000 strings": many_properties({"type": "string"}),
        "100,000 bounded numbers": many_properties({"type": "integer", "minimum": 1, "description": "d"}),
        "100,000 objects": many_properties({"type": "object", "properties": {"x": {"type": "string"}}}),
        "100,000 free values": many_properties({}),
        "100,000 maps": many_properties({"type": "object", "additionalProperties": {"type": "string"}}),
        "100,000 unions": many_properties({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        "100,000 required and undeclared": lambda: {"type": "object", "required": [f"p{n}" for n in range(100_000)]},
        "100,000 definitions": lambda: {
            "type": "object",
            "$defs": {f"d{n}": {"type": "string"} for n in range(100_000)},
        },
        "100,000 branches": one_property({"anyOf": [{"const": n} for n in range(100_000)]}),
        "20,000 object branches": one_property(
            {
                "oneOf": [
                    {"type": "object", "properties": {"k": {"const": str(n)}, "v": {}}, "required": ["k"]}
                    for n in range(20_000)
                ]
            }
        ),
        "100,000 in allOf": one_property({"allOf": [{"minimum": n} for n in range(100_000)]}),
        "20,000 patterns": lambda: {"type": "object", "patternProperties": {f"^p{n}": {} for n in range(20_000)}},
        "100,000 tuple members": one_property({"type": "array", "prefixItems": [{"type": "string"}] * 100_000}),
        "10 MB enum of texts": one_property({"enum": [f"{n:0>100}" for n in range(100_000)]}),
        "10 MB enum of numbers": one_property({"enum": list(range(1_200_000))}),
        "10 MB enum of objects": one_property({"enum": [{"a": [n, f"{n:0>80}"]} for n in range(80_000)]}),
        "10 MB text": one_property({"const": "x" * 10_000_000}),
        "10 MB description": one_property({"type": "string", "description": "x" * 10_000_000}),
        "10 MB name": lambda: {"type": "object", "properties": {"x" * 10_000_000: {"type": "string"}}},
        "10 MB pattern": one_property({"type": "string", "pattern": "x" * 10_000_000}),
        "10 MB reference": one_property({"$ref": "#/" + "a/" * 5_000_000}),
    }
    return cases


def deep() -> dict[str, Build]:
    """Cases that are small as text, but deep, or of which a careless walk makes exponentially many."""
    cases: dict[str, Build] = {}
    cases |= {f"deep {keyword}": in_one(keyword) for keyword in ONE}
    cases |= {f"deep {keyword} list": in_many(keyword) for keyword in MANY}
    cases |= {f"deep {keyword} names": in_named(keyword) for keyword in NAMED}
    cases |= {f"deep {keyword} data": in_data(keyword) for keyword in DATA}
    cases |= {f"chain of {keyword}": chain_of(make) for keyword, make in IN_PLACE.items()}
    cases |= {"deep objects and lists": objects_in_lists, "deep bare list": bare_list}
    cases |= {
        "fan of properties": fan(lambda to: {"type": "object", "properties": {"l": to, "r": to}}),
        "fan of allOf": fan(lambda to: {"allOf": [to, to]}),
        "fan of anyOf": fan(lambda to: {"anyOf": [to, to]}),
        "fan of oneOf": fan(lambda to: {"oneOf": [to, to, {"type": "null"}]}),
        "fan of tuples": fan(lambda to: {"type": "array", "prefixItems": [to, to]}),
        "fan of conditions": fan(lambda to: {"if": to, "then": to, "else": to}),
        "fan of not": fan(lambda to: {"not": {"anyOf": [to, to]}}),
        "fan of maps": fan(lambda to: {"type": "object", "additionalProperties": to, "patternProperties": {"^x": to}}),
        "fan of allOf and properties": fan(lambda to: {"allOf": [to, {"properties": {"y": to}}]}),
        "fan of dependent schemas": fan(lambda to: {"dependentSchemas": {"x": to, "y": to}}),
        "wide fan": fan(lambda to: {"type": "object", "properties": {f"p{n}": to for n in range(50)}}, levels=12),
        "product of allOf and anyOf": product("allOf", "anyOf"),
        "product of allOf and oneOf": product("allOf", "oneOf"),
        "product of anyOf and anyOf": product("anyOf", "anyOf"),
        "nested unions": nested_unions,
        "shared objects": shared_objects,
        "shared data": shared_data,
        "reference chain": chain,
        "property chain": property_chain,
    }
    return cases


def odd() -> dict[str, Build]:
    """Cases of small schemas: references that go in circles, what is no JSON, numbers and patterns without bounds."""
    cases: dict[str, Build] = {
        "loop of one": loop(ref(0)),
        "loop of three": loop(ref(1), ref(2), ref(0)),
        "loop in allOf": loop({"allOf": [ref(0), ref(1)]}, {"allOf": [ref(0)]}),
        "loop in anyOf": loop({"anyOf": [ref(1), {"type": "string"}]}, {"anyOf": [ref(0)]}),
        "loop in not": loop({"not": ref(0)}),
        "loop in if": loop({"if": ref(0), "then": ref(0), "else": ref(0)}),
        "loop in items": loop({"type": "array", "items": ref(0), "minItems": 1}),
        "loop of required": loop({"type": "object", "properties": {"n": ref(0)}, "required": ["n"]}),
        "loop through the root": loop({"$ref": "#"}),
        "root is its own reference": lambda: {"$ref": "#"},
        "reference to a reference": lambda: {"$ref": "#/$ref"},
        "reference into data": one_property({"$ref": "#/properties/a/enum/0", "enum": [{"$ref": "#"}]}),
        "reference to a list": one_property({"$ref": "#/required"}),
        "anchors that repeat": lambda: {
            "type": "object",
            "properties": {"a": {"$ref": "#x"}},
            "$defs": {"p": {"$anchor": "x"}, "q": {"$anchor": "x", "type": "string"}},
        },
        "ids that repeat": lambda: {
            "$id": "http://e.test/a",
            "type": "object",
            "properties": {"a": {"$ref": "b"}},
            "$defs": {"p": {"$id": "b"}, "q": {"$id": "b", "type": "string"}},
        },
        "dynamic references": lambda: {
            "$dynamicAnchor": "n",
            "type": "object",
            "properties": {"a": {"$dynamicRef": "#n"}, "b": {"$dynamicRef": "#nope"}},
        },
        "self in properties": self_properties,
        "self as root list": self_root_list,
    }
    cases |= {f"self in {keyword}": self_list(keyword) for keyword in ("anyOf", "allOf", "oneOf", "prefixItems")}
    cases |= {
        f"self in {keyword}": self_data(keyword) for keyword in ("enum", "const", "default", "examples", "required")
    }
    cases |= {f"{name} as {place}": build for name, make in OBJECTS.items() for place, build in placed(make)}
    for key in ODD_KEYS:
        cases[f"key {key!a} at the root"] = lambda key=key: {key: "object", "type": "object", "properties": {}}
        cases[f"key {key!a} as a name"] = lambda key=key: {"type": "object", "properties": {key: {"type": "string"}}}
        cases[f"key {key!a} required"] = lambda key=key: {"type": "object", "properties": {}, "required": [key]}
        cases[f"key {key!a} in data"] = one_property({"const": {key: 1}, "default": {key: 1}})
        cases[f"key {key!a} in definitions"] = lambda key=key: {"type": "object", "$defs": {key: {"type": "string"}}}
    for keyword in ("description", "title", "pattern", "$ref", "$id", "$schema", "$anchor", "format", "type", "const"):
        cases[f"surrogate in {keyword}"] = one_property({keyword: SURROGATE})
        cases[f"surrogate in {keyword} at the root"] = lambda keyword=keyword: {"type": "object", keyword: SURROGATE}
    for keyword in BOUNDS:
        for number, value in enumerate(NUMBERS):
            cases[f"{keyword} number {number}"] = one_property({keyword: value, "type": ["number", "string", "array"]})
    for number, pattern in enumerate(PATTERNS):
        cases[f"pattern {number}"] = one_property({"type": "string", "pattern": pattern})
        cases[f"name pattern {number}"] = lambda pattern=pattern: {"type": "object", "patternProperties": {pattern: {}}}
    return cases


def wrong(keywords: list[str]) -> dict[str, Build]:
    """Every keyword with a value of every wrong type, at the root and in a property."""
    cases: dict[str, Build] = {}
    for keyword in keywords:
        for number, value in enumerate(WRONG):
            cases[f"{keyword} wrong {number}"] = one_property({"type": "object", keyword: value})
            cases[f"{keyword} wrong {number} alone"] = lambda keyword=keyword, value=value: {keyword: value}
    return cases


KINDS = ("heavy", "deep", "odd", "wrong", "arguments")


def rows(kind: str) -> dict[str, Build] | dict[str, arguments.Hostile]:
    """The cases of a kind by name."""
    if kind == "arguments":
        return arguments.CASES
    return {"heavy": heavy, "deep": deep, "odd": odd, "wrong": lambda: wrong(KEYWORDS)}[kind]()


def runs(kind: str, *, everywhere: bool) -> list[tuple[str, str]]:
    """Name and dialect of each run, in order; ``everywhere`` has the costly cases under every dialect too."""
    found: list[tuple[str, str]] = []
    for number, (name, case) in enumerate(rows(kind).items()):
        costly = case.large if isinstance(case, arguments.Hostile) else kind in ("heavy", "deep")
        one = COSTLIEST.get(name, DIALECTS[number % len(DIALECTS)])
        found += [(name, dialect) for dialect in DIALECTS if everywhere or not costly or dialect == one]
    return found
