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
