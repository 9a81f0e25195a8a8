"""Building a ``Dialect`` from a TOML table, every key and value checked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from strictcall.dialect.model import (
    Baseline,
    Dialect,
    Keyword,
    Limit,
    NameRule,
    RootRule,
    Source,
    State,
    Tagged,
    Target,
    Wording,
)
from strictcall.dialect.rules import RULES
from strictcall.errors import DialectError

TYPES = ("string", "number", "boolean", "null", "array", "object")
MEASURES = (
    "properties",
    "depth",
    "object_depth",
    "json_depth",
    "optional",
    "unions",
    "union_branches",
    "item_bounds",
    "enum_values",
    "longest_enum",
    "name_characters",
    "longest_enum_characters",
    "characters",
    "bytes",
)
"""The measures that a limit may name; ``strictcall.dialect.measure`` says what each counts."""
REQUEST_MEASURES = (*MEASURES, "strict_tools", "tools")

T = TypeVar("T")


def build(name: str, table: Mapping[str, Any], target: Target = "tool") -> Dialect:
    """A dialect from its table, parents and what differs for the target already laid over each other.

    Raises ``DialectError`` naming the key that is unknown, missing or has a value that it does not take.
    """
    return _Builder(name).dialect(table, target)


class _Builder:
    """Checks each value at its place; ``self.name`` is the dialect's, for the error."""

    def __init__(self, name: str) -> None:
        self.name = name

    def dialect(self, table: Mapping[str, Any], target: Target) -> Dialect:
        fields = [field.name for field in dataclasses.fields(Dialect) if field.name not in ("name", "target")]
        self.keys("", table, fields, ["title"])
        sources = self.entries("sources", table, lambda place, value: self.record(place, value, Source))
        known = sources.keys()
        built: dict[str, Any] = {
            "sources": sources,
            "keywords": self.entries("keywords", table, lambda place, value: self.keyword(place, value, known)),
            "rules": self.entries("rules", table, lambda place, value: self.wording(place, value, known)),
            "regex_forbidden": self.entries("regex_forbidden", table, self.expression),
            "limits": self.limits(table.get("limits", {}), known),
            "tagged": self.tagged(table.get("tagged", {"format": "none"}), known),
        }
        for key, value in table.items():
            if key not in built:
                built[key] = self.field(key, value)
        return Dialect(name=self.name, target=target, **built)

    def field(self, key: str, value: Any) -> Any:
        """A field of the dialect that is no table of entries."""
        match key:
            case "root":
                return self.record(key, value, RootRule)
            case "baseline":
                return self.record(key, value, Baseline)
            case "tool_name" | "property_name" | "definition_name":
                return self.name_rule(key, value)
            case "formats":
                return None if value == "any" else self.texts(key, value)
            case "literals":
                return self.texts(key, value, TYPES)
            case "silent":
                return self.texts(key, value, tuple(RULES))
            case "conflicts":
                return self.conflicts(key, value)
            case _:
                return self.plain(key, value, get_type_hints(Dialect)[key])

    def plain(self, place: str, value: Any, hint: Any) -> Any:
        """A value checked against the type that the model declares for it."""
        if isinstance(hint, UnionType) or get_origin(hint) is Union:
            return self.either(place, value, get_args(hint))
        if hint is bool:
            return self.choice(place, value, (True, False))
        if hint is int:
            return self.whole(place, value)
        if hint is State:
            return State(self.choice(place, value, [state.value for state in State]))
        if get_origin(hint) is Literal:
            return self.choice(place, value, get_args(hint))
        if get_origin(hint) is frozenset:
            return self.texts(place, value)
        return self.text(place, value)

    def either(self, place: str, value: Any, hints: tuple[Any, ...]) -> Any:
        """A value of one type or another: no ceiling is written ``false``, and no list of what is taken ``"any"``."""
        if type(None) in hints:
            nothing: Any = False if int in hints else "any"
            return None if value == nothing and type(value) is type(nothing) else self.plain(place, value, hints[0])
        if isinstance(value, bool):
            return value
        named = [item for hint in hints if get_origin(hint) is Literal for item in get_args(hint)]
        return self.choice(place, value, (True, False, *named)) if named else self.text(place, value)

    def record(self, place: str, value: Any, kind: type[T]) -> T:
        hints = get_type_hints(kind)
        fields = dataclasses.fields(cast("Any", kind))
        needed = [field.name for field in fields if field.default is dataclasses.MISSING]
        table = self.keys(place, value, [field.name for field in fields], needed)
        return kind(**{key: self.plain(f"{place}.{key}", item, hints[key]) for key, item in table.items()})

    def entries(self, key: str, table: Mapping[str, Any], read: Callable[[str, Any], T]) -> Mapping[str, T]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "must be a table")
        return MappingProxyType({name: read(f"{key}.{name}", item) for name, item in value.items()})

    def keyword(self, place: str, value: Any, sources: Iterable[str]) -> Keyword:
        allowed = ["state", "values", "least", "most", "digits", "held_most", "phrase", "source"]
        table = dict(self.keys(place, value, allowed, ["state", "source"]))
        state = State(self.choice(f"{place}.state", table.pop("state"), [state.value for state in State]))
        if "values" in table:
            table["values"] = self.scalars(f"{place}.values", table["values"])
        for key in ("least", "most", "held_most"):
            if key in table and (isinstance(table[key], bool) or not isinstance(table[key], int | float)):
                raise self.error(f"{place}.{key}", "must be a number")
        if "digits" in table:
            self.whole(f"{place}.digits", table["digits"])
        self.sourced(place, table, sources)
        return Keyword(place.partition(".")[2], state, **table)

    def wording(self, place: str, value: Any, sources: Iterable[str]) -> Wording:
        rule = place.partition(".")[2]
        if rule not in RULES:
            raise self.error(place, f"no such rule; rules are {', '.join(sorted(RULES))}")
        table = self.keys(place, value, ["phrase", "source"], ["source"])
        self.sourced(place, table, sources)
        return Wording(**table)

    def tagged(self, value: Any, sources: Iterable[str]) -> Tagged:
        table = self.keys("tagged", value, ["format", "source"], ["format"])
        form = self.text("tagged.format", table["format"])
        if form == "none":
            return Tagged()
        self.keys("tagged", value, ["format", "source"], ["source"])
        self.sourced("tagged", table, sources)
        return Tagged(form, table["source"])

    def limits(self, value: Any, sources: Iterable[str]) -> tuple[Limit, ...]:
        found: list[Limit] = []
        for per, group in self.keys("limits", value, ["tool", "request"], []).items():
            measures = MEASURES if per == "tool" else REQUEST_MEASURES
            for name, entry in self.keys(f"limits.{per}", group, measures, []).items():
                place = f"limits.{per}.{name}"
                table = dict(self.keys(place, entry, ["most", "phrase", "source"], ["most", "source"]))
                most = self.whole(f"{place}.most", table.pop("most"))
                self.sourced(place, table, sources)
                found.append(Limit(name, most, cast("Literal['tool', 'request']", per), **table))
        return tuple(found)

    def name_rule(self, place: str, value: Any) -> NameRule:
        table = self.keys(place, value, ["pattern", "max_length", "forbidden"], [])
        pattern = table.get("pattern", False)
        longest = table.get("max_length", False)
        return NameRule(
            None if pattern is False else self.expression(f"{place}.pattern", pattern),
            None if longest is False else self.whole(f"{place}.max_length", longest),
            self.texts(f"{place}.forbidden", table.get("forbidden", [])),
        )

    def conflicts(self, place: str, value: Any) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            raise self.error(place, "must be a list of pairs of lists of keywords")
        return tuple((self.texts(place, first), self.texts(place, second)) for first, second in value)

    # single values

    def keys(self, place: str, value: Any, allowed: Iterable[str], needed: Iterable[str]) -> Mapping[str, Any]:
        allowed = list(allowed)
        if not isinstance(value, Mapping):
            raise self.error(place, f"must be a table of {', '.join(allowed)}")
        for key in value:
            if key not in allowed:
                raise self.error(f"{place}.{key}".lstrip("."), f"unknown key; known are {', '.join(allowed)}")
        for key in needed:
            if key not in value:
                raise self.error(f"{place}.{key}".lstrip("."), "missing")
        return value

    def sourced(self, place: str, table: Mapping[str, Any], sources: Iterable[str]) -> None:
        self.choice(f"{place}.source", table["source"], sorted(sources))
        if "phrase" in table:
            self.text(f"{place}.phrase", table["phrase"])

    def choice(self, place: str, value: Any, allowed: Iterable[T]) -> T:
        for item in allowed:
            if type(item) is type(value) and item == value:
                return item
        raise self.error(place, f"{value!r} is not one of {', '.join(map(repr, allowed))}")

    def text(self, place: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self.error(place, f"{value!r} is not a text")
        return value

    def texts(self, place: str, value: Any, allowed: Iterable[str] | None = None) -> frozenset[str]:
        if not isinstance(value, list):
            raise self.error(place, f"{value!r} is not a list of texts")
        for item in value:
            self.text(place, item)
            if allowed is not None:
                self.choice(place, item, allowed)
        return frozenset(value)

    def scalars(self, place: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str | int | float) for item in value):
            raise self.error(place, "must be a list of texts, numbers and booleans")
        return tuple(value)

    def whole(self, place: str, value: Any) -> int:
        if type(value) is not int or value < 0:
            raise self.error(place, f"{value!r} is not a whole number")
        return value

    def expression(self, place: str, value: Any) -> str:
        try:
            re.compile(self.text(place, value))
        except re.error as problem:
            raise self.error(place, f"not a regular expression: {problem}") from problem
        return cast("str", value)

    def error(self, place: str, problem: str) -> DialectError:
        return DialectError(self.name, f"{place}: {problem}")
