"""Calls written as in Python: a name, and arguments by name whose values are literals. Nothing is evaluated.

JSON's words are read beside Python's. A quotation mark ends a string only where what follows may follow one: models
forget to escape those within.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from strictcall.errors import Fault
from strictcall.json_value import MAX_DEPTH, compact, pointer
from strictcall.tagged.json_text import Broken
from strictcall.tagged.offered import TWICE, Offered
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Said
from strictcall.wire.mend import Repair
from strictcall.wire.toolset import Toolset

NAME: Final = re.compile(r"[\w.\-]*")
_KEY: Final = re.compile(r"\w*")
_BARE: Final = re.compile(r"[\w.+\-]*")
_WORDS: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}
_JSON_WORDS: Final = frozenset(_WORDS.values())
_INTEGER: Final = re.compile(r"([+-]?)0*(\d+(?:_\d+)*)", re.ASCII)
_NUMBER: Final = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?", re.ASCII)
_ESCAPES: Final[Mapping[str, str]] = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True)) | {"\n": ""}
_CODES: Final[Mapping[str, int]] = {"x": 2, "u": 4, "U": 8}
_QUOTES: Final = ("'''", '"""', "'", '"')
_PREFIXES: Final = frozenset({"r", "R", "b", "B", "f", "F", "u", "U", "rb", "br", "Rb", "bR"})
_CLOSERS: Final[Mapping[str, str]] = {"[": "]", "{": "}", "(": ")"}
_NONE_OFFERED: Final = Offered(Toolset(()))
_NO_JSON: Final = "must be a JSON value"
_QUOTE_WITHIN: Final = Repair("", "a quotation mark within text, which was not escaped, was read as it stands")


class Call:
    """Reads one call. ``after``: what may follow it, white space aside; a line break counts only where it is named.
    Nothing named: anything may.
    """

    def __init__(self, scan: Scan, after: str) -> None:
        self._scan = scan
        self._after = after
        self._faults: list[Fault] = []
        self._repairs: list[Repair] = []
        self._key = ""

    def read(self, name: str) -> Reading[Said]:
        """Take the arguments of a call, in their brackets. Raises ``Mismatch`` for anything that is no literal."""
        scan = self._scan
        yield from scan.take("(")
        found: dict[str, str] = {}
        while (yield from scan.space()) != ")":
            yield from _something(scan)
            self._key = key = yield from scan.run(_KEY)
            yield from scan.space()
            yield from scan.take("=")
            text = yield from self._value(0, ",)")
            if key in found:
                self._faults.append(Fault(pointer([key]), TWICE))
            found.setdefault(key, text)
            if (yield from scan.space()) != ",":
                break
            scan.at += 1
        yield from scan.take(")")
        arguments = ",".join(f"{compact(key)}:{text}" for key, text in found.items())
        return Said(name, f"{{{arguments}}}", None, tuple(self._faults), tuple(self._repairs))

    def value(self) -> Reading[str]:
        """Take a literal and the white space after it; gives it as JSON text."""
        text = yield from self._value(0, "")
        yield from self._scan.space()
        return text

    def _value(self, depth: int, follow: str) -> Reading[str]:
        """Take a literal, which one of the characters ``follow`` must follow; gives it as JSON text."""
        scan = self._scan
        char = yield from scan.space()
        yield from _something(scan)
        if depth > MAX_DEPTH:
            raise Broken
        if char in _CLOSERS:
            scan.at += 1
            return (yield from self._container(char, depth + 1))
        if char and char in "'\"":
            return compact((yield from self._string(follow)))
        word = yield from scan.run(_BARE, 8192)
        if word in _PREFIXES and (yield from scan.char()) in ("'", '"'):
            if not set(word) <= set("rRuU"):
                self._faults.append(Fault(pointer([self._key]), _NO_JSON, word))
            return compact((yield from self._string(follow, raw="r" in word.lower())))
        yield from _something(scan)
        return word if word in _JSON_WORDS else _WORDS.get(word) or number(word)

    def _container(self, opener: str, depth: int) -> Reading[str]:
        """Take what stands in brackets, and the bracket that closes them."""
        scan, closer = self._scan, _CLOSERS[opener]
        items: list[str] = []
        pairs = False
        comma = False
        while (yield from scan.space()) != closer:
            item = yield from self._value(depth, f",{closer}:" if opener == "{" else f",{closer}")
            if opener == "{" and (pairs or not items) and (yield from scan.space()) == ":":
                scan.at += 1
                pairs = True
                item = f"{_as_name(item)}:{(yield from self._value(depth, f',{closer}'))}"
            elif pairs:
                raise Broken
            items.append(item)
            if (yield from scan.space()) != ",":
                break
            scan.at += 1
            comma = True
        yield from scan.take(closer)
        if opener == "(" and len(items) == 1 and not comma:
            return items[0]
        if opener == "{" and (pairs or not items):
            return f"{{{','.join(items)}}}"
        return f"[{','.join(items)}]"

    # --- strings ---

    def _string(self, follow: str, *, raw: bool = False) -> Reading[str]:
        """Take a string; one of the characters ``follow`` must follow it."""
        scan = self._scan
        quote = yield from scan.take(*_QUOTES)
        plain = re.compile(rf"[^\\{quote[0]}]*")
        parts: list[str] = []
        while True:
            parts.append(scan.match(plain) or "")
            scan.at += len(parts[-1])
            char = yield from scan.char()
            if not char:
                yield from scan.wait()
            elif char == "\\":
                parts.append((yield from self._escape(raw=raw)))
            elif (yield from scan.peek(quote, quote[0])) == quote and (yield from self._closes(quote, follow)):
                return _paired("".join(parts))
            else:
                parts.append(char)
                scan.at += 1

    def _closes(self, quote: str, follow: str) -> Reading[bool]:
        """Whether the quotation mark here ends the string; it is taken then."""
        scan, start = self._scan, self._scan.at
        scan.at = place = start + len(quote)
        sign = yield from scan.space()
        closes = not sign or sign in follow
        if closes and ")" in follow and sign == ")":
            scan.at += 1
            closes = yield from self._ends_call()
        elif closes and ")" in follow and sign == ",":
            scan.at += 1
            closes = yield from self._goes_on()
        scan.at = place if closes else start
        if not closes and not self._repairs:
            self._repairs.append(_QUOTE_WITHIN)
        return closes

    def _ends_call(self) -> Reading[bool]:
        """Whether what stands here may follow a call."""
        scan, start = self._scan, self._scan.at
        sign = yield from scan.space()
        on_new_line = "\n" in self._after and "\n" in scan.between(start, scan.at)
        return not sign or not self._after or sign in self._after or on_new_line

    def _goes_on(self) -> Reading[bool]:
        """Whether another argument stands here, or the end of all."""
        scan = self._scan
        if (yield from scan.space()) in (")", ""):
            return True
        try:
            yield from scan.run(_KEY)
        except Mismatch:
            return False
        return (yield from scan.space()) in ("=", "")

    def _escape(self, *, raw: bool) -> Reading[str]:
        """Take a backslash and what it escapes."""
        scan = self._scan
        while scan.at + 1 >= scan.end:
            yield from scan.wait()
        char = scan.between(scan.at + 1, scan.at + 2)
        scan.at += 2
        if raw:
            return f"\\{char}"
        if char in _ESCAPES:
            return _ESCAPES[char]
        size = _CODES.get(char, 0)
        while scan.at + size > scan.end:
            yield from scan.wait()
        digits = scan.between(scan.at, scan.at + size)
        if size and re.fullmatch(r"[0-9a-fA-F]+", digits) and int(digits, 16) < 0x110000:
            scan.at += size
            return chr(int(digits, 16))
        return f"\\{char}"


def _something(scan: Scan) -> Reading[None]:
    """Wait for a character. Raises ``Cut`` at the end of the text."""
    while scan.at >= scan.end:
        yield from scan.wait()


def number(text: str) -> str:
    """A Python number as JSON text. Raises ``Broken`` for what is none."""
    whole = _INTEGER.fullmatch(text)
    if whole:
        return f"{whole[1].replace('+', '')}{whole[2].replace('_', '')}"
    parts = _NUMBER.fullmatch(text)
    if parts is None or not (parts[2] or parts[3]):
        raise Broken
    sign, before, after, power = parts.groups()
    fraction = f".{after}" if after else ""
    return f"{sign.replace('+', '')}{before.lstrip('0') or '0'}{fraction or '.0'}{f'e{power}' if power else ''}"


def _as_name(item: str) -> str:
    """A JSON text as the name of a member: text is one, other scalars are put in quotation marks."""
    if item[0] in "[{":
        raise Broken
    return item if item[0] == '"' else compact(item)


def _paired(text: str) -> str:
    """A text with surrogates, as two escapes give them, put together. Raises ``Broken`` for a lone one."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise Broken from None


def literal_text(text: str) -> str | None:
    """A text that is one literal as JSON text; ``None`` for any other."""
    scan = Scan(_NONE_OFFERED)
    scan.more(f"{text}\n")  # a number is complete only where something follows it
    scan.closed = True
    reading = Call(scan, "").value()
    try:
        while True:
            next(reading)
    except StopIteration as end:
        return str(end.value) if scan.at >= scan.end else None
    except (Mismatch, Cut):
        return None


def listed(scan: Scan) -> Reading[None]:
    """Take a list of calls in square brackets and give them.

    A call of a tool that is not offered is given only beside one that is: alone, it is no call.
    """
    yield from scan.take("[")
    held: list[Said] = []
    while (yield from scan.space()) != "]":
        name = yield from scan.run(NAME)
        if scan.certain or scan.offered.has(name):
            scan.begin(name)
        held.append((yield from Call(scan, ",]").read(name)))
        sign = yield from scan.space()
        if sign and sign not in ",]":
            raise Mismatch
        scan.at += sign == ","
        scan.certain = scan.certain or scan.offered.has(name)
        if scan.certain:
            yield from held
            held = []
    if held:
        raise Mismatch
    scan.at += 1


def written(name: str, arguments: Mapping[str, Any]) -> str:
    """A call. Raises ``ValueError`` for names that Python has no way to write."""
    for word in (name.replace(".", "_").replace("-", "_"), *arguments):
        if not re.fullmatch(r"\w+", word):
            raise ValueError(f"a Python call cannot say the name {word!r}")
    return f"{name}({', '.join(f'{key}={literal(value)}' for key, value in arguments.items())})"


def literal(value: Any) -> str:
    """A JSON value as Python writes it."""
    if isinstance(value, str):
        return compact(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(literal, value))}]"
    words = {"true": "True", "false": "False", "null": "None"}
    text = compact(value)
    return words.get(text, text)
