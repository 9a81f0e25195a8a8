"""Which changes count: codes that are selected or ignored, as in a linter."""

from __future__ import annotations

from dataclasses import dataclass

from strictcall.change import Change, Effect, Verdict, verdict_of
from strictcall.wire.codes import CODES
from strictcall.wire.compiled import CompiledTool

LOOSE = Verdict.LOOSE.value
WORDS = (*CODES, *(effect.value for effect in Effect), LOOSE)
"""What may be selected or ignored: a code, an effect (every change that has it), or ``loose``."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which changes count. Nothing selected means everything; what is both selected and ignored is ignored.

    A tool that is loose is so for a reason and not for a change: it counts as loose under the word ``loose``.
    """

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()

    def changes(self, tool: CompiledTool) -> tuple[Change, ...]:
        """The tool's changes that count."""
        return tuple(change for change in tool.changes if self._takes({change.code, change.effect.value}))

    def verdict(self, tool: CompiledTool) -> Verdict:
        """The verdict that the tool would have by what counts alone."""
        if tool.verdict is Verdict.LOOSE and self._takes({LOOSE}):
            return Verdict.LOOSE
        return verdict_of(self.changes(tool))

    def _takes(self, words: set[str]) -> bool:
        return (not self.select or not self.select.isdisjoint(words)) and self.ignore.isdisjoint(words)


EVERYTHING = Selection()
