"""Lowering values of any kind: as they are, as a recursive definition, or as text that holds JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from strictcall.json_value import MAX_DEPTH, LimitError, compact, parse
from strictcall.shape.model import (
    Anything,
    Boolean,
    Choice,
    Field,
    List,
    Nothing,
    Null,
    Number,
    Openness,
    Record,
    Ref,
    Residue,
    Shape,
    Text,
)
from strictcall.wire.codec import Codec, Run, Trail, place
from strictcall.wire.context import Context, Lowered, Refusal, lowered_notes

TREE: Final = "json_value"
"""The name of the recursive definition of any JSON value, unless the contract has one of that name."""


def lower_anything(shape: Anything, context: Context) -> Lowered:
    """Any JSON value."""
    if context.dialect.untyped:
        return shape, None
    choice = context.policy.free_form
    if choice == "refuse":
        raise Refusal(f"{shape.pointer or 'the root'} takes any value, and the policy refuses free-form values")
    if choice == "tree" and context.dialect.recursion is True:
        context.change("free-form-tree", shape.pointer, "a value of any kind is written as a recursive definition")
        return Ref(
            shape.pointer, lowered_notes(shape.notes, TREE_CODEC), shape.residue, _define_tree(context)
        ), TREE_CODEC
    return json_text(shape, context, "json-text", "a value of any kind is written as text that holds JSON")


def json_text(shape: Shape, context: Context, code: str, message: str) -> Lowered:
    """Text that holds JSON in the contract's own form, in place of a shape."""
    context.change(code, shape.pointer, message)
    hint = Residue(code, shape.pointer, "JSON text")
    return Text(shape.pointer, lowered_notes(shape.notes, TEXT_CODEC), (*shape.residue, hint)), TEXT_CODEC


def _define_tree(context: Context) -> str:
    name, number = TREE, 2
    while name in context.definitions:
        name, number = f"{TREE}_{number}", number + 1
    if name not in context.wire:
        entry = Record(
            fields={"key": Field(Text(), True), "value": Field(Ref(name=name), True)},
            rest=Nothing(),
            openness=Openness.CLOSED,
        )
        entries = Record(
            fields={"entries": Field(List(rest=entry), True)},
            rest=Nothing(),
            openness=Openness.CLOSED,
        )
        kinds: tuple[Shape, ...] = (Text(), Number(), Boolean(), Null(), List(rest=Ref(name=name)), entries)
        context.wire[name] = Choice(branches=kinds)
    return name


def _decode_tree(value: Any, trail: Trail, run: Run) -> Any:
    kind = type(value)
    if kind is list:
        return [_decode_tree(item, (trail, index), run) for index, item in enumerate(value)]
    if kind is not dict:
        return value
    entries = value.get("entries")
    if len(value) == 1 and type(entries) is list and all(_is_entry(entry) for entry in entries):
        return decode_entries(entries, trail, run, _decode_tree)
    if run.either:
        return {name: _decode_tree(item, (trail, name), run) for name, item in value.items()}
    return run.misfit(value, trail, "an object must be written as its list of entries")


def _is_entry(entry: Any) -> bool:
    return type(entry) is dict and len(entry) == 2 and type(entry.get("key")) is str and "value" in entry


def decode_entries(
    entries: list[Any], trail: Trail, run: Run, read: Callable[[Any, Trail, Run], Any]
) -> dict[str, Any]:
    """An object from its list of entries; a key written twice is a fault."""
    found: dict[str, Any] = {}
    for entry in entries:
        if not _is_entry(entry):
            run.misfit(entry, trail, "each entry must be an object of 'key' and 'value'")
            continue
        key = entry["key"]
        if key in found:
            run.misfit(key, (trail, key), "the key is written twice")
        found[key] = read(entry["value"], (trail, key), run)
    return found


def _encode_tree(value: Any, trail: Trail, run: Run) -> Any:
    if type(value) is list:
        return [_encode_tree(item, (trail, index), run) for index, item in enumerate(value)]
    if type(value) is dict:
        return {
            "entries": [{"key": name, "value": _encode_tree(item, (trail, name), run)} for name, item in value.items()]
        }
    return value


def _decode_text(value: Any, trail: Trail, run: Run) -> Any:
    if type(value) is not str:
        return value if run.either else run.misfit(value, trail, "must be text that holds JSON")
    try:
        return parse(value, MAX_DEPTH)
    except LimitError as error:
        if run.either:
            return value
        return run.misfit(value, trail, f"must be text that holds JSON ({error})" if place(trail) else str(error))


def _encode_text(value: Any, trail: Trail, run: Run) -> Any:
    return compact(value)


TREE_CODEC: Final = Codec(_decode_tree, _encode_tree)
TEXT_CODEC: Final = Codec(_decode_text, _encode_text)


def lower_nothing(shape: Nothing, context: Context) -> Lowered:
    """No value: only a place that must be filled makes this matter, and then nothing can be said at all."""
    raise Refusal(f"no value is allowed at {shape.pointer or 'the root'}, so no arguments can be valid")
