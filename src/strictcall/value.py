"""Values: small classes of named fields that never change once they are made.

Compiling a tool makes hundreds of them. Guarding each against assignment while it runs, as a frozen dataclass does,
makes them four times dearer; so the type checker guards these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final, TypeVar, dataclass_transform

AnyValue = TypeVar("AnyValue")
Parts = Callable[[Any], tuple[Any, ...]]
_PARTS: Final[dict[type, Parts]] = {}
_COMPARED: Final[dict[type, Parts]] = {}
_SHOWN: Final[dict[type, tuple[str, ...]]] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[AnyValue]) -> type[AnyValue]:
    """Make a class a value: a dataclass with slots, compared and hashed by its fields.

    All values share these three methods: a dataclass would compile its own, which takes a tenth of the time of
    importing strictcall.
    """
    cls.__eq__ = _equal  # type: ignore[method-assign]
    cls.__hash__ = _hash  # type: ignore[method-assign]
    cls.__repr__ = _shown  # type: ignore[method-assign]
    made = dataclass(slots=True, eq=False, repr=False)(cls)
    parts = fields(made)  # type: ignore[arg-type]
    _PARTS[made] = _getter([part.name for part in parts])
    _COMPARED[made] = _getter([part.name for part in parts if part.compare])
    _SHOWN[made] = tuple(part.name for part in parts if part.repr)
    return made


def _getter(names: Sequence[str]) -> Parts:
    return attrgetter(*names) if len(names) > 1 else lambda item: tuple(getattr(item, name) for name in names)


def _equal(self: Any, other: object) -> Any:
    kind = type(self)
    if type(other) is not kind:
        return NotImplemented
    compared = _COMPARED[kind]
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(_COMPARED[type(self)](self))


def _shown(self: Any) -> str:
    kind = type(self)
    return f"{kind.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in _SHOWN[kind])})"


def replace(item: AnyValue, **changes: Any) -> AnyValue:
    """A value with some fields changed, as ``dataclasses.replace`` but in a third of the time."""
    made = type(item)(*_PARTS[type(item)](item))
    for name, changed in changes.items():
        setattr(made, name, changed)
    return made
