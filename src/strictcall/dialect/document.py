"""A schema as a document: the schemas in it, where each lies, and what each reference leads to.

Nothing here recurses, so that no depth of nesting is too deep; and the number of schemas read is bounded, so that
values which share their parts (a fan of references within the program) end too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import unquote

from strictcall.dialect.vocabulary import DEFINITIONS, HOLDS_SCHEMAS, subschemas
from strictcall.json_value import unescape

MOST_SCHEMAS = 40_000
"""How many schemas of one document are read."""
MOST_POINTER = 1_000_000
"""The length of the longest reference that is followed."""


class Node:
    """A schema in a document: its ``value`` lies at ``tokens`` from its ``parent``, in that schema's ``keyword``.

    ``base`` is the schema that references in it start from: the nearest with an ``$id``, or the root.
    """

    __slots__ = ("base", "parent", "tokens", "value")

    def __init__(self, value: Any, parent: Node | None, tokens: tuple[str, ...], base: Node | None) -> None:
        self.value = value
        self.parent = parent
        self.tokens = tokens
        own = base is None or (type(value) is dict and _is_resource(value))
        self.base: Node = self if own or base is None else base

    @property
    def keyword(self) -> str:
        """The keyword that holds this schema; empty for the root."""
        return self.tokens[0] if self.tokens else ""

    def pointer(self, *more: str) -> str:
        """The JSON Pointer of this schema in its document, ``more`` tokens appended."""
        parts: list[str] = []
        node: Node | None = self
        while node is not None:
            parts.extend(reversed(node.tokens))
            node = node.parent
        parts.reverse()
        parts.extend(more)
        return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


class Leads(Enum):
    """What a reference leads to."""

    SCHEMA = "schema"
    NOTHING = "nothing"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Link:
    """A reference: the schema that holds it, and the schema that it leads to, where it leads to one."""

    node: Node
    leads: Leads
    target: Any = None


class Document:
    """The schemas of a document in order, ``nodes``, and its references, ``links``.

    ``enters`` says of a keyword whether schemas in it are read. What a reference leads to is read wherever it lies.
    ``complete`` is false where there were more schemas than are read.
    """

    def __init__(self, root: Any, enters: Callable[[str], bool]) -> None:
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self.complete = True
        self._enters = enters
        self._seen: set[int] = set()
        self._anchors: dict[tuple[int, str], Any] = {}
        self._found: dict[tuple[int, str], tuple[Leads, Any]] = {}
        waiting = self._walk(Node(root, None, (), None))
        while waiting:
            waiting = [node for start in self._follow(waiting) for node in self._walk(start)]

    def _walk(self, start: Node) -> list[Node]:
        """Read a schema and all within it; returns those that hold a reference."""
        referring: list[Node] = []
        stack = [start]
        while stack:
            if len(self.nodes) >= MOST_SCHEMAS:
                self.complete = False
                break
            node = stack.pop()
            self.nodes.append(node)
            value = node.value
            if type(value) is not dict:
                continue
            self._seen.add(id(value))
            if type(value.get("$ref")) is str and self._enters("$ref"):
                referring.append(node)
            if type(value.get("$anchor")) is str and self._enters("$anchor"):
                self._anchors.setdefault((id(node.base.value), value["$anchor"]), value)
            stack.extend(reversed(list(self._children(node))))
        return referring

    def _children(self, node: Node) -> Iterator[Node]:
        for keyword, value in node.value.items():
            if keyword in HOLDS_SCHEMAS and self._enters(keyword):
                for tokens, schema in subschemas(keyword, value):
                    yield Node(schema, node, tokens, node.base)

    def _follow(self, referring: list[Node]) -> list[Node]:
        """Look up the references of these schemas; returns the targets that were not read yet."""
        unread: list[Node] = []
        for node in referring:
            key = (id(node.base.value), node.value["$ref"])
            if key not in self._found:
                leads, target, tokens = resolve(node.value["$ref"], node.base.value, self._anchors)
                self._found[key] = (leads, target)
                if type(target) is dict and id(target) not in self._seen:
                    self._seen.add(id(target))
                    unread.append(Node(target, node.base, tokens, node.base))
            self.links.append(Link(node, *self._found[key]))
        return unread

    def components(self, passes: Callable[[Node], bool] = lambda node: True) -> dict[int, int]:
        """The number of the circle (strongly connected component) that each schema is in, by the schema's ``id``.

        A circle counts only if every schema on it ``passes``.
        """
        edges: dict[int, list[int]] = {}
        for node in self.nodes:
            if (
                node.parent is not None
                and type(node.value) is dict
                and node.keyword not in DEFINITIONS
                and passes(node)
            ):
                edges.setdefault(id(node.parent.value), []).append(id(node.value))
        for link in self.links:
            if type(link.target) is dict:
                edges.setdefault(id(link.node.value), []).append(id(link.target))
        return _components(edges)


def resolve(reference: str, base: Any, anchors: dict[tuple[int, str], Any]) -> tuple[Leads, Any, tuple[str, ...]]:
    """What a reference leads to from the resource ``base``, and the pointer tokens from there."""
    nothing: tuple[Leads, Any, tuple[str, ...]] = (Leads.NOTHING, None, ())
    own = base.get("$id") if type(base) is dict else None
    if type(own) is str and own and reference.startswith(own):
        reference = reference.removeprefix(own) or "#"
    if not reference.startswith("#"):
        return (Leads.OUTSIDE, None, ())
    if len(reference) > MOST_POINTER:
        return nothing
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        target = anchors.get((id(base), fragment))
        return nothing if target is None else (Leads.SCHEMA, target, ())
    tokens = tuple(unescape(token) for token in fragment.split("/")[1:])
    target = base
    for token in tokens:
        if type(target) is dict and token in target:
            target = target[token]
        elif type(target) is list and token.isascii() and token.isdigit() and len(token) < 10:
            position = int(token)
            if position >= len(target):
                return nothing
            target = target[position]
        else:
            return nothing
    return (Leads.SCHEMA, target, tokens) if type(target) in (dict, bool) else nothing


def _is_resource(schema: dict[str, Any]) -> bool:
    own = schema.get("$id")
    return type(own) is str and not own.startswith("#")


def _components(edges: dict[int, list[int]]) -> dict[int, int]:
    """Tarjan's strongly connected components, with a stack of our own."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    open_nodes: list[int] = []
    for start in edges:
        if start in order:
            continue
        work: list[tuple[int, Iterator[int]]] = []
        entering: int | None = start
        while entering is not None or work:
            if entering is not None:
                order[entering] = low[entering] = len(order)
                open_nodes.append(entering)
                work.append((entering, iter(edges.get(entering, ()))))
                entering = None
            here, rest = work[-1]
            for target in rest:
                if target not in order:
                    entering = target
                    break
                if target not in component:
                    low[here] = min(low[here], order[target])
            if entering is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[here])
                if low[here] == order[here]:
                    _close(here, open_nodes, component)
    return component


def _close(root: int, open_nodes: list[int], component: dict[int, int]) -> None:
    while True:
        member = open_nodes.pop()
        component[member] = root
        if member == root:
            return
