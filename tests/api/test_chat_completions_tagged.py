"""Answers of Chat Completions whose text holds calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.streaming import check_law, run, sse
from strictcall import Tool, Toolset
from strictcall.api import chat_completions
from strictcall.api.answer import StopReason
from strictcall.errors import SettingsError

TOOLSET = Toolset(
    [Tool("find", "Find it.", {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}})],
    "json_schema",
)
SAID = 'I will.\n<tool_call>\n{"name": "find", "arguments": {"q": "<tool_call>", "n": "3"}}\n</tool_call>'


def whole(content: str, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    return {"model": "qwen3", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def chunks(content: str, size: int, finish: str | None = "stop") -> list[dict[str, Any]]:
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    made = [{"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    return [*made, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}] if finish else made


@pytest.mark.parametrize("tagged", ["auto", "hermes"])
def test_a_call_in_the_text(tagged: str) -> None:
    answer = chat_completions.read(whole(SAID), TOOLSET, tagged=tagged)
    assert (answer.text, answer.stop_reason) == ("I will.", StopReason.TOOL_CALLS)
    assert [(call.name, call.arguments) for call in answer.calls] == [("find", {"q": "<tool_call>", "n": 3})]
    assert [repair.pointer for repair in answer.calls[0].repairs] == ["/n"]


@pytest.mark.parametrize("size", [1, 2, 5, 400])
def test_streamed_it_is_the_same(size: int) -> None:
    expected = chat_completions.read(whole(SAID), TOOLSET, tagged="auto")
    for pieces in (chunks(SAID, size), [sse(chunks(SAID, size), done=True)]):
        events, answer = run(chat_completions.Stream(TOOLSET, tagged="auto", model="qwen3"), pieces)
        check_law(events, answer)
        assert (answer.text, answer.calls, answer.stop_reason) == (
            expected.text,
            expected.calls,
            expected.stop_reason,
        )


def test_without_a_format_text_stays_text() -> None:
    answer = chat_completions.read(whole(SAID), TOOLSET)
    assert (answer.text, answer.calls) == (SAID, ())


def test_calls_of_the_api_go_first() -> None:
    listed = [{"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"q": "own"}'}}]
    answer = chat_completions.read(whole(SAID, "tool_calls", tool_calls=listed), TOOLSET, tagged="auto")
    assert [call.arguments for call in answer.calls] == [{"q": "own"}]


def with_own_call(before: str, after: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """An answer with a call of the API's own, whole and streamed: text stands before and after the call."""
    function = {"name": "find", "arguments": '{"q": "own"}'}
    entry = {"index": 0, "id": "c", "type": "function", "function": function}
    own = {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}]}
    streamed = [*chunks(before, 5, None), own, *chunks(after, 5, "tool_calls")]
    return whole(before + after, "tool_calls", tool_calls=[entry]), streamed


@pytest.mark.parametrize(
    ("before", "after"), [(SAID, ""), ("", SAID), (SAID[:30], SAID[30:]), (f"{SAID} And", f" so.\n{SAID}<|im_end|>")]
)
def test_beside_calls_of_the_api_what_looks_like_one_is_text(before: str, after: str) -> None:
    response, streamed = with_own_call(before, after)
    expected = chat_completions.read(response, TOOLSET, tagged="auto")
    assert expected.text == (before + after).removesuffix("<|im_end|>")
    events, answer = run(chat_completions.Stream(TOOLSET, tagged="auto"), streamed)
    check_law(events, answer)
    assert (answer.text, answer.calls, answer.stop_reason) == (expected.text, expected.calls, expected.stop_reason)
    assert [call.arguments for call in answer.calls] == [{"q": "own"}]


def test_thoughts_of_the_api_and_those_in_the_text_stand_apart() -> None:
    said = "<think>Two.</think>Said."
    one = {"choices": [{"index": 0, "delta": {"reasoning_content": "One."}, "finish_reason": None}]}
    events, answer = run(chat_completions.Stream(TOOLSET, tagged="auto"), [one, *chunks(said, 3)])
    check_law(events, answer)
    response = whole(said, reasoning_content="One.")
    assert chat_completions.read(response, TOOLSET, tagged="auto").reasoning == answer.reasoning == "One.\n\nTwo."
    assert answer.text == "Said."


@pytest.mark.parametrize(
    ("dialect", "tagged", "found"),
    [
        ("vllm", None, True),
        ("sglang", None, True),
        ("ollama", None, True),
        ("lmstudio", None, True),
        ("vllm", "none", False),
        ("openai", None, False),
        ("openai", "auto", True),
        ("tensorrt-llm", None, False),
    ],
)
def test_the_dialect_says_whether_calls_are_looked_for(dialect: str, tagged: str | None, found: bool) -> None:
    toolset = Toolset([compiled.tool for compiled in TOOLSET], dialect)
    answer = chat_completions.read(whole(SAID), toolset, tagged=tagged)
    assert (answer.text, len(answer.calls)) == (("I will.", 1) if found else (SAID, 0))
    _, streamed = run(chat_completions.Stream(toolset, tagged=tagged), chunks(SAID, 7))
    assert (streamed.text, streamed.calls) == (answer.text, answer.calls)


def test_without_tools_a_dialect_looks_for_no_calls() -> None:
    answer = chat_completions.read(whole(SAID), Toolset([], "vllm"))
    assert (answer.text, answer.calls) == (SAID, ())


@pytest.mark.parametrize(("finish", "reason"), [(None, StopReason.INCOMPLETE), ("length", StopReason.LENGTH)])
def test_a_call_that_is_cut_off_never_runs(finish: str | None, reason: StopReason) -> None:
    _, answer = run(chat_completions.Stream(TOOLSET, tagged="hermes"), chunks(SAID[:-30], 9, finish))
    assert answer.stop_reason is reason
    assert [call.complete for call in answer.calls] == [False]


def test_where_the_connection_was_lost_no_call_runs() -> None:
    _, answer = run(chat_completions.Stream(TOOLSET, tagged="hermes"), chunks(SAID, 9, None))
    assert [(call.complete, bool(call.faults)) for call in answer.calls] == [(False, True)]


def test_the_history_has_it_as_a_call() -> None:
    answer = chat_completions.read(whole(SAID), TOOLSET, tagged="auto")
    turn, result = chat_completions.history([answer, *chat_completions.results(answer.calls, ["found"])], TOOLSET)
    assert turn["content"] == "I will."
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == {"q": "<tool_call>", "n": "3"}
    assert turn["tool_calls"][0]["id"] == result["tool_call_id"]


def test_an_unknown_format() -> None:
    with pytest.raises(SettingsError, match="no format is called 'hermees'"):
        chat_completions.Stream(TOOLSET, tagged="hermees")
