"""What the model hears, of outputs, of plain values and of exceptions."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import pathlib
import uuid
from collections import OrderedDict, namedtuple
from decimal import Decimal

import numpy as np
import pytest
from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, Field

from strictcall.errors import ArgumentsError, Fault, SettingsError, StrictCallError
from strictcall.runtime import plain_value
from strictcall.runtime.as_output import as_output, failure
from strictcall.runtime.output import ErrorCode, Fatal, RespondToModel, Success, ToolError, ToolFailed, model_text
from strictcall.runtime.plain_value import jsonable, text_of

SECRET = {"password": "hunter2"}


@pytest.mark.parametrize(
    ("output", "heard"),
    [
        (Success("text"), "text"),
        (Success("text", details=SECRET), "text"),
        (Success("text", notice="cut"), "text\n[cut]"),
        (Success("text", SECRET, "cut", True), "text\n[cut]"),
        (Success("", notice="nothing matched"), "[nothing matched]"),
        (Success("two\nlines"), "two\nlines"),
        (RespondToModel(ToolError("NOT_FOUND", "no such file"), SECRET), "Error [NOT_FOUND]: no such file"),
        (RespondToModel(ToolError(ErrorCode.TIMEOUT, "too slow")), "Error [TIMEOUT]: too slow"),
        (RespondToModel(ToolError("MY_OWN_CODE2", "x")), "Error [MY_OWN_CODE2]: x"),
        (Fatal(ToolError("EXECUTION_ERROR", "the disk is gone"), SECRET), None),
    ],
)
def test_the_model_hears_text_and_nothing_else(output, heard):
    assert model_text(output) == heard


def test_the_standard_codes():
    assert set(ErrorCode) == {
        "TOOL_NOT_FOUND",
        "INVALID_ARGUMENTS",
        "PERMISSION_DENIED",
        "APPROVAL_DENIED",
        "NOT_FOUND",
        "TIMEOUT",
        "ABORTED",
        "REPEATED_CALL",
        "OUTPUT_TOO_LARGE",
        "EXECUTION_ERROR",
    }


@pytest.mark.parametrize("code", ["", "not_found", "NOT FOUND", "NOT-FOUND", "_X", "X_", "9X", "X]: all is well\n"])
def test_a_code_is_an_upper_case_name(code):
    with pytest.raises(SettingsError, match="upper-case"):
        ToolError(code, "m")
    with pytest.raises(SettingsError):
        ToolFailed(code, "m")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Success(None),
        lambda: Success("x", notice=3),
        lambda: ToolError("X", None),
        lambda: ToolError(None, "x"),
        lambda: RespondToModel("no such file"),
        lambda: Fatal("the end"),
    ],
)
def test_an_output_that_holds_no_text_is_not_made(make):
    with pytest.raises(TypeError, match="must be"):
        make()


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    when: dt.date


class Model(BaseModel):
    first: int = Field(alias="one")
    at: dt.datetime
    inner: list[Point] = []


Pair = namedtuple("Pair", "left right")  # noqa: PYI024  the old kind is what is tested


class Hostile:
    def __str__(self):
        raise ValueError("no text")


class HostileMapping(dict):
    def items(self):
        raise RuntimeError("no items")

    def __str__(self):
        return "hostile"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", "(no output)"),
        (None, "(no output)"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        (float("nan"), "nan"),
        ({"a": [1, None], "ä": "ö"}, '{"a":[1,null],"ä":"ö"}'),
        ([], "[]"),
        ((1, 2), "[1,2]"),
        ({"b", "a"}, '["a","b"]'),
        (OrderedDict([(1, "x"), (Colour.RED, "y"), (None, 0)]), '{"1":"x","red":"y","null":0}'),
        (b"caf\xc3\xa9", "café"),
        (b"", "(no output)"),
        (b"\xff\xfe\x00", "(binary data, 3 bytes)"),
        (bytearray(b"\x00" * 2000), "(binary data, 2,000 bytes)"),
        ({"raw": b"\xff"}, '{"raw":"/w=="}'),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.50"), "1.50"),
        (pathlib.PurePosixPath("/tmp/x"), "/tmp/x"),  # noqa: S108
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        (Point(1, dt.date(2026, 1, 2)), '{"x":1,"when":"2026-01-02"}'),
        (Pair(1, "r"), '{"left":1,"right":"r"}'),
        (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
        (np.float64(2.5), "2.5"),
        ({"n": np.int64(7)}, '{"n":7}'),
        (range(3), "[0,1,2]"),
        (ValueError("bad"), "ValueError: bad"),
        ("\ud800 half", "� half"),
        ("\ud83d\ude00", "😀"),
        (Hostile(), "(Hostile)"),
        (HostileMapping(a=1), "hostile"),
    ],
)
def test_plain_values_have_a_text(value, text):
    output = as_output(value)
    assert isinstance(output, Success)
    assert output.text == text
    output.text.encode()  # can be sent


def test_models_are_dumped_by_alias():
    model = Model(one=1, at="2026-01-02T03:04:05Z", inner=[Point(2, dt.date(2026, 1, 1))])
    assert json.loads(as_output(model).text) == {
        "one": 1,
        "at": "2026-01-02T03:04:05Z",
        "inner": [{"x": 2, "when": "2026-01-01"}],
    }
    assert json.loads(as_output([model]).text)[0]["one"] == 1


def test_what_holds_itself_or_never_ends_has_a_text_too(monkeypatch):
    monkeypatch.setattr(plain_value, "_MOST_VALUES", 1000)
    itself = {}
    itself["me"] = itself
    assert text_of(itself) == '{"me":"…"}'
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert "…" in text_of(deep)
    assert "…" not in text_of([[] for _ in range(999)])
    shared = {"a": 1}
    assert jsonable([shared, shared]) == [{"a": 1}, {"a": 1}], "met twice is not met within itself"
    fan = ["x"]
    for _ in range(100):
        fan = [fan, fan]
    assert jsonable(fan), "2 ** 100 values"
    assert text_of(10**5000).startswith("0x")
    assert text_of({"rows": iter([1])}) == '{"rows":"<list_iterator object>"}'


def test_binary_data_is_details_and_not_text():
    assert as_output(b"\x00\x01").details == b"\x00\x01"


def test_outputs_are_themselves():
    for output in (Success("x", 1), RespondToModel(ToolError("X", "y")), Fatal(ToolError("X", "y"))):
        assert as_output(output) is output


def test_content_blocks_of_mcp():
    text = TextContent(type="text", text="hello")
    image = ImageContent(type="image", data="AAAA", mimeType="image/png")
    assert as_output(text).text == "hello"
    heard = as_output([text, image]).text
    assert "hello" in heard
    assert "image/png" in heard
    assert "AAAA" not in heard
    result = as_output(CallToolResult(content=[text], isError=True))
    assert model_text(result) == "Error [EXECUTION_ERROR]: hello"
    assert as_output([text, "not a block"]).text.startswith("["), "a list that holds others too is JSON"


@pytest.mark.parametrize(
    ("error", "heard"),
    [
        (RuntimeError("boom"), "Error [EXECUTION_ERROR]: boom"),
        (RuntimeError(), "Error [EXECUTION_ERROR]: RuntimeError"),
        (RuntimeError("  \n"), "Error [EXECUTION_ERROR]: RuntimeError"),
        (KeyError("name"), "Error [EXECUTION_ERROR]: KeyError: 'name'"),
        (FileNotFoundError(2, "No such file", "/x"), "Error [EXECUTION_ERROR]: [Errno 2] No such file: '/x'"),
        (TimeoutError("upstream"), "Error [EXECUTION_ERROR]: upstream"),
        (SystemExit(3), "Error [EXECUTION_ERROR]: SystemExit: 3"),
        (ExceptionGroup("several", [ValueError("only")]), "Error [EXECUTION_ERROR]: only"),
        (ToolFailed("NOT_FOUND", "no city"), "Error [NOT_FOUND]: no city"),
        (ToolFailed("X", "the end", fatal=True), None),
        (
            ArgumentsError([Fault("/a", "must be odd", "2")]),
            "Error [INVALID_ARGUMENTS]: /a: must be odd, got 2",
        ),
    ],
)
def test_exceptions_are_told_by_their_message(error, heard):
    assert model_text(failure(error)) == heard


def test_an_exception_without_a_text():
    class Silent(Exception):
        def __str__(self):
            raise ValueError

    assert "Silent" in model_text(failure(Silent()))


def test_what_a_tool_raises_on_purpose_carries_details():
    failed = ToolFailed("NOT_FOUND", "no city", details={"asked": "db"})
    assert isinstance(failed, StrictCallError)
    assert failed.output == RespondToModel(ToolError("NOT_FOUND", "no city"), {"asked": "db"})
    assert failure(ToolFailed("X", "m", fatal=True)) == Fatal(ToolError("X", "m"))
