"""Natural values of any schema: a walk that asks first what the user named, and then fills what is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from strictcall.emulator.sensible.lists import (
    MISSING,
    MOST_ITEMS,
    columns,
    distinct,
    entries,
    enumerated,
    example_entry,
    is_entry,
    mentioned,
    rows,
    typed,
)  # fmt: skip
from strictcall.emulator.sensible.numbers import number
from strictcall.emulator.sensible.schema import Schema, is_json_text, items_of, may_be_null, properties_of, required_of
from strictcall.emulator.sensible.spoken import Field, Spoken, named
from strictcall.emulator.sensible.strings import kind_wanted, string
from strictcall.emulator.sensible.words import known, split, stems

MOST_NODES: Final = 20_000
MOST_NEEDED: Final = 1_000
"""How many items an array may need."""
MOST_ASKED: Final = 3_000
"""How many places are looked at for what the user named."""
MOST_LEVELS: Final = 60
MOST_ASKED_LEVELS: Final = 8
_ALTERNATIVES: Final = 12
_SPARE_NAMES: Final = ("name", "note", "kind", "state", "owner")
_SIMPLEST: Final = ("integer", "number", "string", "boolean", "array", "object")


class TooMuch(Exception):
    """A schema is too large or too deep for a natural value."""


class Writer:
    """Makes one value of one schema.

    ``sampled(node)`` gives any text that a schema of a text lets in, for patterns that no natural text fits.
    """

    def __init__(self, schema: Schema, spoken: Spoken, sampled: Callable[[dict[str, Any]], str | None]) -> None:
        self.schema = schema
        self.spoken = spoken
        self.sampled = sampled
        self.nodes = 0
        self.active: Counter[str] = Counter()

    def value(self, node: Any, wanted: Field, level: int = 0, *, needed: bool) -> Any:
        """A value, or ``MISSING`` where none is needed and the user named none. Raises ``TooMuch``."""
        self.nodes += 1
        if self.nodes > MOST_NODES or level > MOST_LEVELS:
            raise TooMuch
        if not needed and (self.nodes > MOST_ASKED or level > MOST_ASKED_LEVELS):
            return MISSING
        plain, followed = self.schema.plain(node)
        if not needed and any(self.active[reference] for reference in followed):
            return MISSING
        if any(self.active[reference] > MOST_LEVELS // 4 for reference in followed):
            raise TooMuch
        self.active.update(followed)
        try:
            return self._of_plain(plain, wanted, level, needed=needed)
        finally:
            self.active.subtract(followed)

    def _of_plain(self, node: dict[str, Any], wanted: Field, level: int, *, needed: bool) -> Any:
        if "const" in node:
            return node["const"] if needed else MISSING
        if isinstance(node.get("enum"), list) and node["enum"]:
            return self._member(node, wanted, needed=needed)
        branches = self.schema.branches(node)
        if branches:
            return self._union(branches, wanted, level, needed=needed)
        kind = node.get("type")
        if kind == "object":
            return self._object(node, wanted, level, needed=needed)
        if kind == "array":
            return self._array(node, wanted, level, needed=needed)
        return self._scalar(node, wanted, needed=needed)

    def _scalar(self, node: dict[str, Any], wanted: Field, *, needed: bool) -> Any:
        kind = node.get("type")
        if kind == "null":
            return None if needed else MISSING
        if kind == "boolean":
            return self._boolean(node, wanted, needed=needed)
        if kind in ("integer", "number"):
            found: Any = number(node, wanted, self.spoken, needed=needed)
        else:
            found = string(node, wanted, self.spoken, needed=needed)
            if found is None and needed:
                found = self.sampled(node)
                if found is None:
                    raise TooMuch
        return MISSING if found is None else found

    def _boolean(self, node: dict[str, Any], wanted: Field, *, needed: bool) -> Any:
        own = stems(wanted.words) - known().verbs
        prompt = self.spoken.prompt
        if own and own <= prompt.stems:
            return not own & prompt.negated
        if not needed:
            return MISSING
        default = node.get("default")
        return default if isinstance(default, bool) else bool({"enabled", "active", "confirm"} & {*wanted.words})

    def _member(self, node: dict[str, Any], wanted: Field, *, needed: bool) -> Any:
        members = node["enum"]
        found = list(mentioned(members, wanted, self.spoken))
        if found:
            best = max(found, key=lambda pair: (wanted.nearness(pair[1]), len(str(pair[0])), -pair[1].start))
            self.spoken.use(best[1])
            return best[0]
        if not needed:
            return MISSING
        examples = node.get("examples")
        for value in (node.get("default"), *(examples if isinstance(examples, list) else ())):
            if value is not None and value in members:
                return value
        return next((member for member in members if member not in (None, "")), members[0])

    def _union(self, branches: list[Any], wanted: Field, level: int, *, needed: bool) -> Any:
        real = [branch for branch in branches if not self.schema.is_null(branch)]
        if not real:
            return None if needed else MISSING
        ordered = sorted(real[: 4 * _ALTERNATIVES], key=self._preference)[:_ALTERNATIVES]
        for branch in ordered:
            found = self.value(branch, wanted, level + 1, needed=False)
            if found is not MISSING:
                return found
        if not needed:
            return MISSING
        if len(real) < len(branches) and level > MOST_LEVELS // 3:
            return None
        for branch in ordered:
            try:
                return self.value(branch, wanted, level + 1, needed=True)
            except TooMuch:
                if self.nodes > MOST_NODES:
                    raise
        raise TooMuch

    def _preference(self, branch: Any) -> tuple[int, int]:
        plain, followed = self.schema.plain(branch)
        kind = plain.get("type")
        again = any(self.active[reference] for reference in followed)
        simplest = _SIMPLEST.index(kind) if kind in _SIMPLEST else len(_SIMPLEST)
        return 10 * again - self._relevance(plain), simplest

    def _relevance(self, plain: dict[str, Any]) -> int:
        """How many of a record's own names and literals the prompt has."""
        said = self.spoken.prompt.stems
        found = 0
        for name, child in list(properties_of(plain).items())[:40]:
            found += bool(stems(split(name)) & said)
            literals = child.get("enum", [child.get("const")]) if isinstance(child, dict) else []
            for literal in literals[:40] if isinstance(literals, list) else ():
                found += 2 * bool(isinstance(literal, str) and stems(split(literal)) & said)
        return min(found, 9)

    def _object(self, node: dict[str, Any], wanted: Field, level: int, *, needed: bool) -> Any:
        properties = properties_of(node)
        required = required_of(node)
        about = wanted.words[-2:] if wanted.words not in ((), ("value",)) else wanted.about
        fields = {name: _field(name, child, about, wanted, properties) for name, child in properties.items()}
        must = [name for name in properties if name in required and not may_be_null(self.schema, properties[name])]
        found: dict[str, Any] = {}
        first = frozenset(must)
        for name in (*must, *(name for name in properties if name not in first)):
            value = self.value(properties[name], fields[name], level + 1, needed=False)
            if value is not MISSING:
                found[name] = value
        extra = self._entries(node, wanted, level) if not properties else {}
        if not found and not extra and not needed:
            return MISSING
        if level == 0 and not found:
            must.extend(self._main_text(properties, fields))
        for name in must:
            if name not in found:
                found[name] = self.value(properties[name], fields[name], level + 1, needed=True)
        return self._assembled(node, wanted, found, extra, level)

    def _main_text(self, properties: dict[str, Any], fields: dict[str, Field]) -> list[str]:
        """The first property that is for the user's own words: a call that carries nothing would be a strange one."""
        kinds = known().kinds
        for name, child in list(properties.items())[:200]:
            plain, _ = self.schema.plain(child)
            kind = kind_wanted(plain, fields[name])
            if kind == "query" and kinds[kind].free and _takes_text(self.schema, plain):
                return [name]
        return []

    def _assembled(
        self, node: dict[str, Any], wanted: Field, found: dict[str, Any], extra: dict[str, Any], level: int
    ) -> dict[str, Any]:
        """The record in the schema's order, with null where a property must be there and has no value."""
        properties = properties_of(node)
        required = required_of(node)
        ordered = {name: found.get(name) for name in properties if name in found or name in required}
        ordered.update(extra)
        additional = node.get("additionalProperties", True)
        for name in required:
            if name not in ordered:
                child = additional if additional is not False else {}
                ordered[name] = self.value(child, named(name, "", wanted.words), level + 1, needed=True)
        least = _count(node.get("minProperties"), 0)
        spare = {} if additional is False else dict.fromkeys(_SPARE_NAMES, additional)
        for name, child in {**properties, **{name: spare[name] for name in spare if name not in properties}}.items():
            if len(ordered) < least and name not in ordered:
                ordered[name] = self.value(child, named(name), level + 1, needed=True)
        return ordered

    def _entries(self, node: dict[str, Any], wanted: Field, level: int) -> dict[str, Any]:
        """The entries of a map: the pairs that the user named."""
        additional = node.get("additionalProperties", True)
        patterns = node.get("patternProperties")
        if additional is False and not (isinstance(patterns, dict) and patterns):
            return {}
        child = next(iter(patterns.values())) if isinstance(patterns, dict) and patterns else additional
        return entries(self.schema, child, self.spoken)

    def _array(self, node: dict[str, Any], wanted: Field, level: int, *, needed: bool) -> Any:
        least, most = _count(node.get("minItems"), 0), min(_count(node.get("maxItems"), MOST_ITEMS), MOST_ITEMS)
        first = node.get("prefixItems")
        if isinstance(first, list) and first:
            return self._tuple(first, node, wanted, level, needed=needed)
        child = items_of(node)
        plain, _ = self.schema.plain(child)
        made = self._listed(child, wanted, level, most)
        if not made and not needed:
            return MISSING
        if not made and is_entry(plain):
            made, wish = self._example(plain, wanted, level), least
        else:
            usual = 3 if columns(self.schema, plain) else 1
            wish = max(least, min(most, 0 if made or any(self.active.values()) else usual))
        if wish > MOST_NEEDED:
            raise TooMuch
        while len(made) < wish:
            made.append(self.value(child, wanted, level + 1, needed=True))
        return distinct(made) if node.get("uniqueItems") is True else made

    def _tuple(self, first: list[Any], node: dict[str, Any], wanted: Field, level: int, *, needed: bool) -> Any:
        items = [Field(wanted.words, wanted.description, wanted.about, index) for index in range(len(first))]
        found = [
            self.value(child, item, level + 1, needed=False) for child, item in zip(first[:100], items, strict=False)
        ]
        if not needed and all(value is MISSING for value in found):
            return MISSING
        found = [
            self.value(child, item, level + 1, needed=True) if value is MISSING else value
            for value, child, item in zip(found, first, items, strict=False)
        ]
        least = node.get("minItems")
        while isinstance(least, int) and len(found) < least:
            found.append(self.value(items_of(node), wanted, level + 1, needed=True))
        return found

    def _listed(self, child: Any, wanted: Field, level: int, most: int) -> list[Any]:
        """The items that the user named."""
        plain, _ = self.schema.plain(child)
        if is_entry(plain):
            found = entries(self.schema, properties_of(plain)["value"], self.spoken)
            return [_entry(plain, key, value) for key, value in found.items()][:most]
        if isinstance(plain.get("enum"), list):
            return distinct([member for member, _ in mentioned(plain["enum"], wanted, self.spoken)])[:most]
        made = rows(self.schema, plain, self.spoken)
        if plain.get("type") == "string" and "pattern" not in plain and not is_json_text(plain):
            made = list(enumerated(wanted, self.spoken))
        return made[:most] or self._repeated(child, plain, wanted, level, most)

    def _repeated(self, child: Any, plain: dict[str, Any], wanted: Field, level: int, most: int) -> list[Any]:
        """Items as long as the prompt has something new for one more."""
        made: list[Any] = []
        while len(made) < most:
            used = len(self.spoken.used)
            value = self._next(child, plain, wanted, level)
            if value is MISSING or (made and len(self.spoken.used) == used):
                break
            made.append(value)
        return made

    def _next(self, child: Any, plain: dict[str, Any], wanted: Field, level: int) -> Any:
        if plain.get("type") in ("integer", "number"):
            mention = self.spoken.any(("number",), wanted)
            value = typed(self.schema, plain, self.spoken.use(mention)) if mention else MISSING
            return int(value) if isinstance(value, float) and plain["type"] == "integer" else value
        return self.value(child, wanted, level + 1, needed=False)

    def _example(self, plain: dict[str, Any], wanted: Field, level: int) -> list[Any]:
        """The entry that the description gives as an example."""
        example = example_entry(wanted)
        if example is None:
            return []
        inner = properties_of(plain)["value"]
        value = typed(self.schema, inner, example[1]) if example[1] else MISSING
        if value is MISSING:
            value = self.value(inner, Field(("value",), "", wanted.words), level + 1, needed=True)
        return [_entry(plain, example[0], value)]


def _entry(plain: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A map's entry as a record, its properties in the schema's order."""
    return {name: {"key": key, "value": value}[name] for name in properties_of(plain)}


def _field(name: str, child: Any, about: tuple[str, ...], parent: Field, siblings: dict[str, Any]) -> Field:
    description = child.get("description", "") if isinstance(child, dict) else ""
    words = split(name)
    if words == ("value",) and len(siblings) == 1:
        return Field(parent.words, parent.description, parent.about)
    if words[:1] == ("item",) and len(words) == 2 and words[1].isdigit():
        text = f"{parent.description} {description}".strip()
        return Field(parent.words, text, parent.about, int(words[1]))
    return named(name, description, about)


def _count(bound: Any, otherwise: int) -> int:
    return bound if isinstance(bound, int) and bound >= 0 else otherwise


def _takes_text(schema: Schema, plain: dict[str, Any]) -> bool:
    kinds = [schema.plain(branch)[0].get("type") for branch in schema.branches(plain)] or [plain.get("type")]
    return "string" in kinds and "enum" not in plain
