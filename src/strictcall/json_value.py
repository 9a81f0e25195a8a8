"""JSON values: their types, equality, pointers, text, and the limits that arguments must keep.

Python's ``==`` is never used between JSON values here: ``True == 1`` in Python, but not in JSON.
"""

from __future__ import annotations

import functools
import json
import marshal
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

import jiter

from strictcall.errors import cut

MAX_DEPTH: Final = 200
"""How deep a call's arguments may nest, in contract form."""
MAX_WIRE_DEPTH: Final = 3 * MAX_DEPTH + 16
"""How deep the wire form may nest: an encoding adds at most two levels to each level of the contract."""
MAX_BYTES: Final = 16 * 1024 * 1024
"""How long the text of a call's arguments may be, in bytes of UTF-8."""
MAX_NODES: Final = 8 * 1024 * 1024
"""How many values a call's arguments may hold: as many as a text of ``MAX_BYTES`` has room for."""
MAX_DIGITS: Final = 4300
"""How many digits an integer may have: what Python converts between text and ``int`` without being asked twice."""

_LONG_INTEGER: Final = 512
"""Bits beyond which an integer is too long to be worth showing."""
_MAX_INTEGER: Final = 10**MAX_DIGITS
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKED: Final = bytes.maketrans(b"123456789E+", b"000000000ee")
"""Makes every digit a ``0`` and the marks of an exponent ``e``, so that plain text finds them."""
_LARGE_EXPONENT = re.compile(rb"0ee?000")
_MANY_DIGITS: Final = 308
_MANY_ZEROS: Final = b"0" * _MANY_DIGITS


class LimitError(ValueError):
    """A JSON text or value breaks one of the limits above; the text says which, in words for the caller."""


def json_type(value: Any) -> str:
    """The JSON type of a value: ``null``, ``boolean``, ``integer``, ``number``, ``string``, ``array`` or ``object``.

    A float without a fraction is an ``integer``, as JSON Schema has it.
    """
    kind = type(value)
    if kind is str:
        return "string"
    if kind is dict:
        return "object"
    if kind is list:
        return "array"
    if kind is int:
        return "integer"
    if kind is float:
        return "integer" if value.is_integer() else "number"
    return "null" if value is None else "boolean"


def identity(value: Any) -> Any:
    """A hashable stand-in for a JSON value: two stand-ins are equal exactly when the JSON values are."""
    kind = type(value)
    if kind is str:
        return value
    if kind is int or kind is float:
        return (0, value)
    if kind is list:
        return (1, *map(identity, value))
    if kind is dict:
        return (2, frozenset((name, identity(item)) for name, item in value.items()))
    return (3, value)


def equal(left: Any, right: Any) -> bool:
    """JSON equality: booleans are not numbers, 1 equals 1.0, the order of keys is free."""
    return bool(identity(left) == identity(right))


def escape(token: str) -> str:
    """A JSON Pointer reference token (RFC 6901, section 3)."""
    if "~" in token or "/" in token:
        return token.replace("~", "~0").replace("/", "~1")
    return token


def unescape(token: str) -> str:
    """What a JSON Pointer reference token stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def pointer(tokens: Iterable[str | int]) -> str:
    """A JSON Pointer from its unescaped tokens."""
    return "".join("/" + escape(str(token)) for token in tokens)


def resolve_pointer(document: Any, fragment: str) -> Any:
    """What a JSON Pointer leads to, or ``None``; ``fragment`` is its text after the ``#``, percent-encoded."""
    if fragment and not fragment.startswith("/"):
        return None
    node = document
    for token in unquote(fragment).split("/")[1:]:
        token = unescape(token)
        if type(node) is dict:
            node = node.get(token)
        elif type(node) is list and token.isascii() and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        else:
            return None
    return node


def compact(value: Any) -> str:
    """A JSON value as compact text, keys in their order, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value that is known to be one, many times faster than ``copy.deepcopy``."""
    return copier(value)()


def copier(value: Any) -> Callable[[], Any]:
    """What makes a deep copy of a JSON value each time it is called. The value must be known to be one; what it was is
    copied, whatever becomes of it.
    """
    return functools.partial(marshal.loads, marshal.dumps(value))


def sound(text: str) -> str:
    """Text that can be sent: what is no character, a lone surrogate, is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves of a character that stand together are that character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def sound_value(value: Any) -> Any:
    """A JSON value whose texts can all be sent, each as ``sound`` has it."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return {sound_value(key): sound_value(each) for key, each in value.items()}
    return [sound_value(each) for each in value] if isinstance(value, list | tuple) else value


def excerpt(value: Any, length: int = 60) -> str:
    """A JSON value as text of at most ``length`` characters, for people to read; large values are only named."""
    if type(value) is str:
        text = compact(value if len(value) <= length else value[:length])
    elif type(value) is dict or type(value) is list:
        text = compact(value) if is_small(value, length) else f"{'an object' if type(value) is dict else 'an array'}"
    elif type(value) is int and value.bit_length() > _LONG_INTEGER:
        text = "an integer of many digits"
    else:
        text = compact(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return cut(text, length)


def is_small(value: Any, most: int) -> bool:
    """Whether a container holds at most ``most`` nodes, counted without walking more than that."""
    pending, seen = [value], 0
    while pending:
        seen += 1
        if seen > most:
            return False
        item = pending.pop()
        if type(item) is int and item.bit_length() > _LONG_INTEGER:
            return False
        if type(item) is dict:
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
    return True


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a JSON value, at whatever depth, an outer one before those within it."""
    pending = [value]
    while pending:
        node = pending.pop()
        if type(node) is dict:
            yield node
            pending.extend(node.values())
        elif type(node) is list:
            pending.extend(node)


def depth_of(value: Any) -> int:
    """How deep a JSON value nests; a scalar is 0 deep."""
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for node in level:
            if type(node) is dict:
                below.extend(item for item in node.values() if type(item) is dict or type(item) is list)
            elif type(node) is list:
                below.extend(item for item in node if type(item) is dict or type(item) is list)
        level, depth = below, depth + 1
    return depth


def parse(text: str | bytes, max_depth: int = MAX_WIRE_DEPTH) -> Any:
    """Read JSON text within the limits: exact integers, no duplicate key, no NaN or infinity, no lone surrogate.

    Raises ``LimitError`` with one sentence that says what is wrong and where.
    """
    try:
        raw = text.encode() if isinstance(text, str) else bytes(text)
    except UnicodeEncodeError:
        raise LimitError("the text holds a lone surrogate, which is not a character") from None
    if len(raw) > MAX_BYTES:
        raise LimitError(f"the text is longer than {MAX_BYTES // (1024 * 1024)} MiB")
    try:
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        if "recursion limit" not in str(error):
            raise LimitError(_reason(str(error))) from None
        value = _parse_deep(raw, max_depth)
    if _may_be_infinite(raw):
        check_limits(value, max_depth)
    return value


def parse_plain(raw: bytes) -> Any:
    """Read JSON text that can plainly break no limit, as nearly every call's arguments can.

    Raises ``LimitError`` for any other text, whether it is within the limits or not: then ``parse`` must tell.
    """
    try:
        # No value nests deeper than its text has brackets.
        if len(raw) > MAX_DEPTH and (len(raw) > MAX_BYTES or raw.count(b"[") + raw.count(b"{") > MAX_DEPTH):
            raise LimitError("the text may nest too deep")
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        raise LimitError("the text may not be JSON") from None
    marked = raw.translate(_MARKED)
    if marked.find(b"e000") >= 0 or (len(raw) >= _MANY_DIGITS and marked.find(_MANY_ZEROS) >= 0):
        check_limits(value)
    return value


def _may_be_infinite(raw: bytes) -> bool:
    """Whether a number in a text may be too large for a float, which the parser reads as infinity.

    Needs an exponent of three digits, or more digits than any float has before its point.
    """
    marked = raw.translate(_MARKED)
    return bool(_LARGE_EXPONENT.search(marked)) or _MANY_ZEROS in marked


def _reason(message: str) -> str:
    if "number out of range" in message:
        return f"a number has more than {MAX_DIGITS:,} digits"
    return f"not valid JSON: {cut(message, 120)}"


def _parse_deep(raw: bytes, max_depth: int) -> Any:
    """Read text that nests deeper than the fast parser goes, but not deeper than allowed."""
    if _text_depth(raw, max_depth) > max_depth:
        raise LimitError(f"the arguments nest deeper than {max_depth} levels")
    try:
        value = json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise LimitError("the arguments nest too deep to be read here") from None
    except LimitError:
        raise
    except ValueError as error:
        raise LimitError(_reason(str(error))) from None
    check_limits(value, max_depth)
    return value


_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def _text_depth(raw: bytes, most: int) -> int:
    depth = deepest = 0
    for match in _STRUCTURE.finditer(raw):
        mark = match.group()
        if mark in b"[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > most:
                break
        elif mark in b"]}":
            depth -= 1
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise LimitError("not valid JSON: an object has a duplicate key")
    return found


def _no_constant(name: str) -> Any:
    raise LimitError(f"not valid JSON: {name} is not a JSON number")


def check_limits(value: Any, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES) -> None:
    """Check that a Python value is JSON within the limits: types, depth, digits, characters and cycles.

    Raises ``LimitError``. Walks level by level without recursion, so no value is too deep for it, and leaves the loops
    over one level to Python's built-ins.
    """
    level, depth, count, size = [value], 0, 1, 0
    while level:
        depth += 1
        below: list[Any] = []
        texts: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is str:
                texts.append(node)
            elif kind is dict:
                texts += node
                below += node.values()
            elif kind is list:
                below += node
            else:
                _check_scalar(node)
            if count + len(below) > max_nodes:
                raise LimitError(f"the value has more than {max_nodes:,} parts")
        count += len(below)
        size += _checked_size(texts)
        if size > MAX_BYTES:
            raise LimitError(f"the value holds more than {MAX_BYTES // (1024 * 1024)} MiB of text")
        level = below
        # Scalars one level further down add no depth; containers do.
        if depth >= max_depth and not _CONTAINERS.isdisjoint(map(type, below)):
            raise LimitError(f"the value nests deeper than {max_depth} levels")


def _check_scalar(value: Any) -> None:
    if value is None or value is True or value is False:
        return
    if type(value) is int:
        if not -_MAX_INTEGER < value < _MAX_INTEGER:
            raise LimitError(f"a number has more than {MAX_DIGITS:,} digits")
    elif type(value) is not float:
        raise LimitError(f"a value is not JSON but {type(value).__name__}")
    elif not math.isfinite(value):
        raise LimitError("NaN and infinity are not JSON numbers")


def _checked_size(texts: list[Any]) -> int:
    """The characters of some texts. Raises ``LimitError`` for a key that is not text, and for lone surrogates."""
    if not _TEXT.issuperset(map(type, texts)):
        kind = next(type(text) for text in texts if type(text) is not str)
        raise LimitError(f"an object has a key that is not text but {kind.__name__}")
    size = sum(map(len, texts))
    if size <= MAX_BYTES:
        whole = "".join(texts)
        if not whole.isascii() and _SURROGATE.search(whole):
            raise LimitError("a string holds a lone surrogate, which is not a character")
    return size


_TEXT: Final = frozenset({str})
_CONTAINERS: Final = frozenset({dict, list})
