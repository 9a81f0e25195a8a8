"""Anthropic's Messages API: what is sent, what is read, whole and streamed and cut anywhere."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from api.offered import ANTHROPIC, ARGUMENTS, FAR, FAR_NAME, OPENAI_OBJECT, OUTPUT, PING, SEARCH, one_at_a_time, tools
from api.streaming import check_law, check_stream, run, sse
from strictcall import Toolset, compile_schema
from strictcall.api import messages
from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.dialect.registry import load
from strictcall.errors import RequestError, StreamError
from strictcall.json_value import compact

OFFERED_TOOLS = tools("anthropic")
OFFERED = [
    {
        "name": "search",
        "description": "Find things",
        "input_schema": OFFERED_TOOLS["search"].parameters,
        "strict": True,
    },
    {"name": "ping", "input_schema": OFFERED_TOOLS["ping"].parameters, "strict": True},
    {"name": FAR_NAME, "description": "Not here", "input_schema": FAR.parameters},
]
BODY = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}
OUTPUT_DIALECT = load("anthropic", target="output")
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 4,
    "cache_creation_input_tokens": 3,
    "output_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 2},
}
USED = Usage(17, 7, 4, 2)
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "eA=="}
TEXT = {"type": "text", "text": "Let me see: é"}
SERVED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}


def used(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def message(*content: dict[str, Any], stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": USAGE,
        **more,
    }


def cut(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def block_events(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a block, as the API sends them."""
    start, deltas = block, []
    if block["type"] == "text":
        start, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": p} for p in cut(block["text"])]
    elif block["type"] == "thinking":
        start = {**block, "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": p} for p in cut(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block["type"].endswith("tool_use"):
        start = {**block, "input": {}}
        pieces = cut(json.dumps(block["input"], ensure_ascii=False)) if block["input"] else []
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces]]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def streamed(body: dict[str, Any], *, interleaved: bool = False) -> list[dict[str, Any]]:
    each = [block_events(index, block) for index, block in enumerate(body["content"])]
    if interleaved:
        inner = [events[at] for at in range(max(map(len, each))) for events in each if at < len(events)]
    else:
        inner = [event for events in each for event in events]
    begun = {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3, "output_tokens": 1}
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**body, "content": [], "stop_reason": None, "usage": begun}},
        {"type": "ping"},
        *inner,
        {"type": "message_delta", "delta": ended, "usage": {**USAGE, "input_tokens": None}},
        {"type": "message_stop"},
    ]


# --- write ------------------------------------------------------------------------------------------------------------


def test_tools_are_appended_and_nothing_is_dropped() -> None:
    body = {**BODY, "tools": [{"type": "web_search_20250305", "name": "web_search"}], "thinking": {"type": "adaptive"}}
    before = deepcopy(body)
    made = messages.write(body, OFFERED_TOOLS)
    assert made == {**body, "tools": [*body["tools"], *OFFERED]}
    assert body == before
    assert messages.write(made, OFFERED_TOOLS) == made, "written twice, it stays as it is"


def test_without_a_strict_tool_the_bytes_are_plain() -> None:
    body = {**BODY, "tool_choice": {"type": "auto", "disable_parallel_tool_use": False}}
    plain = {**body, "tools": [OFFERED[2]]}
    assert json.dumps(messages.write(body, one_at_a_time("anthropic", FAR))) == json.dumps(plain)
    assert json.dumps(messages.write(body, Toolset([], "anthropic"))) == json.dumps(body)


PARALLEL = "disable_parallel_tool_use"


@pytest.mark.parametrize(
    ("given", "choice", "expected"),
    [
        (None, None, {"type": "auto", PARALLEL: True}),
        ({"type": "any", PARALLEL: False}, None, {"type": "any", PARALLEL: True}),
        ({"type": "none"}, None, {"type": "none"}),
        (None, "none", {"type": "none"}),
        (None, "required", {"type": "any", PARALLEL: True}),
        ({"type": "any"}, "search", {"type": "tool", "name": "search", PARALLEL: True}),
        ({"type": "tool", "name": "search"}, None, {"type": "tool", "name": "search", PARALLEL: True}),
    ],
)
def test_the_parallel_floor(given: Any, choice: Any, expected: Any) -> None:
    body = BODY if given is None else {**BODY, "tool_choice": given}
    assert messages.write(body, one_at_a_time("anthropic"), tool_choice=choice)["tool_choice"] == expected
    hidden = {**BODY, "extra_body": {"tool_choice": given, "kept": 1}}
    made = messages.write(hidden, one_at_a_time("anthropic"), tool_choice=choice)
    assert (made["tool_choice"], made["extra_body"]) == (expected, {"kept": 1})


@pytest.mark.parametrize(
    ("given", "choice", "expected"),
    [
        (None, "auto", {"type": "auto"}),
        ({"type": "auto", PARALLEL: True}, "required", {"type": "any", PARALLEL: True}),
        ({"type": "auto", PARALLEL: True}, "none", {"type": "none"}),
        (None, "far away!", {"type": "tool", "name": FAR_NAME}),
        (
            {"type": "tool", "name": "far away!", PARALLEL: True},
            None,
            {"type": "tool", "name": FAR_NAME, PARALLEL: True},
        ),
        ({"type": "tool", "name": "other"}, None, {"type": "tool", "name": "other"}),
    ],
)
def test_choices(given: Any, choice: Any, expected: Any) -> None:
    body = BODY if given is None else {**BODY, "tool_choice": given}
    assert messages.write(body, OFFERED_TOOLS, tool_choice=choice)["tool_choice"] == expected


@pytest.mark.parametrize(
    ("body", "more", "place"),
    [
        (BODY, {"tool_choice": "serach"}, "tool_choice"),
        (BODY, {"tool_choice": ["search", "ping"]}, "tool_choice"),
        ({**BODY, "tools": {}}, {}, "tools"),
        ({**BODY, "tools": [{"name": "ping", "input_schema": {"type": "object"}}]}, {}, "tools[0]"),
        (
            {**BODY, "output_config": {"format": {"type": "json_schema", "schema": {}}}},
            {"output": compile_schema(OUTPUT, OUTPUT_DIALECT)},
            "output_config.format",
        ),
        ({**BODY, "output_format": {}}, {"output": compile_schema(OUTPUT, OUTPUT_DIALECT)}, "output_format"),
        (BODY, {"output": compile_schema(FAR.parameters, OUTPUT_DIALECT)}, "output_config.format"),
    ],
)
def test_what_cannot_be_written(body: dict[str, Any], more: dict[str, Any], place: str) -> None:
    with pytest.raises(RequestError) as raised:
        messages.write(body, OFFERED_TOOLS, **more)
    assert raised.value.place == place


def test_output() -> None:
    output = compile_schema(OUTPUT, OUTPUT_DIALECT)
    body = {**BODY, "output_config": {"effort": "low"}}
    made = messages.write(body, OFFERED_TOOLS, output=output)
    form = {"type": "json_schema", "schema": output.parameters}
    assert made["output_config"] == {"effort": "low", "format": form}
    assert messages.write(made, OFFERED_TOOLS, output=output) == made
    answer = messages.read(message({"type": "text", "text": '{"ok": true}'}), OFFERED_TOOLS, output)
    assert (answer.output, answer.output_faults) == ({"ok": True}, ())
    assert messages.read(message(TEXT), OFFERED_TOOLS, output).output_faults


# --- history ----------------------------------------------------------------------------------------------------------


def test_calls_of_a_body_are_written_in_wire_form_only_where_they_are_in_contract_form() -> None:
    wire, contract = used(1, "search", ANTHROPIC), used(2, "search", ARGUMENTS)
    neither, own_name, other = used(3, "search", {"query": 3}), used(4, "far away!", {"x": 1}), used(5, "o", ARGUMENTS)
    said = {"role": "assistant", "content": [TEXT, wire, contract, neither, own_name, other, THINKING]}
    untouched = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [TEXT, wire]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "x"}]},
    ]
    made = messages.write({**BODY, "messages": [*untouched, said]}, OFFERED_TOOLS)["messages"]
    assert all(new is old for new, old in zip(made, untouched, strict=False))
    content = made[3]["content"]
    assert content[2] == {**contract, "input": {"query": "thé 😀", "tags": [{"key": "a", "value": "1"}]}}
    assert content[4] == {**own_name, "name": FAR_NAME}
    assert all(content[position] is said["content"][position] for position in (0, 1, 3, 5, 6))


def test_an_answer_is_replayed_as_it_was_said() -> None:
    body = message(THINKING, REDACTED, TEXT, SERVED, FOUND, used(1, "search", ANTHROPIC), used(2, "ping", {}))
    answer = messages.read(body, OFFERED_TOOLS)
    made = messages.history([answer, *messages.results(answer.calls, ["a", "b"])], OFFERED_TOOLS)
    assert made[0] == {"role": "assistant", "content": body["content"]}
    assert list(made[0]["content"][5]["input"]) == ["tags", "query"], "in the model's own order"
    assert made[0]["content"][0] is THINKING
    assert made[1] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "b"},
        ],
    }


def test_an_answer_is_written_anew_for_another_wire_form() -> None:
    answer = messages.read(message(THINKING, used(1, "search", ANTHROPIC)), OFFERED_TOOLS)
    content = messages.history([answer], tools("json_schema"))[0]["content"]
    assert content == [THINKING, used(1, "search", ARGUMENTS)]


def test_what_the_api_would_refuse_is_left_out() -> None:
    blank = messages.read(message({"type": "text", "text": " \n"}, used(1, "ping", {})), OFFERED_TOOLS)
    assert messages.history([blank], OFFERED_TOOLS)[0]["content"] == [used(1, "ping", {})]
    assert messages.history([Answer(" "), messages.read(message(), OFFERED_TOOLS)], OFFERED_TOOLS) == []


@pytest.mark.parametrize("native", [None, [], {"role": "model", "parts": []}, {"role": "assistant", "content": "Yes"}])
def test_an_answer_of_another_api(native: Any) -> None:
    call = Call("functions.search:0", "search", ARGUMENTS, raw=compact(OPENAI_OBJECT), wire_name="search")
    answer = Answer("Yes", "thoughts", (call,), native=native)
    turns = [answer, *messages.results([call], ["done"])]
    made = messages.history(turns * 2, OFFERED_TOOLS)
    text, use = made[0]["content"]
    assert text == {"type": "text", "text": "Yes"}
    assert use == {**used(1, "search", {"query": "thé 😀", "tags": [{"key": "a", "value": "1"}]}), "id": use["id"]}
    assert made[1]["content"][0]["tool_use_id"] == use["id"]
    again = made[2]["content"][1]["id"]
    assert made[3]["content"][0]["tool_use_id"] == again != use["id"]


def test_text_that_is_no_object() -> None:
    call = Call("toolu_1", "search", None, messages.read(message(used(1, "gone", {})), OFFERED_TOOLS).calls[0].faults)
    for raw, expected in [('{"query": ', {"INVALID_JSON": '{"query": '}), ("[1]", {"INVALID_JSON": "[1]"}), ("", {})]:
        broken = Call(call.id, call.name, None, call.faults, (), raw, "search")
        content = messages.history([Answer(calls=(broken,))], OFFERED_TOOLS)[0]["content"]
        assert content == [used(1, "search", expected)]


# --- read, and streams ------------------------------------------------------------------------------------------------


SEARCHED = Call(
    "toolu_1", "search", ARGUMENTS, (), (), compact(ANTHROPIC), "search", OFFERED_TOOLS["search"].fingerprint
)
PINGED = Call("toolu_2", "ping", {}, (), (), "{}", "ping", OFFERED_TOOLS["ping"].fingerprint)
ANSWERS: list[tuple[str, dict[str, Any], Answer]] = [
    ("text", message(TEXT), Answer("Let me see: é", usage=USED)),
    (
        "everything",
        message(
            THINKING, REDACTED, TEXT, SERVED, FOUND, used(1, "search", ANTHROPIC), used(2, "ping", {}), stop="tool_use"
        ),
        Answer("Let me see: é", "Hm.", (SEARCHED, PINGED), None, StopReason.TOOL_CALLS, USED),
    ),
    (
        "two thoughts",
        message(THINKING, TEXT, {**THINKING, "thinking": "So."}),
        Answer("Let me see: é", "Hm.\n\nSo.", usage=USED),
    ),
    *[
        (reason, message(TEXT, stop=reason), Answer("Let me see: é", stop_reason=stop, usage=USED))
        for reason, stop in {
            "max_tokens": StopReason.LENGTH,
            "model_context_window_exceeded": StopReason.LENGTH,
            "stop_sequence": StopReason.STOP_SEQUENCE,
            "refusal": StopReason.REFUSAL,
            "pause_turn": StopReason.PAUSE,
            "something_new": StopReason.OTHER,
        }.items()
    ],
    ("nothing", message(), Answer(usage=USED)),
]


def spaced(call: Call) -> Call:
    """A call as its stream has it: ``json.dumps`` writes the pieces with spaces."""
    return replace(call, raw=json.dumps(json.loads(call.raw), ensure_ascii=False))


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_answers_whole_and_streamed(body: dict[str, Any], expected: Answer) -> None:
    whole = messages.read(body, OFFERED_TOOLS)
    assert whole == expected
    chunks = streamed(body)
    answer = check_stream(lambda: messages.Stream(OFFERED_TOOLS), chunks, sse(chunks, named=True))
    assert answer.calls == tuple(spaced(call) for call in expected.calls)
    shown = (expected.text, expected.reasoning, expected.stop_reason, expected.usage)
    assert (answer.text, answer.reasoning, answer.stop_reason, answer.usage) == shown
    assert answer.native == whole.native == {"role": "assistant", "content": body["content"]}


BOTH = message(TEXT, used(1, "search", ANTHROPIC), used(2, "ping", {}), stop="tool_use")


@pytest.mark.parametrize(
    "chunks",
    [
        streamed(BOTH, interleaved=True),
        [{name: value for name, value in event.items() if name != "index"} for event in streamed(BOTH)],
        [{**event, "index": 0} if "index" in event else event for event in streamed(BOTH)],
        [event for event in streamed(BOTH) if event["type"] != "content_block_stop"],
        streamed(BOTH)[:-1],
        [event for known in streamed(BOTH) for event in ({"type": "new"}, {**known, "x": None}, {"type": None})],
        [
            {**event, "content_block": BOTH["content"][event["index"]]}
            if event["type"] == "content_block_start" and event["index"] > 0
            else event
            for event in streamed(BOTH)
            if event.get("delta", {}).get("type") != "input_json_delta"
        ],
        [
            {**event, "content_block": BOTH["content"][event["index"]]}
            if event["type"] == "content_block_start" and event["index"] > 0
            else event
            for event in streamed(BOTH)
        ],
        [event for event in streamed(BOTH) if event.get("content_block", {}).get("type") != "text"],
    ],
    ids=[
        "blocks in turns",
        "no indexes",
        "every index 0",
        "no ends of blocks",
        "no end of the message",
        "unknown events and null fields",
        "arguments in the start",
        "arguments in the start and again in pieces",
        "no start of a text",
    ],
)
def test_streams_of_other_servers(chunks: list[dict[str, Any]]) -> None:
    answer = check_stream(lambda: messages.Stream(OFFERED_TOOLS), chunks, sse(chunks))
    assert [call.arguments for call in answer.calls] == [ARGUMENTS, {}]
    assert (answer.text, answer.stop_reason) == ("Let me see: é", StopReason.TOOL_CALLS)
    kinds = sorted(block["type"] for block in answer.native["content"])
    assert kinds == ["text", "tool_use", "tool_use"]
    uses = [block["input"] for block in answer.native["content"] if block["type"] == "tool_use"]
    assert uses == [ANTHROPIC, {}]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "stop_sequence", "model_context_window_exceeded"])
@pytest.mark.parametrize("partial", [{}, {"query": "th"}, ANTHROPIC])
def test_a_call_that_may_be_cut_off_never_runs(stop: str, partial: dict[str, Any]) -> None:
    """A whole message shows arguments that were cut off as an object, closed."""
    body = message(used(2, "ping", {}), used(1, "search", partial), stop=stop)
    answer = messages.read(body, OFFERED_TOOLS)
    assert [call.complete for call in answer.calls] == [True, False]
    chunks = [
        event
        for event in streamed(body)
        if not (event.get("index") == 1 and event.get("delta", {}).get("partial_json", "")[-1:] == "}")
    ]
    answer = check_stream(lambda: messages.Stream(OFFERED_TOOLS), chunks, sse(chunks))
    assert [call.complete for call in answer.calls] == [True, False]


def test_a_call_that_came_whole_before_the_tokens_ran_out() -> None:
    chunks = streamed(message(used(1, "search", ANTHROPIC), stop="max_tokens"))
    assert run(messages.Stream(OFFERED_TOOLS), chunks)[1].calls[0].complete
    followed = message(used(1, "search", ANTHROPIC), TEXT, stop="max_tokens")
    assert messages.read(followed, OFFERED_TOOLS).calls[0].complete


def test_an_answer_may_not_hold_any_number_of_blocks() -> None:
    stream = messages.Stream(OFFERED_TOOLS)
    event = {"type": "content_block_start", "content_block": {"type": "new"}}
    with pytest.raises(StreamError):
        run(stream, [event] * 5000)


def test_a_broken_connection() -> None:
    chunks = streamed(BOTH)
    last = next(at for at, event in enumerate(chunks) if event["type"] == "message_delta")
    for end in range(last + 1):
        events, answer = run(messages.Stream(OFFERED_TOOLS), chunks[:end])
        check_law(events, answer)
        assert answer.stop_reason is StopReason.INCOMPLETE
        assert not any(call.complete for call in answer.calls)
        again = messages.history([answer], OFFERED_TOOLS)
        ids = [block["id"] for turn in again for block in turn["content"] if block["type"] == "tool_use"]
        assert ids == [call.id for call in answer.calls]


def test_pieces_of_what_only_the_provider_reads() -> None:
    cited = {"type": "char_location", "cited_text": "x"}
    chunks = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": None}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": cited}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "compaction", "content": None}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "compaction_delta", "content": "short"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    answer = check_stream(lambda: messages.Stream(OFFERED_TOOLS), chunks, sse(chunks))
    assert answer.native["content"] == [
        {"type": "text", "text": "So", "citations": [cited]},
        {"type": "compaction", "content": "short"},
    ]


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Later"}}, "overloaded_error: Later"),
        ({"error": {"message": "No"}}, "No"),
        ({"type": "error"}, "an error without a message"),
        (b"event: error\ndata: {\n\n", "an event is not JSON"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "an event is not JSON"),
        (None, "not NoneType"),
    ],
)
def test_errors_within_a_stream(chunk: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        messages.Stream(OFFERED_TOOLS).feed(chunk)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "Bad"}}, "invalid_request_error: Bad"),
        ({"type": "message", "content": "text"}, "no answer of the Messages API"),
        ({"choices": []}, "no answer of the Messages API"),
        ([], "no answer of the Messages API"),
        (object(), "no answer of the Messages API"),
        (message({**used(1, "search", {}), "input": {"x": {1}}}), "no JSON value"),
    ],
)
def test_what_is_no_answer(body: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        messages.read(body, OFFERED_TOOLS)
    assert words in str(raised.value)


def test_results() -> None:
    assert messages.results([], []) == []
    with pytest.raises(RequestError):
        messages.results([SEARCHED], [])


def test_the_samples_are_what_they_say() -> None:
    assert OFFERED_TOOLS["search"].decode(ANTHROPIC) == ARGUMENTS
    assert Toolset([SEARCH, PING], "anthropic").loose == ()
