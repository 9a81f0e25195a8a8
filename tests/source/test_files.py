"""Files of every format, and everything that can be wrong with one."""

from __future__ import annotations

import io
import json
import sys
import time

import pytest

from strictcall.source import documents
from strictcall.source.documents import read_file, read_stdin
from strictcall.source.json_text import without_comments
from strictcall.source.load import read_source

ROW = '{"name": "a", "schema": {"type": "object"}}'
OTHER = '{"name": "b", "inputSchema": {"type": "object"}}'


@pytest.fixture
def file(tmp_path):
    def write(content, name="tools.json"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def names(reading):
    return [tool.name for tool in reading.tools]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.json", ROW, ["a"]),
        ("t.json", f"[{ROW}, {OTHER}]", ["a", "b"]),
        ("t.jsonl", f"{ROW}\n\n{OTHER}\n", ["a", "b"]),
        ("t.ndjson", f"{ROW}\r\n{OTHER}\r\n", ["a", "b"]),
        ("t.json", f"{ROW}\n{OTHER}\n", ["a", "b"]),  # JSON Lines by content
        ("t.txt", f"{ROW}\n[{OTHER}]\n", ["a", "b"]),
        ("t.json", b"\xef\xbb\xbf" + ROW.encode(), ["a"]),  # a UTF-8 byte order mark says nothing
        ("t.json", f"// one\n[/* two\nlines */ {ROW}, {OTHER},\n // end\n]\n", ["a", "b"]),  # as VS Code has it
        ("t.jsonc", f"/* one */ {ROW} // two", ["a"]),
        ("t.yaml", "name: a\nschema: {type: object}\n", ["a"]),
        ("t.yml", "- name: a\n  inputSchema: {}\n- name: b\n  input_schema: {}\n", ["a", "b"]),
        ("t.yaml", "name: a\nschema: {}\n---\nname: b\nschema: {}\n", ["a", "b"]),
        ("t.yaml", ROW, ["a"]),
        ("t", "name: a\nschema: {}\n", ["a"]),  # YAML by content
        ("weather.json", '{"type": "object"}', ["weather"]),
        ("weather.json", "true", ["weather"]),
        ("weather.jsonl", '{"type": "object"}\n{"title": "x", "type": "object"}', ["weather_1", "x"]),
    ],
)
def test_every_format_is_read(file, name, content, expected):
    reading = read_file(file(content, name))
    assert reading.problems == ()
    assert names(reading) == expected


@pytest.mark.parametrize(
    ("name", "content", "place", "words"),
    [
        ("t.json", "", "", "empty"),
        ("t.json", " \n", "", "empty"),
        ("t.json", "[]", "", "no tools"),
        ("t.json", '{"tools": []}', "", "no tools"),
        ("t.json", '{\n  "name": "a",\n  oops\n}', ": line 3, column 3", "not valid JSON"),
        ("t.json", '{ // comment\n  "name": "a",\n  oops,\n}', ": line 3, column 3", "not valid JSON"),
        ("t.json", '{"name": "a", /* never ends }', ": line 1, column 30", "not valid JSON"),
        ("t.json", '{"name": "a",, "schema": {}}', ": line 1, column 14", "not valid JSON"),
        ("t.json", '{"name": "a", "schema": {"x": 1, /**/ "x": 2,}}', "", "the key 'x' is given twice"),
        ("t.json", "[" * 100_000, "", "nests too deep"),
        ("t.json", '{"a":' * 100_000, "", "nests too deep"),
        ("t.json", b'\xff\xfe{\x00"\x00', "", "UTF-16"),
        ("t.json", b'{"name": "a",\n"schema": {"title": "\xe9"}}', ": line 2", "not UTF-8: byte 0xe9"),
        (
            "t.json",
            '{"name": "a", "schema": {"x": 1, "x": 2}}',
            "",
            "the key 'x' is given twice in one object at /schema",
        ),
        ("t.json", '{"name": "a", "schema": {"maximum": NaN}}', "", "NaN is not a JSON number at /schema/maximum"),
        ("t.json", '{"name": "a", "schema": {"maximum": -Infinity}}', "", "-Infinity is not a JSON number"),
        ("t.json", '{"name": "a", "schema": {"maximum": 1e999}}', "", "the number 1e999 is too large"),
        ("t.json", '{"name": "a", "schema": {"maximum": ' + "1" * 5000 + "}}", "", "more than 4,300 digits"),
        ("t.json", r'{"name": "a", "schema": {"title": "\ud800"}}', "", "lone surrogate"),
        ("t.yaml", "a: [1", ": line 1, column 6", "not valid YAML"),
        ("t.yaml", "name: a\nschema:\n  x: 1\n  x: 2\n", "", "the key 'x' is given twice"),
        ("t.yaml", "name: a\nschema: {maximum: .inf}\n", "", ".inf is not a JSON number at /schema/maximum"),
        ("t.yaml", "a: &a [*a]\n", ": line 1, column 4", "leads back into its own anchor"),
        ("t.yaml", "a: !!python/object:os.system {}\n", ": line 1, column 4", "has no meaning in JSON"),
        ("t.yaml", "a: !!binary aGk=\n", ": line 1, column 4", "has no meaning in JSON"),
        ("t.yaml", "? [a]\n: 1\n", ": line 1, column 3", "a key must be a single word or text"),
        ("t.yaml", "[" * 1200, "", "nests too deep"),
        ("t.yaml", "a: \x07", "", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_one_clear_problem(file, name, content, place, words):
    path = file(content, name)
    reading = read_file(path)
    assert reading.tools == ()
    (problem,) = reading.problems
    assert problem.place == path + place
    assert words in problem.text
    assert "\n" not in str(problem)


def test_one_bad_line_never_hides_the_others(file):
    path = file(
        f'{ROW}\nnot json\n{OTHER}\n{{"name": "c", "schema": {{"a": 1, "a": 2}}}}\n{{"k": 1}}\n{ROW}', "t.jsonl"
    )
    reading = read_file(path)
    assert names(reading) == ["a", "b", "a"]
    assert [problem.place for problem in reading.problems] == [
        f"{path}: line 2, column 1",
        f"{path}: line 4",
        f"{path}: line 5",
    ]


def test_a_flaw_in_a_json_list_spoils_its_own_tool_only(file):
    reading = read_file(file(f'[{ROW}, {{"name": "c", "schema": {{"a": NaN}}}}, {OTHER}]'))
    assert names(reading) == ["a", "b"]
    assert len(reading.problems) == 1


def test_numbers_keep_their_value(file):
    big = 12345678901234567890123456789
    (tool,) = read_file(file(f'{{"name": "a", "schema": {{"maximum": {big}, "minimum": 0.5}}}}')).tools
    assert tool.parameters == {"maximum": big, "minimum": 0.5}
    assert type(tool.parameters["maximum"]) is int


def test_yaml_is_read_as_its_core_schema(file):
    text = """
    name: a
    schema:
      enum: [on, off, yes, no, 2020-01-01, 12:30:45, 1_000, 0o17, 0x1F, 017, 1.5e3, ~, "1", !!str 2, !!float 3, true]
      properties: {on: {}, 1: {}, null: {}}
    """
    (tool,) = read_file(file(text, "t.yaml")).tools
    expected = [
        "on",
        "off",
        "yes",
        "no",
        "2020-01-01",
        "12:30:45",
        "1_000",
        15,
        31,
        17,
        1500.0,
        None,
        "1",
        "2",
        3.0,
        True,
    ]
    assert json.dumps(tool.parameters["enum"]) == json.dumps(expected)
    assert list(tool.parameters["properties"]) == ["on", "1", "null"]


def test_yaml_aliases_and_merges(file):
    text = """
    - &base {name: a, schema: {type: object}}
    - {<<: *base, name: b}
    - {<<: [{name: c}, *base]}
    """
    reading = read_file(file(text, "t.yaml"))
    assert [(tool.name, tool.parameters) for tool in reading.tools] == [(name, {"type": "object"}) for name in "abc"]


def test_yaml_alias_expansion_is_bounded(file):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    (problem,) = read_file(file("\n".join(lines), "t.yaml")).problems
    assert "more than 1,000,000 nodes" in problem.text


def test_a_file_that_is_too_large_is_not_read(file, monkeypatch):
    monkeypatch.setattr(documents, "MAX_BYTES", 1024 * 1024)
    (problem,) = read_file(file(" " * (1024 * 1024 + 1))).problems
    assert problem.text == "larger than 1 MiB"


@pytest.mark.parametrize(
    ("path", "words"),
    [("nowhere.json", "no such file"), (".", "is a directory"), ("a\0b", "null")],
)
def test_a_path_that_cannot_be_opened(path, words):
    (problem,) = read_source(path).problems
    assert words in problem.text.lower()


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f'{ROW}\n{{"type": "object"}}'.encode())))
    reading = read_source("-")
    assert names(reading) == ["a", "stdin_2"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert str(read_stdin().problems[0]) == "<stdin>: line 1: not UTF-8: byte 0xff"


def test_without_the_extra_yaml_is_a_clear_problem(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (problem,) = read_file(file("name: a\nschema: {}", "t.yaml")).problems
    assert problem.text == "reading YAML needs PyYAML: pip install 'strictcall[cli]'"
    assert names(read_file(file(ROW, "t.json"))) == ["a"]


@pytest.mark.parametrize("piece", [",/*", ",//", "/*", ',"', "/* */,", ", ", "/**/ "])
def test_comments_are_found_in_linear_time(piece):
    text = "{" + piece * 300_000
    start = time.monotonic()
    without_comments(text)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": 1, // x\n}', '{"a": 1      \n}'),
        ('["// no", "/* no */", ",]"]', '["// no", "/* no */", ",]"]'),
        ('["\\"", 1 /* , */ ,]', '["\\"", 1          ]'),
        ("[1, /* a\nb */ ]", "[1      \n     ]"),
    ],
)
def test_comments_become_blanks_so_that_places_stay(text, plain):
    assert without_comments(text) == plain
