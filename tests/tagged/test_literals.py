"""Calls written as Python writes them: every literal, and what is none."""

from __future__ import annotations

import json

import pytest

from strictcall import Tool, Toolset
from strictcall.tagged import read
from strictcall.tagged.literals import literal, literal_text, number, written

ANY = Tool("f", "", {"type": "object", "properties": {"x": {}, "y": {}}, "additionalProperties": False})
OFFERED = Toolset([ANY], "openai")

LITERALS = [
    ("1", 1),
    ("-7", -7),
    ("+7", 7),
    ("007", 7),
    ("1_000", 1000),
    (str(10**30), 10**30),
    ("1.5", 1.5),
    (".5", 0.5),
    ("2.", 2.0),
    ("-1.5e-3", -0.0015),
    ("1e3", 1000.0),
    ("True", True),
    ("false", False),
    ("None", None),
    ("null", None),
    ("''", ""),
    ('""', ""),
    ("'a'", "a"),
    ("'''a\n'b'''", "a\n'b"),
    (r"'it\'s'", "it's"),
    (r"'\x41\u00e9\U0001f3a3\n\t\\'", "Aé🎣\n\t\\"),
    (r"'\ud83c\udfa3'", "🎣"),
    (r"'C:\dir'", "C:\\dir"),
    (r"r'C:\new'", "C:\\new"),
    ("'two\nlines'", "two\nlines"),
    ("'he said 'no' to it'", "he said 'no' to it"),
    ("[]", []),
    ("[1, 'a', [True],]", [1, "a", [True]]),
    ("(1, 2)", [1, 2]),
    ("(1,)", [1]),
    ("(1)", 1),
    ("()", []),
    ("{}", {}),
    ("{'a': {'b': None}, \"c\": [1]}", {"a": {"b": None}, "c": [1]}),
    ("{1: 'a'}", {"1": "a"}),
    ("{'a', 'b'}", ["a", "b"]),
    (" [ 1 , 2 ] ", [1, 2]),
]
NONE = [
    "",
    "x",
    "f()",
    "1 + 1",
    "[1",
    "[1 2]",
    "{'a': 1, 'b'}",
    "{[1]: 2}",
    "'open",
    "1.2.3",
    "--1",
    "0x1f",
    ".",
    "e5",
    r"'\ud83c'",
    "[" * 300 + "]" * 300,
]


@pytest.mark.parametrize(("text", "value"), LITERALS)
def test_literals(text, value):
    found = literal_text(text)
    assert found is not None
    assert json.loads(found) == value
    assert type(json.loads(found)) is type(value)


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_literal(text):
    assert literal_text(text) is None


@pytest.mark.parametrize(("text", "value"), LITERALS)
def test_within_a_call(text, value):
    (call,) = read(f"<|tool_call_start|>[f(x={text}, y=1)]<|tool_call_end|>", OFFERED, "lfm2").calls
    assert call.arguments == {"x": value, "y": 1} or (value is None and call.arguments == {"y": 1})


@pytest.mark.parametrize(
    "text", ["[f(x=b'z')]", "[f(x=f'{z}')]", "[f(x=1, x=2)]", "[f(x=g(1))]", "[f(x=1, **y)]", "[f(1)]"]
)
def test_what_is_no_value_is_a_fault_and_nothing_is_evaluated(text):
    (call,) = read(f"<|tool_call_start|>{text}<|tool_call_end|>", OFFERED, "lfm2").calls
    assert call.faults
    assert call.arguments is None


def test_a_quotation_mark_within_text_is_told_as_a_repair():
    (call,) = read("<|tool_call_start|>[f(x='a 'b' c')]<|tool_call_end|>", OFFERED, "lfm2").calls
    assert call.arguments == {"x": "a 'b' c"}
    assert call.repairs
    (call,) = read("<|tool_call_start|>[f(x='a b')]<|tool_call_end|>", OFFERED, "lfm2").calls
    assert not call.repairs


@pytest.mark.parametrize("value", [value for _, value in LITERALS])
def test_what_is_written_is_read(value):
    assert json.loads(literal_text(literal(value))) == value


def test_numbers_are_exact():
    assert number(str(10**40)) == str(10**40)
    assert number("1e999") == "1.0e999"


def test_names_that_python_cannot_write():
    assert written("a.b-c", {"x": 1}) == "a.b-c(x=1)"
    with pytest.raises(ValueError, match="cannot say the name 'a b'"):
        written("f", {"a b": 1})
