"""FunctionGemma and Gemma 4: ``call:f{k:v}``, where text stands between tokens and nothing is escaped.

Sources: https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices and the chat template of
https://huggingface.co/google/gemma-4-E4B-it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strictcall.errors import Fault
from strictcall.json_value import MAX_DEPTH, LimitError, compact, parse, pointer
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.json_text import json_text, lenient
from strictcall.tagged.offered import TWICE
from strictcall.tagged.scan import Mismatch, Reading, Scan
from strictcall.tagged.steps import Said, Thought

_CALL: Final = "call:"
_NAME: Final = re.compile(r"[\w.:/-]*")
_KEY: Final = re.compile(r"[^:{}\[\],<>\"\n]*")
_BARE: Final = re.compile(r"[^,{}\[\]<>\"\n]*")


@dataclass(frozen=True, slots=True)
class _Tokens:
    """How a Gemma writes calls: what opens and what closes one, and what stands around text."""

    opening: str
    closing: tuple[str, ...]
    quote: str

    def read(self, scan: Scan) -> Reading[None]:
        """Take a call with the tokens around it."""
        yield from scan.take(self.opening)
        yield from scan.skip(":")
        yield from self.bare(scan)
        while (yield from scan.skip(*self.closing)) is not None:
            pass

    def bare(self, scan: Scan) -> Reading[None]:
        """Take a call and give it."""
        yield from scan.take(_CALL)
        name = yield from scan.run(_NAME)
        scan.begin(name)
        start = scan.at
        faults: list[Fault] = []
        try:
            text = yield from self._object(scan, 0, faults)
        except Mismatch:
            if not scan.certain:
                raise
            scan.at = start
            text, _ = yield from scan.until(*self.closing, self.opening, take=False)
        yield Said(name, text, None, tuple(faults))

    def _object(self, scan: Scan, depth: int, faults: list[Fault]) -> Reading[str]:
        """Take members in braces; gives them as JSON text."""
        found: dict[str, str] = {}
        yield from scan.take("{")
        while (yield from scan.space()) != "}":
            key = yield from self._key(scan)
            yield from scan.space()
            yield from scan.take(":")
            text = yield from self._value(scan, depth + 1, faults)
            if key in found:
                faults.append(Fault(pointer([key]), TWICE))
            found.setdefault(key, text)
            if (yield from scan.space()) == ",":
                scan.at += 1
        scan.at += 1
        return f"{{{','.join(f'{compact(key)}:{text}' for key, text in found.items())}}}"

    def _key(self, scan: Scan) -> Reading[str]:
        if (yield from scan.peek(self.quote)):
            return (yield from self._text(scan))
        if (yield from scan.char()) == '"':
            return (yield from _json_string(scan))
        key = yield from scan.run(_KEY)
        return key.strip()

    def _value(self, scan: Scan, depth: int, faults: list[Fault]) -> Reading[str]:
        """Take a value; gives it as JSON text."""
        if depth > MAX_DEPTH:
            raise Mismatch
        char = yield from scan.space()
        if char == "{":
            return (yield from self._object(scan, depth, faults))
        if char == "[":
            return (yield from self._list(scan, depth, faults))
        if (yield from scan.peek(self.quote)):
            return compact((yield from self._text(scan)))
        if char == '"':
            return compact((yield from _json_string(scan)))
        return _bare((yield from scan.run(_BARE, 8192)))

    def _list(self, scan: Scan, depth: int, faults: list[Fault]) -> Reading[str]:
        scan.at += 1
        items: list[str] = []
        while (yield from scan.space()) != "]":
            items.append((yield from self._value(scan, depth + 1, faults)))
            if (yield from scan.space()) != ",":
                break
            scan.at += 1
        yield from scan.take("]")
        return f"[{','.join(items)}]"

    def _text(self, scan: Scan) -> Reading[str]:
        yield from scan.take(self.quote)
        text, _ = yield from scan.until(self.quote)
        return text

    def writer(self, between: str) -> Callable[[Sequence[Written]], str]:
        """What writes calls in these tokens."""

        def write(calls: Sequence[Written]) -> str:
            return between.join(f"{self.opening}{_CALL}{self._written(call)}{self.closing[0]}" for call in calls)

        return write

    def _written(self, call: Written) -> str:
        if not _NAME.fullmatch(call.name):
            raise ValueError(f"this format cannot say the name {call.name!r}")
        return f"{call.name}{self._as_text(call.arguments)}"

    def _as_text(self, value: Any) -> str:
        if isinstance(value, str):
            if self.quote in value:  # nothing is escaped between the tokens, but in a JSON string it can be
                return compact(value).replace("<", "\\u003c")
            return f"{self.quote}{value}{self.quote}"
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{self._name(key)}:{self._as_text(item)}' for key, item in value.items())}}}"
        if isinstance(value, Sequence):
            return f"[{','.join(map(self._as_text, value))}]"
        return compact(value)

    def _name(self, key: str) -> str:
        return key if re.fullmatch(r"\w+", key) else self._as_text(key)


def _json_string(scan: Scan) -> Reading[str]:
    """Take text that is written as JSON has it."""
    try:
        return str(lenient((yield from json_text(scan)).text))
    except LimitError:
        raise Mismatch from None


def _bare(text: str) -> str:
    """A scalar as JSON text: what is no JSON is text."""
    text = text.strip()
    try:
        parse(text)
    except LimitError:
        return compact(text)
    return text


def _thought(scan: Scan) -> Reading[None]:
    yield from scan.take(_CHANNEL)
    yield from scan.skip("thought\n")
    yield from scan.flow(Thought, _CHANNEL_END)


_FUNCTION: Final = _Tokens("<start_function_call>", ("<end_function_call>",), "<escape>")
_GEMMA4: Final = _Tokens("<|tool_call>", ("<tool_call|>", "<turn|>"), '<|"|>')
_CHANNEL: Final = "<|channel>"
_CHANNEL_END: Final = "<channel|>"

FUNCTIONGEMMA: Final = Family(
    "functiongemma",
    about="FunctionGemma",
    shape="<start_function_call>call:f{k:<escape>v<escape>}<end_function_call>",
    openings=(Opening(_FUNCTION.opening, _FUNCTION.read),),
    write=_FUNCTION.writer(""),
    models=r"functiongemma",
)
GEMMA4: Final = Family(
    "gemma4",
    about="Gemma 4",
    shape='<|tool_call>call:f{k:<|"|>v<|"|>}<tool_call|>',
    openings=(
        Opening(_GEMMA4.opening, _GEMMA4.read),
        Opening(_CALL, _GEMMA4.bare, where="line", certain=False, named=True),
        Opening(_CHANNEL, _thought),
    ),
    write=_GEMMA4.writer(""),
    models=r"gemma-?4",
)
