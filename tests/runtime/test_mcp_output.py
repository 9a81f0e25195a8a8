"""The text that the model hears of MCP results, and what it does not hear."""

from __future__ import annotations

import base64

import mcp_types as sdk
import pytest

from strictcall.runtime.as_output import as_output
from strictcall.runtime.mcp_output import content_output, is_block, is_result, result_output, result_text
from strictcall.runtime.output import RespondToModel, Success, ToolError, model_text

DATA = base64.b64encode(b"x" * 70).decode()


def text(*texts):
    return [{"type": "text", "text": each} for each in texts]


@pytest.mark.parametrize(
    ("block", "form"),
    [
        ({"type": "text", "text": "hello"}, "hello"),
        ({"type": "image", "data": DATA, "mimeType": "image/png"}, "[image: image/png, 70 bytes]"),
        ({"type": "audio", "data": DATA, "mimeType": "audio/wav"}, "[audio: audio/wav, 70 bytes]"),
        ({"type": "audio", "data": "no base64!"}, "[audio: 10 characters that are no base64]"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}, "[resource: file:///a]\ninside"),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "inside"}},
            "[resource: file:///a, text/plain]\ninside",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/png", "blob": DATA}},
            "[resource: file:///a, image/png, 70 bytes]",
        ),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, "[resource link: a, file:///a]"),
        (
            {"type": "resource_link", "uri": "u", "name": "a", "title": "A", "mimeType": "m/m", "description": "it"},
            "[resource link: A, u, m/m: it]",
        ),
        ({"type": "video", "url": "u"}, '[content of the type "video", which has no text]'),
        ({"type": ["x"]}, '[content of the type ["x"], which has no text]'),
        ({"text": "untyped"}, "[content of the type null, which has no text]"),
        ("bare", '[content that is no block: "bare"]'),
        ({"type": "text", "text": "hush", "annotations": {"audience": ["user"]}}, "[text for the user, 4 characters]"),
        ({"type": "image", "data": DATA, "annotations": {"audience": ["user"]}}, "[image for the user]"),
        ({"type": "text", "text": "both", "annotations": {"audience": ["user", "assistant"]}}, "both"),
    ],
)
def test_the_text_of_a_block(block, form):
    assert result_text({"content": [block]}) == form


@pytest.mark.parametrize(
    ("result", "heard"),
    [
        ({"content": text("one", "two")}, "one\ntwo"),
        ({"content": []}, "(no output)"),
        ({}, "(no output)"),
        ({"content": text("")}, "(no output)"),
        ({"content": "not a list"}, "(no output)"),
        ({"content": [], "structuredContent": {"a": None}}, '{"a":null}'),
        ({"structuredContent": [1, 2]}, "[1,2]"),
        ({"content": text("3 rows"), "structuredContent": {"rows": 3}}, '3 rows\n{"rows":3}'),
        # Said twice by the server, it is heard once.
        ({"content": text('{\n "b": 1.0, "a": [true] }'), "structuredContent": {"a": [True], "b": 1}}, None),
        ({"content": text("12"), "structuredContent": {"result": 12}}, "12"),
        ({"content": text("a town"), "structuredContent": {"result": "a town"}}, "a town"),
        ({"content": text("a", '{"b": 1}'), "structuredContent": {"result": ["a", {"b": 1}]}}, 'a\n{"b": 1}'),
        ({"content": [], "structuredContent": {"result": None}}, "(no output)"),
        # Nearly the same is not the same.
        ({"content": text("1"), "structuredContent": {"result": True}}, '1\n{"result":true}'),
        ({"content": text("a"), "structuredContent": {"result": ["a", "b"]}}, 'a\n{"result":["a","b"]}'),
        ({"content": text("a"), "structuredContent": {"result": "a", "more": 1}}, 'a\n{"result":"a","more":1}'),
    ],
)
def test_structured_content_is_heard_once(result, heard):
    expected = heard if heard is not None else result["content"][0]["text"]
    assert model_text(result_output(result)) == expected


def test_an_error_is_told_with_the_text_of_its_blocks():
    output = result_output({"content": text("no such town"), "isError": True})
    assert output.error == ToolError("EXECUTION_ERROR", "no such town")
    assert model_text(output) == "Error [EXECUTION_ERROR]: no such town"


def test_an_error_without_a_word_is_told_too():
    assert model_text(result_output({"content": [], "isError": True})) == (
        "Error [EXECUTION_ERROR]: the tool failed and did not say why"
    )


def test_what_is_not_true_is_no_error():
    assert isinstance(result_output({"content": text("fine"), "isError": "no"}), Success)


def test_the_whole_result_is_in_the_details_and_its_data_not_in_the_text():
    result = {"content": [{"type": "image", "data": DATA, "mimeType": "image/png"}], "_meta": {"cost": 7}}
    output = result_output(result)
    assert output.details == result
    assert DATA not in model_text(output)
    assert "cost" not in model_text(output)
    assert result_output(result, details="mine").details == "mine"


def test_text_that_is_no_unicode_can_still_be_sent():
    assert model_text(result_output({"content": text("a\ud800b")})).encode()


def test_structured_content_that_nests_deep_is_text_all_the_same():
    deep = value = {}
    for _ in range(5000):
        value["a"] = {}
        value = value["a"]
    assert isinstance(result_output({"content": text("[" * 5000), "structuredContent": deep}), Success)


@pytest.mark.parametrize(
    ("value", "result", "block"),
    [
        ({"content": text("a")}, True, False),
        ({"content": [], "isError": False}, True, False),
        ({"content": text("a"), "author": "me"}, False, False),
        ({"content": "a"}, False, False),
        ({"content": ["a"]}, False, False),
        ({"type": "text", "text": "a"}, False, True),
        ({"type": "text"}, False, False),
        ({"type": "image", "data": "", "mimeType": "a/b"}, False, True),
        ({"type": "image", "data": ""}, False, False),
        ({"type": "town", "text": "a"}, False, False),
        ({"type": ["text"], "text": "a"}, False, False),
        ("text", False, False),
        (None, False, False),
        (sdk.CallToolResult(content=[]), True, False),
        (sdk.TextContent(type="text", text="a"), False, True),
        (sdk.Tool(name="a", input_schema={"type": "object"}), False, False),
    ],
)
def test_what_is_a_result_and_what_is_a_block(value, result, block):
    assert is_result(value) is result
    assert is_block(value) is block


def test_a_python_tool_may_return_what_the_sdk_has():
    blocks = [sdk.TextContent(type="text", text="a"), sdk.ImageContent(type="image", data=DATA, mime_type="image/png")]
    assert model_text(content_output(blocks)) == "a\n[image: image/png, 70 bytes]"
    assert model_text(as_output(blocks)) == "a\n[image: image/png, 70 bytes]"
    assert model_text(as_output(blocks[0])) == "a"
    failed = as_output(sdk.CallToolResult(content=blocks[:1], is_error=True))
    assert isinstance(failed, RespondToModel)
    kept = sdk.CallToolResult(content=[], structured_content={"a": None})
    assert model_text(as_output(kept)) == '{"a":null}'
