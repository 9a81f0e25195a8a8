"""Sharing: equal parts of a written schema, written once among its definitions."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, Final

from strictcall.dialect.model import Dialect
from strictcall.json_value import compact, unescape

LEAST_CHARACTERS: Final = 60
"""Parts shorter than this are not worth a definition."""


def share(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """The same schema with each object or enum that occurs several times as a definition, the largest first.

    Nothing changes in what it admits. A dialect without references gets it back as it was.
    """
    if not dialect.references:
        return schema
    texts: dict[int, str] = {}
    times = Counter(_texts(schema, texts))
    repeated = {text for text, count in times.items() if count > 1 and len(text) >= LEAST_CHARACTERS}
    if not repeated:
        return schema
    known = schema.get(dialect.definitions, {})
    sharing = _Sharing(repeated, texts, f"#/{dialect.definitions}/", set(known))
    written = {key: sharing.below(value, key) for key, value in schema.items() if key != dialect.definitions}
    kept = {name: sharing.inside(node) for name, node in known.items()}
    definitions = _in_order_of_use(written, {**kept, **sharing.definitions}, f"#/{dialect.definitions}/")
    return {**written, dialect.definitions: definitions}


def _in_order_of_use(root: Any, definitions: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Definitions in the order in which the root, and then they themselves, first refer to them: as all are written."""
    ordered: dict[str, Any] = {}
    waiting: deque[Any] = deque([root])
    while waiting:
        for target in _references(waiting.popleft()):
            name = unescape(target.removeprefix(prefix)) if target.startswith(prefix) else ""
            if name in definitions and name not in ordered:
                ordered[name] = definitions[name]
                waiting.append(definitions[name])
    return {**ordered, **definitions}


def _references(node: Any) -> Iterator[str]:
    """The targets of all references in a part of a schema, in document order."""
    if type(node) is list:
        for item in node:
            yield from _references(item)
    elif type(node) is dict:
        if type(node.get("$ref")) is str:
            yield node["$ref"]
        for item in node.values():
            yield from _references(item)


def _texts(node: Any, texts: dict[int, str]) -> list[str]:
    """The text of each schema below the root that says an object or an enum; ``texts`` keeps them by identity."""
    found: list[str] = []
    pending = list(node.values()) if type(node) is dict else []
    while pending:
        part = pending.pop()
        if type(part) is list:
            pending.extend(part)
        elif type(part) is dict:
            if _is_shareable(part):
                texts[id(part)] = compact(part)
                found.append(texts[id(part)])
            pending.extend(part.values())
    return found


def _is_shareable(node: dict[str, Any]) -> bool:
    if node.get("type") == "object" and type(node.get("properties")) is dict:
        return bool(node["properties"])
    return type(node.get("enum")) is list and "type" in node


class _Sharing:
    """One rewriting. ``definitions`` are those that it added."""

    def __init__(self, repeated: set[str], texts: dict[int, str], prefix: str, taken: set[str]) -> None:
        self.definitions: dict[str, Any] = {}
        self._repeated = repeated
        self._texts = texts
        self._prefix = prefix
        self._taken = taken
        self._names: dict[str, str] = {}

    def below(self, value: Any, name: str) -> Any:
        """A part of the schema, or the reference that stands for it; ``name`` is the key that it stands under."""
        if type(value) is list:
            return [self.below(item, name) for item in value]
        if type(value) is not dict:
            return value
        text = self._texts.get(id(value))
        if text not in self._repeated:
            return self.inside(value)
        if text not in self._names:
            self._names[text] = self._free_name(name)
            self.definitions[self._names[text]] = None  # keeps its place before those that it refers to
            self.definitions[self._names[text]] = self.inside(value)
        return {"$ref": self._prefix + self._names[text]}

    def inside(self, node: dict[str, Any]) -> dict[str, Any]:
        """A node with its own parts shared."""
        return {key: self.below(item, key) for key, item in node.items()}

    def _free_name(self, name: str) -> str:
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name) or "part"
        free, number = stem, 2
        while free in self._taken:
            free, number = f"{stem}_{number}", number + 1
        self._taken.add(free)
        return free
