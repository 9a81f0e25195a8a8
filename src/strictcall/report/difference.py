"""How the tools of one source differ from those of another: contracts, wire schemas and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from strictcall.change import Verdict
from strictcall.json_value import escape, identity
from strictcall.tool import Tool
from strictcall.wire.compiled import CompiledTool

Kind = Literal["added", "removed", "changed"]
_SETS = frozenset({"required", "enum", "type"})
_ABSENT = object()
_DEEPEST = 1000


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two JSON values differ: a pointer, and what stood and stands there.

    ``gained`` and ``lost`` are the members that a list whose order means nothing (``required``, ``enum``, ``type``) got
    and lost; for such a list of names an absent one is an empty one.
    """

    pointer: str
    kind: Kind
    before: Any = None
    after: Any = None
    gained: tuple[Any, ...] = ()
    lost: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class DialectDifference:
    """How one tool's compiled form differs under one dialect."""

    dialect: str
    before: CompiledTool
    after: CompiledTool
    wire: tuple[Difference, ...]

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """The verdict before and after."""
        return self.before.verdict, self.after.verdict

    @property
    def codes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The codes that came and those that went, sorted."""
        before = {change.code for change in self.before.changes}
        after = {change.code for change in self.after.changes}
        return tuple(sorted(after - before)), tuple(sorted(before - after))


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """A tool that both sources have and that is not the same in both."""

    name: str
    descriptions: tuple[str | None, str | None]
    contract: tuple[Difference, ...]
    dialects: tuple[DialectDifference, ...]


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """The tools that only the second source has, those that only the first has, and those that changed."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ToolDifference, ...]
    same: int

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        return bool(self.added or self.removed or self.changed)


def named(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Tools by name; a second tool of the same name is ``name#2``."""
    seen: Counter[str] = Counter()
    found: dict[str, Tool] = {}
    for tool in tools:
        seen[tool.name] += 1
        found[tool.name if seen[tool.name] == 1 else f"{tool.name}#{seen[tool.name]}"] = tool
    return found


def is_changed(before: Tool, after: Tool) -> bool:
    """Whether two tools of one name differ in what they say."""
    return before.description != after.description or bool(differences(before.parameters, after.parameters))


def source_difference(
    before: Mapping[str, Tool],
    after: Mapping[str, Tool],
    compiled: Mapping[str, Sequence[tuple[CompiledTool, CompiledTool]]],
) -> SourceDifference:
    """The difference of two sources; ``compiled`` has, for each tool that changed, a pair for each dialect."""
    changed = tuple(_tool_difference(name, before[name], after[name], pairs) for name, pairs in compiled.items())
    return SourceDifference(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=changed,
        same=len(before.keys() & after.keys()) - len(changed),
    )


def _tool_difference(
    name: str, before: Tool, after: Tool, pairs: Sequence[tuple[CompiledTool, CompiledTool]]
) -> ToolDifference:
    dialects = tuple(
        DialectDifference(then.dialect.name, then, now, differences(then.parameters, now.parameters))
        for then, now in pairs
    )
    contract = differences(before.parameters, after.parameters)
    return ToolDifference(name, (before.description, after.description), contract, dialects)


def differences(before: Any, after: Any) -> tuple[Difference, ...]:
    """Where two JSON values differ, under JSON equality, in the order of the second. Walks without recursion."""
    found: list[Difference] = []
    pending = [_Pair("", "", before, after)]
    while pending:
        pair = pending.pop()
        if pair.is_of_sets:
            found.extend(_of_sets(pair))
        elif pair.before is _ABSENT:
            found.append(Difference(pair.pointer, "added", after=pair.after))
        elif pair.after is _ABSENT:
            found.append(Difference(pair.pointer, "removed", before=pair.before))
        elif pair.before is not pair.after:
            below = pair.below() if pair.depth < _DEEPEST else None
            if below is not None:
                pending.extend(reversed(below))
            elif not pair.is_equal:
                found.append(Difference(pair.pointer, "changed", pair.before, pair.after))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Pair:
    """What stands at one place of two JSON values, and the key that it stands under."""

    pointer: str
    key: str
    before: Any
    after: Any
    depth: int = 0

    def below(self) -> list[_Pair] | None:
        """The pairs one level down, where both are containers of one kind."""
        then, now = self.before, self.after
        if isinstance(then, dict) and isinstance(now, dict):
            keys = dict.fromkeys([*now, *then])
            return [self._inner(key, key, then.get(key, _ABSENT), now.get(key, _ABSENT)) for key in keys]
        if isinstance(then, list) and isinstance(now, list):
            rows = range(max(len(then), len(now)))
            return [self._inner(str(row), "", _item(then, row), _item(now, row)) for row in rows]
        return None

    def _inner(self, token: str, key: str, before: Any, after: Any) -> _Pair:
        return _Pair(f"{self.pointer}/{escape(token)}", key, before, after, self.depth + 1)

    @property
    def is_equal(self) -> bool:
        """Whether two values of which one at least is a scalar are the same."""
        scalar = not isinstance(self.before, dict | list) and not isinstance(self.after, dict | list)
        return scalar and bool(identity(self.before) == identity(self.after))

    @property
    def is_of_sets(self) -> bool:
        """Whether both are lists of scalars whose order means nothing; an absent ``required`` is an empty one."""
        lists = [value for value in (self.before, self.after) if value is not _ABSENT]
        if self.key not in _SETS or not all(isinstance(value, list) for value in lists):
            return False
        items = [item for value in lists for item in value]
        if len(lists) == 1:
            return self.key == "required" and bool(items) and all(isinstance(item, str) for item in items)
        return not any(isinstance(item, dict | list) for item in items)


def _item(values: list[Any], row: int) -> Any:
    return values[row] if row < len(values) else _ABSENT


def _of_sets(pair: _Pair) -> Iterator[Difference]:
    then, now = (None if value is _ABSENT else value for value in (pair.before, pair.after))
    had, has = set(map(identity, then or ())), set(map(identity, now or ()))
    gained = tuple(item for item in now or () if identity(item) not in had)
    lost = tuple(item for item in then or () if identity(item) not in has)
    if gained or lost:
        kind: Kind = "added" if then is None else "removed" if now is None else "changed"
        yield Difference(pair.pointer, kind, then, now, gained, lost)
