"""Harmony, as gpt-oss writes: messages with a channel; one with a tool as its recipient is a call.

Source: https://github.com/openai/harmony/blob/main/docs/format.md
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from strictcall.json_value import compact
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.scan import Mismatch, Reading, Scan
from strictcall.tagged.steps import Plain, Said, Thought

_START: Final = "<|start|>"
_CHANNEL: Final = "<|channel|>"
_CONSTRAIN: Final = "<|constrain|>"
_MESSAGE: Final = "<|message|>"
_CALL: Final = "<|call|>"
_ENDS: Final = (_CALL, "<|end|>", "<|return|>", _START)
_HEAD: Final = re.compile(r"[^<\n]*")
_RECIPIENT: Final = re.compile(r"\bto=(\S+)")
_NAMESPACE: Final = "functions."
_CHANNELS: Final = ("analysis", "commentary", "final")


def _read(scan: Scan) -> Reading[None]:
    head = yield from _head(scan)
    recipient = _RECIPIENT.search(head)
    if recipient is not None:
        yield from _call(scan, recipient[1])
        return
    yield from scan.take(_MESSAGE)
    kind = Thought if "analysis" in head else Plain
    ended = yield from scan.flow(kind, *_ENDS)
    if ended == _START:
        scan.at -= len(_START)


def _head(scan: Scan) -> Reading[str]:
    """Take a message's head up to its text; gives what it says. Raises ``Mismatch`` for none of an assistant's."""
    parts = []
    while (yield from scan.peek(_MESSAGE)) is None:
        token = yield from scan.skip(_START, _CHANNEL, _CONSTRAIN)
        try:
            part = yield from scan.run(_HEAD)
        except Mismatch:
            if token is None:
                raise
            part = ""
        if token == _START and not part.startswith("assistant"):
            raise Mismatch
        if token == _CHANNEL and not part.startswith(_CHANNELS):
            raise Mismatch
        parts.append(part)
        if scan.at >= scan.end:
            yield from scan.wait()
    return " ".join(parts)


def _call(scan: Scan, recipient: str) -> Reading[None]:
    """Take a call's text, JSON, and its end."""
    name = recipient.removeprefix(_NAMESPACE)
    if not recipient.startswith(_NAMESPACE) and not scan.offered.has(name):
        raise Mismatch  # a tool of the provider's own
    scan.begin(name)
    yield from scan.take(_MESSAGE)
    char = yield from scan.space()
    if char == "{":
        yield from arguments_only(scan, name, _ENDS)
    else:
        stands = yield from scan.peek(*_ENDS)
        text = "" if stands else (yield from scan.until(*_ENDS, take=False))[0]
        yield Said(name, text or "{}")
    yield from scan.space()
    if (yield from scan.peek(_START)) is None:
        yield from scan.skip(*_ENDS)


def _write(calls: Sequence[Written]) -> str:
    messages = []
    for call in calls:
        if not re.fullmatch(r"[^\s<]+", call.name):
            raise ValueError(f"this format cannot say the name {call.name!r}")
        head = f"{_START}assistant{_CHANNEL}commentary to={_NAMESPACE}{call.name} {_CONSTRAIN}json"
        messages.append(f"{head}{_MESSAGE}{compact(call.arguments)}{_CALL}")
    return "".join(messages)


HARMONY: Final = Family(
    "harmony",
    about="gpt-oss",
    shape=f"{_START}assistant{_CHANNEL}commentary to=functions.f {_CONSTRAIN}json{_MESSAGE}{{…}}{_CALL}",
    openings=(Opening(_CHANNEL, _read), Opening(_START, _read)),
    write=_write,
    models=r"gpt-?oss",
    also=("openai", "gpt-oss", "gpt_oss"),
    lacks="calls of the built-in tools, browser and python, are text",
)
