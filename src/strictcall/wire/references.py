"""Lowering references: kept where the dialect has them; where it has no recursion, the step that closes a cycle is
JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from strictcall.shape.graph import parts as parts_of
from strictcall.shape.graph import walk
from strictcall.shape.model import Definitions, Record, Ref, Shape
from strictcall.shape.simplify import with_notes
from strictcall.value import replace
from strictcall.wire.codec import Codec, Run, Trail, level
from strictcall.wire.context import Context, Lowered, Refusal, lowered_notes
from strictcall.wire.free_form import json_text


def lower_reference(shape: Ref, context: Context) -> Lowered:
    """A reference to a definition; definitions are lowered before those that refer to them, circles aside."""
    shape = _direct(shape, context.definitions)
    if (shape.name, shape.pointer) in context.cuts:
        return json_text(shape, context, "recursion-text", "the dialect has no recursion; the inner value is JSON text")
    if not context.dialect.references:
        return _in_place(shape, context)
    name = shape.name
    codec = _codec_of(name, context)
    known = context.wire.get(name)
    if type(known) is Ref:
        # A definition that only leads on to another is not worth a name of its own.
        return with_notes(known, lowered_notes(shape.notes, codec), shape.residue), codec
    return Ref(shape.pointer, lowered_notes(shape.notes, codec), shape.residue, name), codec


MOST_IN_PLACE: Final = 20_000
"""How many times definitions may be written in place of references to them."""


def _in_place(shape: Ref, context: Context) -> Lowered:
    """What a reference stands for, where the dialect has no references; nothing recurses once circles are cut."""
    context.written_in_place += 1
    if context.written_in_place > MOST_IN_PLACE:
        raise Refusal("its definitions, written in place of the references to them, would be too many")
    target = context.definitions[shape.name]
    context.change("reference-inlined", shape.pointer, "what the reference leads to is written in its place")
    return context.lower(with_notes(target, shape.notes, shape.residue), context)


def lower_definitions(names: list[str], context: Context) -> None:
    """Lower definitions in an order in which each comes after those that it refers to, as far as there is one."""
    for name in names if context.dialect.references else ():
        context.wire[name], context.codecs[name] = context.lower(context.definitions[name], context)


def _direct(shape: Ref, definitions: Definitions) -> Ref:
    """A reference past a definition that is nothing but a reference itself."""
    target = definitions.get(shape.name)
    if type(target) is not Ref:
        return shape
    notes = {**target.notes, **shape.notes} if target.notes else shape.notes
    return replace(shape, name=target.name, notes=notes, residue=target.residue + shape.residue)


def _codec_of(name: str, context: Context) -> Codec | None:
    if name in context.codecs:
        return context.codecs[name]
    # The definition is being lowered right now: lean on what it was found to do in the round before.
    context.leaned_on.add(name)
    assumed = context.levels.get(name, 0)
    if not assumed:
        return None
    codecs = context.codecs

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        codec = codecs[name]
        return value if codec is None else codec.decode(value, trail, run)

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        codec = codecs[name]
        return value if codec is None else codec.encode(value, trail, run)

    return Codec(decode, encode, assumed == 2)


def settled(context: Context) -> bool:
    """Whether every definition that was leaned on before it was finished turned out as assumed."""
    return all(level(context.codecs.get(name)) == context.levels.get(name, 0) for name in context.leaned_on)


def cycle_cuts(root: str, definitions: Definitions, *, through_optional: bool = False) -> frozenset[tuple[str, str]]:
    """The references that close a circle, each as its target and its pointer, so that without them nothing recurses.

    ``through_optional``: a circle that passes a property which is not required may stay.
    """
    parts = _demanded if through_optional else walk
    cuts: set[tuple[str, str]] = set()
    done: set[str] = set()
    # A circle may begin below a property that is not required, where the walk from the root does not go.
    for start in (root, *definitions) if through_optional else (root,):
        path = {} if start in done else {start: _refs(start, definitions, parts)}
        while path:
            name = next(reversed(path))
            ref = next(path[name], None)
            if ref is None:
                done.add(name)
                del path[name]
            elif ref.name in path:
                cuts.add((ref.name, ref.pointer))
            elif ref.name not in done and ref.name in definitions:
                path[ref.name] = _refs(ref.name, definitions, parts)
    return frozenset(cuts)


def _refs(name: str, definitions: Definitions, parts: Callable[[Iterable[Shape]], Iterator[Shape]]) -> Iterator[Ref]:
    return (_direct(part, definitions) for part in parts([definitions[name]]) if type(part) is Ref)


def _demanded(roots: Iterable[Shape]) -> Iterator[Shape]:
    """As ``walk``, but nothing below properties that are not required."""
    pending = list(roots)
    while pending:
        shape = pending.pop()
        yield shape
        if type(shape) is Record:
            fields = {name: field for name, field in shape.fields.items() if field.required}
            shape = replace(shape, fields=fields)
        pending.extend(reversed(parts_of(shape)))
