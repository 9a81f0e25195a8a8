"""Texts that mean no good: nothing but documented errors, the same however they are cut, and in linear time."""

# ruff: noqa: RUF001 - the bars in some tags are wide ones

from __future__ import annotations

import time

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from api.streaming import check_law, run
from strictcall.errors import StreamError
from strictcall.json_value import MAX_BYTES
from strictcall.tagged import Stream, formats, read, write
from strictcall.tagged.registry import FAMILIES
from tagged.everywhere import NOW, PARIS, ROME, TOOLS, merged

WRITTEN = [write([PARIS, ROME, NOW], family.name) for family in FAMILIES]
TAGS = sorted({opening.text for family in FAMILIES for opening in family.openings if opening.text})
FRAGMENTS = [
    *TAGS,
    *[tag[:-1] for tag in TAGS],
    *[tag.replace("<", "</", 1) for tag in TAGS if tag.startswith("<")],
    *[
        "get_weather",
        "now",
        "city",
        "days",
        "Paris",
        "name",
        "arguments",
        "parameters",
        "function",
        "nobody",
        "functions.",
    ],
    *[
        '{"name": "get_weather", "arguments": {"city": "',
        '{"name": "now", "arguments": {}}',
        "get_weather(city='",
        "now()",
    ],
    *[
        "<parameter=city>",
        "</parameter>",
        "</function>",
        "<arg_key>city</arg_key>",
        "<arg_value>",
        '<invoke name="now">',
    ],
    *[
        '<parameter name="city">',
        "<![CDATA[",
        "]]>",
        "<think>",
        "</think>",
        "<|im_end|>",
        "<|message|>",
        "[ARGS]",
        "```",
    ],
    *[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ":",
        ",",
        "=",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        "<",
        ">",
        "|",
        "`",
        "0",
        "-1",
        "1e999",
        "null",
    ],
    *["True", "é", "｜", "\U0001f600", "\x00", "\ud800", ' "', "\n> ", "\n```\n", "I'd say ", "9" * 5000, "[" * 300],
]
SOUPS = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join)


@st.composite
def mutations(draw):
    """A good text with something cut out, doubled or put in."""
    text = draw(st.sampled_from(WRITTEN))
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        middle = draw(st.sampled_from(["", text[start:end] * 2, *FRAGMENTS]))
        text = text[:start] + middle + text[end:]
    return text


@given(SOUPS | mutations(), st.sampled_from(["auto", *formats()]), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_any_text_is_an_answer_and_the_same_however_it_is_cut(text, form, sizes):
    note(form)
    model = "meta-llama/Llama-3.2-1B" if form == "auto" and len(text) % 2 else None
    events, answer = run(Stream(TOOLS, form, model), [text])
    check_law(events, answer)
    pieces, at = [], 0
    while at < len(text):
        pieces.append(text[at : at + sizes[len(pieces) % len(sizes)]])
        at += len(pieces[-1])
    again, same = run(Stream(TOOLS, form, model), pieces)
    assert (merged(again), same) == (merged(events), answer)
    for call in answer.calls:
        assert call.complete or call.faults
        assert call.faults or not TOOLS[call.name].check(call.arguments)


SIZE = 50_000
ALMOST = [
    *[
        "<",
        "<tool_call",
        "<tool_call>",
        "<tool_call>\n",
        '<tool_call>{"',
        '<tool_call>{"name":"now",',
        "<function=now>",
    ],
    *[
        "<tool_call><function=now>",
        "<tool_call><function=now><parameter=a>",
        "<tool_call>now<arg_key>a</arg_key><arg_value>",
    ],
    *[
        "<think>",
        "</think>",
        "\n<think>",
        "</s>",
        "</s> ",
        "<|python_tag|>",
        "functions.now:0",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]now[ARGS]{",
    ],
    *[
        "{",
        '{"',
        '{"name":"',
        '{"name":"now",',
        "[",
        "[{",
        "[\n",
        "now(",
        "[now(",
        "[now(a=",
        "[now()",
        "\nnow(",
        "call:now{",
        "```",
        '"',
        "\\",
    ],
    *[
        "<|channel|>",
        "<|start|>assistant<|channel|>commentary to=functions.now<|message|>",
        "<|tool_call_begin|>functions.now:0",
    ],
    *[
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{",
        '<invoke name="now">',
        "]<]minimax[>[<tool_call>",
    ],
    *['<minimax:tool_call>\n<invoke name="now">\n<parameter name="a">', "<![CDATA[", "\n", " ", "a ", "é`"],
]
NAMED = ["llama3_json", "pythonic", "qwen3_coder", "kimi_k2"]
"""Those that look for most; ``make fuzz`` tries every format, with a megabyte."""


def spent(text: str, form: str, step: int) -> float:
    start = time.process_time()
    stream = Stream(TOOLS, form)
    try:
        for at in range(0, len(text), step):
            stream.feed(text[at : at + step])
        stream.finish()
    except StreamError as error:
        if "1,024 calls" not in error.problem:
            raise
    return time.process_time() - start


@pytest.mark.parametrize("unit", ALMOST)
def test_almost_tags_end_in_seconds(unit):
    text = unit * (SIZE // len(unit))
    assert spent(text, "auto", len(text)) < 4


@pytest.mark.parametrize("form", NAMED)
def test_almost_tags_end_in_seconds_where_the_format_is_named(form):
    for unit in ALMOST:
        text = unit * (SIZE // 5 // len(unit))
        assert spent(text, form, len(text)) < 2, unit


@pytest.mark.parametrize(
    "head",
    [
        '<tool_call>{"name":"get_weather","arguments":{"city":"',
        "<tool_call><function=get_weather><parameter=city>",
        "",
        "<think>",
    ],
)
@pytest.mark.parametrize("unit", ["a", "\\", "<", "</", "{", "\n", "</parameter>"])
def test_a_text_in_small_pieces_takes_linear_time(head, unit):
    text = head + unit * (16_000 // len(unit))
    assert spent(text, "auto", 2) < 4


def test_a_text_that_is_too_long_is_refused():
    stream = Stream(TOOLS)
    stream.feed("a")
    with pytest.raises(StreamError, match="longer than"):
        stream.feed("a" * MAX_BYTES)


def test_more_calls_than_any_answer_has_are_refused():
    with pytest.raises(StreamError, match="more than 1,024 calls"):
        read('<tool_call>{"name":"now"}</tool_call>' * 1025, TOOLS)
