"""How models break schemas in values: a table of ways, each a function of one place in the arguments.

A way is told of one value and answers with what a careless model writes there; ``KEEP`` means that it has nothing to
say of such a value. Whether the result really breaks the schema is for the caller to find out: text is not wrong where
the schema takes any text.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from strictcall.emulator.answers.interesting import is_number

Path = tuple[str | int, ...]
Way = Callable[[Any, random.Random], Any]
KEEP: Final = object()
"""A way's answer for a value that it does not apply to."""
_INVENTED: Final = ("reason", "thought", "explanation", "limit", "user_id", "format", "verbose", "_", "description")
_WRAPPERS: Final = ("arguments", "args", "input", "parameters", "params", "kwargs", "properties")


def compact(value: Any) -> str:
    """A JSON value as compact text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place in a value and what stands there, the root first."""
    waiting = [(path, value)]
    while waiting:
        at, item = waiting.pop()
        yield at, item
        members = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        waiting += [((*at, step), member) for step, member in members]


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The value with something else at one place; the value itself stays as it is."""
    root = [value]
    holder: Any = root
    steps: Path = (0, *path)
    for step in steps[:-1]:
        holder[step] = holder[step].copy()
        holder = holder[step]
    holder[steps[-1]] = new
    return root[0]


def _missing(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict) or not value:
        return KEEP
    gone = rng.choice(list(value))
    return {name: item for name, item in value.items() if name != gone}


def _invented(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict):
        return KEEP
    name = rng.choice([name for name in _INVENTED if name not in value])
    return {**value, name: rng.choice(["because the user asked", 10, True, None, {}])}


def misspellings(name: str) -> list[str]:
    """The names that a model writes for another: in another case, another style, in the plural, with a letter gone."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    head, *rest = [part for part in snake.split("_") if part] or [""]
    camel = head + "".join(part.capitalize() for part in rest)
    plural = name[:-1] if name.endswith("s") else name + "s"
    others = [name.upper(), name.capitalize(), snake, camel, snake.replace("_", "-"), plural, name[:-1]]
    return sorted({other for other in others if other and other != name})


def _misspelt(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict):
        return KEEP
    pairs = [(name, other) for name in value for other in misspellings(name) if other not in value]
    if not pairs:
        return KEEP
    wrong, other = rng.choice(pairs)
    return {other if name == wrong else name: item for name, item in value.items()}


def _number_as_text(value: Any, rng: random.Random) -> Any:
    if not is_number(value):
        return KEEP
    return rng.choice([compact(value), f" {compact(value)}", f"{compact(value)} items"])


def _text_as_number(value: Any, rng: random.Random) -> Any:
    return rng.choice([0, 1, 42, 3.5]) if isinstance(value, str) else KEEP


def _boolean_as_text(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, bool):
        return KEEP
    return rng.choice(["true", "True", "yes", "1", 1] if value else ["false", "False", "no", "0", 0])


def _null(value: Any, _rng: random.Random) -> Any:
    return KEEP if value is None else None


def _scalar_for_array(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, list):
        return KEEP
    if all(isinstance(item, str) for item in value) and rng.random() < 0.4:
        return ", ".join(value)
    return value[0] if value else ""


def _array_for_scalar(value: Any, _rng: random.Random) -> Any:
    return KEEP if isinstance(value, list | dict) else [value]


def _nested_as_text(value: Any, _rng: random.Random) -> Any:
    return compact(value) if isinstance(value, list | dict) else KEEP


def _array_as_object(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, list):
        return KEEP
    return rng.choice([{"items": value}, {str(index): item for index, item in enumerate(value)}])


def _other_case(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, str):
        return KEEP
    others = [other for other in (value.upper(), value.lower(), value.capitalize(), value.title()) if other != value]
    return rng.choice(others) if others else KEEP


def _unknown_member(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, str):
        return KEEP
    return rng.choice(["unknown", "other", "any", "default", f"{value}_2", f"{value} ", ""])


def _out_of_bounds(value: Any, rng: random.Random) -> Any:
    if not is_number(value):
        return KEEP
    return rng.choice([-1, 0, 1, 101, 1_000, 10**9, -(10**9), 10**18, -(10**18)])


def _fraction(value: Any, rng: random.Random) -> Any:
    if not is_number(value) or isinstance(value, float) or abs(value) > 10**9:
        return KEEP
    return value + rng.choice([0.5, 0.25])


def _too_long(value: Any, rng: random.Random) -> Any:
    if isinstance(value, str):
        return (value or "x") * rng.choice([3, 50, 500])
    return value * rng.choice([2, 40]) if isinstance(value, list) and value else KEEP


ANYWHERE: Final[dict[str, Way]] = {
    "missing-required": _missing,
    "invented-argument": _invented,
    "misspelt-argument": _misspelt,
    "number-as-text": _number_as_text,
    "text-as-number": _text_as_number,
    "boolean-as-text": _boolean_as_text,
    "null-for-value": _null,
    "scalar-for-array": _scalar_for_array,
    "array-for-scalar": _array_for_scalar,
    "array-as-object": _array_as_object,
    "nested-as-text": _nested_as_text,
    "enum-in-other-case": _other_case,
    "enum-unknown": _unknown_member,
    "number-out-of-bounds": _out_of_bounds,
    "fraction-for-integer": _fraction,
    "too-long": _too_long,
}
"""Ways to break a value at some place within the arguments."""


def _nested_in(value: Any, rng: random.Random) -> Any:
    return {rng.choice(_WRAPPERS): value}


def _in_array(value: Any, _rng: random.Random) -> Any:
    return [value]


AT_THE_ROOT: Final[dict[str, Way]] = {"extra-nesting": _nested_in, "arguments-in-array": _in_array}
"""Ways to break the arguments as a whole."""
EVEN_IF_ADMITTED: Final = frozenset({"invented-argument", "misspelt-argument", "extra-nesting"})
"""Ways that are wrong even where the schema lets them pass, as one that is open to other names does."""
