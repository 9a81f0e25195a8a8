"""Calls as text: what the emulator writes in each format, and that the reader of such texts finds the calls in it.

Writer and reader share no code: each was made from descriptions of the formats.
"""

# ruff: noqa: S311 - what is random is repeatable

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs
import openai
import pytest

from emulator.style_texts import TEXTS
from strictcall import Tool, Toolset, tagged
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.answers import answering, sloppy
from strictcall.emulator.settings import Settings
from strictcall.emulator.styles import Shape, Style, as_text, style, styles
from strictcall.errors import SettingsError
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint

NAMES = tuple(styles())
SHAPES = [
    pytest.param(found.name, shape, id=f"{found.name}-{index}")
    for found in styles().values()
    for index, shape in enumerate(found.shapes)
]
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "units": {"enum": ["metric", "imperial"]},
        "hourly": {"type": "boolean"},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
TABLE = {
    "type": "object",
    "properties": {
        "restaurant": {"type": "string"},
        "guests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "vip": {"type": "boolean"}},
                "additionalProperties": False,
            },
        },
        "budget": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "additionalProperties": {"type": "string"}},
        "hall": {"type": ["integer", "null"]},
    },
    "required": ["restaurant", "guests", "budget"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
OFFERED = (
    Tool("get_weather", "The weather forecast of a city", WEATHER),
    Tool("book_table", "Book a table at a restaurant for guests", TABLE),
    Tool("list_events", "List the events of the calendar", NOTHING),
)
TOOLSET = Toolset(OFFERED, "vllm")
TOOLS = [
    {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }
    for tool in OFFERED
]
ASKED = (
    "What will the weather be like in Oslo and Lima, for 3 days?",
    'Book a table at "Chez Anna" for Bob and Eve, with a budget of 45.5.',
    "List the events of my calendar, please.",
    "The weather in Paris for 5 days in metric units, and then list the events.",
)

# --- exact texts ------------------------------------------------------------------------------------------------------

TWO = (("f", {"k": "v w", "n": 1}), ("g", {"on": True}))


def made(*calls: tuple[str, Any]) -> tuple[MadeCall, ...]:
    return tuple(MadeCall("", name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in calls)


def of_shape(name: str, shape: Shape) -> Style:
    """A style that has one shape only."""
    found = style(name)
    return Style(name, found.about, (shape,), found.also, found.most)


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_two_calls(name: str) -> None:
    found = of_shape(name, style(name).shapes[0])
    answer = Answer(calls=made(*TWO[: found.most]), stop="calls")
    written = as_text(answer, found, random.Random(1))
    assert re.sub(r'"id": "[A-Za-z0-9]{9}"', '"id": "#########"', written.text) == TEXTS[name]
    assert (written.calls, written.stop) == ((), "stop")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hermes", "<think>\nT.\n</think>\n\nS.\n<tool_call>"),
        ("mistral", "[THINK]T.[/THINK]S.[TOOL_CALLS]g"),
        ("seed_oss", "<seed:think>T.</seed:think>S.\n<seed:tool_call>"),
        ("command_r", "<|START_THINKING|>T.<|END_THINKING|><|START_ACTION|>["),
        (
            "harmony",
            "<|channel|>analysis<|message|>T.<|end|><|start|>assistant<|channel|>commentary<|message|>S.<|end|><|start|>",
        ),
        ("pythonic", "[g(on=True)]"),
    ],
)
def test_a_thought_and_a_text_before_a_call(name: str, text: str) -> None:
    shape = style(name).shapes[0]
    answer = Answer("S.", "T.", made(TWO[1]), "calls")
    found = {as_text(answer, of_shape(name, shape), random.Random(seed)).text for seed in range(20)}
    assert any(written.startswith(text) for written in found)
    assert len(found) == (2 if shape.after else 1), "the text stands before the calls, or behind them"


def test_an_answer_in_words() -> None:
    answer = Answer("S.", "T.")
    written = as_text(answer, of_shape("harmony", style("harmony").shapes[0]), random.Random(1)).text
    assert written.endswith("<|end|><|start|>assistant<|channel|>final<|message|>S.<|return|>")
    assert as_text(answer, style("phi4_mini"), random.Random(1)) == answer, "no thought of it stands in the text"
    refusal = Answer("No.", stop="refusal")
    assert as_text(refusal, style("harmony"), random.Random(1)) == refusal


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_calls_that_broke_off_are_never_run(name: str, shape: Shape) -> None:
    calls = (MadeCall("", "get_weather", '{"city": "Os'),)
    written = as_text(Answer(calls=calls, stop="length"), of_shape(name, shape), random.Random(1))
    assert written.stop == "length"
    assert written.text.endswith('{"city": "Os')
    assert not [call for call in tagged.read(written.text, TOOLSET, name).calls if call.complete and not call.faults]


# --- read back --------------------------------------------------------------------------------------------------------

HARD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "no arguments": [("list_events", {})],
    "words that look like other types": [("get_weather", {"city": " 3", "days": 1}), ("list_events", {})],
    "every kind": [
        (
            "book_table",
            {
                "restaurant": "true",
                "guests": [{"name": "Ann, \"the\" 'third'", "vip": False}, {}],
                "budget": 1e30,
                "tags": ["a, b", "c]", ""],
                "options": {"k": "v: {}", "empty": ""},
            },
        )
    ],
    "nothing within": [("book_table", {"restaurant": "", "guests": [], "budget": -0.5, "tags": [], "options": {}})],
    "lines and scripts": [("get_weather", {"city": 'São Paulo\n\t"x" it\'s \\n 日本 🎉', "days": 14})],
    "another format's tag": [("get_weather", {"city": "</tool_call> [/ARGS] <|call|>?", "days": 2})],
    "three": [("get_weather", {"city": "Oslo", "days": 1, "hourly": True}), ("list_events", {}), ("list_events", {})],
}


def parts(text: str, rng: random.Random) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + rng.randint(1, 9)
        yield text[start:end]
        start = end


def read_back(text: str, name: str) -> Any:
    """A text read whole; read as a stream it is the same."""
    answer = tagged.read(text, TOOLSET, name)
    stream = tagged.Stream(TOOLSET, name)
    for piece in parts(text, random.Random(len(text))):
        stream.feed(piece)
    assert stream.finish() == answer
    return answer


def found_in(answer: Any) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in answer.calls]


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_the_reader_finds_what_was_written(name: str, shape: Shape, case: str) -> None:
    calls = HARD[case][: style(name).most]
    for seed, (text, thought) in enumerate([("", ""), ("Sure.", ""), ("Sure.", "Hm. `x`?"), ("Sure.", "So.")]):
        answer = Answer(text, thought, made(*calls), "calls")
        written = as_text(answer, of_shape(name, shape), random.Random(seed))
        read = read_back(written.text, name)
        assert found_in(read) == calls, written.text
        assert read.text.strip() == (text if shape.before or shape.after else "")
        assert read.reasoning.strip() == (thought if shape.thought else "")


DELIMITERS = {"escape": "<escape>", "pipe": '<|"|>'}
"""What a format that has names without quotes cannot say within a text; nor can it say names that are no words."""


@pytest.fixture(scope="module")
def whole_arguments() -> list[tuple[str, dict[str, Any]]]:
    rng = random.Random(11)
    chosen = rng.choices(OFFERED[:2], k=30)
    return [(tool.name, json.loads(sloppy.arguments(tool.parameters, rng, 0.0))) for tool in chosen]


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_any_arguments_are_read_back(
    name: str, shape: Shape, whole_arguments: list[tuple[str, dict[str, Any]]]
) -> None:
    says_null = not shape.bare or "«type»" in shape.item or "«is_text»" in shape.item
    tried = 0
    for called, arguments in whole_arguments:
        text = json.dumps(arguments)
        names = re.findall(r'"((?:[^"\\]|\\.)*)": ', text)
        are_words = all(re.fullmatch(r"[\w-]+", key) for key in names)
        if shape.values in DELIMITERS and (not are_words or DELIMITERS[shape.values] in text):
            continue
        tried += 1
        wanted = arguments if says_null else {key: value for key, value in arguments.items() if value is not None}
        answer = Answer(calls=made((called, arguments)), stop="calls")
        written = as_text(answer, of_shape(name, shape), random.Random(tried))
        assert found_in(tagged.read(written.text, TOOLSET, name)) == [(called, wanted)], written.text
    assert tried > 15


# --- over a socket ----------------------------------------------------------------------------------------------------


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[tuple[StrictEndpoint, list[Answer]]]:
    """An endpoint, and the answers that it makes, as they are before they become text."""
    answers: list[Answer] = []

    def noted(answer: Answer, *rest: Any) -> Answer:
        answers.append(answer)
        return as_text(answer, *rest)

    monkeypatch.setattr(answering, "as_text", noted)
    with strict_endpoint(dialect="vllm", **settings) as endpoint:
        yield endpoint, answers


def client(endpoint: StrictEndpoint) -> openai.OpenAI:
    return openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)


def asked(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def streamed(asker: openai.OpenAI, text: str) -> tuple[list[str], str | None]:
    """The deltas of an answer's text, and why it ended."""
    deltas: list[str] = []
    finish = None
    for chunk in asker.chat.completions.create(model="m", messages=asked(text), tools=TOOLS, stream=True):  # type: ignore[call-overload]
        (choice,) = chunk.choices
        assert choice.delta.tool_calls is None
        deltas.append(choice.delta.content or "")
        finish = choice.finish_reason or finish
    return deltas, finish


@pytest.mark.parametrize("name", NAMES)
def test_calls_of_sensible_answers_are_read_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    with watched(monkeypatch, answers="sensible", style=name, seed=3) as (endpoint, answers):
        asker = client(endpoint)
        for text in ASKED:
            whole = asker.chat.completions.create(model="m", messages=asked(text), tools=TOOLS).choices[0]  # type: ignore[call-overload]
            assert whole.message.tool_calls is None
            assert whole.finish_reason == "stop"
            deltas, finish = streamed(asker, text)
            assert finish == "stop"
            stream = tagged.Stream(TOOLSET, name)
            for delta in deltas:
                stream.feed(delta)
            for read, answer in zip((read_back(whole.message.content, name), stream.finish()), answers, strict=True):
                wanted = [(call.name, json.loads(call.arguments)) for call in answer.calls]
                assert wanted
                assert found_in(read) == wanted
                assert all(call.complete and not call.faults for call in read.calls)
                count += len(wanted)
            answers.clear()
        assert not endpoint.refused
    assert count >= 8


@pytest.mark.parametrize("name", NAMES)
def test_random_answers_are_text_and_only_json_breaks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = whole = 0
    with watched(monkeypatch, style=name, loose_rate=1.0) as (endpoint, answers):
        asker = client(endpoint)
        for turn in range(6):
            body: Any = {"model": "m", "messages": asked(f"{turn}"), "tools": TOOLS, "tool_choice": "required"}
            choice = asker.chat.completions.create(**body).choices[0]
            assert choice.message.tool_calls is None
            assert choice.finish_reason == "stop"
            read_back(choice.message.content, name)
    for call in (call for answer in answers for call in answer.calls):
        fits = _fits(call)
        whole, broken = whole + fits, broken + (not fits)
    assert (broken > 0) == style(name).breakable
    assert whole + broken >= 6


def _fits(call: MadeCall) -> bool:
    """Whether the schema of a call's tool admits its arguments."""
    schema: Any = next(tool.parameters for tool in OFFERED if tool.name == call.name)
    try:
        return jsonschema_rs.is_valid(schema, json.loads(call.arguments))
    except ValueError:
        return False


def test_a_conversation_whose_calls_are_text_ends() -> None:
    said = {"role": "assistant", "content": '<tool_call>\n{"name": "list_events", "arguments": {}}\n</tool_call>'}
    result = {"role": "tool", "tool_call_id": "call_0", "content": "A concert at eight."}
    history: list[Any] = [*asked("List the events of my calendar, please."), said, result]
    with strict_endpoint(answers="sensible", style="hermes") as endpoint:
        done = client(endpoint).chat.completions.create(model="m", messages=history, tools=TOOLS).choices[0]  # type: ignore[call-overload]
        assert "A concert at eight" in done.message.content
        assert "<tool_call>" not in done.message.content
        native = {**said, "content": None, "tool_calls": [_native("call_0")]}
        again = client(endpoint).chat.completions.create(model="m", messages=[history[0], native, result], tools=TOOLS)  # type: ignore[call-overload]
        assert "A concert at eight" in again.choices[0].message.content
        with pytest.raises(openai.BadRequestError, match="must be a response to"):
            client(endpoint).chat.completions.create(model="m", messages=[history[0], result], tools=TOOLS)  # type: ignore[call-overload]
    with strict_endpoint(answers="sensible") as plain, pytest.raises(openai.BadRequestError, match="must be a respon"):
        client(plain).chat.completions.create(model="m", messages=history, tools=TOOLS)  # type: ignore[call-overload]


def _native(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "list_events", "arguments": "{}"}}


def test_tokens_run_out_in_a_text() -> None:
    with strict_endpoint(answers="sensible", style="qwen3_coder") as endpoint:
        body: Any = {"model": "m", "messages": asked(ASKED[0]), "tools": TOOLS, "max_tokens": 10}
        choice = client(endpoint).chat.completions.create(**body).choices[0]
        assert choice.finish_reason == "length"
        assert len(choice.message.content.encode()) == 40
        assert not [call for call in tagged.read(choice.message.content, TOOLSET, "qwen3_coder").calls if call.complete]


def test_scripted_calls_are_text_too() -> None:
    replies = [{"text": "Look.", "calls": [{"name": "f", "arguments": "{broken"}]}, {"fault": "truncated-length"}]
    with strict_endpoint({"replies": replies}, style="lm_studio") as endpoint:
        message = client(endpoint).chat.completions.create(model="m", messages=asked("Go.")).choices[0].message  # type: ignore[call-overload]
        assert message.tool_calls is None
        assert sorted(message.content.split("\n")) == [
            "Look.",
            '[TOOL_REQUEST]{"name": "f", "arguments": {broken}[END_TOOL_REQUEST]',
        ]


def test_other_apis_have_calls() -> None:
    tool = {"type": "function", "name": "list_events", "parameters": NOTHING, "strict": False}
    with strict_endpoint(answers="sensible", style="hermes") as endpoint:
        answer = client(endpoint).responses.create(model="m", input=ASKED[2], tools=[tool])  # type: ignore[call-overload]
        assert [item.name for item in answer.output if item.type == "function_call"] == ["list_events"]


# --- names ------------------------------------------------------------------------------------------------------------


def test_an_unknown_style_is_refused_and_the_nearest_named() -> None:
    with pytest.raises(SettingsError, match="style: no style is called 'qwen3_code'; did you mean qwen3_coder"):
        Settings(style="qwen3_code")
    with pytest.raises(SettingsError, match="styles are hermes, granite"):
        Settings(style="#")
    assert style("llama_pythonic") is style("pythonic")


def test_every_name_is_a_format_of_the_reader() -> None:
    names = [other for found in styles().values() for other in (found.name, *found.also)]
    assert len(names) == len(set(names))
    for name in names:
        assert tagged.read("Hello.", TOOLSET, name).text == "Hello."


def test_the_documentation_names_every_style() -> None:
    text = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text("utf-8")
    section = text.partition("## Calls as text")[2].partition("\n## ")[0]
    listed = re.findall(
        r"`([a-z0-9_]+)`", section.partition("<!-- styles -->")[2].partition("<!-- end of styles -->")[0]
    )
    assert listed == list(NAMES)
