"""The codec of a record: between its fields on the wire and the object that the contract declares."""

from __future__ import annotations

from typing import Any

from strictcall.shape.admit import admits
from strictcall.wire.codec import (
    Codec,
    Rewrite,
    RewrittenField,
    Run,
    Step,
    Trail,
    apply,
    below,
    encoder,
    level,
    unwritten,
)
from strictcall.wire.fields import FreeNames, Parts


def record_codec(parts: Parts, free: FreeNames | None, *, closes: bool) -> Codec | None:
    """The record's codec; ``None`` where it would do nothing that the local check does not do."""
    renamed = any(name != wire for name, wire in parts.names.items())
    nulls = parts.options is not None or any(part.null_is_absent or part.drops_null for part in parts.parts.values())
    inner = max((level(part.codec) for part in parts.parts.values()), default=0)
    highest = max(inner, free.level if free else 0, 2 if renamed or nulls or parts.extra else 0)
    if not highest and not closes and not parts.only:
        return None
    if not inner and not free and highest < 2:
        return _closing_codec(parts)
    if not inner and not free and not renamed and not parts.extra and parts.options is None:
        return _nulls_codec(parts)
    return _transforming_codec(parts, free, highest == 2)


def _closing_codec(parts: Parts) -> Codec:
    """The codec of a record that only refuses undeclared names."""
    declared = list(parts.names)
    names = frozenset(declared)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is dict and not names.issuperset(value):
            for name in value:
                if name not in names:
                    run.unknown(name, trail, declared)
        return value

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return _encode(value, trail, run, parts, None)

    return Codec(decode, encode, False)


def _nulls_codec(parts: Parts) -> Codec:
    """The codec of a record that only leaves out nulls and refuses undeclared names."""
    names = frozenset(parts.names)
    nullable = frozenset(name for name, part in parts.parts.items() if part.null_is_absent)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        for name, item in value.items():
            if name not in names:
                # Reported there, where nothing was prepared for it: that would cost each compilation.
                return _transforming_codec(parts, None, True).decode(value, trail, run)
            if item is not None or name not in nullable:
                found[name] = item
        return found

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return _encode(value, trail, run, parts, None)

    return Codec(decode, encode, True, lambda: _rewrite(parts, None))


def _transforming_codec(parts: Parts, free: FreeNames | None, transforms: bool) -> Codec:
    readers: dict[str, tuple[str, Step | None, bool]] = {}
    for name, wire in parts.names.items():
        part = parts.parts[name]
        readers[wire] = (name, None if part.codec is None else part.codec.decode, part.null_is_absent)
    by_name = {name: readers[wire] for name, wire in parts.names.items()}
    others = _OtherNames(parts, free)

    def decode(value: Any, trail: Trail, run: Run) -> Any:
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        for wire, item in value.items():
            reader = readers.get(wire) or (by_name.get(wire) if run.either else None)
            if reader is None:
                others.read(wire, item, found, trail, run)
                continue
            name, read, null_is_absent = reader
            if item is not None or not null_is_absent:
                found[name] = item if read is None else read(item, (trail, name), run)
        return found if transforms else value

    def encode(value: Any, trail: Trail, run: Run) -> Any:
        return _encode(value, trail, run, parts, free)

    return Codec(decode, encode, transforms, (lambda: _rewrite(parts, free)) if transforms else unwritten)


def _rewrite(parts: Parts, free: FreeNames | None) -> Rewrite | None:
    """How the record can be decoded while it arrives: not where one member holds several of the contract's."""
    if free is not None or parts.extra is not None or parts.options is not None or parts.gathered:
        return None
    fields = {
        wire: RewrittenField(name, parts.parts[name].null_is_absent, below(parts.parts[name].codec))
        for name, wire in parts.names.items()
    }
    return Rewrite(fields)


class _OtherNames:
    """What a record on the wire may have beside the fields that are written by themselves."""

    def __init__(self, parts: Parts, free: FreeNames | None) -> None:
        self._declared = [*parts.names, *parts.gathered]
        self._gathered = {name: apply(codec) for name, (_, _, codec) in parts.gathered.items()}
        self._free = free
        self._holders: dict[str, Step] = {}
        if parts.options is not None:
            self._holders[parts.options[0]] = parts.options[1].decode
        self._extra = None if parts.extra is None else parts.extra[1].decode
        if parts.extra is not None:
            self._holders[parts.extra[0]] = parts.extra[1].decode

    def read(self, wire: str, item: Any, found: dict[str, Any], trail: Trail, run: Run) -> None:
        """Put what stands under another name into the object that was found so far, or report it."""
        holder = self._holders.get(wire)
        if holder is not None:
            if item is not None:
                self._add(found, holder(item, trail, run), trail, run, free=holder is self._extra)
        elif run.either and wire in self._gathered:
            found[wire] = self._gathered[wire](item, (trail, wire), run)
        elif self._free is not None and self._free.takes(wire):
            found[wire] = apply(self._free.of(wire))(item, (trail, wire), run)
        elif run.either and self._extra is not None:
            self._add(found, self._extra({wire: item}, trail, run), trail, run, free=True)
        else:
            run.unknown(wire, trail, self._declared)

    def _add(self, found: dict[str, Any], more: Any, trail: Trail, run: Run, *, free: bool) -> None:
        """Put held fields beside the others, which they may not repeat; ``free`` ones may have no declared name."""
        for name, item in more.items() if type(more) is dict else ():
            if name in found or (free and name in self._declared):
                run.misfit(name, (trail, name), "is declared by name, so it cannot also be an entry")
            else:
                found[name] = item


def _encode(value: Any, trail: Trail, run: Run, parts: Parts, free: FreeNames | None) -> Any:
    if type(value) is not dict:
        return run.misfit(value, trail, "must be an object")
    written: dict[str, Any] = {}
    if parts.options is not None:
        written[parts.options[0]] = parts.options[1].encode(value, trail, run)
    for name, part in parts.parts.items():
        if name in value and not (part.drops_null and value[name] is None):
            if name in parts.only and not admits(parts.only[name], value[name], parts.definitions):
                run.misfit(value[name], (trail, name), "cannot be said: the conditions give it another type")
            written[parts.names[name]] = encoder(part.codec)(value[name], (trail, name), run)
        elif part.null_is_absent:
            written[parts.names[name]] = None
    more = {name: item for name, item in value.items() if name not in parts.parts and name not in parts.gathered}
    _encode_free(more, written, trail, run, parts, free)
    return written


def _encode_free(
    more: dict[str, Any], written: dict[str, Any], trail: Trail, run: Run, parts: Parts, free: FreeNames | None
) -> None:
    """Write free names as entries, or as they are, or report them."""
    if parts.extra is not None:
        name, codec = parts.extra
        written[name] = codec.encode(more, trail, run)
        return
    for name, item in more.items():
        if free is not None and free.takes(name):
            written[name] = encoder(free.of(name))(item, (trail, name), run)
        else:
            run.unknown(name, trail, list(parts.parts))
