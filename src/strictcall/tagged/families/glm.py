"""Calls of keys and values in turn: GLM-4.5 and GLM-4.7, Hunyuan 3 and 4, LongCat Flash Lite.

The bare name comes first, and values are raw. Formats differ in how the tags are called.

Sources: the chat templates of https://huggingface.co/zai-org/GLM-4.5 and https://huggingface.co/zai-org/GLM-4.7;
https://github.com/sgl-project/sglang (``python/sglang/srt/function_call/hunyuan_detector.py``);
https://github.com/vllm-project/vllm (``tests/tool_parsers/test_hy_v4_tool_parser.py``)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from strictcall.tagged.elements import cdata, quoted, said, text_of
from strictcall.tagged.family import Family, Opening, Written
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Said

_NAME: Final = re.compile(r"[\w.:/-]*")
_SPELT_LINE: Final = "\\n"
"""A line break that was spelt out: the model repeats how its template was written down."""


@dataclass(frozen=True)
class Pairs:
    """How the tags are called: ``prefix`` and ``suffix`` stand around each tag's name. ``separator`` may stand behind
    the tool's name, ``line`` is written between elements, and ``section`` says whether calls stand in a section.
    """

    prefix: str = ""
    suffix: str = ""
    separator: str = ""
    line: str = ""
    section: bool = False

    def _tag(self, name: str) -> tuple[str, str]:
        named = f"{self.prefix}{name}{self.suffix}>"
        return f"<{named}", f"</{named}"

    @cached_property
    def call(self) -> tuple[str, str]:
        """What opens and closes a call."""
        return self._tag("tool_call")

    @cached_property
    def calls(self) -> tuple[str, str]:
        """What opens and closes a section."""
        return self._tag("tool_calls")

    @cached_property
    def _key(self) -> tuple[str, str]:
        return self._tag("arg_key")

    @cached_property
    def _value(self) -> tuple[str, str]:
        return self._tag("arg_value")

    def openings(self) -> tuple[Opening, ...]:
        """Where a call is looked for: within a line, where it may be no more than mentioned, with arguments only."""
        return (
            Opening(self.call[0], self.read, where="line"),
            Opening(self.call[0], self.read, named=True),
            Opening(self.call[0], self._read_with_arguments),
        )

    def read(self, scan: Scan) -> Reading[None]:
        """Take a call."""
        yield from self._read_call(scan)

    def _read_with_arguments(self, scan: Scan) -> Reading[None]:
        yield from self._read_call(scan, bare=False)

    def read_section(self, scan: Scan) -> Reading[None]:
        """Take a section of calls, one at least."""
        yield from scan.take(self.calls[0])
        yield from scan.space()
        yield from self._read_call(scan)
        yield from scan.space()
        while (yield from scan.peek(self.call[0])) is not None:
            yield from self._read_call(scan)
            yield from scan.space()
        yield from scan.skip(self.calls[1])

    def _read_call(self, scan: Scan, *, bare: bool = True) -> Reading[None]:
        yield from scan.take(self.call[0])
        yield from scan.space()
        name = yield from scan.run(_NAME)
        yield from self._between(scan)
        separated = bool(self.separator) and (yield from scan.skip(self.separator)) is not None
        yield from self._between(scan)
        if scan.closed and scan.at >= scan.end:
            raise Cut
        follows = yield from scan.peek(self._key[0], self.call[1])
        if follows is None and not separated and not scan.may_begin(self._key[0]):
            raise Mismatch
        if not bare and follows != self._key[0]:
            raise Mismatch
        scan.begin(name)
        start = scan.at
        found: list[tuple[str, str, bool]] = []
        try:
            while (yield from scan.peek(self._key[0])):
                yield from self._pair(scan, found)
                yield from self._between(scan)
            yield from scan.take(self.call[1])
        except Mismatch:
            scan.at = start
            body, _ = yield from scan.until(self.call[1], self.call[0], take=False)
            yield from scan.skip(self.call[1])
            yield Said(name, body)
            return
        yield said(scan, name, found)

    def _between(self, scan: Scan) -> Reading[None]:
        """Take what may stand between elements."""
        yield from scan.space()
        while (yield from scan.skip(_SPELT_LINE)) is not None:
            yield from scan.space()

    def _pair(self, scan: Scan, found: list[tuple[str, str, bool]]) -> Reading[None]:
        """Take a key and its value. A key that is not closed ends where its value begins."""
        yield from scan.take(self._key[0])
        key, ended = yield from scan.until(self._key[1], self._value[0])
        if ended == self._key[1]:
            yield from self._between(scan)
            yield from scan.take(self._value[0])
        start = scan.at
        value = yield from cdata(scan)
        if value is None or (yield from scan.skip(self._value[1])) is None:
            scan.at = start
            value = yield from self._raw(scan)
        found.append((key.strip(), value, False))

    def _raw(self, scan: Scan) -> Reading[str]:
        """Take a raw value and what closes it: only where another key or the end of the call follows."""
        start = scan.at
        while True:
            yield from scan.until(self._value[1])
            after = scan.at
            yield from self._between(scan)
            follows = scan.at >= scan.end or (yield from scan.peek(self._key[0], self.call[1])) is not None
            scan.at = after
            if follows:
                return scan.between(start, after - len(self._value[1]))

    def write(self, calls: Sequence[Written]) -> str:
        """The text of calls."""
        if self.section:
            body = self.line.join(map(self._written, calls))
            return f"{self.calls[0]}{self.line}{body}{self.line}{self.calls[1]}"
        return "\n".join(map(self._written, calls))

    def _written(self, call: Written) -> str:
        marks = (self._key[1], self._value[0])
        if not _NAME.fullmatch(call.name) or any(mark in key for key in call.arguments for mark in marks):
            raise ValueError(f"this format cannot say the name {call.name!r}, or that of one of its arguments")
        closers = (self._value[1], self._key[0], self.call[1])
        pairs = (
            f"{self._key[0]}{key}{self._key[1]}{self.line}"
            f"{self._value[0]}{quoted(text_of(value), closers)}{self._value[1]}{self.line}"
            for key, value in call.arguments.items()
        )
        return f"{self.call[0]}{call.name}{self.separator}{self.line}{''.join(pairs)}{self.call[1]}"


LONGCAT_LITE: Final = Pairs(prefix="longcat_", line="\n")
_GLM45: Final = Pairs(line="\n")
_GLM47: Final = Pairs()
_HUNYUAN: Final = Pairs(separator="<tool_sep>", line="\n", section=True)
_HUNYUAN_OPEN: Final = Pairs(suffix=":opensource")

GLM45: Final = Family(
    "glm45",
    about="GLM-4.5 and GLM-4.6, Laguna",
    shape="<tool_call>f\\n<arg_key>k</arg_key>\\n<arg_value>v</arg_value>\\n</tool_call>",
    openings=_GLM45.openings(),
    write=_GLM45.write,
    models=r"glm-?4\.[56]|glm4[56]|laguna",
    also=("glm4_moe", "glm", "poolside_v1"),
)
GLM47: Final = Family(
    "glm47",
    about="GLM-4.7 and GLM-5",
    shape="<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>",
    openings=_GLM47.openings(),
    write=_GLM47.write,
    models=r"glm-?(4\.7|5)|glm47",
    also=("glm47_moe", "glm5"),
)
HUNYUAN: Final = Family(
    "hunyuan_v3",
    about="Hunyuan 3 and 4",
    shape="<tool_calls>\\n<tool_call>f<tool_sep>\\n<arg_key>k</arg_key>\\n<arg_value>v</arg_value>\\n</tool_call>\\n"
    "</tool_calls>",
    openings=(
        Opening(_HUNYUAN.calls[0], _HUNYUAN.read_section, follows="<"),
        Opening(_HUNYUAN_OPEN.calls[0], _HUNYUAN_OPEN.read_section, follows="<"),
        Opening(_HUNYUAN.call[0], _HUNYUAN.read, where="line", named=True),
        *_HUNYUAN_OPEN.openings(),
    ),
    write=_HUNYUAN.write,
    models=r"hunyuan-?[34]|hy-?(v)?[34]\b",
    also=("hunyuan", "hy_v3", "hy_v4"),
    lacks="the tags of Hunyuan 4 end in a mark that the tokenizer chooses: none and :opensource are read, no other is",
)
