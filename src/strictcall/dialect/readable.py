"""Whether a Python value is JSON at all: the judge's first question, asked before any keyword is read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

MOST_BITS = 14_285
"""An integer of more bits has more than 4,300 digits, which Python itself does not turn into text unasked."""


class Problem:
    """A place where a value is not JSON: the tokens that lead there, and what is wrong."""

    __slots__ = ("message", "tokens")

    def __init__(self, tokens: tuple[str, ...], message: str) -> None:
        self.tokens = tokens
        self.message = message


def problems(value: Any) -> Iterator[Problem]:
    """Each place where a value is not JSON. Every container is looked at once, however often it occurs."""
    wrong = _scalar_problem(value) if not isinstance(value, dict | list) else None
    if wrong is not None:
        yield Problem((), wrong)
    if not isinstance(value, dict | list):
        return
    path: list[str] = []
    inside: set[int] = {id(value)}
    done: set[int] = set()
    stack: list[tuple[Any, Iterator[tuple[Any, Any]]]] = [(value, _items(value))]
    while stack:
        container, rest = stack[-1]
        deeper = None
        for key, item in rest:
            wrong = _key_problem(key) if isinstance(container, dict) else None
            if wrong is None and isinstance(item, dict | list):
                if id(item) in inside:
                    wrong = "contains itself"
                elif id(item) not in done:
                    deeper = (str(key), item)
                    break
            elif wrong is None:
                wrong = _scalar_problem(item)
            if wrong is not None:
                yield Problem((*path, _token(key)), wrong)
        if deeper is not None:
            path.append(deeper[0])
            inside.add(id(deeper[1]))
            stack.append((deeper[1], _items(deeper[1])))
        else:
            stack.pop()
            inside.discard(id(container))
            done.add(id(container))
            if path:
                path.pop()


def _items(container: Any) -> Iterator[tuple[Any, Any]]:
    """What a container holds that must be looked at one by one."""
    if isinstance(container, dict):
        return iter(list(container.items()))
    return iter(()) if _is_plain(container) else iter(list(enumerate(container)))


def _is_plain(items: list[Any]) -> bool:
    """Whether a list holds nothing but sound texts, or nothing but sound integers: long enums, seen at once."""
    kinds = set(map(type, items))
    if kinds == {str}:
        return _is_sound_text("".join(items))
    if kinds == {int}:
        return bool(max(items).bit_length() <= MOST_BITS and min(items).bit_length() <= MOST_BITS)
    return not items


def _is_sound_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _key_problem(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"a key is {_kind(key)}, not a text"
    return None if _is_sound_text(key) else "a key holds a lone surrogate"


def _scalar_problem(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if _is_sound_text(value) else "the text holds a lone surrogate"
    if isinstance(value, int):
        return None if value.bit_length() <= MOST_BITS else "the integer has more than 4,300 digits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "the number is not finite"
    return f"{_kind(value)} is no JSON value"


def _kind(value: Any) -> str:
    return f"a {type(value).__name__} of the program"


def _token(key: Any) -> str:
    if isinstance(key, str):
        return key.encode(errors="replace").decode()
    return str(key) if isinstance(key, int) and key.bit_length() <= MOST_BITS else _kind(key)
