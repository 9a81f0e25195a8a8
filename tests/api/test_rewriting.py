"""Arguments rewritten while they arrive: the law, over real tools and hard texts, split everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from strictcall import ArgumentsError, CompiledTool, Tool, compile_tool
from strictcall.api.rewriting import Rewriter
from strictcall.json_value import equal
from strictcall.testing.instances import Instances
from strictcall.testing.picking import Seeded
from strictcall.wire.codec import Rewrite

SAMPLE = Path(__file__).parents[1] / "data" / "tools_sample.jsonl"
TEXT = {"type": "string"}
QS = {"type": "array", "items": {"type": "object", "properties": {"q": TEXT}}}
NESTED = {
    "type": "object",
    "properties": {
        "a": TEXT,
        "b": {"type": "integer"},
        "c c": {"type": "object", "properties": {"x": TEXT, "y": QS}},
        "map": {"type": "object", "additionalProperties": TEXT},
        "n": {"type": ["null", "string"]},
        "list": {"type": "array", "items": {"type": "number"}},
    },
}
HARD: list[dict[str, Any]] = [
    {},
    {"a": ""},
    {"a": 'null, "b": 1}', "list": []},
    {"a": '\\"{[', "n": None},
    {"n": "null", "map": {"a": "b", "": "}"}},
    {"c c": {}, "list": [1, -2.5, 1e30]},
    {"c c": {"y": [{}, {"q": "é\u2028\U0001f600"}]}, "b": 10**40},
]


def told(compiled: CompiledTool, text: str, size: int) -> str:
    """What is told of a text that comes in pieces of so many characters."""
    assert compiled.below != "hold"
    rewriter = Rewriter(compiled.below)
    return "".join(rewriter.feed(text[start : start + size]) for start in range(0, len(text), size))


@pytest.mark.parametrize("arguments", HARD)
@pytest.mark.parametrize("layout", [{"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])
def test_hard_texts(arguments: dict[str, Any], layout: dict[str, Any]) -> None:
    compiled = compile_tool(Tool("t", None, NESTED))
    assert isinstance(compiled.below, Rewrite)
    text = json.dumps(compiled.encode(arguments), **layout)
    for size in (1, 2, 3, 5, len(text)):
        assert equal(json.loads(told(compiled, text, size)), arguments)


def real_tools() -> list[Any]:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [pytest.param(row, id=row["name"]) for row in rows]


@pytest.mark.parametrize("row", real_tools())
def test_what_is_told_is_what_is_decoded(row: dict[str, Any]) -> None:
    compiled = compile_tool(Tool(row["name"], None, row["schema"]))
    if compiled.below == "hold" or callable(compiled.below):
        return
    made = Instances(row["schema"], Seeded(row["name"]))
    for _ in range(6):
        try:
            text = json.dumps(compiled.encode(made.value()))
            arguments = compiled.decode(text)
        except ArgumentsError:
            continue
        assert {told(compiled, text, size) for size in (1, 2, 7)} == {told(compiled, text, len(text))}
        assert equal(json.loads(told(compiled, text, 1)), arguments)


def test_most_real_tools_need_not_be_held() -> None:
    compiled = [compile_tool(Tool("t", None, row.values[0]["schema"])) for row in real_tools()]
    strict = [tool for tool in compiled if tool.strict]
    at_once = [tool for tool in strict if tool.below is None or isinstance(tool.below, Rewrite)]
    assert len(at_once) > 0.9 * len(strict)


def test_a_member_is_told_as_soon_as_it_is_kept() -> None:
    compiled = compile_tool(Tool("t", None, NESTED))
    rewriter = Rewriter(compiled.below)  # type: ignore[arg-type]
    assert rewriter.feed('{"a": ') == "{"
    assert rewriter.feed('"x') == '"a":"x'
    assert rewriter.feed('y", "b": nul') == 'y"'
    assert rewriter.feed('l, "list": [1') == ',"list":[1'
    assert rewriter.feed(', 2], "n": null, "map": null, "c c": null}') == ", 2]}"


@pytest.mark.parametrize(
    "text", ["[1]", "3", '"x"', "{]", '{"a" 1}', '{"a": }', '{"a":1,,', "{'a'", "\x00{}", '{"a":"x"}}}']
)
def test_what_is_no_object_says_little_and_breaks_nothing(text: str) -> None:
    compiled = compile_tool(Tool("t", None, NESTED))
    assert len(told(compiled, text, 1)) <= len(text)
