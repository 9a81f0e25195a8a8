"""OpenAI's Responses API: what is sent, what is read, whole and streamed and cut anywhere."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from api.offered import (
    ARGUMENTS,
    FAR,
    FAR_NAME,
    OPENAI,
    OUTPUT,
    PING,
    SEARCH,
    one_at_a_time,
    tools,
)
from api.streaming import check_law, check_stream, run, sse
from strictcall import Toolset, compile_schema
from strictcall.api import responses
from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.dialect.registry import load
from strictcall.errors import RequestError, StreamError

OPENAI_TOOLS = tools("openai")
OFFERED = [
    {
        "type": "function",
        "name": "search",
        "description": "Find things",
        "parameters": OPENAI_TOOLS["search"].parameters,
        "strict": True,
    },
    {"type": "function", "name": "ping", "parameters": OPENAI_TOOLS["ping"].parameters, "strict": True},
    {"type": "function", "name": FAR_NAME, "description": "Not here", "parameters": FAR.parameters, "strict": False},
]
BODY = {"model": "m", "input": "Hello", "temperature": 0.5}
OUTPUT_DIALECT = load("openai", target="output")
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 17,
}
USED = Usage(10, 7, 4, 2)
REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "First this."}, {"type": "summary_text", "text": "Then that."}],
    "encrypted_content": "gAAA",
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Let me see: é", "annotations": []}],
}
REFUSAL = {**MESSAGE, "content": [{"type": "refusal", "refusal": "No."}]}
WEB = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}


def called(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
    }


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "usage": USAGE,
        **more,
    }


def cut(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def item_events(index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of an item, as the API sends them."""
    place = {"output_index": index, "item_id": item["id"]}
    empty = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
    started = {**item, **(empty if item["type"] != "reasoning" else {"summary": [], "encrypted_content": "g"})}
    events = [{"type": "response.output_item.added", "output_index": index, "item": started}]
    if item["type"] == "function_call":
        kind = "response.function_call_arguments"
        events += [{"type": f"{kind}.delta", **place, "delta": piece} for piece in cut(item["arguments"])]
        events.append({"type": f"{kind}.done", **place, "name": item["name"], "arguments": item["arguments"]})
    for name, numbered in (("content", "content_index"), ("summary", "summary_index")):
        for number, part in enumerate(item.get(name) or ()):
            field = "refusal" if part["type"] == "refusal" else "text"
            kind = {"summary_text": "response.reasoning_summary_text", "refusal": "response.refusal"}.get(
                part["type"], f"response.{part['type']}"
            )
            spot = {**place, numbered: number}
            events += [{"type": f"{kind}.delta", **spot, "delta": piece} for piece in cut(part[field])]
            events.append({"type": f"{kind}.done", **spot, field: part[field]})
            events.append({"type": "response.content_part.done", **spot, "part": part})
    return [*events, {"type": "response.output_item.done", "output_index": index, "item": item}]


def streamed(body: dict[str, Any], *, interleaved: bool = False) -> list[dict[str, Any]]:
    """A response as the API streams it; ``interleaved``: items arrive in turns."""
    started = {**body, "status": "in_progress", "output": [], "usage": None}
    each = [item_events(index, item) for index, item in enumerate(body["output"])]
    if interleaved:
        longest = max(map(len, each))
        inner = [events[at] for at in range(longest) for events in each if at < len(events)]
    else:
        inner = [event for events in each for event in events]
    return [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
        *inner,
        {"type": f"response.{body['status']}", "response": body},
    ]


# --- write ------------------------------------------------------------------------------------------------------------


def test_tools_are_appended_and_nothing_is_dropped() -> None:
    body = {**BODY, "tools": [{"type": "web_search"}], "extra_body": {"x": 1}, "include": ["reasoning"]}
    before = deepcopy(body)
    made = responses.write(body, OPENAI_TOOLS)
    assert made == {**body, "tools": [{"type": "web_search"}, *OFFERED]}
    assert body == before
    assert responses.write(made, OPENAI_TOOLS) == made, "written twice, it stays as it is"


@pytest.mark.parametrize(
    ("dialect", "marks"),
    [
        ("openai", [True, True, False]),
        ("deepseek", [None, None, None]),  # one loose tool makes all of them loose
        ("fireworks", [True, True, False]),  # carries nothing elsewhere; absent would be a try here
        ("xai", [None, None, None]),
        ("kimi", [True, True, False]),
    ],
)
def test_marking(dialect: str, marks: list[bool | None]) -> None:
    made = responses.write(BODY, tools(dialect))["tools"]
    assert [tool.get("strict") for tool in made] == marks
    assert all(("strict" in tool) == (mark is not None) for tool, mark in zip(made, marks, strict=True))


def test_without_a_strict_tool_the_bytes_are_plain() -> None:
    body = {**BODY, "parallel_tool_calls": True, "input": [{"role": "user", "content": "Hi"}]}
    plain = {**body, "tools": [{**OFFERED[2]}]}
    del plain["tools"][0]["strict"]
    assert json.dumps(responses.write(body, one_at_a_time("openai", FAR))) == json.dumps(plain)
    assert json.dumps(responses.write(body, Toolset([], "openai"))) == json.dumps(body)


def test_the_parallel_floor_cannot_be_undone() -> None:
    body = {**BODY, "parallel_tool_calls": True, "extra_body": {"parallel_tool_calls": True, "kept": 1}}
    made = responses.write(body, one_at_a_time("openai"))
    assert made["parallel_tool_calls"] is False
    assert made["extra_body"] == {"kept": 1}
    assert responses.write(body, OPENAI_TOOLS)["parallel_tool_calls"] is True


def test_tools_in_extra_body_are_not_lost() -> None:
    body = {**BODY, "extra_body": {"tools": [{"type": "web_search"}], "tool_choice": "required"}}
    made = responses.write(body, tools("openai", PING))
    assert made["tools"] == [{"type": "web_search"}, OFFERED[1]]
    assert made["extra_body"] == {"tool_choice": "required"}


@pytest.mark.parametrize(
    ("given", "choice", "expected"),
    [
        (None, "auto", "auto"),
        ("none", "required", "required"),
        (None, "far away!", {"type": "function", "name": FAR_NAME}),
        (None, FAR_NAME, {"type": "function", "name": FAR_NAME}),
        (
            None,
            ["search", "far away!"],
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "search"}, {"type": "function", "name": FAR_NAME}],
            },
        ),
        ({"type": "function", "name": "far away!"}, None, {"type": "function", "name": FAR_NAME}),
        ({"type": "function", "name": "other"}, None, {"type": "function", "name": "other"}),
        ({"type": "mcp", "server_label": "far away!"}, None, {"type": "mcp", "server_label": "far away!"}),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "far away!"}]},
            None,
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": FAR_NAME}]},
        ),
    ],
)
def test_choices(given: Any, choice: Any, expected: Any) -> None:
    body = BODY if given is None else {**BODY, "tool_choice": given}
    assert responses.write(body, OPENAI_TOOLS, tool_choice=choice)["tool_choice"] == expected


@pytest.mark.parametrize(
    ("body", "more", "place"),
    [
        (BODY, {"tool_choice": "serach"}, "tool_choice"),
        ({**BODY, "tools": "search"}, {}, "tools"),
        ({**BODY, "tools": [{"type": "function", "name": "search", "parameters": {}}]}, {}, "tools[0]"),
        (
            {**BODY, "text": {"format": {"type": "json_object"}}},
            {"output": compile_schema(OUTPUT, OUTPUT_DIALECT)},
            "text.format",
        ),
        (
            BODY,
            {"output": compile_schema(OUTPUT, replace(OUTPUT_DIALECT, output_beside_tools=False))},
            "text.format",
        ),
    ],
)
def test_what_cannot_be_written(body: dict[str, Any], more: dict[str, Any], place: str) -> None:
    with pytest.raises(RequestError) as raised:
        responses.write(body, OPENAI_TOOLS, **more)
    assert raised.value.place == place


def test_output() -> None:
    output = compile_schema(OUTPUT, OUTPUT_DIALECT)
    body = {**BODY, "text": {"verbosity": "low", "format": {"type": "text"}}}
    made = responses.write(body, Toolset([], "openai"), output=output)
    form = {"type": "json_schema", "name": "schema", "schema": output.parameters, "strict": True}
    assert made == {**body, "text": {"verbosity": "low", "format": form}}
    assert responses.write(made, Toolset([], "openai"), output=output) == made
    said = response({**MESSAGE, "content": [{"type": "output_text", "text": '{"ok": true, "note": null}'}]})
    answer = responses.read(said, OPENAI_TOOLS, output)
    assert (answer.output, answer.output_faults) == ({"ok": True}, ())
    wrong = response({**MESSAGE, "content": [{"type": "output_text", "text": "fine"}]})
    assert responses.read(wrong, OPENAI_TOOLS, output).output_faults


def test_a_loose_output_says_so() -> None:
    output = compile_schema(FAR.parameters, OUTPUT_DIALECT)
    assert not output.strict
    assert responses.write(BODY, OPENAI_TOOLS, output=output)["text"]["format"]["strict"] is False


# --- history ----------------------------------------------------------------------------------------------------------


def test_calls_of_a_body_are_written_in_wire_form_only_where_they_are_in_contract_form() -> None:
    wire = called(1, "search", OPENAI)
    contract = called(2, "search", json.dumps(ARGUMENTS))
    neither = called(3, "search", '{"query": 3}')
    broken = called(4, "search", '{"query": ')
    own_name = called(5, "far away!", '{"x":  1}')
    other = called(6, "other", '{"query": "x"}')
    elsewhere = {**called(7, "search", json.dumps(ARGUMENTS)), "namespace": "theirs"}
    answer = {"type": "function_call_output", "call_id": "call_2", "output": "ok"}
    items = [wire, contract, neither, broken, own_name, other, elsewhere, answer, {"role": "user", "content": "Hi"}]
    made = responses.write({**BODY, "input": items}, OPENAI_TOOLS)["input"]
    expected = json.dumps(json.loads(OPENAI), ensure_ascii=False, separators=(",", ":"))
    assert made[1] == {**contract, "arguments": expected}
    assert made[4] == {**own_name, "name": FAR_NAME}
    for position in (0, 2, 3, 5, 6, 7, 8):
        assert made[position] is items[position], position


def test_an_answer_is_replayed_as_it_was_said() -> None:
    body = response(REASONING, MESSAGE, WEB, called(1, "search", OPENAI), called(2, "ping", ""))
    answer = responses.read(body, OPENAI_TOOLS)
    made = responses.history([{"role": "user", "content": "Hi"}, answer], OPENAI_TOOLS)
    assert made[1:5] == body["output"][:4]
    assert made[1] is REASONING
    assert made[5]["name"] == "ping"


def test_an_answer_is_written_anew_for_another_wire_form() -> None:
    answer = responses.read(response(REASONING, called(1, "search", OPENAI)), OPENAI_TOOLS)
    made = responses.history([answer], tools("json_schema"))
    assert made[0] == REASONING
    assert json.loads(made[1]["arguments"]) == ARGUMENTS
    assert made[1]["call_id"] == "call_1"


def test_faulted_calls_keep_their_text() -> None:
    answer = responses.read(response(called(1, "search", '{"query": 3}'), called(2, "gone", "{}")), OPENAI_TOOLS)
    assert [bool(call.faults) for call in answer.calls] == [True, True]
    made = responses.history([answer], tools("json_schema"))
    assert [item["arguments"] for item in made] == ['{"query": 3}', "{}"]
    assert [item["name"] for item in made] == ["search", "gone"]


def test_thoughts_that_led_to_nothing_and_fields_without_a_value_are_not_sent_back() -> None:
    answer = responses.read(response({**MESSAGE, "phase": None}, REASONING), OPENAI_TOOLS)
    assert responses.history([answer], OPENAI_TOOLS) == [MESSAGE]


def test_thoughts_that_are_not_stored() -> None:
    unsealed = {name: value for name, value in REASONING.items() if name != "encrypted_content"}
    answer = responses.read(response(unsealed, called(1, "ping", "{}")), OPENAI_TOOLS)
    kept = responses.write({**BODY, "input": [answer]}, OPENAI_TOOLS)["input"]
    assert kept == [unsealed, called(1, "ping", "{}")]
    without_id = {name: value for name, value in called(1, "ping", "{}").items() if name != "id"}
    assert responses.write({**BODY, "store": False, "input": [answer]}, OPENAI_TOOLS)["input"] == [without_id]
    sealed = responses.read(response(REASONING, called(1, "ping", "{}")), OPENAI_TOOLS)
    assert responses.write({**BODY, "store": False, "input": [sealed]}, OPENAI_TOOLS)["input"][0] == REASONING


def test_an_answer_of_another_api() -> None:
    fingerprint = OPENAI_TOOLS["search"].fingerprint
    calls = (Call(None, "search", ARGUMENTS, raw=OPENAI, wire_name="search", fingerprint=fingerprint),)
    answer = Answer("Yes", "thoughts", calls, native={"role": "model", "parts": []})
    made = responses.history([answer, *responses.results(calls, ["done"])] * 2, OPENAI_TOOLS)
    assert made[0] == {"role": "assistant", "content": "Yes"}
    assert made[1] == {"type": "function_call", "call_id": made[2]["call_id"], "name": "search", "arguments": OPENAI}
    assert made[4]["call_id"] == made[5]["call_id"] != made[1]["call_id"], "the same call again has an id of its own"


def test_results() -> None:
    answer = responses.read(response(called(1, "search", OPENAI), called(2, "ping", "{}")), OPENAI_TOOLS)
    assert responses.results(answer.calls, ["one", "two"]) == [
        {"type": "function_call_output", "call_id": "call_1", "output": "one"},
        {"type": "function_call_output", "call_id": "call_2", "output": "two"},
    ]
    with pytest.raises(RequestError):
        responses.results(answer.calls, ["one"])


# --- read, and streams ------------------------------------------------------------------------------------------------


SEARCHED = Call("call_1", "search", ARGUMENTS, (), (), OPENAI, "search", OPENAI_TOOLS["search"].fingerprint)
PINGED = Call("call_2", "ping", {}, (), (), "{}", "ping", OPENAI_TOOLS["ping"].fingerprint)
ANSWERS: list[tuple[str, dict[str, Any], Answer]] = [
    ("text", response(MESSAGE), Answer("Let me see: é", usage=USED)),
    (
        "reasoning, text and parallel calls",
        response(REASONING, MESSAGE, WEB, called(1, "search", OPENAI), called(2, "ping", "{}")),
        Answer(
            "Let me see: é",
            "First this.\n\nThen that.",
            (SEARCHED, PINGED),
            None,
            StopReason.TOOL_CALLS,
            USED,
        ),
    ),
    ("refusal", response(REFUSAL), Answer("No.", stop_reason=StopReason.REFUSAL, usage=USED)),
    (
        "filtered",
        response(MESSAGE, status="incomplete", incomplete_details={"reason": "content_filter"}),
        Answer("Let me see: é", stop_reason=StopReason.CONTENT_FILTER, usage=USED),
    ),
    (
        "open reasoning",
        response({**REASONING, "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}, MESSAGE),
        Answer("Let me see: é", "Hm.", usage=USED),
    ),
    ("nothing", response(), Answer(usage=USED)),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_answers_whole_and_streamed(body: dict[str, Any], expected: Answer) -> None:
    whole = responses.read(body, OPENAI_TOOLS)
    assert whole == expected
    chunks = streamed(body)
    data = sse(chunks, named=True)
    assert check_stream(lambda: responses.Stream(OPENAI_TOOLS), chunks, data) == expected
    events, answer = run(responses.Stream(OPENAI_TOOLS), chunks)
    check_law(events, answer)
    assert answer.native == whole.native == body["output"]


def test_a_call_cut_off_never_runs() -> None:
    body = response(
        called(2, "ping", "{}"),
        {**called(1, "search", OPENAI[:20]), "status": "incomplete"},
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    chunks = streamed(body)
    for answer in (responses.read(body, OPENAI_TOOLS), run(responses.Stream(OPENAI_TOOLS), chunks)[1]):
        assert answer.stop_reason is StopReason.LENGTH
        assert [call.complete for call in answer.calls] == [True, False]
        assert answer.calls[1].faults
        assert answer.calls[1].arguments is None


def without(*names: str, of: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without these fields, at the top and in the items that they hold."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(item) for name, item in value.items() if name not in names}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return [bare(event) for event in of]


FULL = response(REASONING, MESSAGE, called(1, "search", OPENAI), called(2, "ping", "{}"))
ODD_STREAMS = {
    "the last event alone": streamed(FULL)[-1:],
    "whole items only": [e for e in streamed(FULL) if "delta" not in e["type"] and "text.done" not in e["type"]],
    "no whole items": [e for e in streamed(FULL) if not e["type"].endswith(".done")],
    "nothing repeated at the end": [*streamed(FULL)[:-1], {**streamed(FULL)[-1], "response": response()}],
    "items in turns": streamed(FULL, interleaved=True),
    "no places": without("output_index", of=streamed(FULL)),
    "no ids of items": without("id", "item_id", of=streamed(FULL)),
    "neither": without("output_index", "id", "item_id", of=streamed(FULL)),
    "each event another id": [{**e, "item_id": f"x{n}"} if "item_id" in e else e for n, e in enumerate(streamed(FULL))],
    "unknown events and null fields": [
        event
        for known in streamed(FULL)
        for event in ({"type": "response.new_thing", "delta": "x"}, {**known, "logprobs": None}, {"type": None})
    ],
    "empty deltas": [
        event for known in streamed(FULL) for event in (known, {**known, "delta": ""} if "delta" in known else known)
    ],
    "only the first delta of each": [
        event
        for before, event in zip([{}, *streamed(FULL)], streamed(FULL), strict=False)
        if not (event["type"].endswith("delta") and before.get("type") == event["type"])
    ],
    "no beginnings": [event for event in streamed(FULL) if not event["type"].endswith("added")],
    "beginnings after the first delta": [
        event
        for before, known in zip([{}, *streamed(FULL)], streamed(FULL), strict=False)
        for event in (
            ()
            if known["type"].endswith("added")
            else (known, before)
            if before.get("type", "").endswith("added")
            else (known,)
        )
    ],
    "called twice, all at place 0": [{**e, "output_index": 0} if "output_index" in e else e for e in streamed(FULL)],
}


@pytest.mark.parametrize("chunks", ODD_STREAMS.values(), ids=ODD_STREAMS)
def test_streams_of_other_servers(chunks: list[dict[str, Any]]) -> None:
    expected = responses.read(FULL, OPENAI_TOOLS)
    answer = check_stream(lambda: responses.Stream(OPENAI_TOOLS), chunks, sse(chunks, done=True))
    assert [call.arguments for call in answer.calls] == [ARGUMENTS, {}]
    assert (answer.text, answer.reasoning, answer.stop_reason) == (
        expected.text,
        expected.reasoning,
        expected.stop_reason,
    )


def test_items_that_the_end_gives_other_ids_are_not_read_twice() -> None:
    end = [{**item, "id": f"other_{number}"} for number, item in enumerate(FULL["output"][1:])]
    chunks = [*streamed(FULL)[:-1], {"type": "response.completed", "response": response(*end)}]
    answer = run(responses.Stream(OPENAI_TOOLS), chunks)[1]
    assert answer == responses.read(response(*FULL["output"]), OPENAI_TOOLS)


def test_arguments_that_begin_before_their_name_is_known() -> None:
    raw = ['{"tags": ', '{"a": "1"}, "query": "thé 😀"}']
    deltas = [{"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece} for piece in raw]
    begins = {"type": "response.output_item.added", "output_index": 0, "item": called(1, "search", "")}
    chunks = [deltas[0], begins, deltas[1], {"type": "response.completed", "response": response()}]
    toolset = tools("json_schema")
    answer = check_stream(lambda: responses.Stream(toolset), chunks, sse(chunks))
    assert answer.calls[0].arguments == ARGUMENTS


def test_calls_that_share_an_id() -> None:
    calls = [{**called(number, "ping", "{}"), "id": "fc"} for number in (1, 2)]
    assert [call.id for call in responses.read(response(*calls), OPENAI_TOOLS).calls] == ["call_1", "call_2"]


@pytest.mark.parametrize("arguments", [json.loads(OPENAI), OPENAI])
def test_arguments_that_come_as_an_object(arguments: Any) -> None:
    answer = responses.read(response({**called(1, "search", ""), "arguments": arguments}), OPENAI_TOOLS)
    assert answer.calls[0].arguments == ARGUMENTS


def test_an_answer_may_not_hold_any_number_of_items() -> None:
    stream = responses.Stream(OPENAI_TOOLS)
    event = {"type": "response.output_item.added", "item": {"type": "web_search_call"}}
    with pytest.raises(StreamError):
        run(stream, [event] * 5000)


def test_a_broken_connection() -> None:
    chunks = streamed(FULL)
    for end in range(len(chunks)):
        stream = responses.Stream(OPENAI_TOOLS)
        events, answer = run(stream, chunks[:end])
        check_law(events, answer)
        assert answer.stop_reason is StopReason.INCOMPLETE
        assert not any(call.complete for call in answer.calls)
        again = responses.history([answer], OPENAI_TOOLS)
        assert [item["call_id"] for item in again if item["type"] == "function_call"] == [c.id for c in answer.calls]
        assert not again or again[-1]["type"] != "reasoning"


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ({"type": "error", "code": "server_error", "message": "Sorry", "param": None}, "server_error: Sorry"),
        ({"type": "error", "error": {"type": "overloaded", "message": "Later"}}, "overloaded: Later"),
        ({"error": {"message": "No"}}, "No"),
        (
            {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x", "message": "y"}}},
            "x: y",
        ),
        ({"type": "response.failed", "response": None}, "an error without a message"),
        (b'data: {"type":\n\n', "an event is not JSON"),
        (b"data: [1]\n\n", "an event is no object"),
        ("text", "not str"),
    ],
)
def test_errors_within_a_stream(chunk: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        responses.Stream(OPENAI_TOOLS).feed(chunk)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Bad key", "type": "invalid_request_error"}}, "invalid_request_error: Bad key"),
        (response(status="failed", error={"code": "server_error", "message": "Oops"}), "server_error: Oops"),
        (response(status="in_progress"), "in_progress"),
        ({"choices": []}, "no answer of the Responses API"),
        (None, "no answer of the Responses API"),
        ({"output": {1, 2}}, "no answer of the Responses API"),
    ],
)
def test_what_is_no_answer(body: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        responses.read(body, OPENAI_TOOLS)
    assert words in str(raised.value)


def test_a_cancelled_response_has_no_complete_call() -> None:
    answer = responses.read(response(called(1, "search", OPENAI), status="cancelled"), OPENAI_TOOLS)
    assert answer.stop_reason is StopReason.INCOMPLETE
    assert not answer.calls[0].complete


def test_a_finished_stream() -> None:
    stream = responses.Stream(OPENAI_TOOLS)
    run(stream, streamed(FULL))
    assert stream.finish() is stream.finish()
    with pytest.raises(StreamError):
        stream.feed({"type": "response.created"})


def test_a_loose_call_is_read_in_either_form() -> None:
    answer = responses.read(response(called(1, FAR_NAME, '{"x": 1}')), OPENAI_TOOLS)
    assert answer.calls[0].name == "far away!"
    assert answer.calls[0].arguments == {"x": 1}


def test_the_samples_are_what_they_say() -> None:
    assert OPENAI_TOOLS["search"].encode(ARGUMENTS) == json.loads(OPENAI)
    assert SEARCH.parameters["required"] == ["query"]
