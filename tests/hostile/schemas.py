"""Hostile schemas: a name and a function that builds one, in the process that runs it, for many cannot be pickled."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import types
from collections import ChainMap, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

Build = Callable[[], Any]

DEPTH = 10_000
ONE = (
    "items",
    "additionalItems",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "x-own",
    "$ref",
)
MANY = ("anyOf", "oneOf", "allOf", "prefixItems", "items", "type", "extends")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
DATA = ("enum", "const", "default", "examples", "description", "required", "x-own", "discriminator")


def in_one(keyword: str) -> Build:
    def build() -> Any:
        schema: Any = {"type": "string"}
        for _ in range(DEPTH):
            schema = {keyword: schema}
        return {"type": "object", "properties": {"a": schema}}

    return build


def in_many(keyword: str) -> Build:
    def build() -> Any:
        schema: Any = {"type": "string"}
        for _ in range(DEPTH):
            schema = {keyword: [schema]}
        return {"type": "object", "properties": {"a": schema}}

    return build


def in_named(keyword: str) -> Build:
    def build() -> Any:
        schema: Any = {"type": "string"}
        for _ in range(DEPTH):
            schema = {"type": "object", keyword: {"a": schema}}
        return schema

    return build


def in_data(keyword: str) -> Build:
    def build() -> Any:
        value: Any = 1
        for level in range(DEPTH):
            value = [value] if level % 2 else {"a": value}
        return {"type": "object", "properties": {"a": {keyword: [value]}}}

    return build


def objects_in_lists() -> Any:
    schema: Any = {"type": "string"}
    for level in range(DEPTH):
        if level % 2:
            schema = {"type": "array", "items": schema}
        else:
            schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return {"type": "object", "properties": {"a": schema}}


def bare_list() -> Any:
    value: Any = []
    for _ in range(DEPTH):
        value = [value]
    return value


def fan(make: Callable[[Any], Any], levels: int = 24) -> Build:
    """2 to the power of ``levels`` paths through one short schema."""

    def build() -> Any:
        definitions = {f"d{level}": make({"$ref": f"#/$defs/d{level + 1}"}) for level in range(levels)}
        definitions[f"d{levels}"] = {"type": "object", "properties": {"x": {"type": "string"}}}
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}

    return build


def product(outer: str, inner: str, width: int = 24) -> Build:
    """Unions that multiply when they are merged."""

    def build() -> Any:
        unions = [
            {inner: [{"properties": {f"p{level}": {"type": kind}}} for kind in ("string", "integer")]}
            for level in range(width)
        ]
        return {"type": "object", outer: unions}

    return build


def nested_unions() -> Any:
    schema: Any = {"type": "string"}
    for level in range(24):
        schema = {"anyOf": [schema, {"type": "object", "properties": {f"p{level}": schema}}, {"type": "null"}]}
    return {"type": "object", "properties": {"a": schema}}


def shared_objects() -> Any:
    """One Python object in 2^24 places, without any ``$ref``."""
    schema: Any = {"type": "string"}
    for _ in range(24):
        schema = {"type": "object", "properties": {"l": schema, "r": schema}}
    return schema


def shared_data() -> Any:
    value: Any = ["x"]
    for _ in range(24):
        value = [value, value]
    return {"type": "object", "properties": {"a": {"enum": value}, "b": {"const": value, "default": value}}}


def chain(length: int = DEPTH) -> Any:
    definitions: dict[str, Any] = {f"d{link}": {"$ref": f"#/$defs/d{link + 1}"} for link in range(length)}
    definitions[f"d{length}"] = {"type": "string"}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def property_chain() -> Any:
    definitions: dict[str, Any] = {
        f"d{link}": {"type": "object", "properties": {"n": {"$ref": f"#/$defs/d{link + 1}"}}} for link in range(DEPTH)
    }
    definitions[f"d{DEPTH}"] = {"type": "string"}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "anyOf": lambda to: {"anyOf": [to, {"type": "null"}]},
    "oneOf": lambda to: {"oneOf": [to]},
    "allOf": lambda to: {"allOf": [to, {"minProperties": 0}]},
    "not": lambda to: {"not": to},
    "if": lambda to: {"if": to, "then": True},
    "dependentSchemas": lambda to: {"dependentSchemas": {"a": to}},
    "properties": lambda to: {"type": "object", "properties": {"n": to}},
    "items": lambda to: {"type": "array", "items": to},
    "description": lambda to: {**to, "description": "d"},
}


def chain_of(make: Callable[[Any], Any], length: int = 4_000) -> Build:
    """A long chain of references, each inside a keyword that looks at the same value or one below it."""

    def build() -> Any:
        definitions: dict[str, Any] = {f"d{link}": make({"$ref": f"#/$defs/d{link + 1}"}) for link in range(length)}
        definitions[f"d{length}"] = {"type": "string"}
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}

    return build


def loop(*links: Any) -> Build:
    def build() -> Any:
        definitions = {f"d{place}": link for place, link in enumerate(links)}
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}

    return build


def ref(number: int) -> dict[str, Any]:
    return {"$ref": f"#/$defs/d{number}"}


def many_properties(each: Any, count: int = 100_000) -> Build:
    return lambda: {"type": "object", "properties": {f"p{number}": each for number in range(count)}}


def one_property(schema: Any) -> Build:
    return lambda: {"type": "object", "properties": {"a": schema}}


def self_properties() -> Any:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["a"] = schema
    return schema


def self_list(keyword: str) -> Build:
    def build() -> Any:
        schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
        schema[keyword] = [schema]
        return schema

    return build


def self_data(keyword: str) -> Build:
    def build() -> Any:
        value: list[Any] = ["x"]
        value.append(value)
        return {"type": "object", "properties": {"a": {"type": "string", keyword: value}}}

    return build


def self_root_list() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


class Raising(dict[str, Any]):
    """A dict whose every question ends in an error of its own."""

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError

    def items(self) -> Any:
        raise ZeroDivisionError

    def __getitem__(self, _key: str) -> Any:
        raise ZeroDivisionError

    def get(self, *_arguments: Any) -> Any:
        raise ZeroDivisionError


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = str.__hash__


class Colour(enum.StrEnum):
    RED = "red"


OBJECTS: dict[str, Build] = {
    "object": object,
    "set": lambda: {"type"},
    "tuple": lambda: ({"type": "string"},),
    "bytes": lambda: b"{}",
    "decimal": lambda: decimal.Decimal("1.5"),
    "date": lambda: dt.date(2024, 1, 1),
    "class": lambda: dict,
    "function": lambda: len,
    "module": lambda: math,
    "generator": lambda: (item for item in ()),
    "enum member": lambda: Colour.RED,
    "complex": lambda: 1j,
    "ellipsis": lambda: ...,
    "mapping proxy": lambda: types.MappingProxyType({"type": "string"}),
    "chain map": lambda: ChainMap({"type": "string"}),
    "ordered dict": lambda: OrderedDict(type="string"),
    "default dict": lambda: defaultdict(dict, {"type": "string"}),
    "raising dict": lambda: Raising(type="string"),
    "raising text": lambda: Text("string"),
    "nan": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "huge": lambda: 10**5000,
}


def placed(make: Build) -> Iterator[tuple[str, Build]]:
    """A strange object at every place in which a schema may hold something."""
    yield "root", make
    yield "property", lambda: {"type": "object", "properties": {"a": make()}}
    yield "properties", lambda: {"type": "object", "properties": make()}
    yield "type", lambda: {"type": make(), "properties": {"a": {"type": make()}}}
    yield "enum", lambda: {"type": "object", "properties": {"a": {"enum": [make(), "x"]}}}
    yield "const", lambda: {"type": "object", "properties": {"a": {"const": make()}}}
    yield "default", lambda: {"type": "object", "properties": {"a": {"type": "string", "default": make()}}}
    yield "description", lambda: {"type": "object", "description": make(), "properties": {}}
    yield "bound", lambda: {"type": "object", "properties": {"a": {"minimum": make(), "maxLength": make()}}}
    yield "required", lambda: {"type": "object", "required": [make()], "properties": {}}
    yield "annotation", lambda: {"type": "object", "x-own": make(), "properties": {"a": {"type": "string"}}}
    yield "branch", lambda: {"type": "object", "anyOf": [make(), {"required": ["a"]}]}


SURROGATE = "\ud800"
ODD_KEYS: list[Any] = [1, None, True, 1.5, (1, 2), b"type", frozenset(), Colour.RED, SURROGATE, "\x00", "", "\u202e"]
NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, 10**5000, -(10**5000), 10**400, 1e308, 5e-324, 0, -1, -0.0, 1e-320]
BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "const",
    "default",
)
PATTERNS = [
    "(a+)+$",
    "(a|a)*$",
    "((x{1000}){1000}){1000}",
    "(" * 5000 + ")" * 5000,
    "a" * 1_000_000,
    "[",
    "(?<=a+)b",
    r"\p{Nope}",
    "(?P<n>a)(?P=n)",
    "^" * 100_000,
    SURROGATE,
    "\x00",
    "|".join("abcdefgh" * 4000),
]
WRONG: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    "x",
    "",
    "#",
    [],
    [1],
    [None],
    [[]],
    ["a", "a"],
    [{}],
    {},
    {"a": 1},
    {"a": None},
    {"a": []},
    {"": {"": ""}},
]
