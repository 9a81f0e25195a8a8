"""MiniMax M3: nested elements, each tag behind a token.

Source: https://github.com/sgl-project/sglang (``srt/function_call/minimax_m3.py``)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.errors import Fault
from strictcall.json_value import MAX_DEPTH, compact, pointer
from strictcall.tagged.elements import Tag, cdata, quoted
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.offered import TWICE
from strictcall.tagged.raw import typed
from strictcall.tagged.scan import Mismatch, Reading, Scan
from strictcall.tagged.steps import Said

_NS: Final = "]<]minimax[>["
_OPEN: Final = f"{_NS}<tool_call>"
_CLOSE: Final = f"{_NS}</tool_call>"
_INVOKE: Final = Tag(f"{_NS}<invoke", name="name")
_INVOKE_END: Final = f"{_NS}</invoke>"
_ITEM: Final = "item"
_NAME: Final = re.compile(r"[\w.:-]*")


def _read(scan: Scan) -> Reading[None]:
    yield from scan.take(_OPEN)
    while True:
        yield from scan.space()
        yield from _call(scan)
        yield from scan.space()
        if (yield from scan.peek(_INVOKE.before)) is None:
            break
    yield from scan.skip(_CLOSE)


def _call(scan: Scan) -> Reading[None]:
    tag = yield from _INVOKE.take(scan)
    name = tag[""]
    scan.begin(name)
    found: dict[str, Any] = {}
    faults = []
    while True:
        yield from scan.space()
        if (yield from scan.skip(_INVOKE_END)) is not None:
            break
        key, value = yield from _element(scan, name, ())
        if key in found:
            faults.append(Fault(pointer([key]), TWICE))
        found.setdefault(key, value)
    yield Said(name, compact(found), None, tuple(faults))


def _element(scan: Scan, tool: str, path: tuple[str | int, ...]) -> Reading[tuple[str, Any]]:
    """Take an element; gives its name and value. ``path`` is where it stands in the arguments."""
    if len(path) > MAX_DEPTH:
        raise Mismatch
    yield from scan.take(f"{_NS}<")
    key = yield from scan.run(_NAME)
    yield from scan.take(">")
    end = f"{_NS}</{key}>"
    path = path if key == _ITEM and path and type(path[-1]) is int else (*path, key)
    start = scan.at
    text = yield from cdata(scan)
    if text is None or (yield from scan.peek(end)) is None:
        scan.at = start
        text, _ = yield from scan.until(_NS, take=False)
    if (yield from scan.peek(end)) is not None:
        scan.at += len(end)
        compiled = scan.offered.tool(tool)
        return key, text if compiled is None else typed(text, compiled, path)
    if text.strip():
        raise Mismatch
    return key, (yield from _inner(scan, tool, path, end))


def _inner(scan: Scan, tool: str, path: tuple[str | int, ...], end: str) -> Reading[Any]:
    """Take the elements within one, and its end: items are a list, others an object."""
    names: list[str] = []
    values: list[Any] = []
    while (yield from scan.skip(end)) is None:
        first = yield from scan.peek(f"{_NS}<{_ITEM}>")
        at = (*path, len(values)) if first is not None else path
        name, value = yield from _element(scan, tool, at)
        names.append(name)
        values.append(value)
        yield from scan.space()
    return values if all(name == _ITEM for name in names) else dict(zip(names, values, strict=True))


def _write(calls: Sequence[Written]) -> str:
    return f"{_OPEN}{''.join(map(_written, calls))}{_CLOSE}"


def _written(call: Written) -> str:
    elements = (_as_element(key, value) for key, value in call.arguments.items())
    return f"{_INVOKE.written(call.name)}{''.join(elements)}{_INVOKE_END}"


def _as_element(key: str, value: Any) -> str:
    if not _NAME.fullmatch(key) or not key:
        raise ValueError(f"an element of this format cannot say the name {key!r}")
    if not isinstance(value, str) and not _is_text(value):
        # In JSON, so that what is no text is told from text where both are legal.
        inner = compact(value).replace(_NS, f"\\u005d{_NS[1:]}")
    elif isinstance(value, Mapping):
        inner = "".join(_as_element(name, item) for name, item in value.items())
    elif isinstance(value, str):
        inner = quoted(value, (_NS,))
    else:
        inner = "".join(_as_element(_ITEM, item) for item in value)
    return f"{_NS}<{key}>{inner}{_NS}</{key}>"


def _is_text(value: Any) -> bool:
    """Whether a value can be written as elements: it holds text alone, and something."""
    if isinstance(value, Mapping):
        return (
            bool(value)
            and _ITEM not in value
            and all(key and _NAME.fullmatch(key) for key in value)
            and all(map(_is_text, value.values()))
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return bool(value) and all(map(_is_text, value))
    return isinstance(value, str)


MINIMAX_M3: Final = Family(
    "minimax_m3",
    about="MiniMax M3",
    shape=f'{_OPEN}{_NS}<invoke name="f">{_NS}<k>v{_NS}</k>{_INVOKE_END}{_CLOSE}',
    openings=(Opening(_OPEN, _read),),
    write=_write,
    models=r"minimax-?m3",
    also=("minimax-m3",),
)
