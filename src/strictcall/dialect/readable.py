"""Whether a Python value is JSON at all: the judge's first question, asked before any keyword is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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
    if type(value) not in (dict, list):
        wrong = _scalar_problem(value)
        if wrong is not None:
            yield Problem((), wrong)
    elif not _is_plainly_sound(value):
        yield from _search(value)


def _search(value: Any) -> Iterator[Problem]:
    """Walk a container depth first, knowing which containers the current place lies in."""
    path: list[str] = []
    inside: set[int] = {id(value)}
    done: set[int] = set()
    stack: list[tuple[Any, Iterator[tuple[Any, Any]]]] = [(value, _items(value))]
    while stack:
        container, rest = stack[-1]
        for key, item in rest:
            wrong = _key_problem(key) if type(container) is dict else None
            if wrong is None and type(item) in (dict, list):
                if id(item) in done:
                    continue
                if id(item) not in inside:
                    path.append(str(key))
                    inside.add(id(item))
                    stack.append((item, _items(item)))
                    break
                wrong = "contains itself"
            wrong = wrong or _scalar_problem(item)
            if wrong is not None:
                yield Problem((*path, _token(key)), wrong)
        else:
            stack.pop()
            inside.discard(id(container))
            done.add(id(container))
            del path[len(stack) - 1 :]


def _is_plainly_sound(value: Any) -> bool:
    """A fast answer for what a JSON parser gives: sound throughout, and no container met twice."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        container = stack.pop()
        if id(container) in seen:
            return False
        seen.add(id(container))
        if type(container) is list:
            if _is_plain(container):
                continue
            items: Iterable[Any] = container
        else:
            if not all(type(key) is str and (key.isascii() or _is_sound_text(key)) for key in container):
                return False
            items = container.values()
        for item in items:
            kind = type(item)
            if kind is dict or kind is list:
                stack.append(item)
            elif not (kind is bool or (kind is str and item.isascii())) and _scalar_problem(item) is not None:
                return False
    return True


def _items(container: Any) -> Iterator[tuple[Any, Any]]:
    """What a container holds that must be looked at one by one."""
    if type(container) is dict:
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
    if type(key) is not str:
        return f"a key is {_kind(key)}, not a text"
    return None if _is_sound_text(key) else "a key holds a lone surrogate"


def _scalar_problem(value: Any) -> str | None:
    if value is None or type(value) in (bool, dict, list):
        return None
    if type(value) is str:
        return None if _is_sound_text(value) else "the text holds a lone surrogate"
    if isinstance(value, int):
        return None if value.bit_length() <= MOST_BITS else "the integer has more than 4,300 digits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "the number is not finite"
    return f"{_kind(value)} is no JSON value"


def _kind(value: Any) -> str:
    return f"a {type(value).__name__} of the program"


def _token(key: Any) -> str:
    if type(key) is str:
        return key.encode(errors="replace").decode()
    return str(key) if isinstance(key, int) and key.bit_length() <= MOST_BITS else _kind(key)
