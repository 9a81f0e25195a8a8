"""What is prose and what is thought: tags that are quoted, mentioned or half written, and blocks for thinking."""

# ruff: noqa: RUF001 - the bars in some tags are wide ones

from __future__ import annotations

import pytest

from strictcall import StrictCallError
from strictcall.api.events import CallEnded, CallStarted, TextDelta
from strictcall.errors import SettingsError, StreamError
from strictcall.tagged import Stream, formats, read
from tagged.everywhere import PARIS, TOOLS, calls, everywhere

P = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
CALL = f"<tool_call>{P}</tool_call>"
XML = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"

PROSE = [
    "",
    " ",
    "Hello.",
    "I will use get_weather(city='Paris') for that.",
    'The tool get_weather takes {"city": "Paris"}.',
    f"Write `{CALL}` to call it.",
    f"Write ``{CALL}`` to call it.",
    f"```\n{CALL}\n```",
    f"```xml\n{CALL}\n```\nThat is how.",
    f"~~~\n{XML}\n~~~",
    f"  ```json\n  {CALL}\n  ```",
    f'It says "{CALL}".',
    f"It says “{CALL}”.",
    f"It says '{CALL}'.",
    f"> {CALL}",
    f"As she wrote:\n> Just say\n> {CALL}",
    f'{{"example": "{XML.replace(chr(10), "")}"}}',
    f'{{"example": "see {XML.replace(chr(10), "")}"}}',
    "<tool_call> opens and </tool_call> closes a call.",
    "<tool_call>",
    "<tool_call>\n",
    "<tool_call>{",
    '<tool_call>{"name": ',
    "<tool_ca",
    "a < b and <t> and <tool",
    "[not a call] and [get_weather] and [1, 2, 3]",
    '{not json} and {"a": 1}',
    "functools.cache and functools[",
    "[TOOL_CALLS] is a token.",
    "[1] A note.\n[2] Another note: get_weather.",
    P + "\nis what I would say.",
    "I would say " + P,
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_prose(text):
    for form in ("auto", "hermes", "qwen3_coder"):
        answer = everywhere(text, form)
        assert calls(answer) == []
        assert answer.text == text


CALLS = [
    f"It's clear: {CALL}",
    f'He said "go". {CALL}',
    f'A 5" pipe. {CALL}',
    f"Use `grep`. {CALL}",
    f"```\ncode\n```\n{CALL}",
    f"> quoted\n\n{CALL}",
    f'An open " mark\n{CALL}',
    f"An open ` mark\n{CALL}",
    f"a < b {CALL}",
    f"<tool_call> is the tag. {CALL}",
    f"<tool_call>{CALL}",
    f"~ {CALL} ~",
]


@pytest.mark.parametrize("text", CALLS)
def test_what_is_not_quoted_is_a_call(text):
    answer = everywhere(text, "hermes")
    assert calls(answer) == [PARIS]
    assert answer.text.replace(" ", "") == text.replace(CALL, "").strip().replace(" ", "")


THOUGHTS = [
    # text, reasoning, text around, calls
    ("<think>\nHm.\n</think>\n\nHello.", "Hm.", "Hello.", []),
    ("<think></think>Hello.", "", "Hello.", []),
    ("<think>One.</think>\n<think>Two.</think>\nHello.", "One.\n\nTwo.", "Hello.", []),
    ("<think>Hm.", "Hm.", "", []),
    ("[THINK]Hm.[/THINK]Hello.", "Hm.", "Hello.", []),
    ("<seed:think>Hm.</seed:think>Hello.", "Hm.", "Hello.", []),
    ("<|START_THINKING|>Hm.<|END_THINKING|>Hello.", "Hm.", "Hello.", []),
    (f"<think>Hm. {CALL}</think>Hello.", f"Hm. {CALL}", "Hello.", []),
    (f"<think>Hm.</think>\n\nYes.\n\n{CALL}", "Hm.", "Yes.", [PARIS]),
    ("The <think> tag.", "", "The <think> tag.", []),
    ("So <think>Hm.</think> there.", "Hm.", "So  there.", []),
    (f"So <think>Hm. {CALL}</think> there.", f"Hm. {CALL}", "So  there.", []),
    ("`<think>` opens, `</think>` closes.", "", "`<think>` opens, `</think>` closes.", []),
    (f"Hm.\n</think>\n\n{CALL}", "", "Hm.", [PARIS]),
]


@pytest.mark.parametrize(("text", "reasoning", "around", "wanted"), THOUGHTS)
def test_thoughts(text, reasoning, around, wanted):
    answer = everywhere(text)
    assert (answer.reasoning, answer.text, calls(answer)) == (reasoning, around, wanted)


@pytest.mark.parametrize("opening", ["", "<think>", "\n<think>\n"])
def test_a_thought_that_the_prompt_opened(opening):
    for text, reasoning, wanted in [
        (f"Hm. {CALL}\n</think>\n\n{CALL}", f"Hm. {CALL}", [PARIS]),
        (f"Hm. {CALL}", f"Hm. {CALL}", []),
    ]:
        answer = read(opening + text, TOOLS, thinking=True)
        assert (answer.reasoning, answer.text, calls(answer)) == (reasoning, "", wanted)
        stream = Stream(TOOLS, thinking=True)
        for character in opening + text:
            stream.feed(character)
        assert stream.finish() == answer


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "<|eot_id|>", "</s>", "<｜end▁of▁sentence｜>", "<|im_end|>\n<|endoftext|>\n"]
)
def test_tokens_that_end_a_turn_are_no_text(end):
    assert everywhere("Hello." + end).text == "Hello."
    assert everywhere(CALL + end, "hermes").text == ""
    assert everywhere(f"The {end} token.").text == f"The {end} token."


def test_text_flows_on_at_once():
    stream = Stream(TOOLS)
    assert stream.feed("Hello") == [TextDelta("Hello")]
    assert stream.feed(", you") == [TextDelta(", you")]
    assert stream.feed(" <") == []
    assert stream.feed("b> ") == [TextDelta(" <b>")]


def test_a_call_is_told_when_it_is_complete_and_not_before():
    stream = Stream(TOOLS)
    assert stream.feed("<tool_call>" + P[:-1]) == []
    events = stream.feed("}")
    assert isinstance(events[0], CallStarted)
    assert isinstance(events[-1], CallEnded)
    assert stream.feed("</tool_call>") == []
    assert stream.finish().calls[0].arguments == {"city": "Paris"}
    assert stream.ended == []


def test_a_call_that_is_cut_off_is_told_at_the_end_and_never_runs():
    stream = Stream(TOOLS)
    assert stream.feed("<tool_call>" + P[:-2]) == []
    (call,) = stream.finish().calls
    assert (call.complete, call.arguments) == (False, None)
    assert stream.ended[-1] == CallEnded(0, call.faults)
    assert call.faults


def test_a_finished_stream_takes_no_more():
    stream = Stream(TOOLS)
    stream.feed("a")
    assert stream.finish() is stream.finish()
    with pytest.raises(StreamError, match="finished"):
        stream.feed("b")
    with pytest.raises(StreamError, match="a str"):
        Stream(TOOLS).feed(b"a")  # type: ignore[arg-type]


def test_an_unknown_format_is_named_with_the_nearest():
    with pytest.raises(SettingsError, match="did you mean 'hermes'"):
        read("", TOOLS, "hermess")
    with pytest.raises(StrictCallError, match="auto, hermes"):
        read("", TOOLS, "zzzzzz")


def test_formats_are_named_once():
    assert len(set(formats())) == len(formats())
    assert "auto" not in formats()


def test_the_text_itself_is_kept_for_the_history():
    assert read(f"a {CALL}", TOOLS).native == f"a {CALL}"
