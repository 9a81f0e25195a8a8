"""The graph of definitions: which refer to which, in what order they can be handled, and where they go in circles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from strictcall.shape.model import Choice, List, Record, Ref, Shape


def parts(shape: Shape) -> list[Shape]:
    """The shapes that a shape is made of, in document order."""
    match shape:
        case Record():
            fields = [field.shape for field in shape.fields.values()]
            names = [] if shape.names is None else [shape.names]
            return [*fields, *shape.patterns.values(), shape.rest, *names]
        case List():
            return [*shape.prefix, shape.rest]
        case Choice():
            return list(shape.branches)
    return []


def walk(roots: Iterable[Shape]) -> Iterator[Shape]:
    """Every shape at or below some shapes, references not followed."""
    pending = list(roots)
    while pending:
        shape = pending.pop()
        yield shape
        pending.extend(reversed(parts(shape)))


def references(shape: Shape) -> list[str]:
    """The names that a shape refers to, each once, in document order."""
    return list(dict.fromkeys(part.name for part in walk([shape]) if type(part) is Ref))


def references_in_place(shape: Shape) -> list[str]:
    """The names that a shape may stand for as a whole: those reached without a step into the value."""
    found: dict[str, None] = {}
    pending = [shape]
    while pending:
        part = pending.pop()
        if type(part) is Ref:
            found[part.name] = None
        elif type(part) is Choice:
            pending.extend(part.branches)
    return list(found)


def reachable(root: str, edges: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The part of a graph that a name leads to, itself included."""
    found: dict[str, list[str]] = {}
    pending = [root]
    while pending:
        name = pending.pop()
        if name not in found and name in edges:
            found[name] = edges[name]
            pending.extend(reversed(edges[name]))
    return found


def components(edges: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected components, each after those that it leads to (Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    on_stack: dict[str, None] = {}
    found: list[list[str]] = []
    for start in edges:
        if start in order:
            continue
        order[start] = lowest[start] = len(order)
        on_stack[start] = None
        work = [(start, iter(edges[start]))]
        while work:
            name, targets = work[-1]
            target = next((t for t in targets if t in edges), None)
            if target is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == order[name]:
                    found.append(_pop(on_stack, name))
            elif target not in order:
                order[target] = lowest[target] = len(order)
                on_stack[target] = None
                work.append((target, iter(edges[target])))
            elif target in on_stack:
                lowest[name] = min(lowest[name], order[target])
    return found


def _pop(stack: dict[str, None], name: str) -> list[str]:
    component: list[str] = []
    while not component or component[-1] != name:
        component.append(stack.popitem()[0])
    return component


def circular(edges: Mapping[str, list[str]]) -> set[str]:
    """The names that lead back to themselves."""
    return {name for component in components(edges) for name in component if len(component) > 1 or name in edges[name]}
