"""Lowering references: kept where the dialect has them; where it has no recursion, the step that closes a cycle is JSON text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from strictcall.shape.admit import follow
from strictcall.shape.model import Choice, Definitions, List, Record, Ref, Shape
from strictcall.shape.simplify import with_notes
from strictcall.wire.codec import Codec, Run, Trail, level
from strictcall.wire.context import Context, Lowered, lowered_notes
from strictcall.wire.free_form import json_text


def lower_reference(shape: Ref, context: Context) -> Lowered:
    """A reference to a definition, which is lowered once whoever refers to it."""
    shape = _direct(shape, context.definitions)
    name = shape.name
    if (shape.name, shape.pointer) in context.cuts:
        return json_text(shape, context, "recursion-text", "the dialect has no recursion; the inner value is JSON text")
    if name not in context.wire and name not in context.open:
        context.open.add(name)
        target = follow(shape, context.definitions)
        wire, codec = context.lower(target, context)
        context.open.discard(name)
        context.wire[name], context.codecs[name] = wire, codec
    codec = _codec_of(name, context)
    known = context.wire.get(name)
    if type(known) is Ref:
        # A definition that only leads on to another is not worth a name of its own.
        return with_notes(known, lowered_notes(shape.notes, codec), shape.residue), codec
    return Ref(shape.pointer, lowered_notes(shape.notes, codec), shape.residue, name), codec


def _direct(shape: Ref, definitions: Definitions) -> Ref:
    """A reference past definitions that are nothing but references themselves."""
    seen = {shape.name}
    while type(target := definitions.get(shape.name)) is Ref and target.name not in seen:
        seen.add(target.name)
        notes = {**target.notes, **shape.notes} if target.notes else shape.notes
        shape = replace(shape, name=target.name, notes=notes, residue=target.residue + shape.residue)
    return shape


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


def cycle_cuts(root: Shape, definitions: Definitions) -> frozenset[tuple[str, str]]:
    """The references that close a cycle, each as its target and its pointer, so that without them nothing recurses."""
    cuts: set[tuple[str, str]] = set()
    done: set[str] = set()
    path: list[str] = []
    # An explicit stack of (shape, name to leave afterwards): how deep definitions lead is the author's to choose.
    stack: list[tuple[Shape | None, str]] = [(root, "")]
    while stack:
        shape, leaving = stack.pop()
        if shape is None:
            path.pop()
            done.add(leaving)
        elif type(shape) is Ref:
            if shape.name in path:
                cuts.add((shape.name, shape.pointer))
            elif shape.name not in done and shape.name in definitions:
                path.append(shape.name)
                stack.append((None, shape.name))
                stack.append((definitions[shape.name], ""))
        else:
            stack.extend((below, "") for below in reversed(_parts(shape)))
    return frozenset(cuts)


def _parts(shape: Shape) -> list[Shape]:
    match shape:
        case Record():
            free = [shape.rest, *shape.patterns.values()]
            return [field.shape for field in shape.fields.values()] + free
        case List():
            return [*shape.prefix, shape.rest]
        case Choice():
            return list(shape.branches)
    return []
