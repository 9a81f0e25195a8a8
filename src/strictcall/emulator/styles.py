"""Calls written as text, as open models write them where no parser of the server's takes them out.

``styles.toml`` holds what stands in such answers, recorded format by format. What is written here goes into the places
of what differs: names, arguments, texts and thoughts.
"""

from __future__ import annotations

import functools
import json
import random
import re
import string
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import resources
from typing import Any, Final

from strictcall.emulator.answer import Answer, MadeCall, Stop
from strictcall.errors import SettingsError

_PLACE: Final = re.compile("«([a-z_]+)»")
_ARGUMENTS: Final = "«arguments»"
_ID_LENGTH: Final = 9
_ID_CHARACTERS: Final = string.ascii_letters + string.digits
_TEXT_AFTER: Final = 0.3
"""How often a text comes behind the calls, in a style whose models write any there."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One way in which a model writes calls: its fields are those that ``styles.toml`` explains. An empty ``before``,
    ``after`` or ``thought`` says that the model writes none there.
    """

    call: str
    opening: str = ""
    between: str = ""
    closing: str = ""
    item: str = ""
    items: str = ""
    values: str = "json"
    bare: bool = False
    before: str = ""
    after: str = ""
    final: str = "«text»"
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """A format of calls: the models that write it, other names of it, and the shapes that it has.

    ``most`` is how many calls an answer may have; ``None`` is any number.
    """

    name: str
    about: str
    shapes: tuple[Shape, ...]
    also: tuple[str, ...] = ()
    most: int | None = None

    @property
    def breakable(self) -> bool:
        """Whether arguments are written as they come, so that broken ones can be written too."""
        return not self.shapes[0].item

    @property
    def thinks(self) -> bool:
        """Whether the models write down what they think."""
        return bool(self.shapes[0].thought)


@functools.cache
def styles() -> Mapping[str, Style]:
    """All styles by their names."""
    text = resources.files("strictcall.emulator").joinpath("styles.toml").read_text("utf-8")
    return {name: _style(name, row) for name, row in tomllib.loads(text).items()}


def style(name: str) -> Style:
    """The style of a name, its own or another. Raises ``SettingsError`` for an unknown one, naming the nearest."""
    known = {other: found for found in styles().values() for other in (found.name, *found.also)}
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"styles are {', '.join(styles())}"
    raise SettingsError("style", f"no style is called {name!r}; {hint}")


def _style(name: str, row: dict[str, Any]) -> Style:
    said = {key: value for key, value in row.items() if key not in ("about", "also", "most", "shapes")}
    first = Shape(**said)
    others = (replace(first, **other) for other in row.get("shapes", ()))
    return Style(name, row["about"], (first, *others), tuple(row.get("also", ())), row.get("most"))


# --- answers ----------------------------------------------------------------------------------------------------------


def as_text(answer: Answer, written: Style, rng: random.Random) -> Answer:
    """An answer as a server gives it that takes no calls out of texts: it has none, and its text holds them.

    Thoughts stand in the text too, where the style's models have them. An answer that ran out of tokens ends within
    its last call, where it has any. A refusal stays as it is.
    """
    if answer.stop == "refusal":
        return answer
    shape = rng.choice(written.shapes)
    thought = _filled(shape.thought, thought=answer.reasoning) if answer.reasoning else ""
    reasoning = "" if shape.thought else answer.reasoning
    is_cut = answer.stop == "length"
    if answer.calls:
        text = _with_calls(answer, shape, rng)
    elif is_cut:
        text = shape.final.partition("«text»")[0] + answer.text
    else:
        text = _filled(shape.final, text=answer.text)
    stop: Stop = "length" if is_cut else "stop"
    return Answer(thought + text, reasoning, (), stop)


def within(answer: Answer, most_bytes: int) -> Answer:
    """An answer in text whose tokens run out after so many bytes."""
    raw = answer.text.encode("utf-8", "surrogatepass")
    if len(raw) <= most_bytes:
        return answer
    return replace(answer, text=raw[:most_bytes].decode("utf-8", "ignore"), stop="length")


def _with_calls(answer: Answer, shape: Shape, rng: random.Random) -> str:
    """The text of an answer's calls, and what is said beside them where that is usual."""
    is_cut = answer.stop == "length"
    is_after = bool(shape.after) and not is_cut and rng.random() < _TEXT_AFTER
    units = [
        _unit(call, shape, index, rng, is_cut=is_cut and index == len(answer.calls) - 1)
        for index, call in enumerate(answer.calls)
    ]
    calls = shape.opening + shape.between.join(units) + ("" if is_cut else shape.closing)
    said = _filled(shape.after if is_after else shape.before, text=answer.text) if answer.text else ""
    return calls + said if is_after else said + calls


def _unit(call: MadeCall, shape: Shape, index: int, rng: random.Random, *, is_cut: bool) -> str:
    """One call; one that is cut ends where its arguments do."""
    template = shape.call.partition(_ARGUMENTS)[0] + _ARGUMENTS if is_cut else shape.call
    return _filled(
        template,
        name=call.name,
        index=str(index),
        number=str(index + 1),
        id="".join(rng.choices(_ID_CHARACTERS, k=_ID_LENGTH)),
        arguments=_arguments(call.arguments, shape),
    )


def _filled(template: str, **parts: str) -> str:
    """A template with its places filled; what is put into one is not looked into for others."""
    return _PLACE.sub(lambda place: parts[place[1]], template)


# --- arguments --------------------------------------------------------------------------------------------------------


class _Number(str):
    """A number as it was spelt: no digit of it is lost."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Notation:
    """How values are spelt: texts, the names in objects, and the three words."""

    text: Callable[[str], str]
    key: Callable[[str], str]
    true: str = "true"
    false: str = "false"
    null: str = "null"
    comma: str = ", "
    colon: str = ": "


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_NOTATIONS: Final[Mapping[str, _Notation]] = {
    "json": _Notation(_quoted, _quoted),
    "python": _Notation(repr, repr, "True", "False", "None"),
    "python_double": _Notation(_quoted, _quoted, "True", "False", "None"),
    "python_json": _Notation(_quoted, _quoted),
    "escape": _Notation("<escape>{}<escape>".format, str, comma=",", colon=":"),
    "pipe": _Notation('<|"|>{}<|"|>'.format, str, comma=",", colon=":"),
}
_TYPES: Final = {dict: "object", list: "array", str: "string", _Number: "number", bool: "boolean", type(None): "null"}


def _arguments(text: str, shape: Shape) -> str:
    """Arguments in a shape. Where they stand one by one, a text that is no JSON object stands as it is.

    A null that cannot be told from a word is left out: so says a model that an argument has no value.
    """
    if not shape.item:
        return text
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        if not isinstance(value, dict):
            return text
        marks_types = "«is_text»" in shape.item or "«type»" in shape.item
        kept = {key: item for key, item in value.items() if item is not None or marks_types or not shape.bare}
        return shape.items.join(_item(key, item, shape) for key, item in kept.items())
    except (ValueError, RecursionError):
        return text


def _item(key: str, value: Any, shape: Shape) -> str:
    is_text = type(value) is str
    spelt = value if is_text and shape.bare else _spelt(value, _NOTATIONS[shape.values])
    return _filled(shape.item, key=key, value=spelt, type=_TYPES[type(value)], is_text="true" if is_text else "false")


def _spelt(value: Any, notation: _Notation) -> str:
    if isinstance(value, dict):
        pairs = (f"{notation.key(key)}{notation.colon}{_spelt(item, notation)}" for key, item in value.items())
        return "{" + notation.comma.join(pairs) + "}"
    if isinstance(value, list):
        return "[" + notation.comma.join(_spelt(item, notation) for item in value) + "]"
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, str):
        return notation.text(value)
    return notation.null if value is None else notation.true if value else notation.false
