"""Calls written as elements: a tag that names the tool, and one for each parameter, whose value is raw text.

What closes a value may also stand within it, for nothing is escaped. So a closing tag counts only where another
parameter or the end of the call follows. A value that is wholly ``<![CDATA[…]]>`` is what stands in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

from strictcall.json_value import LimitError, compact, parse, pointer, unescape
from strictcall.tagged.family import Written
from strictcall.tagged.json_calls import arguments_only
from strictcall.tagged.json_text import lenient
from strictcall.tagged.literals import literal_text
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Said
from strictcall.wire.compiled import CompiledTool

CDATA: Final = "<![CDATA["
CDATA_END: Final = "]]>"
_CLOSED: Final = "/"
"""What a tag ends with that has no end of its own."""
_HEAD: Final = re.compile(r"[^<>\n]*")
_ATTRIBUTE: Final = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
_DRIFTED: Final = re.compile(r"\w*>?\s*")
_PLAIN_NAME: Final = re.compile(r"""[^<>"'=&\s]+""")


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag: ``before`` what it says, and ``after`` it. It says ``name`` as an attribute; without one, what
    stands there is the name itself.
    """

    before: str
    after: str = ">"
    name: str = ""

    def take(self, scan: Scan) -> Reading[Mapping[str, str]]:
        """Take the tag; gives its attributes, its name under ``""``. Raises ``Mismatch`` for a tag without a name."""
        yield from scan.take(self.before)
        text = yield from scan.run(_HEAD)
        yield from scan.take(self.after)
        if not self.name:
            found = {"": text.strip().strip("\"'")}
        elif text[0].isspace():
            found = {match[1]: html.unescape(match[2] or match[3] or match[4] or "") for match in attributes_in(text)}
            found[""] = found.get(self.name, "")
            if text.rstrip().endswith(_CLOSED):
                found[_CLOSED] = ""
        else:
            raise Mismatch
        if not found[""]:
            raise Mismatch
        return found

    def written(self, name: str, more: str = "") -> str:
        """The tag with a name, and ``more`` attributes. Raises ``ValueError`` for a name that no tag can say."""
        if not _PLAIN_NAME.fullmatch(name):
            raise ValueError(f"a tag of this format cannot say the name {name!r}")
        return (
            f'{self.before} {self.name}="{name}"{more}{self.after}' if self.name else f"{self.before}{name}{self.after}"
        )


def attributes_in(text: str) -> Iterator[re.Match[str]]:
    """The attributes in the text of a tag: the name is group 1, the value one of the other three."""
    return _ATTRIBUTE.finditer(text)


@dataclass(frozen=True)
class Elements:
    """How calls are written as elements.

    ``opening`` and ``closing`` stand around calls. ``pad`` stands around each value: one is taken off at either end.
    ``noise`` may stand between elements and says nothing. ``text_mark`` is an attribute of parameters and what it says
    of text: where it says something else, the value is JSON; ``mark`` writes it. ``id`` is the attribute of an id.
    ``line`` stands between elements where calls are written.
    """

    call: Tag
    call_end: str
    parameter: Tag
    parameter_end: str
    opening: str = ""
    closing: str = ""
    pad: str = ""
    line: str = ""
    noise: tuple[str, ...] = ()
    text_mark: tuple[str, str] | None = None
    mark: Callable[[Any], str] | None = None
    id: str = "id"

    @cached_property
    def _ends(self) -> tuple[str, ...]:
        """What a value may end before."""
        return (self.parameter_end, self.call_end, self.parameter.before)

    @cached_property
    def _follow(self) -> tuple[str, ...]:
        """What may follow a value that is closed."""
        return tuple(filter(None, (self.parameter.before, self.call_end, self.closing)))

    def read(self, scan: Scan) -> Reading[None]:
        """Take the opening and the calls behind it."""
        yield from scan.take(self.opening)
        yield from self.read_calls(scan)

    def read_calls(self, scan: Scan) -> Reading[None]:
        """Take calls, one at least, and the closing text, if it is there."""
        yield from self.between(scan)
        yield from self.read_call(scan)
        while True:
            yield from self.between(scan)
            if (yield from scan.peek(self.call.before)) is None:
                break
            yield from self.read_call(scan)
        if self.closing:
            yield from scan.skip(self.closing)

    def between(self, scan: Scan) -> Reading[None]:
        """Take what may stand between elements."""
        yield from scan.space()
        while self.noise and (yield from scan.skip(*self.noise)) is not None:
            yield from scan.space()

    def read_call(self, scan: Scan) -> Reading[None]:
        """Take a call and give it."""
        tag = yield from self.call.take(scan)
        name = tag[""]
        scan.begin(name, tag.get(self.id))
        start = scan.at
        found: list[tuple[str, str, bool]] = []
        if _CLOSED not in tag and (yield from scan.space()) == "{":
            yield from self._read_object(scan, name, tag.get(self.id))
            return
        scan.at = start
        try:
            if _CLOSED not in tag:
                yield from self._parameters(scan, name, found)
        except Mismatch:
            if not found:
                raise
            # The call is surely one, but what stands in it is not: its text goes with it, for the model to be told.
            scan.at = start
            body, _ = yield from scan.until(*filter(None, (self.call_end, self.closing, self.opening)), take=False)
            yield from scan.skip(self.call_end)
            yield Said(name, body, tag.get(self.id))
            return
        yield said(scan, name, found, tag.get(self.id))

    def _read_object(self, scan: Scan, name: str, call_id: str | None) -> Reading[None]:
        """Take the arguments of a call that are written as a JSON object, where parameters would stand."""
        ends = tuple(filter(None, (self.call_end, self.closing, self.opening)))
        yield from arguments_only(scan, name, ends, call_id)
        yield from self.between(scan)
        yield from scan.skip(self.call_end)

    def _parameters(self, scan: Scan, tool: str, found: list[tuple[str, str, bool]]) -> Reading[None]:
        """Take the parameters and the end of the call. Each is its name, its text, and whether that is JSON."""
        while True:
            yield from self.between(scan)
            which = yield from scan.peek(*self._follow)
            if which != self.parameter.before:
                break
            tag = yield from self.parameter.take(scan)
            names = {name for name, _, _ in found}
            raw = yield from self._value(scan, lambda key: key not in names and declares(scan, tool, key))  # noqa: B023
            is_json = self.text_mark is not None and tag.get(self.text_mark[0], self.text_mark[1]) != self.text_mark[1]
            found.append((tag[""], raw, is_json))
        if which is None or which == self.call_end:
            yield from scan.take(self.call_end)

    def _value(self, scan: Scan, begins: Callable[[str], bool]) -> Reading[str]:
        """Take a value and what closes it. ``begins``: whether a parameter of this name may begin where none ended."""
        if self.pad:
            yield from scan.skip(self.pad)
        start = scan.at
        quoted = yield from cdata(scan)
        if quoted is not None:
            yield from scan.space()
            if (yield from scan.skip(self.parameter_end)) is not None:
                return quoted
            scan.at = start
        while True:
            _, which = yield from scan.until(*self._ends, take=False)
            end = scan.at
            if (yield from self._ends_with(scan, which, begins, line_start=scan.between(end - 1, end) == "\n")):
                raw = scan.between(start, end).removesuffix(self.pad)
                return raw if which == self.parameter_end else self._without_end(raw)
            scan.at = end + len(which)

    def _without_end(self, raw: str) -> str:
        """A value that nothing closed, without what was to close it: a tag that is misspelled, or broken off."""
        place = raw.rfind(self.parameter_end[:-1])
        drifted = place >= 0 and _DRIFTED.fullmatch(raw, place + len(self.parameter_end) - 1)
        return raw[:place].removesuffix(self.pad) if drifted else raw

    def _ends_with(self, scan: Scan, which: str, begins: Callable[[str], bool], *, line_start: bool) -> Reading[bool]:
        """Whether a value ends at what stands here, which is then taken where it closes the value."""
        place = scan.at
        if which != self.parameter_end and not line_start:
            return False
        if which == self.parameter.before:
            try:
                tag = yield from self.parameter.take(scan)
            except Mismatch:
                return False
            scan.at = place
            return begins(tag[""])
        scan.at += len(which)
        yield from self.between(scan)
        if which == self.parameter_end:
            return (yield from scan.peek(*self._follow)) is not None or scan.at >= scan.end
        closed = bool(self.closing) and (yield from scan.peek(self.closing)) is not None
        scan.at = place
        return closed

    def write(self, calls: Sequence[Written]) -> str:
        """Calls, each in the opening and closing text."""
        return "\n".join(f"{self.opening}{self.line}{self.element(call)}{self.closing}" for call in calls)

    def write_together(self, calls: Sequence[Written]) -> str:
        """Calls, all of them in one opening and closing text."""
        return f"{self.opening}{self.line}{''.join(map(self.element, calls))}{self.closing}"

    def element(self, call: Written) -> str:
        """A call, without what stands around calls."""
        parameters = (self._parameter(key, value) for key, value in call.arguments.items())
        return f"{self.call.written(call.name)}{self.line}{''.join(parameters)}{self.call_end}{self.line}"

    def _parameter(self, key: str, value: Any) -> str:
        tag = self.parameter.written(key, self.mark(value) if self.mark is not None else "")
        text = quoted(text_of(value), (*self._ends, *filter(None, (self.closing,))))
        return f"{tag}{self.pad}{text}{self.pad}{self.parameter_end}{self.line}"


def said(scan: Scan, name: str, parameters: Iterable[tuple[str, str, bool]], call_id: str | None = None) -> Said:
    """The call of parameters: their names, their texts, and whether these are JSON."""
    parameters = list(parameters)
    arguments, faults = scan.offered.typed(name, [(key, raw) for key, raw, _ in parameters])
    compiled = scan.offered.tool(name)
    try:
        values = parse(arguments)
    except LimitError:  # a lone surrogate, or more than JSON may have: a fault, once it is checked
        return Said(name, arguments, call_id, faults)
    better = {} if compiled is None else _better(compiled, values, parameters)
    return Said(name, compact({**values, **better}) if better else arguments, call_id, faults)


def _better(
    compiled: CompiledTool, values: Mapping[str, Any], parameters: Sequence[tuple[str, str, bool]]
) -> dict[str, Any]:
    """Values that the contract takes where it does not take the text, or where the text is JSON, as its tag says."""
    wrong = {unescape(fault.pointer.split("/")[1]) for fault in compiled.check(values) if fault.pointer}
    found: dict[str, Any] = {}
    for key, raw, is_json in reversed(parameters):
        found.pop(key, None)
        if is_json or (key in wrong and values[key] == raw):
            taken = (value for value in _readings(raw) if _is_taken(compiled, key, value))
            found.update((key, value) for value in islice(taken, 1))
    return found


def _readings(raw: str) -> Iterator[Any]:
    """What a text may stand for: JSON, JSON that is quoted or escaped once more, or a literal as Python writes it."""
    for reading in (lenient, _quoted_once_more, _escaped_once_more, _python):
        try:
            yield reading(raw.strip())
        except LimitError:
            continue


def _quoted_once_more(text: str) -> Any:
    inner = lenient(text)
    if not isinstance(inner, str):
        raise LimitError
    return lenient(inner)


def _escaped_once_more(text: str) -> Any:
    return _quoted_once_more(f'"{text}"')


def _python(text: str) -> Any:
    read = literal_text(text)
    if read is None:
        raise LimitError
    return parse(read)


def _is_taken(compiled: CompiledTool, key: str, value: Any) -> bool:
    """Whether the contract takes a value for an argument."""
    place = pointer([key])
    faults = compiled.check({key: value})
    return not any(fault.pointer == place or fault.pointer.startswith(f"{place}/") for fault in faults)


def cdata(scan: Scan) -> Reading[str | None]:
    """Take CDATA sections and give what stands in them; ``None`` where none stands here, or none is closed."""
    if (yield from scan.peek(CDATA)) is None:
        return None
    parts = []
    try:
        while (yield from scan.skip(CDATA)) is not None:
            part, _ = yield from scan.until(CDATA_END)
            parts.append(part)
    except Cut:
        return None
    return "".join(parts)


def quoted(text: str, closers: Iterable[str]) -> str:
    """A value's text as it is written: in CDATA sections where it holds what may close it."""
    if text.startswith(CDATA) or any(closer in text for closer in closers):
        return CDATA + text.replace(CDATA_END, f"]]{CDATA_END}{CDATA}>") + CDATA_END
    return text


def text_of(value: Any) -> str:
    """A raw value: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def declares(scan: Scan, tool: str, name: str) -> bool:
    """Whether a tool declares an argument of a name."""
    compiled = scan.offered.tool(tool)
    if compiled is None:
        return False
    schemas = (compiled.parameters, compiled.tool.parameters)
    held = (schema.get("properties") for schema in schemas if isinstance(schema, dict))
    return any(isinstance(properties, dict) and name in properties for properties in held)
