"""Chat Completions: what is written, read and streamed, table by table."""

import copy
import json
import time

import pytest

from api.sample_tools import ECHO, OUTSIDE, closed, toolset
from api.streaming import check_stream, run, sse
from strictcall import Policy, Tool, Toolset, compile_schema, compile_tool
from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.chat_completions import Stream, history, read, results, write
from strictcall.api.events import ArgumentsDelta, TextDelta
from strictcall.dialect import load
from strictcall.errors import RequestError, StreamError

OPENAI = toolset("openai")
ENV = OPENAI["set env"].name
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def names(body):
    return [tool["function"]["name"] for tool in body["tools"]]


def weather(dialect="openai"):
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
    return compile_schema({**schema, "required": ["city"]}, load(dialect, "output"))


# --- write ------------------------------------------------------------------------------------------------------------


def test_tools_are_written_after_those_of_the_body_and_nothing_of_it_is_lost_or_changed():
    own = {"type": "custom", "custom": {"name": "sql"}}
    body = {**BODY, "tools": [own], "temperature": 0.2, "extra_body": {"top_k": 3}}
    before = copy.deepcopy(body)
    written = write(body, OPENAI)
    assert body == before
    assert written["tools"][0] is own
    assert {name: written[name] for name in before if name != "tools"} == {
        name: value for name, value in before.items() if name != "tools"
    }
    assert written["tools"][1] == {
        "type": "function",
        "function": {
            "name": "echo",
            "description": "Say it again",
            "parameters": ECHO.parameters,
            "strict": True,
        },
    }
    assert [tool["function"]["name"] for tool in written["tools"][1:]] == ["echo", "search", ENV]
    assert written["messages"][0] is body["messages"][0]


MARKINGS = [
    # dialect, where a strict tool is marked, what a loose one carries, what the request carries
    ("openai", ("function", True), ("function", False), {}),
    ("deepseek", ("function", True), None, {}),
    ("anthropic", ("tool", True), None, {}),
    ("groq", ("function", True), ("function", False), {"parallel_tool_calls": False}),
    ("azure-openai", ("function", True), ("function", False), {"parallel_tool_calls": False}),
    ("cohere", None, None, {"strict_tools": True}),
    ("gemini-json", None, None, {}),
    ("xai", None, None, {}),
    ("llama.cpp", None, None, {}),
]


@pytest.mark.parametrize(("dialect", "strict", "loose", "request_fields"), MARKINGS, ids=[row[0] for row in MARKINGS])
def test_strictness_is_marked_where_and_how_the_dialect_says(dialect, strict, loose, request_fields):
    tools = toolset(dialect)
    assert len(tools.strict) == 3
    written = write(BODY, tools)
    for tool in written["tools"]:
        assert marked(tool) == strict
    assert {name: value for name, value in written.items() if name not in ("model", "messages", "tools")} == (
        request_fields
    )
    if not tools.dialect.all_or_none:
        mixed = write(BODY, toolset(dialect, OUTSIDE))
        assert marked(mixed["tools"][3]) == loose
        assert marked(mixed["tools"][0]) == strict


def marked(tool):
    if "strict" in tool["function"]:
        return "function", tool["function"]["strict"]
    return ("tool", tool["strict"]) if "strict" in tool else None


@pytest.mark.parametrize("dialect", ["openai", "deepseek", "cohere", "groq", "vllm", "anthropic"])
def test_with_no_strict_tool_the_bytes_are_what_they_would_have_been(dialect):
    tools = Toolset([OUTSIDE], dialect)
    assert not tools.strict
    function = {"name": "outside", "description": "Loose", "parameters": tools["outside"].parameters}
    plain = {**BODY, "tools": [{"type": "function", "function": function}]}
    assert json.dumps(write(BODY, tools)) == json.dumps(plain)
    assert json.dumps(write({**BODY, "n": 2}, Toolset([], dialect))) == json.dumps({**BODY, "n": 2})


def test_where_strict_is_the_default_a_loose_tool_says_that_it_is_not():
    written = write(BODY, Toolset([OUTSIDE], "kimi"))
    assert marked(written["tools"][0]) == ("function", False)


FLOORS = [
    {"parallel_tool_calls": True},
    {"extra_body": {"parallel_tool_calls": True, "top_k": 1}},
    {"parallel_tool_calls": True, "extra_body": {"parallel_tool_calls": True, "top_k": 1}},
]


@pytest.mark.parametrize("said", FLOORS)
def test_nothing_undoes_that_calls_come_one_at_a_time(said):
    written = write({**BODY, **said}, toolset("groq"))
    assert written["parallel_tool_calls"] is False
    assert written.get("extra_body", {"top_k": 1}) == {"top_k": 1}
    assert write({**BODY, **said}, toolset("openai")) | {"tools": 0} == {**BODY, **said, "tools": 0}


def test_a_marking_of_the_request_goes_where_a_client_takes_it():
    written = write({**BODY, "extra_body": {"strict_tools": False, "k": 1}}, toolset("cohere"))
    assert "strict_tools" not in written
    assert written["extra_body"] == {"strict_tools": True, "k": 1}


def test_what_stands_in_extra_body_is_not_lost_either():
    mine = {"type": "function", "function": {"name": "mine", "parameters": {"type": "object", "properties": {}}}}
    body = {**BODY, "extra_body": {"tools": [mine], "tool_choice": "required", "seed": 1}}
    written = write(body, OPENAI)
    assert names(written) == ["mine", "echo", "search", ENV]
    assert written["tool_choice"] == "required"
    assert written["extra_body"] == {"seed": 1}


def function(name):
    return {"type": "function", "function": {"name": name}}


def allowed(mode, *names):
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [function(name) for name in names]}}


CHOICES = [
    # the body's, the argument, what is sent
    (None, None, None),
    ("auto", None, "auto"),
    (function("set env"), None, function(ENV)),
    (function("elsewhere"), None, function("elsewhere")),
    (allowed("required", "set env", "echo"), None, allowed("required", ENV, "echo")),
    ("none", "required", "required"),
    (None, "auto", "auto"),
    (None, "none", "none"),
    (None, "set env", function(ENV)),
    (None, ENV, function(ENV)),
    (function("echo"), ["set env", "search"], allowed("auto", ENV, "search")),
    (None, [], "none"),
]


@pytest.mark.parametrize(("given", "choice", "sent"), CHOICES)
def test_a_choice_is_written_with_wire_names(given, choice, sent):
    body = BODY if given is None else {**BODY, "tool_choice": given}
    assert write(body, OPENAI, tool_choice=choice).get("tool_choice") == sent


def test_a_choice_has_no_place_in_a_request_without_tools():
    empty = Toolset([], "openai")
    assert write(BODY, empty, tool_choice="auto") == BODY
    with pytest.raises(RequestError, match="there are no tools"):
        write(BODY, empty, tool_choice="required")


OUTPUTS = [
    ("openai", True, True),
    ("together", True, True),
    ("xai", True, None),
    ("openai", False, None),
    ("kimi", False, False),
]


@pytest.mark.parametrize(("dialect", "is_strict", "flag"), OUTPUTS)
def test_an_output_is_asked_for(dialect, is_strict, flag):
    schema = weather(dialect) if is_strict else compile_schema(OUTSIDE.parameters, load(dialect, "output"))
    assert schema.strict is is_strict
    written = write(BODY, Toolset([], dialect), output=schema)
    wanted = {"name": "schema", "schema": schema.parameters, **({} if flag is None else {"strict": flag})}
    assert written == {**BODY, "response_format": {"type": "json_schema", "json_schema": wanted}}
    assert write(written, Toolset([], dialect), output=schema) == written


def test_an_output_has_the_name_and_description_of_its_schema():
    schema = compile_tool(Tool("the report", "What was found", closed({})), load("openai", "output"))
    wanted = write(BODY, OPENAI, output=schema)["response_format"]["json_schema"]
    assert wanted["name"] == schema.name != "the report"
    assert wanted["description"] == "What was found"


REFUSED = [
    ({"response_format": {"type": "json_object"}}, {"output": weather()}, "response_format: the body asks"),
    ({"extra_body": {"response_format": {"type": "text"}}}, {"output": weather()}, "response_format: the body asks"),
    ({}, {"tool_choice": "ech"}, "tool_choice: no tool is called 'ech'; there are echo, search, set env"),
    ({"tools": [function("echo")]}, {}, r"tools\[0\]: the toolset has another tool that is called 'echo' too"),
    ({"tools": "echo"}, {}, "tools: must be a list"),
]


@pytest.mark.parametrize(("body", "arguments", "problem"), REFUSED)
def test_what_cannot_be_written_is_said(body, arguments, problem):
    with pytest.raises(RequestError, match=problem):
        write({**BODY, **body}, OPENAI, **arguments)


def test_an_output_beside_tools_where_the_provider_takes_none():
    assert "response_format" in write(BODY, OPENAI, output=weather())
    assert "response_format" in write(BODY, Toolset([], "groq"), output=weather("groq"))
    with pytest.raises(RequestError, match="response_format: Groq strict mode takes no schema for the answer"):
        write(BODY, toolset("groq"), output=weather("groq"))


# --- history ----------------------------------------------------------------------------------------------------------


def assistant(*calls, **more):
    listed = [
        {"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed, **more}


SAID = [
    # a call in a body: name and arguments, and what is sent
    (("search", '{"query": "x"}'), ("search", '{"query":"x","limit":null,"where":null}')),
    (("search", '{"query":"x","limit":null,"where":null}'), None),
    (("search", '{"query": "x", "where": {"tag": 3}}'), None),
    (("set env", '{"env": {"A": "1"}}'), (ENV, '{"env":[{"key":"A","value":"1"}]}')),
    ((ENV, '{"env": [{"key": "A", "value": "1"}]}'), None),
    (("set env", '{"env": [{"key": "A", "value": "1"}]}'), (ENV, '{"env": [{"key": "A", "value": "1"}]}')),
    (("echo", '{ "text" : "x" }'), None),
    (("search", '{"query": '), None),
    (("elsewhere", '{"query": "x"}'), None),
    (("search", {"query": "x"}), ("search", {"query": "x", "limit": None, "where": None})),
    (("search", {"query": "x", "limit": None, "where": None}), None),
    (("search", None), None),
]


@pytest.mark.parametrize(("call", "sent"), SAID)
def test_calls_of_a_body_are_written_anew_only_where_they_are_in_contract_form(call, sent):
    before = assistant(call, reasoning_content="hm")
    kept = copy.deepcopy(before)
    (after,) = history([before], OPENAI)
    assert before == kept
    if sent is None:
        assert after is before
    else:
        assert after == assistant(sent, reasoning_content="hm")
    old = {"role": "assistant", "content": None, "function_call": {"name": call[0], "arguments": call[1]}}
    (after,) = history([old], OPENAI)
    wanted = call if sent is None else sent
    assert after == {**old, "function_call": {"name": wanted[0], "arguments": wanted[1]}}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c0", "name": "set env", "content": "ok"},
        {"role": "assistant", "content": "x", "tool_calls": None},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "x"}}, 3],
        },
        {"role": "function", "name": "echo", "content": "x"},
        {"role": 3},
        "no message",
        None,
    ],
)
def test_every_other_message_is_the_very_object_that_came_in(message):
    (after,) = history([message], OPENAI)
    assert after is message


def test_the_old_way_of_results_goes_by_the_name_on_the_wire():
    message = {"role": "function", "name": "set env", "content": "x"}
    assert history([message], OPENAI) == [{**message, "name": ENV}]


def whole(message, finish="tool_calls", **more):
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


SPOKEN = '{"query": "x", "limit": 3, "where": null}'


def test_an_answer_is_said_again_as_it_was_with_what_only_the_provider_reads():
    signed = assistant(("search", SPOKEN), (ENV, '{"env" : []}'), reasoning_content="hm", refusal=None)
    signed["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "s"}}
    signed["reasoning_details"] = [{"type": "reasoning.encrypted", "data": "d"}]
    answer = read(whole(signed), OPENAI)
    (after,) = history([answer], OPENAI)
    assert after == {name: value for name, value in signed.items() if name != "refusal"}


def test_an_answer_under_another_wire_form_is_written_anew():
    answer = read(whole(assistant(("search", SPOKEN), (ENV, '{"env": []}'))), OPENAI)
    other = toolset("json_schema")
    (after,) = history([answer], other)
    assert after == assistant(("search", '{"query":"x","limit":3}'), (other["set env"].name, '{"env":{}}'))


@pytest.mark.parametrize(
    ("raw", "replayed"),
    [
        ('{"query": 3}', '{"query": 3}'),
        # Servers read the text to render their chat template, and fail for the whole request where it is no object.
        ('{"query": ', '{"INVALID_JSON":"{\\"query\\": "}'),
        ("[]", '{"INVALID_JSON":"[]"}'),
    ],
)
def test_a_call_with_faults_stays_as_it_was_said_where_that_is_an_object(raw, replayed):
    answer = read(whole(assistant(("search", raw))), OPENAI)
    assert answer.calls[0].faults
    assert history([answer], OPENAI) == [assistant(("search", replayed))]
    assert history([answer], toolset("json_schema")) == [assistant(("search", replayed))]


FOREIGN = [
    None,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c0", "name": "search", "input": {"query": "x"}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {}}}]},
    {"role": "assistant", "content": [{"toolUse": {"name": "search", "input": {}}}]},
    [{"type": "function_call", "name": "search"}],
    assistant(),
]


@pytest.mark.parametrize("native", FOREIGN)
def test_an_answer_of_another_api_is_written_from_what_was_said(native):
    fingerprint = OPENAI["search"].fingerprint
    call = Call("c0", "search", {"query": "x", "limit": 3}, (), (), SPOKEN, "search", fingerprint)
    answer = Answer("Let me see.", "hm", (call,), None, StopReason.TOOL_CALLS, Usage(), (), native)
    assert history([answer], OPENAI) == [assistant(("search", SPOKEN), content="Let me see.")]
    assert history([Answer(native=native)], OPENAI)[0]["role"] == "assistant"


def test_calls_without_an_id_get_one_that_their_results_have_too():
    message = {"content": "", "tool_calls": [{"function": {"name": "echo", "arguments": {"text": "x"}}}] * 2}
    answer = read(whole(message), OPENAI)
    assert [call.id for call in answer.calls] == [None, None]
    (turn,) = history([answer], OPENAI)
    ids = [call["id"] for call in turn["tool_calls"]]
    assert len(set(ids)) == 2
    assert [result["tool_call_id"] for result in results(answer.calls, ["a", "b"])] == ids
    assert all(isinstance(call["function"]["arguments"], str) for call in turn["tool_calls"])


def test_a_turn_with_nothing_in_it_has_an_empty_text():
    answer = read(whole({"role": "assistant", "content": None, "tool_calls": []}, "stop"), OPENAI)
    assert history([answer], OPENAI) == [{"role": "assistant", "content": ""}]


def test_results_are_messages_one_for_each_call():
    answer = read(whole(assistant(("echo", '{"text":"x"}'), ("echo", "{}"))), OPENAI)
    assert results(answer.calls, ["a", "b"]) == [
        {"role": "tool", "tool_call_id": "c0", "content": "a"},
        {"role": "tool", "tool_call_id": "c1", "content": "b"},
    ]
    with pytest.raises(RequestError, match="there are 1 for 2 calls"):
        results(answer.calls, ["a"])


def test_a_body_s_history_is_written_with_the_body():
    answer = read(whole(assistant(("search", SPOKEN))), OPENAI)
    messages = [*BODY["messages"], answer, *results(answer.calls, ["ok"]), assistant(("search", '{"query":"y"}'))]
    written = write({**BODY, "messages": messages}, OPENAI)["messages"]
    assert written == history(messages, OPENAI)
    assert json.loads(json.dumps(written)) == written


# --- read -------------------------------------------------------------------------------------------------------------


READ = [
    # message, finish reason, what the answer is
    ({"content": "hello"}, "stop", {"text": "hello"}),
    ({"content": "hello"}, "length", {"text": "hello", "stop": "length"}),
    ({"content": ""}, "content_filter", {"stop": "content_filter"}),
    ({"content": "x"}, "insufficient_system_resource", {"text": "x", "stop": "error"}),
    ({"content": "x"}, "error", {"text": "x", "stop": "error"}),
    ({"content": "x"}, "eos", {"text": "x"}),
    ({"content": "x"}, "something new", {"text": "x", "stop": "other"}),
    ({"content": "x"}, None, {"text": "x", "stop": "other"}),
    ({"content": None, "refusal": "No."}, "stop", {"text": "No.", "stop": "refusal"}),
    ({"content": "x", "reasoning_content": "hm"}, "stop", {"text": "x", "reasoning": "hm"}),
    ({"content": "x", "reasoning": "hm"}, "stop", {"text": "x", "reasoning": "hm"}),
    ({"content": "x", "reasoning": "hm", "reasoning_content": "hm"}, "stop", {"text": "x", "reasoning": "hm"}),
    (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "x"},
            ]
        },
        "stop",
        {"text": "x", "reasoning": "hm"},
    ),
    (assistant(("search", SPOKEN)), "tool_calls", {"calls": [("search", {"query": "x", "limit": 3})]}),
    (assistant(("search", SPOKEN)), "stop", {"calls": [("search", {"query": "x", "limit": 3})]}),
    (
        assistant((ENV, '{"env":[{"key":"A","value":"1"}]}'), ("echo", '{"text":"x"}')),
        "tool_calls",
        {"calls": [("set env", {"env": {"A": "1"}}), ("echo", {"text": "x"})]},
    ),
    (assistant(("set env", '{"env":[]}')), "tool_calls", {"calls": [("set env", {"env": {}})]}),
    (assistant(("echo", {"text": "x"})), "tool_calls", {"calls": [("echo", {"text": "x"})]}),
    (
        {"content": None, "function_call": {"name": "echo", "arguments": '{"text":"x"}'}},
        "function_call",
        {"calls": [("echo", {"text": "x"})]},
    ),
    (assistant(("echo", '{"text":"x"}')), "length", {"calls": [("echo", {"text": "x"})], "stop": "length"}),
    (assistant(("echo", '{"text":"x')), "length", {"calls": [("echo", None)], "stop": "length", "cut": [0]}),
    (assistant(("echo", {"text": "x"})), "length", {"calls": [("echo", None)], "stop": "length", "cut": [0]}),
    (assistant(("ekho", '{"text":"x"}')), "tool_calls", {"calls": [("ekho", None)]}),
    (assistant(("echo", '{"text":3}')), "tool_calls", {"calls": [("echo", None)]}),
    (
        assistant(
            (
                "echo",
                '{"text":"x"}',
            )
        ),
        "tool_calls",
        {"calls": [("echo", {"text": "x"})]},
    ),
    (
        {"content": "x", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "q"}}]},
        "tool_calls",
        {"text": "x", "stop": "tool_calls"},
    ),
    ({"content": 3, "tool_calls": "none", "reasoning": {}, "function_call": []}, "stop", {}),
    ({"content": None, "tool_calls": [None, 3, {"function": None}]}, "stop", {"calls": [("", None)]}),
]


def shown(answer):
    """An answer, told as the tables tell it."""
    said = {}
    if answer.text:
        said["text"] = answer.text
    if answer.reasoning:
        said["reasoning"] = answer.reasoning
    if answer.calls:
        said["calls"] = [(call.name, call.arguments) for call in answer.calls]
    cut = [position for position, call in enumerate(answer.calls) if not call.complete]
    if cut:
        said["cut"] = cut
    if answer.stop_reason != ("tool_calls" if answer.calls else "stop"):
        said["stop"] = answer.stop_reason.value
    return said


@pytest.mark.parametrize(("message", "finish", "expected"), READ)
def test_answers_are_read(message, finish, expected):
    response = whole(message, finish)
    before = copy.deepcopy(response)
    answer = read(response, OPENAI)
    assert shown(answer) == expected
    assert response == before
    for call in answer.calls:
        assert (call.arguments is None) == bool(call.faults)


@pytest.mark.parametrize(("message", "finish", "expected"), READ)
def test_an_answer_in_one_chunk_of_a_stream_is_the_same(message, finish, expected):
    if finish is None:
        expected = {**expected, "stop": "incomplete"}
    chunk = {"choices": [{"index": 0, "delta": message, "finish_reason": finish}]}
    assert shown(check_stream(lambda: Stream(OPENAI), [chunk], sse([chunk], done=True))) == expected


def test_of_several_choices_the_first_is_read():
    choices = [
        {"index": 1, "message": {"content": "two"}, "finish_reason": "length"},
        {"index": 0, "message": {"content": "one"}, "finish_reason": "stop"},
    ]
    assert shown(read({"choices": choices}, OPENAI)) == {"text": "one"}


USAGES = [
    (
        {
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
        Usage(9, 4, 2, 1),
    ),
    ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 3}, Usage(9, 4, 3, None)),
    ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}, Usage(9, 4)),
    ({"prompt_tokens": "9", "completion_tokens": True}, Usage()),
    (None, Usage()),
    ("many", Usage()),
]


@pytest.mark.parametrize(("given", "expected"), USAGES)
def test_usage_is_read(given, expected):
    assert read(whole({"content": "x"}, "stop", usage=given), OPENAI).usage == expected
    chunks = [said("x"), said(None, "stop"), {"choices": [], "usage": given}]
    assert check_stream(lambda: Stream(OPENAI), chunks, sse(chunks)).usage == expected


def test_an_output_is_decoded():
    schema = weather()
    answer = read(whole({"content": '{"city":"Lisbon","days":null}'}, "stop"), OPENAI, schema)
    assert answer.output == {"city": "Lisbon"}
    answer = read(whole({"content": '{"city":3,"days":null}'}, "stop"), OPENAI, schema)
    assert answer.output is None
    assert [fault.pointer for fault in answer.output_faults] == ["/city"]
    for message, finish in (({"content": '{"city":'}, "length"), ({"refusal": "No."}, "stop")):
        answer = read(whole(message, finish), OPENAI, schema)
        assert (answer.output, answer.output_faults) == (None, ())


NO_ANSWERS = [
    ({"error": {"message": "No such model", "type": "invalid_request_error"}}, "invalid_request_error: No such model"),
    ({"error": "quota"}, "quota"),
    (
        {"object": "error", "message": "context too long", "type": "BadRequestError"},
        "BadRequestError: context too long",
    ),
    ({"detail": "Not Found"}, "no choice of index 0: Not Found"),
    ({}, "no choice"),
    ({"choices": []}, "no choice"),
    ({"choices": None}, "no choice"),
    ({"choices": "x", "object": object()}, "no choice"),
    ([], "an answer is a dict"),
    (None, "an answer is a dict"),
]


@pytest.mark.parametrize(("response", "problem"), NO_ANSWERS)
def test_what_is_no_answer_is_said(response, problem):
    with pytest.raises(StreamError, match=problem):
        read(response, OPENAI)


# --- streams ----------------------------------------------------------------------------------------------------------


def chunk(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def said(text, finish=None):
    return chunk({"content": text}, finish)


def piece(index=None, call_id=None, name=None, arguments=None, **more):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = (("index", index), ("id", call_id))
    return {**{key: value for key, value in fields if value is not None}, "function": function, **more}


def calls(*pieces):
    return chunk({"tool_calls": list(pieces)})


END = chunk({}, "tool_calls")
FOUND = ("search", {"query": 'a"{}é', "where": {"tag": "t"}})
FOUND_TEXT = r'{"query": "a\"{}é", "limit": null, "where": {"tag": "t", "deep": null}}'
A = ("echo", {"text": "a"})
B = ("echo", {"text": "b"})

STREAMS = {
    "text": ([said(""), said("he"), said("llo"), said(None, "stop")], {"text": "hello"}),
    "reasoning": (
        [chunk({"reasoning_content": "h"}), chunk({"reasoning_content": "m", "content": None}), said("x", "stop")],
        {"text": "x", "reasoning": "hm"},
    ),
    "refusal": (
        [chunk({"refusal": "N"}), chunk({"refusal": "o"}), chunk({}, "stop")],
        {"text": "No", "stop": "refusal"},
    ),
    "a call in pieces": (
        [calls(piece(0, "a", "search", "")), *[calls(piece(0, arguments=c)) for c in FOUND_TEXT], END],
        {"calls": [FOUND]},
    ),
    "two calls, their pieces mixed": (
        [
            calls(piece(0, "a", "echo", "")),
            calls(piece(1, "b", "search", "")),
            calls(piece(0, arguments='{"te'), piece(1, arguments=FOUND_TEXT[:9])),
            calls(piece(1, arguments=FOUND_TEXT[9:])),
            calls(piece(0, arguments='xt":"a"}')),
            END,
        ],
        {"calls": [A, FOUND]},
    ),
    "every piece repeats id and name": (
        [calls(piece(0, "a", "echo", part)) for part in ('{"text"', ':"a"', "}")] + [END],
        {"calls": [A]},
    ),
    "every call has the index 0": (
        [calls(piece(0, "a", "echo", '{"text":"a"}')), calls(piece(0, "b", "echo", '{"text":"b"}')), END],
        {"calls": [A, B]},
    ),
    "no index, ids only": (
        [
            calls(piece(None, "a", "echo", '{"text":')),
            calls(piece(None, "b", "echo", '{"text":')),
            calls(piece(None, "a", None, '"a"}')),
            calls(piece(None, "b", None, '"b"}')),
            END,
        ],
        {"calls": [A, B]},
    ),
    "neither index nor id": (
        [
            calls(piece(None, None, "echo", '{"text":')),
            calls(piece(None, None, None, '"a"}')),
            calls(piece(None, None, "echo", '{"text":"b"}')),
            END,
        ],
        {"calls": [A, B]},
    ),
    "neither index nor id, the name repeated": (
        [calls(piece(None, None, "echo", part)) for part in ('{"text":', '"a"}', '{"text":', '"b"}')] + [END],
        {"calls": [A, B]},
    ),
    "two calls in one chunk": (
        [calls(piece(0, "a", "echo", '{"text":"a"}'), piece(1, "b", "echo", '{"text":"b"}')), END],
        {"calls": [A, B]},
    ),
    "arguments before the name": (
        [calls(piece(0, "a", None, '{"query":"a","limi')), calls(piece(0, None, "search", 't":null}')), END],
        {"calls": [("search", {"query": "a"})]},
    ),
    "empty deltas and null fields": (
        [
            chunk({"role": "assistant", "content": None, "tool_calls": None, "function_call": None, "refusal": None}),
            calls({"index": 0, "id": "a", "function": {"name": "echo", "arguments": None}}),
            calls({"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": ""}}),
            calls({"index": 0, "function": None}),
            chunk({"tool_calls": []}),
            calls(piece(0, arguments='{"text":"a"}')),
            {"choices": None},
            {"choices": []},
            {"choices": [None]},
            {"choices": [{"delta": None, "finish_reason": ""}]},
            {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]},
            END,
        ],
        {"calls": [A]},
    ),
    "no arguments at all": ([calls(piece(0, "a", "search")), END], {"calls": [("search", None)]}),
    "a call that is held until it is complete": (
        [calls(piece(0, "a", ENV, '{"env":[{"key":"A",')), calls(piece(0, arguments='"value":"1"}]}')), END],
        {"calls": [("set env", {"env": {"A": "1"}})]},
    ),
    "an unknown tool": ([calls(piece(0, "a", "ekho", '{"text":"a"}')), END], {"calls": [("ekho", None)]}),
    "a call that does not fit": (
        [calls(piece(0, "a", "search", '{"query":3,"limit":null}')), END],
        {"calls": [("search", None)]},
    ),
    "the old way to call": (
        [
            chunk({"function_call": {"name": "echo", "arguments": ""}}),
            chunk({"function_call": {"arguments": '{"text":'}}),
            chunk({"function_call": {"arguments": '"a"}'}}),
            chunk({}, "function_call"),
        ],
        {"calls": [A]},
    ),
    "it ends with stop": ([calls(piece(0, "a", "echo", '{"text":"a"}')), chunk({}, "stop")], {"calls": [A]}),
    "cut off for length": (
        [
            calls(piece(0, "a", "echo", '{"text":"a"}')),
            calls(piece(1, "b", "echo", '{"text":"')),
            chunk({}, "length"),
        ],
        {"calls": [A, ("echo", None)], "stop": "length", "cut": [1]},
    ),
    "broken off": (
        [said("x"), calls(piece(0, "a", "echo", '{"text":"a"}'))],
        {"text": "x", "calls": [("echo", None)], "stop": "incomplete", "cut": [0]},
    ),
    "nothing came": ([], {"stop": "incomplete"}),
    "a whole answer in place of a stream": ([whole(assistant(("echo", '{"text":"a"}')))], {"calls": [A]}),
}


@pytest.mark.parametrize("case", STREAMS)
def test_streams(case):
    chunks, expected = STREAMS[case]
    before = copy.deepcopy(chunks)
    answer = check_stream(lambda: Stream(OPENAI), chunks, sse(chunks, done=True))
    assert shown(answer) == expected
    assert chunks == before


def test_arguments_pass_at_once_where_they_can():
    chunks = [calls(piece(0, "a", "search", FOUND_TEXT[:30])), calls(piece(0, arguments=FOUND_TEXT[30:])), END]
    stream = Stream(OPENAI)
    told = [[event.text for event in stream.feed(item) if isinstance(event, ArgumentsDelta)] for item in chunks]
    assert "".join(told[0]).startswith('{"query":"a')
    assert told[1] != []
    assert stream.feed(said("x")) == [TextDelta("x")]
    stream.finish()
    with pytest.raises(StreamError, match="finished"):
        stream.feed(said("x"))


def test_what_only_the_provider_reads_survives_a_stream():
    chunks = [
        chunk({"role": "assistant", "reasoning_content": "h", "reasoning_details": [{"text": "h", "index": 0}]}),
        chunk({"reasoning_content": "m", "reasoning_details": [{"signature": "s", "index": 0}]}),
        calls(piece(0, "a", "search", "", type="function", extra_content={"google": {"thought_signature": "t"}})),
        calls(piece(0, arguments=SPOKEN)),
        calls({"index": 1, "id": "q", "type": "custom", "custom": {"name": "sql", "input": "sel"}}),
        calls({"index": 1, "custom": {"input": "ect"}}),
        END,
    ]
    answer = check_stream(lambda: Stream(OPENAI), chunks, sse(chunks))
    assert [call.name for call in answer.calls] == ["search"]
    details = [{"text": "h", "index": 0}, {"signature": "s", "index": 0}]
    assert history([answer], OPENAI) == [
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "reasoning_details": details,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "search", "arguments": SPOKEN},
                    "extra_content": {"google": {"thought_signature": "t"}},
                },
                {"id": "q", "type": "custom", "custom": {"name": "sql", "input": "select"}},
            ],
        }
    ]


BROKEN = [
    (b'data: {"error": {"message": "overloaded", "code": 529}}\n\n', "overloaded"),
    (b'data: {"choices": [\n\n', "is not JSON"),
    (b"data: 3\n\n", "is no object"),
    (b"data: " + b"[" * 100_000 + b"\n\n", "is not JSON"),
    ([3], "a dict or bytes"),
]


@pytest.mark.parametrize(("data", "problem"), BROKEN)
def test_what_is_no_stream_is_said(data, problem):
    with pytest.raises(StreamError, match=problem):
        Stream(OPENAI).feed(data)


def test_an_answer_is_kept_within_bounds():
    stream = Stream(OPENAI)
    more = chunk({"reasoning_details": [{"data": "x" * 10_000_000}]})
    for _ in range(3):
        stream.feed(more)
    with pytest.raises(StreamError, match="kept for its provider"):
        stream.feed(more)
    with pytest.raises(StreamError, match="more than 1,024 calls"):
        Stream(OPENAI).feed(calls(*[piece(index, f"c{index}", "echo", "{}") for index in range(2_000)]))


def test_a_long_argument_that_comes_by_the_byte_takes_linear_time():
    def seconds(length, index, name):
        stream = Stream(OPENAI)
        stream.feed(calls(piece(index, None, "echo", "")))
        chunks = [calls(piece(index, None, name, character)) for character in '{"text":"' + "a" * length + '"}']
        begun = time.process_time()
        for item in chunks:
            stream.feed(item)
        stream.feed(END)
        assert len(stream.finish().calls[0].arguments["text"]) == length
        return time.process_time() - begun

    for index, name in ((0, None), (None, "echo")):
        assert seconds(40_000, index, name) < 20 * max(seconds(4_000, index, name), 0.02)


def test_a_loose_tool_s_call_is_mended_where_no_decoder_held_it():
    tools = Toolset(
        [Tool("count", "", closed({"n": {"type": "integer"}, "u": {"uniqueItems": True}}))],
        "openai",
        Policy(fidelity="exact"),
    )
    assert not tools.strict
    chunks = [calls(piece(0, "a", "count", '{"n":"3"}')), END]
    answer = check_stream(lambda: Stream(tools), chunks, sse(chunks))
    assert answer.calls[0].arguments == {"n": 3}
    assert [repair.pointer for repair in answer.calls[0].repairs] == ["/n"]


def test_run_gives_the_same_answer_twice():
    events, answer = run(Stream(OPENAI), [said("x", "stop")])
    stream = Stream(OPENAI)
    stream.feed(said("x", "stop"))
    assert stream.finish() is stream.finish()
    assert (stream.finish(), events) == (answer, [TextDelta("x")])
