"""Gathering: optional fields of a record written as entries of one further field, where a provider counts optionals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictcall.shape.model import Choice, Field, List, Literal, Nothing, Openness, Record, Shape
from strictcall.wire.codec import Codec, Run, Trail, apply, encoder

FIELD: Final = "more_options"
"""The field that holds gathered properties."""
NAME: Final = "name"
VALUE: Final = "value"


def gathered_field(pointer: str, parts: Mapping[str, Shape]) -> Field:
    """The further field: a list of ``{name, value}``, one form for each property by its name on the wire."""
    entries = [_entry(name, shape) for name, shape in parts.items()]
    entry = entries[0] if len(entries) == 1 else Choice(pointer, branches=tuple(entries))
    return Field(List(pointer, rest=entry), True)


def _entry(name: str, shape: Shape) -> Shape:
    fields = {
        NAME: Field(Literal(shape.pointer, values=(name,), declared="string", const=True), True),
        VALUE: Field(shape, True),
    }
    return Record(shape.pointer, fields=fields, rest=Nothing(), openness=Openness.CLOSED)


def gathered_codec(names: Mapping[str, str], codecs: Mapping[str, Codec | None]) -> Codec:
    """Between the list of entries and an object of the gathered properties. ``names``: wire names by contract name."""
    readers = {wire: (name, apply(codecs[name])) for name, wire in names.items()}
    writers = {name: (wire, encoder(codecs[name])) for name, wire in names.items()}

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not list:
            return run.misfit(value, trail, f"must be a list of entries, each an object of {NAME!r} and {VALUE!r}")
        found: dict[str, Any] = {}
        for entry in value:
            reader = readers.get(entry[NAME]) if _is_entry(entry) else None
            if reader is None:
                run.misfit(entry, trail, f"each entry must be an object of a listed {NAME!r} and its {VALUE!r}")
                continue
            name, read = reader
            if name in found:
                run.misfit(name, (trail, name), "is written twice")
            found[name] = read(entry[VALUE], (trail, name), run)
        return found

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return [
            {NAME: wire, VALUE: write(value[name], (trail, name), run)}
            for name, (wire, write) in writers.items()
            if name in value
        ]

    return Codec(decode, encode)


def _is_entry(entry: Any) -> bool:
    return type(entry) is dict and len(entry) == 2 and type(entry.get(NAME)) is str and VALUE in entry
