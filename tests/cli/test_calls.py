"""``strictcall compile``, ``decode`` and ``encode``."""

from __future__ import annotations

import json
import sys

import pytest


def test_compile_prints_the_wire_schema(strictcall):
    done = strictcall("compile", "tools.json", "--tool", "weather")
    assert (done.code, done.err) == (0, "")
    assert done.json["type"] == "object"
    assert done.json["required"] == ["city", "days"]
    assert done.json["additionalProperties"] is False


@pytest.mark.parametrize(
    ("dialect", "api", "outer", "inner"),
    [
        ("openai", "chat_completions", {"type", "function"}, {"name", "description", "parameters", "strict"}),
        ("openai", "responses", {"type", "name", "description", "parameters", "strict"}, None),
        ("anthropic", "messages", {"name", "description", "input_schema", "strict"}, None),
        ("json_schema", "generate_content", {"functionDeclarations"}, {"name", "description", "parametersJsonSchema"}),
    ],
)
def test_emit_tool_has_the_shape_of_each_api(inside, dialect, api, outer, inner):
    done = inside("compile", "tools.json", "--tool", "weather", "--dialect", dialect, "--emit", "tool", "--api", api)
    tool = done.json
    assert set(tool) == outer
    body = tool.get("function") or (tool.get("functionDeclarations") or [tool])[0]
    if inner:
        assert set(body) == inner
    assert body["name"] == "weather"
    assert body.get("strict", True) is True
    schema = next(body[key] for key in ("parameters", "input_schema", "parametersJsonSchema") if key in body)
    assert set(schema["properties"]) == {"city", "days"}


def test_emit_tool_takes_the_dialects_own_api(inside):
    assert "function" in inside("compile", "tools.json", "--tool", "label", "--emit", "tool").json
    words = ["--tool", "label", "--emit", "tool", "--dialect", "anthropic"]
    assert "input_schema" in inside("compile", "tools.json", *words).json


def test_emit_tool_without_a_name_is_the_request_list(inside):
    done = inside("compile", "tools.json", "--emit", "tool", "--api", "responses")
    assert [tool["name"] for tool in done.json] == ["weather", "label", "broken"]
    assert [tool.get("strict") for tool in done.json] == [True, True, False]
    assert done.json[2]["parameters"].get("$ref", "https").startswith("https")
    (declared,) = inside("compile", "tools.json", "--emit", "tool", "--api", "generate_content").json
    assert len(declared["functionDeclarations"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compile", "tools.json"], "there are 3 tools; say which with --tool: weather, label, broken"),
        (["compile", "tools.json", "--tool", "wether"], "no tool is called 'wether'; did you mean 'weather'?"),
        (["decode", "tools.json", "--tool", "zzz", "{}"], "no tool is called 'zzz'; there are weather, label, broken"),
        (["decode", "tools.json", "--tool", "label", "{}", "extra"], "unexpected argument 'extra'"),
        (["decode", "-", "--tool", "label"], "the source and the arguments cannot both be standard input (-)"),
    ],
)
def test_wrong_use_is_one_line(inside, words, message):
    done = inside(*words)
    assert (done.code, done.out, done.err) == (2, "", f"strictcall: {message}\n")


def test_two_tools_of_one_name(inside):
    twice = json.dumps([{"name": "a", "schema": {}}, {"name": "a", "schema": {}}]).encode()
    done = inside("compile", "-", "--tool", "a", stdin=twice)
    assert done.code == 2
    assert "2 tools are called 'a'" in done.err


def test_a_request_has_no_two_tools_of_one_name(inside):
    twice = json.dumps([{"name": "a", "schema": {}}, {"name": "a", "schema": {}}]).encode()
    done = inside("compile", "-", "--emit", "tool", stdin=twice)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "strictcall: tools 'a' and 'a' would both be called 'a'; give one of them another name or a namespace\n"
    )


def test_decode_prints_one_object(strictcall, inside):
    for run, words, stdin in (
        [inside, ['{"city": "Rome", "days": null}'], b""],
        [inside, ["-"], b'{"city": "Rome"}'],
        [strictcall, [], b'{"city": "Rome"}'],
    ):
        done = run("decode", "tools.json", "--tool", "weather", *words, stdin=stdin)
        assert (done.code, done.out, done.err) == (0, '{"city": "Rome"}\n', "")


def test_decode_says_each_fault_on_its_line(inside):
    done = inside("decode", "tools.json", "--tool", "weather", '{"city": 5, "days": 99}')
    assert (done.code, done.out) == (1, "")
    assert sorted(line.split(":")[0] for line in done.err.splitlines()) == ["/city", "/days"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"city": "a", "city": "b"}', '{"city": NaN}', '"\\ud800"'])
def test_arguments_that_are_no_arguments_are_findings(inside, text):
    for command in ("decode", "encode"):
        done = inside(command, "tools.json", "--tool", "weather", text)
        assert (done.code, done.out) == (1, "")
        assert done.err


def test_arguments_that_are_not_text(inside):
    for command in ("decode", "encode"):
        done = inside(command, "tools.json", "--tool", "weather", "-", stdin=b'{"city": "\xff"}')
        assert (done.code, done.out) == (1, "")
        assert done.err


def test_encode_is_the_inverse(inside):
    arguments = {"labels": {"team": "blue", "ä": "1"}}
    encoded = inside("encode", "tools.json", "--tool", "label", json.dumps(arguments))
    assert encoded.code == 0
    assert encoded.json == {"labels": [{"key": "team", "value": "blue"}, {"key": "ä", "value": "1"}]}
    decoded = inside("decode", "tools.json", "--tool", "label", stdin=encoded.stdout)
    assert decoded.json == arguments
    refused = inside("encode", "tools.json", "--tool", "label", '{"labels": {"a": 1}}')
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("/labels/a: ")


def test_decode_either_reads_the_contracts_form(inside):
    arguments = '{"labels": {"team": "blue"}}'
    assert inside("decode", "tools.json", "--tool", "label", arguments).code == 1
    done = inside("decode", "tools.json", "--tool", "label", arguments, "--form", "either")
    assert done.json == json.loads(arguments)


def test_policy_options_reach_the_compiler(inside):
    open_tool = json.dumps(
        {"name": "a", "schema": {"type": "object", "properties": {"x": {"type": "string"}}}}
    ).encode()
    closed = inside("compile", "-", stdin=open_tool).json
    carried = inside("compile", "-", "--open-objects", "carry", stdin=open_tool).json
    assert set(closed["properties"]) == {"x"}
    assert len(carried["properties"]) == 2


def test_a_server_and_arguments(strictcall, root, untraced):
    server = ["--", sys.executable, root / "examples/trip_server.py"]
    words = ["decode", "--tool", "rate_place", "--dialect", "anthropic", '{"name": "x", "stars": 3}', *server]
    done = strictcall(*words, env=untraced)
    assert (done.code, done.json) == (0, {"name": "x", "stars": 3})
