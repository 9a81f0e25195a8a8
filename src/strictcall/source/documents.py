"""Files and standard input: bytes to text to JSON values, whatever the format."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from strictcall.errors import SourceError
from strictcall.source.json_text import TextError, parse_json, without_comments
from strictcall.source.reading import Reading, failed, joined
from strictcall.source.shapes import read_value
from strictcall.source.yaml_text import parse_yaml

MAX_BYTES = 64 * 1024 * 1024
"""How large a source may be."""

STDIN = "<stdin>"
Reader = Callable[[Any, str, str], Reading]
"""Reads a JSON value: the value, the place where it came from, and the name of what has none. Never raises."""

_LINES = frozenset({".jsonl", ".ndjson"})
_YAML = frozenset({".yaml", ".yml"})
_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")


def read_file(path: str, reader: Reader = read_value) -> Reading:
    """The tools of a JSON, JSON Lines or YAML file, its values read by ``reader``. Never raises: what cannot be read is
    a problem.
    """
    try:
        with Path(path).open("rb") as stream:
            text = text_of(stream, path)
    except SourceError as error:
        return failed(error.place, error.problem)
    except (OSError, ValueError) as error:
        return failed(path, _reason(error))
    return read_text(text, path, Path(path).stem, Path(path).suffix.lower(), reader)


def read_stdin(reader: Reader = read_value) -> Reading:
    """The tools of what standard input says, in any of the formats of a file."""
    if sys.stdin is None:
        return failed(STDIN, "closed")
    try:
        text = text_of(sys.stdin.buffer, STDIN)
    except SourceError as error:
        return failed(error.place, error.problem)
    except OSError as error:
        return failed(STDIN, _reason(error))
    return read_text(text, STDIN, "stdin", "", reader)


def text_of(stream: BinaryIO, place: str) -> str:
    """All of a stream as text. Raises ``SourceError`` where it is too large or not UTF-8."""
    raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise SourceError(place, f"larger than {MAX_BYTES // (1024 * 1024)} MiB")
    if raw.startswith(_OTHER_BOMS):
        raise SourceError(place, "not UTF-8: it starts with the byte order mark of UTF-16; save it as UTF-8")
    try:
        return raw.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{place}: line {line}", f"not UTF-8: byte 0x{raw[error.start]:02x}") from None


def read_text(text: str, place: str, name: str, suffix: str = "", reader: Reader = read_value) -> Reading:
    """The tools of a text: by its suffix where that says the format, else by what it looks like."""
    if not text.strip():
        return failed(place, "empty")
    if suffix in _LINES:
        return _read_lines(text, place, name, reader)
    if suffix in _YAML or not _looks_like_json(text):
        return _read_yaml(text, place, name, reader)
    try:
        value = parse_json(text)
    except TextError as error:
        if _looks_like_lines(text):
            return _read_lines(text, place, name, reader)
        return _read_commented(text, place, name, reader, error)
    return _some(reader(value, place, name), place)


def _read_commented(text: str, place: str, name: str, reader: Reader, error: TextError) -> Reading:
    """The tools of a text that is not plain JSON: it may be JSON with comments and trailing commas."""
    plain = without_comments(text)
    if plain == text:
        return failed(_at(place, error), error.problem)
    try:
        value = parse_json(plain)
    except TextError as other:
        return failed(_at(place, other), other.problem)
    return _some(reader(value, place, name), place)


def _some(reading: Reading, place: str) -> Reading:
    return reading if reading.tools or reading.problems or reading.notes else failed(place, "there are no tools in it")


def _looks_like_json(text: str) -> bool:
    start = text.lstrip()
    return start[0] in '{["' or start.startswith(("//", "/*")) or start.split(None, 1)[0] in {"true", "false", "null"}


def _looks_like_lines(text: str) -> bool:
    """Whether a text that is not one JSON value is one on each line: most lines start an object, and one is whole."""
    lines = [line for line in text.split("\n") if line.strip()]
    starts = [line for line in lines if line[0] in "{["]
    return len(lines) > 1 and 2 * len(starts) > len(lines) and any(_is_whole(line) for line in starts[:20])


def _is_whole(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict | list)
    except TextError:
        return False


def _read_lines(text: str, place: str, name: str, reader: Reader) -> Reading:
    # Only a line feed ends a line: U+2028 and its like may stand in JSON strings.
    rows = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    return joined(_read_line(line, f"{place}: line {number}", f"{name}_{number}", reader) for number, line in rows)


def _read_line(line: str, place: str, name: str, reader: Reader) -> Reading:
    try:
        value = parse_json(line)
    except TextError as error:
        return failed(f"{place}, column {error.column}" if error.column else place, error.problem)
    return _some(reader(value, place, name), place)


def _read_yaml(text: str, place: str, name: str, reader: Reader) -> Reading:
    readings: list[Reading] = []
    try:
        for number, value in enumerate(parse_yaml(text), start=1):
            where = place if number == 1 else f"{place}: document {number}"
            readings.append(_some(reader(value, where, name), where))
    except TextError as error:
        readings.append(failed(_at(place, error), error.problem))
    except ModuleNotFoundError:
        return failed(place, "reading YAML needs PyYAML: pip install 'strictcall[cli]'")
    return joined(readings)


def _at(place: str, error: TextError) -> str:
    return f"{place}: line {error.line}, column {error.column}" if error.line else place


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error)
