"""What is written is read back as the calls that it was written from, in every format that is written."""

# ruff: noqa: RUF001 - the bars in some tags are wide ones

from __future__ import annotations

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from strictcall import Tool, Toolset
from strictcall.errors import RequestError, SettingsError
from strictcall.json_value import equal
from strictcall.tagged import formats, read, write
from strictcall.tagged.registry import FAMILIES
from tagged.everywhere import NOW, PARIS, ROME, TOOLS, calls, everywhere

WRITTEN = formats()
TAGS = sorted({opening.text for family in FAMILIES for opening in family.openings if opening.text})
PARTS = [
    *TAGS,
    "</tool_call>",
    "</parameter>",
    "</parameter>\n</function>\n</tool_call>",
    "</parameter>\n<parameter=a>\n",
    "</arg_value>",
    "</arg_value><arg_key>a</arg_key><arg_value>",
    "</invoke>",
    "</minimax:tool_call>",
    "</seed:tool_call>",
    "<|tool_call_end|>",
    "<｜tool▁call▁end｜>",
    "</｜DSML｜parameter>",
    "<|call|>",
    "<|END_ACTION|>",
    "[END_TOOL_REQUEST]",
    "<escape>",
    '<|"|>',
    "<![CDATA[",
    "]]>",
    "```",
    "\n",
    "\\n",
    "'",
    '"',
    "null",
    "true",
    "3",
    "[1]",
    "{}",
    " ",
    "<think>",
    "</think>",
    "é",
    "\U0001f600",
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.lists(st.sampled_from(PARTS), max_size=4).map("".join),
    st.builds("".join, st.tuples(st.sampled_from(PARTS), st.text("ab\n <>&", max_size=4), st.sampled_from(PARTS))),
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: not value.is_integer())
INTEGERS = st.integers(-(10**30), 10**30)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, NUMBERS, TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
KINDS = {
    "string": ({"type": "string"}, TEXTS),
    "integer": ({"type": "integer"}, INTEGERS),
    "number": ({"type": "number"}, NUMBERS | INTEGERS),
    "boolean": ({"type": "boolean"}, st.booleans()),
    "null": ({"type": "null"}, st.none()),
    "nullable": ({"type": ["integer", "null"]}, INTEGERS | st.none()),
    "array": ({"type": "array", "items": {"type": "string"}}, st.lists(TEXTS, max_size=3)),
    "values": ({"type": "array", "items": {}}, st.lists(VALUES, max_size=3)),
    "object": (
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
        st.fixed_dictionaries({}, optional={"a": TEXTS, "b": INTEGERS}),
    ),
    "map": ({"type": "object", "additionalProperties": {}}, st.dictionaries(TEXTS, VALUES, max_size=3)),
    "word": ({"enum": ["north", "south"]}, st.sampled_from(["north", "south"])),
    "digit": ({"enum": [1, 2]}, st.sampled_from([1, 2])),
}
NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True)


@st.composite
def conversations(draw):
    """A toolset and calls of its tools."""
    tools, made = [], []
    for name in draw(st.lists(NAMES, min_size=1, max_size=2, unique_by=str.lower)):
        kinds = draw(st.dictionaries(NAMES, st.sampled_from(sorted(KINDS)), max_size=4))
        required = draw(st.lists(st.sampled_from(sorted(kinds)), unique=True)) if kinds else []
        properties = {key: KINDS[kind][0] for key, kind in kinds.items()}
        tools.append(Tool(name, "", {"type": "object", "properties": properties, "required": required}))
        for _ in range(draw(st.integers(1, 2))):
            keys = [key for key in kinds if key in required or draw(st.booleans())]
            made.append((name, {key: draw(KINDS[kinds[key]][1]) for key in keys}))
    return Toolset(tools, draw(st.sampled_from(["openai", "sglang"]))), made


def same(answer, made):
    assert [(call.name, call.faults, call.complete) for call in answer.calls] == [(name, (), True) for name, _ in made]
    for call, (_, arguments) in zip(answer.calls, made, strict=True):
        assert equal(call.arguments, arguments), (call.raw, arguments)
    assert answer.text == answer.reasoning == ""


@given(conversations())
def test_read_gives_back_what_was_written(conversation):
    toolset, made = conversation
    for form in WRITTEN:
        note(form)
        same(read(write(made, form, toolset), toolset, form), made)


@given(conversations())
def test_arguments_in_the_tools_own_form_are_read_too(conversation):
    toolset, made = conversation
    # A null may mean absent: only the wire form tells.
    made = [(name, {key: value for key, value in arguments.items() if value is not None}) for name, arguments in made]
    assume(not any(toolset[name].check(arguments) for name, arguments in made))
    for form in WRITTEN:
        note(form)
        same(read(write(made, form), toolset, form), made)


@pytest.mark.parametrize("form", WRITTEN)
def test_read_gives_back_what_was_written_however_it_is_cut(form):
    made = [PARIS, ROME, NOW]
    for text in dict.fromkeys([write(made, form), write(made, form, TOOLS)]):
        assert calls(everywhere(text, form)) == made


@pytest.mark.parametrize("form", WRITTEN)
def test_no_calls_are_no_text(form):
    assert write([], form, TOOLS) == ""


@pytest.mark.parametrize("form", WRITTEN)
def test_the_calls_of_an_answer_are_written_again(form):
    text = write([PARIS, ROME], form, TOOLS)
    again = write(read(text, TOOLS, form).calls, form, TOOLS)
    assert calls(read(again, TOOLS, form)) == [PARIS, ROME]


def test_a_call_is_written_as_its_tool_is_shown_to_the_model():
    toolset = Toolset([Tool("notes.add", "", {"type": "object", "properties": {"tags": {"type": "object"}}})], "openai")
    text = write([("notes.add", {"tags": {"a": 1}})], "hermes", toolset)
    (call,) = read(text, toolset, "hermes").calls
    assert toolset["notes.add"].name in text
    assert '"tags":{"a"' not in text
    assert (call.name, call.arguments) == ("notes.add", {"tags": {"a": 1}})


def test_what_cannot_be_said_is_refused():
    both = {"type": "object", "properties": {"v": {"type": ["string", "integer"]}}}
    toolset = Toolset([Tool("f", "", both)], "openai")
    assert read(write([("f", {"v": "3"})], "qwen3_coder", toolset), toolset, "qwen3_coder").calls[0].arguments == {
        "v": "3"
    }
    with pytest.raises(RequestError, match="no way to say"):
        write([("f", {"v": 3})], "qwen3_coder", toolset)
    assert write([("f", {"v": 3})], "hermes", toolset)
    with pytest.raises(RequestError, match=r"calls\[0\]"):
        write([("f", [1])], "hermes", toolset)  # type: ignore[list-item]
    with pytest.raises(RequestError, match=r"calls\[0\]"):
        write([("f", {"v": float("nan")})], "hermes", toolset)
    with pytest.raises(SettingsError, match="no format"):
        write([], "nothing")


def test_a_call_with_faults_is_written_as_it_was():
    answer = read('<tool_call>{"name": "get_weather", "arguments": {"town": "Paris"}}</tool_call>', TOOLS)
    again = read(write(answer.calls, "hermes", TOOLS), TOOLS)
    assert [call.raw for call in again.calls] == ['{"town":"Paris"}']
    cut = read('<tool_call>{"name": "get_weather", "arguments": {"town', TOOLS)
    with pytest.raises(RequestError, match="cannot be written again"):
        write(cut.calls, "hermes", TOOLS)
