"""Amazon Bedrock's Converse API: what is sent, what is read, whole and streamed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from api.offered import ANTHROPIC, ARGUMENTS, FAR, FAR_NAME, OUTPUT, one_at_a_time, tools
from api.streaming import check_law, run
from strictcall import Toolset, compile_schema
from strictcall.api import converse
from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.events import ArgumentsDelta
from strictcall.dialect.registry import load
from strictcall.errors import RequestError, StreamError
from strictcall.json_value import compact

DIALECT = "bedrock-anthropic"
OFFERED_TOOLS = tools(DIALECT)
OFFERED = [
    {
        "toolSpec": {
            "name": "search",
            "description": "Find things",
            "inputSchema": {"json": OFFERED_TOOLS["search"].parameters},
            "strict": True,
        }
    },
    {"toolSpec": {"name": "ping", "inputSchema": {"json": OFFERED_TOOLS["ping"].parameters}, "strict": True}},
    {"toolSpec": {"name": FAR_NAME, "description": "Not here", "inputSchema": {"json": FAR.parameters}}},
]
BODY = {
    "modelId": "m",
    "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
    "inferenceConfig": {"maxTokens": 9},
}
OUTPUT_DIALECT = load(DIALECT, target="output")
USAGE = {"inputTokens": 10, "outputTokens": 7, "totalTokens": 24, "cacheReadInputTokens": 4, "cacheWriteInputTokens": 3}
USED = Usage(17, 7, 4)
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
REDACTED = {"reasoningContent": {"redactedContent": b"\x00\xff\x01"}}
TEXT = {"text": "Let me see: é"}
SERVED = {"toolUse": {"toolUseId": "srv_1", "name": "ground", "type": "server_tool_use", "input": {"q": "x"}}}
FOUND = {"toolResult": {"toolUseId": "srv_1", "type": "ground_result", "content": [{"text": "found"}]}}


def used(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": f"tooluse_{number}", "name": name, "input": arguments}}


def response(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(content)}
    return {"output": {"message": message}, "stopReason": stop, "usage": USAGE, "metrics": {"latencyMs": 1}, **more}


def cut(text: Any, size: int = 4) -> list[Any]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def block_events(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a block, as the API sends them: only tools and their results have a start."""
    place = {"contentBlockIndex": index}
    start, deltas = None, []
    if "text" in block:
        deltas = [{"text": piece} for piece in cut(block["text"])]
    elif "toolUse" in block:
        start = {"toolUse": {name: value for name, value in block["toolUse"].items() if name != "input"}}
        pieces = cut(json.dumps(block["toolUse"]["input"], ensure_ascii=False)) if block["toolUse"]["input"] else []
        deltas = [{"toolUse": {"input": piece}} for piece in ["", *pieces]]
    elif "toolResult" in block:
        start = {"toolResult": {name: value for name, value in block["toolResult"].items() if name != "content"}}
        deltas = [{"toolResult": [{"text": p}]} for p in cut(block["toolResult"]["content"][0]["text"])]
    elif "redactedContent" in block["reasoningContent"]:
        pieces = cut(block["reasoningContent"]["redactedContent"], 2)
        deltas = [{"reasoningContent": {"redactedContent": piece}} for piece in pieces]
    else:
        thought = block["reasoningContent"]["reasoningText"]
        deltas = [{"reasoningContent": {"text": piece}} for piece in cut(thought["text"])]
        deltas.append({"reasoningContent": {"signature": thought["signature"]}})
    return [
        *([{"contentBlockStart": {**place, "start": start}}] if start else []),
        *({"contentBlockDelta": {**place, "delta": delta}} for delta in deltas),
        {"contentBlockStop": place},
    ]


def streamed(body: dict[str, Any]) -> list[dict[str, Any]]:
    content = body["output"]["message"]["content"]
    return [
        {"messageStart": {"role": "assistant"}},
        *(event for index, block in enumerate(content) for event in block_events(index, block)),
        {"messageStop": {"stopReason": body["stopReason"]}},
        {"metadata": {"usage": body["usage"], "metrics": {"latencyMs": 1}}},
    ]


# --- write ------------------------------------------------------------------------------------------------------------


def test_tools_are_appended_and_nothing_is_dropped() -> None:
    config = {"tools": [{"cachePoint": {"type": "default"}}, {"systemTool": {"name": "x"}}], "toolChoice": {"auto": {}}}
    body = {**BODY, "toolConfig": config, "additionalModelRequestFields": {"top_k": 1}}
    before = deepcopy(body)
    made = converse.write(body, OFFERED_TOOLS)
    assert made == {**body, "toolConfig": {**config, "tools": [*config["tools"], *OFFERED]}}
    assert body == before
    assert converse.write(made, OFFERED_TOOLS) == made, "written twice, it stays as it is"


def test_without_a_strict_tool_the_bytes_are_plain() -> None:
    plain = {**BODY, "toolConfig": {"tools": [OFFERED[2]]}}
    assert json.dumps(converse.write(BODY, one_at_a_time(DIALECT, FAR))) == json.dumps(plain)
    assert json.dumps(converse.write(BODY, Toolset([], DIALECT))) == json.dumps(BODY)
    nova = converse.write(BODY, tools("bedrock-nova"))["toolConfig"]["tools"]
    assert not any("strict" in tool["toolSpec"] for tool in nova)


@pytest.mark.parametrize(
    ("given", "choice", "expected"),
    [
        (None, "auto", {"auto": {}}),
        ({"auto": {}}, "required", {"any": {}}),
        (None, "far away!", {"tool": {"name": FAR_NAME}}),
        ({"tool": {"name": "far away!"}}, None, {"tool": {"name": FAR_NAME}}),
        ({"tool": {"name": "other"}}, None, {"tool": {"name": "other"}}),
        ({"any": {}}, None, {"any": {}}),
    ],
)
def test_choices(given: Any, choice: Any, expected: Any) -> None:
    body = BODY if given is None else {**BODY, "toolConfig": {"toolChoice": given}}
    assert converse.write(body, OFFERED_TOOLS, tool_choice=choice)["toolConfig"]["toolChoice"] == expected


@pytest.mark.parametrize(
    ("body", "more", "place"),
    [
        (BODY, {"tool_choice": "serach"}, "tool_choice"),
        (BODY, {"tool_choice": "none"}, "toolConfig.toolChoice"),
        (BODY, {"tool_choice": ["search"]}, "toolConfig.toolChoice"),
        ({**BODY, "toolConfig": []}, {}, "toolConfig"),
        ({**BODY, "toolConfig": {"tools": [{"toolSpec": {"name": "ping"}}]}}, {}, "tools[0]"),
        (
            {**BODY, "outputConfig": {"textFormat": {"type": "json_schema"}}},
            {"output": compile_schema(OUTPUT, OUTPUT_DIALECT)},
            "outputConfig.textFormat",
        ),
        (BODY, {"output": compile_schema(FAR.parameters, OUTPUT_DIALECT)}, "outputConfig.textFormat"),
    ],
)
def test_what_cannot_be_written(body: dict[str, Any], more: dict[str, Any], place: str) -> None:
    with pytest.raises(RequestError) as raised:
        converse.write(body, OFFERED_TOOLS, **more)
    assert raised.value.place == place


def test_output() -> None:
    output = compile_schema(OUTPUT, OUTPUT_DIALECT)
    made = converse.write({**BODY, "outputConfig": {"effort": "low"}}, OFFERED_TOOLS, output=output)
    form = made["outputConfig"]["textFormat"]
    assert made["outputConfig"]["effort"] == "low"
    assert form["type"] == "json_schema"
    assert json.loads(form["structure"]["jsonSchema"]["schema"]) == output.parameters
    answer = converse.read(response({"text": '{"ok": true}'}), OFFERED_TOOLS, output)
    assert (answer.output, answer.output_faults) == ({"ok": True}, ())


# --- history ----------------------------------------------------------------------------------------------------------


def test_calls_of_a_body_are_written_in_wire_form_only_where_they_are_in_contract_form() -> None:
    wire, contract = used(1, "search", ANTHROPIC), used(2, "search", ARGUMENTS)
    own_name, other = used(4, "far away!", {"x": 1}), used(5, "other", ARGUMENTS)
    said = {"role": "assistant", "content": [TEXT, wire, contract, own_name, other, SERVED]}
    untouched = {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_2", "content": [{"text": "x"}]}}]}
    made = converse.write({**BODY, "messages": [untouched, said]}, OFFERED_TOOLS)["messages"]
    assert made[0] is untouched
    content = made[1]["content"]
    assert content[2] == used(2, "search", {"query": "thé 😀", "tags": [{"key": "a", "value": "1"}]})
    assert content[3] == used(4, FAR_NAME, {"x": 1})
    assert all(content[position] is said["content"][position] for position in (0, 1, 4, 5))


def test_an_answer_is_replayed_as_it_was_said() -> None:
    body = response(THOUGHT, REDACTED, TEXT, SERVED, FOUND, used(1, "search", ANTHROPIC), used(2, "ping", {}))
    answer = converse.read(body, OFFERED_TOOLS)
    made = converse.history([answer, *converse.results(answer.calls, ["a", "b"])], OFFERED_TOOLS)
    assert made[0] == body["output"]["message"]
    assert list(made[0]["content"][5]["toolUse"]["input"]) == ["tags", "query"], "in the model's own order"
    assert made[1] == {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "a"}]}},
            {"toolResult": {"toolUseId": "tooluse_2", "content": [{"text": "b"}]}},
        ],
    }


def test_an_answer_for_another_wire_form_or_of_another_api() -> None:
    answer = converse.read(response(THOUGHT, {"text": " "}, used(1, "search", ANTHROPIC)), OFFERED_TOOLS)
    assert converse.history([answer], tools("json_schema"))[0]["content"] == [THOUGHT, used(1, "search", ARGUMENTS)]
    call = Call(None, "search", ARGUMENTS, wire_name="search")
    native = {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}
    made = converse.history(
        [Answer("Yes", "", (call,), native=native), *converse.results([call], ["done"])], OFFERED_TOOLS
    )
    assert made[0]["content"][0] == {"text": "Yes"}
    use = made[0]["content"][1]["toolUse"]
    assert use["input"] == {"query": "thé 😀", "tags": [{"key": "a", "value": "1"}]}
    assert made[1]["content"][0]["toolResult"]["toolUseId"] == use["toolUseId"]
    assert converse.history([Answer()], OFFERED_TOOLS) == []


# --- read, and streams ------------------------------------------------------------------------------------------------


SEARCHED = Call(
    "tooluse_1", "search", ARGUMENTS, (), (), compact(ANTHROPIC), "search", OFFERED_TOOLS["search"].fingerprint
)
PINGED = Call("tooluse_2", "ping", {}, (), (), "{}", "ping", OFFERED_TOOLS["ping"].fingerprint)
ANSWERS: list[tuple[str, dict[str, Any], Answer]] = [
    ("text", response(TEXT), Answer("Let me see: é", usage=USED)),
    (
        "everything",
        response(
            THOUGHT, REDACTED, TEXT, SERVED, FOUND, used(1, "search", ANTHROPIC), used(2, "ping", {}), stop="tool_use"
        ),
        Answer("Let me see: é", "Hm.", (SEARCHED, PINGED), None, StopReason.TOOL_CALLS, USED),
    ),
    *[
        (reason, response(TEXT, stop=reason), Answer("Let me see: é", stop_reason=stop, usage=USED))
        for reason, stop in {
            "max_tokens": StopReason.LENGTH,
            "stop_sequence": StopReason.STOP_SEQUENCE,
            "guardrail_intervened": StopReason.CONTENT_FILTER,
            "content_filtered": StopReason.CONTENT_FILTER,
            "malformed_model_output": StopReason.ERROR,
            "malformed_tool_use": StopReason.ERROR,
            "model_context_window_exceeded": StopReason.LENGTH,
            "something_new": StopReason.OTHER,
        }.items()
    ],
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_answers_whole_and_streamed(body: dict[str, Any], expected: Answer) -> None:
    whole = converse.read(body, OFFERED_TOOLS)
    assert whole == expected
    events, answer = run(converse.Stream(OFFERED_TOOLS), streamed(body))
    check_law(events, answer)
    assert [(call.name, call.arguments) for call in answer.calls] == [(c.name, c.arguments) for c in expected.calls]
    shown = (expected.text, expected.reasoning, expected.stop_reason, expected.usage)
    assert (answer.text, answer.reasoning, answer.stop_reason, answer.usage) == shown
    assert answer.native == whole.native == body["output"]["message"]


def test_arguments_cut_at_every_character() -> None:
    """The API's pieces are cut where its model's tokens end."""
    raw = json.dumps(ANTHROPIC, ensure_ascii=False)
    start = {"contentBlockStart": {"start": used(1, "search", {}), "contentBlockIndex": 0}}
    del start["contentBlockStart"]["start"]["toolUse"]["input"]
    end = [{"contentBlockStop": {"contentBlockIndex": 0}}, {"messageStop": {"stopReason": "tool_use"}}]
    for at in range(len(raw) + 1):
        deltas = [
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": piece}}}}
            for piece in (raw[:at], "", raw[at:])
        ]
        events, answer = run(converse.Stream(OFFERED_TOOLS), [start, *deltas, *end])
        check_law(events, answer)
        assert answer.calls[0].arguments == ARGUMENTS
        assert answer.calls[0].raw == raw
    assert any(isinstance(event, ArgumentsDelta) for event in events)


@pytest.mark.parametrize("partial", [{}, {"query": "th"}, ANTHROPIC])
def test_a_call_that_may_be_cut_off_never_runs(partial: dict[str, Any]) -> None:
    body = response(used(2, "ping", {}), used(1, "search", partial), stop="max_tokens")
    assert [call.complete for call in converse.read(body, OFFERED_TOOLS).calls] == [True, False]
    pieces = [event for event in streamed(body) if event.get("contentBlockDelta", {}).get("contentBlockIndex") == 1]
    stream = [event for event in streamed(body) if event not in pieces[-1:]]
    assert [call.complete for call in run(converse.Stream(OFFERED_TOOLS), stream)[1].calls] == [True, False]


def test_a_broken_connection() -> None:
    chunks = streamed(response(TEXT, used(1, "search", ANTHROPIC), stop="tool_use"))
    for end in range(len(chunks) - 2):
        events, answer = run(converse.Stream(OFFERED_TOOLS), chunks[:end])
        check_law(events, answer)
        assert answer.stop_reason is StopReason.INCOMPLETE
        assert not any(call.complete for call in answer.calls)
        converse.history([answer], OFFERED_TOOLS)


def test_citations_are_text() -> None:
    cited = {"citationsContent": {"content": [{"text": "So "}, {"text": "it is"}], "citations": [{}]}}
    answer = converse.read(response(cited), OFFERED_TOOLS)
    assert answer.text == "So it is"
    assert answer.native["content"] == [cited]


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ({"throttlingException": {"message": "Slow down"}}, "throttlingException: Slow down"),
        ({"modelStreamErrorException": {}}, "modelStreamErrorException"),
        (b"data: {}\n\n", "as boto3 gives it, not bytes"),
        (None, "not NoneType"),
    ],
)
def test_errors_within_a_stream(chunk: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        converse.Stream(OFFERED_TOOLS).feed(chunk)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"Error": {"Code": "ThrottlingException", "Message": "Slow"}}, "ThrottlingException: Slow"),
        ({"message": "The model is not there"}, "The model is not there"),
        ({"output": {}}, "no answer of the Converse API"),
        (None, "no answer of the Converse API"),
    ],
)
def test_what_is_no_answer(body: Any, words: str) -> None:
    with pytest.raises(StreamError) as raised:
        converse.read(body, OFFERED_TOOLS)
    assert words in str(raised.value)


def test_results() -> None:
    assert converse.results([], []) == []
    with pytest.raises(RequestError):
        converse.results([SEARCHED], ["a", "b"])
