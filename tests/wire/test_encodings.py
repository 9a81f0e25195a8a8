"""Every encoding as a table: a contract, the wire schema it becomes, a model's call, and the arguments the tool gets.

A row of ``encodings.json`` has: name, dialect, policy, contract, wire, verdict, codes, calls (wire, arguments), and
``reads_open`` where the wire schema, read as JSON Schema, is open. The
wire schemas were written down after reading each of them; a change to one is a change to what is sent to a provider.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from strictcall import ArgumentsError, Policy, Tool, compile_tool, judge
from strictcall.json_value import equal

ROWS = json.loads((Path(__file__).parent / "encodings.json").read_text("utf-8"))
CALLS = [(row, call) for row in ROWS for call in row["calls"]]


def compiled(row: dict[str, Any]) -> Any:
    return compile_tool(Tool("t", None, row["contract"]), row["dialect"], Policy(**row["policy"]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_wire_schema_is_as_written_down(row: dict[str, Any]) -> None:
    tool = compiled(row)

    assert json.dumps(row["wire"]) == json.dumps(tool.parameters)
    assert (row["verdict"], row["codes"]) == (tool.verdict, sorted({change.code for change in tool.changes}))
    assert judge(tool.parameters, row["dialect"]) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_compiling_the_wire_schema_again_changes_nothing(row: dict[str, Any]) -> None:
    tool = compiled(row)

    again = compile_tool(Tool("t", None, tool.parameters), row["dialect"], Policy(**row["policy"]))

    assert json.dumps(tool.parameters) == json.dumps(again.parameters)
    # Where a dialect cannot say that an object is closed, its own wire schema reads as an open one, which is closed.
    assert again.identity is not row.get("reads_open", False)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_contract_is_not_changed(row: dict[str, Any]) -> None:
    before = copy.deepcopy(row["contract"])

    compiled(row)

    assert json.dumps(before) == json.dumps(row["contract"])


@pytest.mark.parametrize(
    ("row", "call"), CALLS, ids=lambda part: part.get("name", "") if isinstance(part, dict) else ""
)
def test_a_call_is_read_back_and_written_again(row: dict[str, Any], call: dict[str, Any]) -> None:
    tool = compiled(row)

    decoded = tool.decode(json.dumps(call["wire"]))

    assert equal(call["arguments"], decoded)
    assert equal(call["arguments"], tool.decode(tool.encode(decoded)))
    assert equal(call["arguments"], tool.decode(call["wire"], form="either"))


@pytest.mark.parametrize(
    ("row", "call"), CALLS, ids=lambda part: part.get("name", "") if isinstance(part, dict) else ""
)
def test_contract_form_is_read_where_either_form_is(row: dict[str, Any], call: dict[str, Any]) -> None:
    if call.get("looks_like_wire"):
        pytest.skip(
            "the contract form of these arguments is also a wire form of others, and the wire form is read first"
        )
    tool = compiled(row)

    assert equal(call["arguments"], tool.decode(call["arguments"], form="either"))


FAULTY = [
    ("an invented argument", "optional scalar", {"q": "x", "nn": 1}, [("/nn", "n")]),
    ("an entry key written twice", "typed map", {"env": [{"key": "A", "value": "1"}] * 2}, [("/env/A", None)]),
    ("a map in contract form", "typed map", {"env": {"A": "1"}}, [("/env", None)]),
    ("a value of the wrong kind in a map", "typed map", {"env": [{"key": "A", "value": 1}]}, [("/env/A", None)]),
    (
        "a declared name as an entry",
        "declared and free names",
        {"q": "x", "additional_properties": [{"key": "q", "value": 1}]},
        [("/q", None)],
    ),
    (
        "a gap in a tuple",
        "tuple with optional end and more items",
        {"pt": {"item_0": 1, "item_1": None, "more_items": [True]}},
        [("/pt/1", None), ("/pt/2", None)],
    ),
    (
        "a bound that the wire does not hold",
        "bounds it does not hold",
        {"n": 0, "l": ["a", "a"], "s": "long"},
        [("/n", None), ("/l", None), ("/s", None)],
    ),
    ("text that is not JSON", "free-form text", {"v": "{"}, [("/v", None)]),
    ("text that is none of the values", "enum of objects", {"e": "{}"}, [("/e", None)]),
    ("neither of two names", "either of two names", {"a": None, "b": None}, [("", None)]),
    ("no form fits", "root union", {"value": 3}, [("", None)]),
    ("the wrapping left out", "root that is a string", "x", [("", None)]),
    (
        "an unknown name deep inside",
        "recursion",
        {"v": "a", "kids": [{"v": "b", "kid": None}]},
        [("/kids/0/kid", "kids")],
    ),
]


@pytest.mark.parametrize(("name", "wire", "expected"), [row[1:] for row in FAULTY], ids=[row[0] for row in FAULTY])
def test_each_fault_is_named_where_it_is_in_the_contract(name: str, wire: Any, expected: list[Any]) -> None:
    tool = compiled(next(row for row in ROWS if row["name"] == name))

    with pytest.raises(ArgumentsError) as caught:
        tool.decode(wire)

    assert sorted(expected) == sorted((fault.pointer, fault.nearest) for fault in caught.value.faults)
