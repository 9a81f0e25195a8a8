"""Gemini's generateContent: what is written, read and streamed, table by table."""

import copy
import json

import pytest

from api.sample_tools import OUTSIDE, closed, toolset
from api.streaming import check_stream, sse
from strictcall import Policy, Tool, Toolset, compile_schema
from strictcall.api.answer import Answer, Call, StopReason, Usage
from strictcall.api.generate_content import Stream, history, read, results, write
from strictcall.dialect import load
from strictcall.errors import RequestError, StreamError

PROTO = toolset("gemini")
SCHEMA = toolset("gemini-json")
ENV = PROTO["set env"].name
HI = {"role": "user", "parts": [{"text": "hi"}]}
BODY = {"contents": [HI]}
CLIENT = {"model": "gemini-3.1", "contents": [HI], "config": {}}


def declared(body):
    return [item["name"] for tool in body["tools"] for item in tool.get("functionDeclarations", ())]


def weather(dialect):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return compile_schema(schema, load(dialect, "output"))


# --- write: tools -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tools", "field"), [(PROTO, "parameters"), (SCHEMA, "parametersJsonSchema")])
def test_tools_are_written_after_those_of_the_body_in_the_field_of_their_schema_s_language(tools, field):
    search = {"googleSearch": {}}
    body = {**BODY, "tools": [search], "safetySettings": [], "labels": {"my_label": "x"}}
    before = copy.deepcopy(body)
    written = write(body, tools)
    assert body == before
    assert written["tools"][0] is search
    assert written["contents"][0] is HI
    assert {name: written[name] for name in before if name != "tools"} == {
        **BODY,
        "safetySettings": [],
        "labels": {"my_label": "x"},
    }
    assert declared(written) == ["echo", "search", ENV]
    for declaration, compiled in zip(written["tools"][1]["functionDeclarations"], tools, strict=True):
        assert declaration == {
            "name": compiled.name,
            "description": compiled.description,
            field: compiled.parameters,
        }


def test_functions_are_declared_beside_those_of_the_body():
    mine = {"name": "mine", "description": "x"}
    body = {**BODY, "tools": [{"functionDeclarations": [mine]}, {"googleSearch": {}}]}
    written = write(body, SCHEMA)
    assert declared(written) == ["mine", "echo", "search", ENV]
    assert written["tools"][0]["functionDeclarations"][0] is mine
    assert written["tools"][1] is body["tools"][1]
    assert len(body["tools"][0]["functionDeclarations"]) == 1
    assert write(written, SCHEMA) == written


def test_a_function_without_parameters_has_none_where_an_empty_object_may_be_refused():
    bare = [Tool("ping"), Tool("pong", None, closed({}))]
    declarations = write(BODY, Toolset(bare, "gemini"))["tools"][0]["functionDeclarations"]
    assert declarations == [{"name": "ping"}, {"name": "pong"}]
    (ping, pong) = write(BODY, Toolset(bare, "gemini-json"))["tools"][0]["functionDeclarations"]
    assert ping["parametersJsonSchema"]["type"] == pong["parametersJsonSchema"]["type"] == "object"


STYLES = [
    # body, whether names are in snake_case, whether fields are in config
    (BODY, False, False),
    ({**BODY, "generationConfig": {"temperature": 0}}, False, False),
    ({**BODY, "generation_config": {"temperature": 0}}, True, False),
    ({**BODY, "tools": [{"google_search": {}}]}, True, False),
    (CLIENT, True, True),
    ({**CLIENT, "config": {"temperature": 0}}, True, True),
    ({**CLIENT, "config": {"toolConfig": {"retrievalConfig": {}}}}, False, True),
]


@pytest.mark.parametrize(("body", "is_snake", "in_config"), STYLES)
def test_names_are_written_in_the_style_of_the_body(body, is_snake, in_config):
    before = copy.deepcopy(body)
    written = write(body, SCHEMA, output=weather("gemini-json"))
    assert body == before
    place = written["config"] if in_config else written
    tool = place["tools"][-1]
    assert list(tool) == ["function_declarations" if is_snake else "functionDeclarations"]
    (declaration, *_) = next(iter(tool.values()))
    assert list(declaration)[-1] == ("parameters_json_schema" if is_snake else "parametersJsonSchema")
    config = place["tool_config" if is_snake else "toolConfig"]
    assert config["function_calling_config" if is_snake else "functionCallingConfig"] == {"mode": "VALIDATED"}
    output = place if in_config else place["generation_config" if is_snake else "generationConfig"]
    assert output["response_mime_type" if is_snake else "responseMimeType"] == "application/json"
    assert output["response_json_schema" if is_snake else "responseJsonSchema"] == weather("gemini-json").parameters
    if in_config:
        assert written.keys() == body.keys()
        assert body["config"].keys() <= written["config"].keys()


@pytest.mark.parametrize("dialect", ["gemini", "gemini-json"])
def test_with_no_strict_tool_the_bytes_are_what_they_would_have_been(dialect):
    parameters = {"type": "object", "properties": {"p": {"type": "string", "pattern": "^a$"}}}
    tools = Toolset([Tool("match", "Loose", parameters)], dialect, Policy(fidelity="exact"))
    assert not tools.strict
    field = "parameters" if dialect == "gemini" else "parametersJsonSchema"
    declaration = {"name": "match", "description": "Loose", field: parameters}
    plain = {**BODY, "tools": [{"functionDeclarations": [declaration]}]}
    assert json.dumps(write(BODY, tools)) == json.dumps(plain)
    asked = {**BODY, "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}
    assert json.dumps(write(asked, Toolset([], dialect))) == json.dumps(asked)


def test_a_dialect_that_marks_tools_has_no_marking_here():
    written = write(BODY, toolset("openai"))
    assert written.keys() == {"contents", "tools"}
    assert "strict" not in json.dumps(written)


# --- write: the choice ------------------------------------------------------------------------------------------------


CHOICES = [
    # the body's configuration, the argument, what is sent
    (None, None, {"mode": "VALIDATED"}),
    ({"mode": "AUTO"}, None, {"mode": "VALIDATED"}),
    ({"mode": "MODE_UNSPECIFIED"}, None, {"mode": "VALIDATED"}),
    ({"mode": "auto"}, None, {"mode": "VALIDATED"}),
    ({"mode": "VALIDATED"}, None, {"mode": "VALIDATED"}),
    ({"mode": "ANY"}, None, {"mode": "ANY"}),
    ({"mode": "NONE"}, None, {"mode": "NONE"}),
    (
        {"mode": "ANY", "allowedFunctionNames": ["set env", "mine"]},
        None,
        {"mode": "ANY", "allowedFunctionNames": [ENV, "mine"]},
    ),
    ({"mode": "ANY", "allowedFunctionNames": ["echo"]}, "auto", {"mode": "VALIDATED"}),
    ({"streamFunctionCallArguments": True}, "required", {"streamFunctionCallArguments": True, "mode": "ANY"}),
    (None, "none", {"mode": "NONE"}),
    (None, "set env", {"mode": "ANY", "allowedFunctionNames": [ENV]}),
    (None, ["set env", "echo"], {"mode": "VALIDATED", "allowedFunctionNames": [ENV, "echo"]}),
    (None, [], {"mode": "NONE"}),
]


@pytest.mark.parametrize(("given", "choice", "sent"), CHOICES)
def test_the_mode_holds_schemas_and_never_less_than_the_caller_asked(given, choice, sent):
    body = BODY if given is None else {**BODY, "toolConfig": {"retrievalConfig": {}, "functionCallingConfig": given}}
    kept = {} if given is None else {"retrievalConfig": {}}
    assert write(body, SCHEMA, tool_choice=choice)["toolConfig"] == {**kept, "functionCallingConfig": sent}


def test_a_loose_tool_beside_strict_ones_is_held_to_what_is_sent_for_it():
    mixed = toolset("gemini-json", OUTSIDE)
    assert [tool.tool.name for tool in mixed.loose] == ["outside"]
    written = write(BODY, mixed)
    assert written["toolConfig"]["functionCallingConfig"] == {"mode": "VALIDATED"}
    assert declared(written)[-1] == "outside"


def test_a_choice_has_no_place_in_a_request_without_tools():
    empty = Toolset([], "gemini")
    assert write(BODY, empty, tool_choice="auto") == BODY
    with pytest.raises(RequestError, match="there are no tools"):
        write(BODY, empty, tool_choice="required")


# --- write: output, and what cannot be written ------------------------------------------------------------------------


@pytest.mark.parametrize(("dialect", "field"), [("gemini", "responseSchema"), ("gemini-json", "responseJsonSchema")])
def test_an_output_is_asked_for_in_the_field_of_its_language(dialect, field):
    body = {**BODY, "generationConfig": {"temperature": 0, "responseMimeType": "application/json"}}
    written = write(body, Toolset([], dialect), output=weather(dialect))
    config = {"temperature": 0, "responseMimeType": "application/json", field: weather(dialect).parameters}
    assert written == {**BODY, "generationConfig": config}


OUTPUT = {"output": weather("gemini-json")}
REFUSED = [
    ({"generationConfig": {"responseSchema": {"type": "STRING"}}}, OUTPUT, "responseSchema: the body asks for another"),
    ({"generationConfig": {"response_mime_type": "text/x.enum"}}, OUTPUT, "response_mime_type: the body asks"),
    ({"config": {"response_schema": {}}}, OUTPUT, r"config\.response_schema: the body asks"),
    ({"generationConfig": []}, OUTPUT, "generationConfig: must be a dict"),
    ({"toolConfig": "AUTO"}, {}, "toolConfig: must be a dict"),
    ({"tool_config": {"function_calling_config": "ANY"}}, {}, r"tool_config\.function_calling_config: must be a dict"),
    ({"tools": {}}, {}, "tools: must be a list"),
    ({"config": {"tools": "x"}}, {}, r"config\.tools: must be a list"),
    ({"config": object()}, {}, "config: must be a dict"),
    ({"tools": [{"functionDeclarations": [{"name": "echo"}]}]}, {}, "another tool that is called 'echo' too"),
    ({}, {"tool_choice": "ech"}, "no tool is called 'ech'"),
    (
        {"config": {"http_options": {"extra_body": {"toolConfig": {}}}}},
        {},
        r"config\.http_options\.extra_body\.tool_config: would be laid over",
    ),
]


@pytest.mark.parametrize(("body", "arguments", "problem"), REFUSED)
def test_what_cannot_be_written_is_said(body, arguments, problem):
    with pytest.raises(RequestError, match=problem):
        write({**BODY, **body}, SCHEMA, **arguments)


def test_what_the_client_lays_over_a_request_may_be_anything_else():
    body = {**CLIENT, "config": {"http_options": {"extra_body": {"labels": {"a": "b"}}}}}
    assert write(body, SCHEMA)["config"]["http_options"] == body["config"]["http_options"]


# --- history ----------------------------------------------------------------------------------------------------------


def model(*calls, **more):
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": args}} for name, args in calls], **more}


SAID = [
    # a call in a body under gemini: name and arguments, and what is sent
    (("search", {"query": "x"}), None),
    (("set env", {"env": {"A": "1"}}), (ENV, {"env": [{"key": "A", "value": "1"}]})),
    ((ENV, {"env": [{"key": "A", "value": "1"}]}), None),
    (("set env", {"env": [{"key": "A", "value": "1"}]}), (ENV, {"env": [{"key": "A", "value": "1"}]})),
    (("set env", {"env": 3}), (ENV, {"env": 3})),
    (("elsewhere", {"env": {}}), None),
    (("echo", None), None),
]


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
@pytest.mark.parametrize(("call", "sent"), SAID)
def test_calls_of_a_body_are_written_anew_only_where_they_are_in_contract_form(call, sent, key):
    def content(name, args):
        signed = {"thoughtSignature": "s", key: {"id": "1", "name": name, "args": args}}
        return {"role": "model", "parts": [{"text": "x"}, signed]}

    before = content(*call)
    kept = copy.deepcopy(before)
    (after,) = history([before], PROTO)
    assert before == kept
    if sent is None:
        assert after is before
    else:
        assert after == content(*sent)
        assert after["parts"][0] is before["parts"][0]


@pytest.mark.parametrize(
    "content",
    [
        "hello",
        HI,
        {"role": "user", "parts": "hello"},
        {"role": "user", "parts": ["hello", None, {"functionCall": None}, {"functionResponse": {"name": 3}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "echo", "response": {"output": "x"}}}]},
        {"parts": [{"functionCall": "x"}]},
        None,
    ],
)
def test_every_other_content_is_the_very_object_that_came_in(content):
    (after,) = history([content], PROTO)
    assert after is content


def test_results_in_a_body_go_by_the_name_on_the_wire():
    content = {"role": "user", "parts": [{"function_response": {"name": "set env", "response": {"output": "x"}}}]}
    (after,) = history([content], PROTO)
    assert after["parts"] == [{"function_response": {"name": ENV, "response": {"output": "x"}}}]


def test_a_single_content_is_written_like_a_list_of_one():
    content = model(("set env", {"env": {}}))
    assert write({"contents": content}, PROTO)["contents"] == model((ENV, {"env": []}))
    assert write({"contents": "hi"}, PROTO)["contents"] == "hi"


def whole(parts, finish="STOP", **more):
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}], **more}


ENTRIES = {"env": [{"key": "A", "value": "1"}]}
SIGNED = [
    {"text": "hm", "thought": True},
    {"text": "Let me see."},
    {"functionCall": {"id": "c0", "name": ENV, "args": ENTRIES}, "thoughtSignature": "s"},
    {"functionCall": {"id": "c1", "name": "search", "args": {"limit": 3.0, "query": "x"}}},
    {"text": "", "thoughtSignature": "t"},
]


def test_an_answer_is_said_again_as_it_was_with_its_signatures():
    answer = read(whole(SIGNED), PROTO)
    assert [call.arguments for call in answer.calls] == [{"env": {"A": "1"}}, {"limit": 3, "query": "x"}]
    assert history([answer], PROTO) == [{"role": "model", "parts": SIGNED}]
    assert json.dumps(history([answer], PROTO)[0]["parts"]) == json.dumps(SIGNED)


def test_an_answer_under_another_wire_form_is_written_anew():
    (after,) = history([read(whole(SIGNED), PROTO)], SCHEMA)
    calls = [part["functionCall"] for part in after["parts"] if "functionCall" in part]
    assert [(call["id"], call["name"]) for call in calls] == [("c0", ENV), ("c1", "search")]
    assert calls[0]["args"] == {"env": {"A": "1"}}
    assert [part.get("thoughtSignature") for part in after["parts"]] == [None, None, "s", None, "t"]


@pytest.mark.parametrize("args", [{"query": 3}, {}, {"other": 1}])
def test_a_call_with_faults_stays_as_it_was_said(args):
    answer = read(whole([{"functionCall": {"name": "search", "args": args}}]), PROTO)
    assert answer.calls[0].faults
    for tools in (PROTO, toolset("openai")):
        assert history([answer], tools) == [model(("search", args))]


FOREIGN = [
    None,
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "model", "parts": []},
    {"role": "model", "parts": [3]},
    [{"type": "function_call"}],
]


@pytest.mark.parametrize("native", FOREIGN)
def test_an_answer_of_another_api_is_written_from_what_was_said(native):
    calls = (
        Call("c0", "set env", {"env": {"A": "1"}}, (), (), "{}", ENV, "other"),
        Call(None, "echo", None, ("wrong",), (), '{"text"', "echo", "other"),
    )
    answer = Answer("Let me see.", "hm", calls, None, StopReason.TOOL_CALLS, Usage(), (), native)
    (after,) = history([answer], PROTO)
    signature = after["parts"][1].pop("thoughtSignature")
    assert signature == "skip_thought_signature_validator"
    assert after == {
        "role": "model",
        "parts": [
            {"text": "Let me see."},
            {"functionCall": {"id": "c0", "name": ENV, "args": ENTRIES}},
            {"functionCall": {"name": "echo", "args": {"INVALID_JSON": '{"text"'}}},
        ],
    }


def test_a_turn_with_nothing_in_it_has_an_empty_text():
    for answer in (Answer(), read(whole([]), PROTO)):
        assert history([answer], PROTO) == [{"role": "model", "parts": [{"text": ""}]}]


def test_results_are_one_content_with_a_part_for_each_call():
    answer = read(whole(SIGNED), PROTO)
    unnamed = Call(None, "set env", {}, wire_name=ENV)
    assert results([*answer.calls[:1], unnamed], ["a", "b"]) == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c0", "name": ENV, "response": {"output": "a"}}},
                {"functionResponse": {"name": ENV, "response": {"output": "b"}}},
            ],
        }
    ]
    assert results([], []) == []
    with pytest.raises(RequestError, match="there are 1 for 2 calls"):
        results(answer.calls, ["a"])


# --- read -------------------------------------------------------------------------------------------------------------


def call(name, args, **more):
    return {"functionCall": {"name": name, **({} if args is None else {"args": args})}, **more}


A = ("echo", {"text": "a"})
READ = [
    # parts, finish reason, what the answer is
    ([{"text": "hel"}, {"text": "lo"}], "STOP", {"text": "hello"}),
    ([{"text": "hm", "thought": True}, {"text": "x", "thought": False}], "STOP", {"text": "x", "reasoning": "hm"}),
    ([{"text": "x"}], "MAX_TOKENS", {"text": "x", "stop": "length"}),
    ([], "SAFETY", {"stop": "content_filter"}),
    ([{"text": "x"}], "RECITATION", {"text": "x", "stop": "content_filter"}),
    ([], "MALFORMED_FUNCTION_CALL", {"stop": "error"}),
    ([], "UNEXPECTED_TOOL_CALL", {"stop": "error"}),
    ([], "OTHER", {"stop": "other"}),
    ([], "NEW_REASON", {"stop": "other"}),
    ([{"text": "x"}], "FINISH_REASON_UNSPECIFIED", {"text": "x", "stop": "other"}),
    ([{"text": "x"}], None, {"text": "x", "stop": "other"}),
    ([call(*A)], "STOP", {"calls": [A]}),
    ([{"function_call": {"name": "echo", "args": {"text": "a"}}}], "STOP", {"calls": [A]}),
    (
        [{"text": None, "thought": None, "functionCall": {"id": None, **call(*A)["functionCall"]}}],
        "STOP",
        {"calls": [A]},
    ),
    ([call(ENV, ENTRIES), call(*A)], "STOP", {"calls": [("set env", {"env": {"A": "1"}}), A]}),
    ([call("set env", ENTRIES)], "STOP", {"calls": [("set env", {"env": {"A": "1"}})]}),
    ([call(*A), call(*A)], "STOP", {"calls": [A, A]}),
    ([call("search", None)], "STOP", {"calls": [("search", None)]}),
    ([call("search", [1])], "STOP", {"calls": [("search", None)]}),
    ([call("ekho", {"text": "a"})], "STOP", {"calls": [("ekho", None)]}),
    ([call("echo", {"text": 3})], "STOP", {"calls": [("echo", None)]}),
    ([call(*A), call(*A)], "MAX_TOKENS", {"calls": [A, ("echo", None)], "stop": "length", "cut": [1]}),
    ([call(*A), {"text": "x"}], "MAX_TOKENS", {"text": "x", "calls": [A], "stop": "length"}),
    ([{"executableCode": {"code": "x"}}, {"inlineData": {"data": "eA=="}}, 3, None], "STOP", {}),
    ([{"text": 3}, {"functionCall": "x"}, {"functionCall": {}}], "STOP", {"calls": [("", None)]}),
    ("parts", "STOP", {}),
]


def shown(answer):
    """An answer, told as the tables tell it."""
    said = {}
    if answer.text:
        said["text"] = answer.text
    if answer.reasoning:
        said["reasoning"] = answer.reasoning
    if answer.calls:
        said["calls"] = [(made.name, made.arguments) for made in answer.calls]
    cut = [position for position, made in enumerate(answer.calls) if not made.complete]
    if cut:
        said["cut"] = cut
    if answer.stop_reason != ("tool_calls" if answer.calls else "stop"):
        said["stop"] = answer.stop_reason.value
    return said


@pytest.mark.parametrize(("parts", "finish", "expected"), READ)
def test_answers_are_read_and_one_event_of_a_stream_is_the_same(parts, finish, expected):
    response = whole(parts, finish)
    before = copy.deepcopy(response)
    answer = read(response, PROTO)
    assert shown(answer) == expected
    assert response == before
    if finish in (None, "FINISH_REASON_UNSPECIFIED"):
        expected = {**expected, "stop": "incomplete"}
    assert shown(check_stream(lambda: Stream(PROTO), [response], sse([response]))) == expected


def test_names_in_snake_case_are_read_too():
    candidate = {"content": {"parts": [{"text": "x"}], "role": "model"}, "finish_reason": "MAX_TOKENS", "index": None}
    counted = {"prompt_token_count": 3, "candidates_token_count": 2, "thoughts_token_count": None}
    answer = read({"candidates": [candidate], "usage_metadata": counted, "prompt_feedback": None}, PROTO)
    assert (answer.text, answer.stop_reason, answer.usage) == ("x", "length", Usage(3, 2, None, None))


USAGES = [
    (
        {
            "promptTokenCount": 9,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 2,
            "toolUsePromptTokenCount": 5,
        },
        Usage(14, 7, 2, 3),
    ),
    ({"promptTokenCount": 9, "totalTokenCount": 9}, Usage(9)),
    ({"promptTokenCount": "9"}, Usage()),
    (None, Usage()),
    ([], Usage()),
]


@pytest.mark.parametrize(("given", "expected"), USAGES)
def test_usage_is_read(given, expected):
    assert read(whole([{"text": "x"}], usageMetadata=given), PROTO).usage == expected


def test_an_output_is_decoded():
    schema = weather("gemini")
    assert read(whole([{"text": '{"city":'}, {"text": '"Lisbon"}'}]), PROTO, schema).output == {"city": "Lisbon"}
    answer = read(whole([{"text": '{"city":3}'}]), PROTO, schema)
    assert answer.output is None
    assert [fault.pointer for fault in answer.output_faults] == ["/city"]


def test_of_several_candidates_the_first_is_read():
    candidates = [
        {"index": 1, "content": {"parts": [{"text": "two"}]}, "finishReason": "STOP"},
        {"content": {"parts": [{"text": "one"}]}, "finishReason": "STOP"},
    ]
    assert shown(read({"candidates": candidates}, PROTO)) == {"text": "one"}


def test_a_prompt_that_was_blocked_is_an_empty_answer():
    response = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
    assert shown(read(response, PROTO)) == {"stop": "content_filter"}
    assert shown(check_stream(lambda: Stream(PROTO), [response], sse([response]))) == {"stop": "content_filter"}


NO_ANSWERS = [
    (
        {"error": {"code": 400, "message": "Invalid value", "status": "INVALID_ARGUMENT"}},
        "INVALID_ARGUMENT: Invalid value",
    ),
    ({}, "no candidate"),
    ({"candidates": []}, "no candidate"),
    ({"candidates": [None], "promptFeedback": {}}, "no candidate"),
    ([{"candidates": []}], "an answer is a dict"),
]


@pytest.mark.parametrize(("response", "problem"), NO_ANSWERS)
def test_what_is_no_answer_is_said(response, problem):
    with pytest.raises(StreamError, match=problem):
        read(response, PROTO)


# --- streams ----------------------------------------------------------------------------------------------------------


def event(*parts, finish=None, **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}], **more}


def partial(*values, goes_on=True, **named):
    """A call whose arguments come value by value."""
    pieces = [{"jsonPath": path, **value} for path, value in values]
    going = {"willContinue": True} if goes_on else {}
    return {"functionCall": {**named, **({"partialArgs": pieces} if pieces else {}), **going}}


def said(text, **more):
    return {"stringValue": text, **more}


ON = {"willContinue": True}
STREAMS = {
    "text and thoughts": (
        [
            event({"text": "h", "thought": True}),
            event({"text": "m", "thought": True}),
            event({"text": "he"}, {"text": "llo"}),
            event({"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 3}),
        ],
        {"text": "hello", "reasoning": "hm"},
    ),
    "calls, each whole": (
        [
            event(call("search", {"query": "x", "where": {"tag": "t"}})),
            event(call(*A), call(ENV, ENTRIES)),
            event(finish="STOP"),
        ],
        {"calls": [("search", {"query": "x", "where": {"tag": "t"}}), A, ("set env", {"env": {"A": "1"}})]},
    ),
    "nothing in a content": (
        [
            {"candidates": [{"content": {"role": "model"}}]},
            {"candidates": [{"content": None}]},
            {"candidates": None},
            {"usageMetadata": {"promptTokenCount": 1}},
            event(call(*A)),
            {"candidates": [{"finishReason": "STOP"}]},
        ],
        {"calls": [A]},
    ),
    "broken off": (
        [event({"text": "x"}), event(call(*A))],
        {"text": "x", "calls": [("echo", None)], "stop": "incomplete", "cut": [0]},
    ),
    "nothing came": ([], {"stop": "incomplete"}),
    "arguments value by value": (
        [
            event(partial(name="search", id="1")),
            event(partial(("$.query", said('a"', **ON)))),
            event(partial(("$.query", said("b", **ON)))),
            event(partial(("$.query", said("c"))), partial(("$.limit", {"numberValue": 3.0}))),
            event(partial(("$['where'].tag", said("t")), ('$.where["deep"]', said("d")))),
            event({"functionCall": {}}),
            event(finish="STOP"),
        ],
        {"calls": [("search", {"query": 'a"bc', "limit": 3, "where": {"tag": "t", "deep": "d"}})]},
    ),
    "value by value into a list": (
        [
            event(partial(("$.env[0].key", said("A")), name=ENV)),
            event(partial(("$.env[0].value", said("1", **ON)))),
            event(partial(("$.env[0].value", {}), ("$.env[1].key", said("B")), ("$.env[1].value", said("2")))),
            event(partial(goes_on=False), finish="STOP"),
        ],
        {"calls": [("set env", {"env": {"A": "1", "B": "2"}})]},
    ),
    "all values in one part": (
        [event(partial(("$.text", said("a")), name="echo", goes_on=False), finish="STOP")],
        {"calls": [A]},
    ),
    "a call after one value by value": (
        [
            event(partial(("$.text", said("a")), name="echo")),
            event({"functionCall": {}}),
            event(call(*A), finish="STOP"),
        ],
        {"calls": [A, A]},
    ),
    "the last event came twice": (
        [event({"functionCall": {"id": "1", **call(*A)["functionCall"]}}, finish="STOP")] * 2,
        {"calls": [A]},
    ),
    "values that never ended": (
        [event(partial(("$.text", said("a")), name="echo")), event(call(*A), finish="STOP")],
        {"calls": [("echo", None), A]},
    ),
    "values cut off for length": (
        [event(partial(("$.text", said("a", **ON)), name="echo")), event(finish="MAX_TOKENS")],
        {"calls": [("echo", None)], "stop": "length", "cut": [0]},
    ),
}


@pytest.mark.parametrize("case", STREAMS)
def test_streams(case):
    events, expected = STREAMS[case]
    before = copy.deepcopy(events)
    answer = check_stream(lambda: Stream(PROTO), events, sse(events))
    assert shown(answer) == expected
    assert events == before


def test_a_stream_s_turn_has_its_signatures_where_they_stood():
    events = [
        event({"text": "h", "thought": True}),
        event({"text": "m", "thought": True}),
        event({"text": "Let me "}, {"text": "see."}),
        event(SIGNED[2]),
        event(SIGNED[3]),
        event(SIGNED[4], finish="STOP"),
    ]
    answer = check_stream(lambda: Stream(PROTO), events, sse(events))
    assert answer == read(whole(SIGNED), PROTO)
    assert history([answer], PROTO) == [{"role": "model", "parts": SIGNED}]


def test_a_call_that_came_value_by_value_is_said_again_whole():
    events, _ = STREAMS["value by value into a list"]
    signed = copy.deepcopy(events)
    signed[-1]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "s"
    answer = check_stream(lambda: Stream(PROTO), signed, sse(signed))
    args = {"env": [{"key": "A", "value": "1"}, {"key": "B", "value": "2"}]}
    (after,) = history([answer], PROTO)
    assert after == {"role": "model", "parts": [{**call(ENV, args), "thoughtSignature": "s"}]}


BROKEN = [
    (
        b'data: {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}\n\n',
        "UNAVAILABLE: overloaded",
    ),
    (b'data: {"candidates": [\n\n', "is not JSON"),
    (b"data: []\n\n", "is no object"),
    (
        event(partial(("$.a[5]", said("x")), name="echo", goes_on=False)),
        "argument has no place",
    ),
    (event(partial(("a", said("x")), name="echo", goes_on=False)), "argument has no place"),
    (event(partial(("$.a..b", said("x")), name="echo", goes_on=False)), "argument has no place"),
    (event(partial(("$.a", said("x")), ("$.a.b", said("x")), name="echo", goes_on=False)), "argument has no place"),
    (event(partial(("$" + ".a" * 300, said("x")), name="echo", goes_on=False)), "argument has no place"),
]


@pytest.mark.parametrize(("data", "problem"), BROKEN)
def test_what_is_no_stream_is_said(data, problem):
    with pytest.raises(StreamError, match=problem):
        Stream(PROTO).feed(data)


def test_an_answer_is_kept_within_bounds():
    stream = Stream(PROTO)
    image = event({"inlineData": {"data": "x" * 10_000_000}})
    for _ in range(3):
        stream.feed(image)
    with pytest.raises(StreamError, match="kept for its provider"):
        stream.feed(image)
