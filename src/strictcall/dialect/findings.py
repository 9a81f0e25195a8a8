"""Collecting violations, bounded in number and size."""

from __future__ import annotations

from strictcall.dialect.document import Node
from strictcall.dialect.model import Dialect, Keyword, Violation

MOST_VIOLATIONS = 1_000
MOST_CHARACTERS = 1_000_000
"""Judging stops when the pointers of the violations found are this long together: a schema nested a hundred thousand
levels deep has a pointer as long as itself at every level."""
MOST_QUOTED = 80


class Findings:
    """The violations found in one schema; ``full`` says that enough were found.

    What the dialect's provider passes over in silence is noted only with ``silent``.
    """

    def __init__(self, dialect: Dialect, *, silent: bool = False) -> None:
        self.dialect = dialect
        self._unsaid = frozenset() if silent else dialect.silent
        self.violations: list[Violation] = []
        self._characters = 0

    @property
    def full(self) -> bool:
        """Whether no further violation is taken."""
        return len(self.violations) >= MOST_VIOLATIONS or self._characters >= MOST_CHARACTERS

    def add(self, pointer: str, rule: str, message: str, phrase: str | None = None, source: str | None = None) -> None:
        """Note a violation; its phrase and source are those of the rule where none are given."""
        if self.full or rule in self._unsaid:
            return
        wording = self.dialect.rules.get(rule)
        if wording is not None:
            phrase = phrase or wording.phrase
            source = source or wording.source
        told = None if source is None else self.dialect.sources.get(source)
        self.violations.append(Violation(pointer, rule, message, phrase, None if told is None else told.url))
        self._characters += len(pointer)

    def at(self, node: Node, *tokens: str, rule: str, message: str) -> None:
        """Note a violation at a place below a schema."""
        if not self.full and rule not in self._unsaid:
            self.add(node.pointer(*tokens), rule, message)

    def keyword(self, node: Node, rule: str, keyword: Keyword, message: str) -> None:
        """Note a violation by a keyword, in the words that the dialect has for it."""
        if not self.full:
            self.add(node.pointer(keyword.name), rule, message, keyword.phrase, keyword.source)


def quoted(text: object) -> str:
    """A name or value for a message, cut to a few characters."""
    if isinstance(text, int) and not isinstance(text, bool) and text.bit_length() > 256:
        return "a huge integer"
    if type(text) in (dict, list):
        return "an object" if type(text) is dict else "a list"
    shown = repr(text)
    return shown if len(shown) <= MOST_QUOTED else shown[: MOST_QUOTED - 1] + "…"
