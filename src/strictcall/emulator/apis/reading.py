"""Reading a request's body: typed access to its fields, which refuses in the words of the API that reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

from strictcall.emulator.refusal import Refusal

Place = tuple[str | int, ...]
"""The way from the body to a value: names of fields and indices. Each API writes it in its own manner."""
JsonType = Literal["string", "integer", "number", "boolean", "array", "object", "null"]
_CLASSES: dict[type, JsonType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Wording:
    """What an API's provider says to a body that its specification does not allow.

    - ``missing(place)``: a field that must be there is not.
    - ``mistyped(place, wanted, given)``: a value is of none of the JSON types ``wanted``.
    - ``off_list(place, supported, given)``: a text is none of those that the field takes.
    - ``out_of_range(place, bound, is_least, given)``: a number is below the least or above the most that is taken.
    """

    missing: Callable[[Place], Refusal]
    mistyped: Callable[[Place, Sequence[JsonType], Any], Refusal]
    off_list: Callable[[Place, Sequence[str], Any], Refusal]
    out_of_range: Callable[[Place, float, bool, Any], Refusal]


def json_type(value: Any) -> JsonType:
    """The JSON type of a value: ``integer`` is a number written without fraction and exponent."""
    return _CLASSES[type(value)]


def fits(value: Any, wanted: Sequence[JsonType]) -> bool:
    """Whether a value has one of the types."""
    given = json_type(value)
    return given in wanted or (given == "integer" and "number" in wanted)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of the body, where it stands, and how its API refuses.

    A field whose value is null counts as left out. Every method raises ``Refusal`` where the field is not what is
    asked for.
    """

    values: dict[str, Any]
    place: Place
    wording: Wording

    @classmethod
    def of(cls, value: Any, place: Place, wording: Wording) -> Fields:
        """A value of the body that must be an object."""
        if not isinstance(value, dict):
            raise wording.mistyped(place, ("object",), value)
        return cls(value, place, wording)

    def at(self, *tokens: str | int) -> Place:
        """The place of something below."""
        return (*self.place, *tokens)

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.values.get(name) is not None

    def get(self, name: str, *wanted: JsonType, needed: bool = False) -> Any:
        """A field of one of the types wanted; ``None`` where it is left out and not needed."""
        value = self.values.get(name)
        if value is None:
            if needed:
                raise self.wording.missing(self.at(name))
            return None
        if wanted and not fits(value, wanted):
            raise self.wording.mistyped(self.at(name), wanted, value)
        return value

    def text(self, name: str) -> str | None:
        """A text."""
        value: str | None = self.get(name, "string")
        return value

    def needed_text(self, name: str) -> str:
        """A text that must be there."""
        value: str = self.get(name, "string", needed=True)
        return value

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value: bool | None = self.get(name, "boolean")
        return value

    def choice(self, name: str, supported: Sequence[str], *, needed: bool = False) -> str | None:
        """One of the texts supported."""
        value: str | None = self.get(name, "string", needed=needed)
        if value is not None and value not in supported:
            raise self.wording.off_list(self.at(name), supported, value)
        return value

    def whole(self, name: str, least: int | None = None, most: int | None = None) -> int | None:
        """An integer within bounds."""
        value: int | None = self.get(name, "integer")
        self._bounded(name, value, least, most)
        return value

    def number(self, name: str, least: float | None = None, most: float | None = None) -> float | None:
        """A number within bounds."""
        value: float | None = self.get(name, "number")
        self._bounded(name, value, least, most)
        return value

    def child(self, name: str, *, needed: bool = False) -> Fields | None:
        """An object within."""
        value = self.get(name, "object", needed=needed)
        return None if value is None else Fields(value, self.at(name), self.wording)

    def needed_child(self, name: str) -> Fields:
        """An object within that must be there."""
        return Fields(self.get(name, "object", needed=True), self.at(name), self.wording)

    def items(self, name: str, *, needed: bool = False) -> list[Any]:
        """An array; empty where it is left out and not needed."""
        value: list[Any] | None = self.get(name, "array", needed=needed)
        return [] if value is None else value

    def children(self, name: str, *, needed: bool = False) -> Iterator[Fields]:
        """The objects of an array, each refused in its turn where it is no object."""
        for index, item in enumerate(self.items(name, needed=needed)):
            yield Fields.of(item, self.at(name, index), self.wording)

    def unknown(self, known: AbstractSet[str]) -> tuple[str, ...]:
        """The names of the fields that are not known, in their order."""
        return tuple(name for name in self.values if name not in known)

    def _bounded(self, name: str, value: float | None, least: float | None, most: float | None) -> None:
        if value is None:
            return
        if least is not None and value < least:
            raise self.wording.out_of_range(self.at(name), least, True, value)
        if most is not None and value > most:
            raise self.wording.out_of_range(self.at(name), most, False, value)
