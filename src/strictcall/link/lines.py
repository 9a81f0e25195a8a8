"""Where each key of a configuration file stands: what the parsers of the standard library do not say.

TOML 1.0 (https://toml.io/en/v1.0.0) and JSON (RFC 8259) are gone through a second time, after their own parser has
taken them: so only a text that is known to be right comes here, and nothing of it is judged again. YAML's parser says
where its nodes stand.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    import yaml

    Node = yaml.ScalarNode | yaml.SequenceNode | yaml.MappingNode

KeyPath = tuple[str | int, ...]
"""The keys and places in arrays that lead to a value."""
Lines = dict[KeyPath, int]
"""The line of each key and array element, counted from 1."""

MOST_LINES: Final = 100_000
"""How many parts of a YAML file are looked up: its aliases may come to far more than it has lines."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""(?:"{0,2})'
    r"|'''(?:[^']|'(?!''))*'''(?:'{0,2})"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"(?:\d{4}-\d\d-\d\d (?=\d))?[^\s,\]}#]+")


def lines_of_toml(text: str) -> Lines:
    """The line of everything that a valid TOML text says."""
    return _Scanner(text, _toml_text).document()


def lines_of_json(text: str) -> Lines:
    """The line of everything that a valid JSON text says."""
    scanner = _Scanner(text, json.loads)
    scanner.blank()
    scanner.value(())
    return scanner.lines


def lines_of_yaml(text: str) -> Lines:
    """The line of everything that the first document of a valid YAML text says."""
    import yaml  # noqa: PLC0415  an extra

    lines: Lines = {}
    root = next(iter(cast("Iterator[Node]", yaml.compose_all(text, yaml.SafeLoader))), None)
    if root is not None:
        _index_node(root, (), lines)
    return lines


def _index_node(node: Node, path: KeyPath, lines: Lines) -> None:
    if len(lines) >= MOST_LINES:
        return
    if node.id == "sequence":
        for place, item in enumerate(node.value):
            lines.setdefault((*path, place), item.start_mark.line + 1)
            _index_node(item, (*path, place), lines)
    elif node.id == "mapping":
        merged = [item for key, item in node.value if key.value == "<<"]
        for key, item in node.value:
            if key.value != "<<":
                lines.setdefault((*path, key.value), key.start_mark.line + 1)
                _index_node(item, (*path, key.value), lines)
        for part in merged:  # what the mapping says itself stands before what it takes from elsewhere
            for each in part.value if part.id == "sequence" else [part]:
                _index_node(each, path, lines)


def _toml_text(token: str) -> str:
    return str(tomllib.loads(f"text = {token}")["text"])


class _Scanner:
    """Goes through a valid text once. ``unquote`` reads a quoted key."""

    def __init__(self, text: str, unquote: Callable[[str], str]) -> None:
        self.lines: Lines = {}
        self._text = text
        self._unquote = unquote
        self._at = 0
        self._counted = 0
        self._line = 1
        self._tables: dict[KeyPath, int] = {}

    def document(self) -> Lines:
        """The lines of a TOML document."""
        table: KeyPath = ()
        self.blank()
        while self._at < len(self._text):
            if self._next() == "[":
                table = self._header()
            else:
                self._member(table)
            self.blank()
        return self.lines

    def blank(self) -> None:
        """Pass blanks and comments. JSON's comments have been taken out before."""
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def value(self, path: KeyPath) -> None:
        """Pass a value, and note what is in it."""
        opening = self._next()
        if opening == "{":
            self._several("}", lambda _: self._member(path))
        elif opening == "[":
            self._several("]", lambda place: self._element((*path, place)))
        else:
            self._take(_STRING if opening in "\"'" else _SCALAR)

    def _several(self, closing: str, one: Callable[[int], None]) -> None:
        self._at += 1
        place = 0
        self.blank()
        while self._next() != closing:
            one(place)
            place += 1
            self.blank()
            if self._next() == ",":
                self._at += 1
                self.blank()
        self._at += 1

    def _element(self, path: KeyPath) -> None:
        self._note(path)
        self.value(path)

    def _member(self, path: KeyPath) -> None:
        """A key with its value; a dotted key opens a table for each of its parts."""
        line = self._here()
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._at += 1  # the sign between key and value
        self.blank()
        self.value(path)

    def _header(self) -> KeyPath:
        """A table's header, or an array's: the path of what follows it."""
        line = self._here()
        several = self._text.startswith("[[", self._at)
        self._at += 2 if several else 1
        self.blank()
        path: KeyPath = ()
        parts = self._key()
        for number, part in enumerate(parts, start=1):
            path = (*path, part)
            last = number == len(parts)
            self.lines.setdefault(path, line)
            if last and several:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
                self.lines.setdefault(path, line)
            elif last:
                self.lines[path] = line  # a table that was opened by one below it has its own line here
        self._at += 2 if several else 1
        return path

    def _key(self) -> list[str]:
        parts = []
        while True:
            quoted = self._next() in "\"'"
            token = self._take(_STRING if quoted else _BARE_KEY)
            parts.append(self._unquote(token) if quoted else token)
            self.blank()
            if self._next() != ".":
                return parts
            self._at += 1
            self.blank()

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise AssertionError("a valid text is gone through from one token to the next")
        self._at = found.end()
        return found.group()

    def _note(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self._here())

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line
