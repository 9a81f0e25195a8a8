"""Calls that are JSON objects: one, several in a row, or a list of them, between an opening and a closing text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.json_value import LimitError, compact
from strictcall.tagged.family import Reader, Written
from strictcall.tagged.json_text import Broken, JsonText, escape_controls, json_text, lenient
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Plain, Said, Step
from strictcall.wire.mend import Repair

NAMES: Final = ("name", "tool_name", "function")
ARGUMENTS: Final = ("arguments", "parameters", "args")
IDS: Final = ("id", "tool_call_id", "call_id")
CONTROLS: Final = Repair("", "control characters within text, as line breaks, were read as they stand")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of calls: what opens and closes it.

    ``listed``: it is written as a list, and otherwise each call is a block of its own. ``space`` is written within
    the opening and closing text. ``name``, ``arguments`` and ``id`` are the members that are written; others that mean
    the same are read too.
    """

    opening: str
    closing: str = ""
    listed: bool = False
    space: str = ""
    name: str = "name"
    arguments: str = "arguments"
    id: str | None = None

    def read(self, scan: Scan) -> Reading[None]:
        """Take a block."""
        yield from scan.take(self.opening)
        yield from json_block(scan, (self.closing or self.opening, self.opening))
        if self.closing:
            yield from close(scan, self.closing)

    def write(self, calls: Sequence[Written]) -> str:
        """The text of calls."""
        objects = [self._object(call) for call in calls]
        bodies: list[Any] = [objects] if self.listed else objects
        return "\n".join(f"{self.opening}{self.space}{compact(body)}{self.space}{self.closing}" for body in bodies)

    def _object(self, call: Written) -> dict[str, Any]:
        made: dict[str, Any] = {self.name: call.name, self.arguments: call.arguments}
        return made if self.id is None or call.id is None else {**made, self.id: call.id}


def json_block(scan: Scan, stops: tuple[str, ...], *, bare: bool = False) -> Reading[None]:
    """Take calls and give them: an object, objects one after another, or a list of them.

    A call that is broken ends before the first of ``stops``; without them it is none. Where ``stops`` mark the calls,
    what is none among them is text, and takes no other with it. ``bare``: as in ``json_call``.
    """
    sign = yield from scan.space()
    is_list = sign == "["
    scan.at += is_list
    is_first = True
    while True:
        sign = yield from scan.space()
        start = scan.at
        try:
            yield from json_call(scan, stops, bare=bare)
        except Mismatch:
            if is_first or not stops:
                raise
            scan.at = start
            if sign in ("", "]"):
                break
            yield from _passed_over(scan, stops)
        is_first = False
        sign = yield from scan.space()
        if sign in (",", ";"):
            scan.at += 1
        elif sign != "{" or is_list:
            break
    if is_list:
        yield from scan.skip("]")


def _passed_over(scan: Scan, stops: tuple[str, ...]) -> Reading[None]:
    """Take a value that is no call, to its end, or that of its line where it is broken."""
    start = scan.at
    try:
        text = (yield from json_text(scan)).text
    except Broken:
        scan.at = start
        text, _ = yield from scan.until("\n", *stops, take=False)
    yield Plain(text)


def json_call(scan: Scan, stops: tuple[str, ...], *, bare: bool = False) -> Reading[None]:
    """Take an object that is a call, and give it. Raises ``Mismatch`` for anything that has no name.

    Where JSON is broken the call goes up to the first of ``stops``, and has a fault. ``bare``: no tag marks the object,
    so that it must give arguments too.
    """
    if (yield from scan.char()) != "{":
        raise Mismatch
    start, found = scan.at, JsonText()
    try:
        yield from json_text(scan, found)
    except Broken:
        if not stops:
            raise
        scan.begin(said(found.members).name)
        scan.at = start
        body, _ = yield from scan.until(*stops, take=False)
        yield Said(said(found.members).name, body)
        return
    except Cut:
        scan.begin(said(found.members).name)
        raise
    if bare and set(ARGUMENTS).isdisjoint(found.members):
        raise Mismatch
    yield said(found.members)


def bare_calls(scan: Scan) -> Reading[None]:
    """Take calls that no tag marks: each must name an offered tool and give its arguments."""
    yield from json_block(scan, (), bare=True)


def closed_call(closing: str) -> Reader:
    """Takes a call whose opening text is missing: the closing text must be there."""

    def read(scan: Scan) -> Reading[None]:
        yield from all_or_none(json_call(scan, (), bare=True), _closing(scan, closing))

    return read


def _closing(scan: Scan, closing: str) -> Reading[None]:
    yield from scan.space()
    yield from scan.take(closing)


def all_or_none(reading: Reading[None], end: Reading[None]) -> Reading[None]:
    """Read on, and give the calls only once what must follow them was taken."""
    found: list[Step] = []
    for step in reading:
        if step is None:
            yield None
        else:
            found.append(step)
    yield from end
    yield from found


def arguments_only(scan: Scan, name: str, stops: tuple[str, ...], call_id: str | None = None) -> Reading[None]:
    """Take the arguments of a call whose name was read, a JSON object, and give the call.

    Where JSON is broken they go up to the first of ``stops``, and have a fault. Raises ``Mismatch`` for no object.
    """
    if (yield from scan.space()) != "{":
        raise Mismatch
    scan.begin(name, call_id)
    start = scan.at
    try:
        text = (yield from json_text(scan)).text
    except Broken:
        scan.at = start
        text, _ = yield from scan.until(*stops, take=False)
        yield Said(name, text, call_id)
        return
    arguments, repairs = sound(text)
    yield Said(name, arguments, call_id, repairs=repairs)


def close(scan: Scan, closing: str) -> Reading[None]:
    """Take the closing text, where it is there; brackets too many before it are nothing that was meant."""
    place = scan.at
    while (yield from scan.space()) in ("}", "]"):
        scan.at += 1
    if (yield from scan.skip(closing)) is None and scan.at < scan.end:
        scan.at = place


def said(members: Mapping[str, str]) -> Said:
    """The call that an object is, from the texts of its members. Raises ``Mismatch`` for an object without a name."""
    name = _value(next((members[key] for key in NAMES if key in members), "null"))
    if type(name) is dict:  # {"type": "function", "function": {"name": …, "arguments": …}}
        inner = {key: compact(value) for key, value in name.items()}
        return said({**{key: text for key, text in members.items() if key in IDS}, **inner})
    if type(name) is not str or not name:
        raise Mismatch
    arguments, repairs = sound(next((members[key] for key in ARGUMENTS if key in members), "{}"))
    call_id = _value(next((members[key] for key in IDS if key in members), "null"))
    return Said(name, arguments, call_id if type(call_id) is str else None, repairs=repairs)


def sound(text: str) -> tuple[str, tuple[Repair, ...]]:
    """A JSON text with the control characters in its strings escaped, and whether there were any."""
    escaped = escape_controls(text) if _CONTROL.search(text) else text
    return escaped, () if escaped == text else (CONTROLS,)


def _value(text: str) -> Any:
    try:
        return lenient(text)
    except LimitError:
        raise Mismatch from None
