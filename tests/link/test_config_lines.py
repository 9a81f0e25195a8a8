"""Where each key stands: every part of a file has its line, and the line is the one it stands on."""

from __future__ import annotations

import json
import tomllib

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from strictcall.errors import ConfigError
from strictcall.link.document import dotted, parse_document
from strictcall.link.lines import lines_of_json, lines_of_toml, lines_of_yaml

TOML = '''# a configuration
a = 1
"q.x" = "# no comment" # one
d.e.f = 1979-05-27 07:32:00
'lit\\eral' = 'C:\\'
many = """
[not.a.table]
x ""y"" \\""" """""
raw = \'\'\'
b = 2 \'\'\'\'\'
arr = [ 1, # one
  2, { z = 1, "k" = [3, [4]] },
  "]", # ] }
]
t = { a.b = 1, c = "}" }

[[p]]
id = "a"
  [[p.models]]
  id = "x"
  [[ p . "models" ]]
  id = 'y'
  [p.models.policy]
  hints = true
[p.policy]
nulls = "fold"
[[p]]
id = "b"
[x.y]
z = 07:32:00
[x]
w = +1_000
empty = []
"" = ""
'''


def parts(value, path=()):
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from parts(item, (*path, key))


def test_every_part_of_a_toml_file_has_a_line():
    lines = lines_of_toml(TOML)
    assert set(lines) == set(parts(tomllib.loads(TOML)))
    written = TOML.splitlines()
    for path, line in lines.items():
        key = next(part for part in reversed(path) if isinstance(part, str))
        assert key in written[line - 1] or isinstance(path[-1], int), (path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("many",), 6),
        (("raw",), 9),
        (("arr", 1), 12),
        (("arr", 2, "k", 1, 0), 12),
        (("arr", 3), 13),
        (("t", "a", "b"), 15),
        (("p", 0), 17),
        (("p", 0, "models", 0), 19),
        (("p", 0, "models", 1, "id"), 22),
        (("p", 0, "models", 1, "policy", "hints"), 24),
        (("p", 0, "policy"), 25),
        (("p", 1, "id"), 28),
        (("x",), 31),
        (("x", "y", "z"), 30),
        (("",), None),
        (("x", ""), 34),
    ],
)
def test_a_part_of_a_toml_file_stands_on_its_line(path, line):
    assert lines_of_toml(TOML).get(path) == line


SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4)
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_any_json_has_a_line_for_each_part(value):
    text = json.dumps(value, indent=1)
    lines = lines_of_json(text)
    assert set(lines) == set(parts(value))
    written = text.splitlines()
    for path, line in lines.items():
        start = json.dumps(path[-1]) + ":" if isinstance(path[-1], str) else ""
        assert written[line - 1].strip().startswith(start)


PLAIN = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1).map(lambda text: f"k{text}")


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(PLAIN, st.recursive(st.integers(), lambda below: st.lists(below, max_size=3)
                                        | st.dictionaries(PLAIN, below, max_size=3)), max_size=5)
)  # fmt: skip
def test_any_yaml_has_a_line_for_each_part(value):
    text = yaml.safe_dump(value, sort_keys=False)
    lines = lines_of_yaml(text)
    assert set(lines) == set(parts(value))
    written = text.splitlines()
    assert all(f"{path[-1]}:" in written[line - 1] for path, line in lines.items() if isinstance(path[-1], str))


TOML_KEYS = st.text(max_size=6)
TOML_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TOML_KEYS, below, max_size=3),
    max_leaves=8,
)


def basic(text):
    """A text as a TOML basic string: JSON's escapes are TOML's, but for surrogates and DEL."""
    if any("\ud800" <= mark <= "\udfff" for mark in text):
        text = text.encode("utf-8", "replace").decode()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def written(value, gap):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return basic(value)
    if isinstance(value, list):
        return "[" + ",".join(f"{gap}{written(item, gap)}" for item in value) + f"{gap}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{basic(key)} = {written(item, gap)}" for key, item in value.items()) + "}"
    return str(value)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=4),
    st.lists(st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=3), max_size=3),
    st.sampled_from(["", " ", "\n", " # ] } comment\n"]),
)
def test_any_toml_has_a_line_for_each_part(top, tables, gap):
    text = "".join(f"{basic(key)} = {written(value, gap)}\n" for key, value in top.items())
    for table in tables:
        text += '[["the tables"]]\n' + "".join(f"{basic(key)}={written(value, gap)}\n" for key, value in table.items())
    value = tomllib.loads(text)
    assert set(lines_of_toml(text)) == set(parts(value))


def test_what_a_yaml_mapping_merges_in_stands_where_it_was_written():
    text = "base: &base\n  read: 1\n  total: 2\nused:\n  <<: *base\n  total: 3\n"
    lines = lines_of_yaml(text)
    assert lines["used", "read"] == 2
    assert lines["used", "total"] == 6


@pytest.mark.parametrize(
    ("text", "suffix", "line", "words"),
    [
        ("a = 1\nb = = 2\n", ".toml", 2, "not valid TOML"),
        ("a = 1\na = 2\n", ".toml", 2, "not valid TOML"),
        ("a = 1\nb = '''x", ".toml", 2, "not valid TOML"),
        ("a = " + "9" * 5000, ".toml", 0, "more digits"),
        ("a = 1\nb = 1979-05-27\n", ".toml", 2, "b: a date is no value here; put it in quotation marks"),
        ("a = 1\nb = nan\n", ".toml", 2, "b: NaN and infinity are not JSON numbers"),
        ("a = " + "[" * 3000 + "]" * 3000, ".toml", 0, "nests too deep"),
        ('{"a": 1,\n "b" 2}', ".json", 2, "not valid JSON"),
        ('{"a": {"b": 1,\n "b": 2}}', ".json", 1, "a.b: the key is given twice"),
        ('{"a":\n "\\ud800"}', ".json", 1, "a: a string holds a lone surrogate"),
        ("[" * 100_000, ".json", 0, "nests too deep"),
        ("a: 1\nb: [\n", ".yaml", 3, "not valid YAML"),
        ("a: 1\nb: {c: 1, c: 2}\n", ".yaml", 2, "b.c: the key is given twice"),
        ("a: 1\n---\nb: 2\n", ".yaml", 0, "several YAML documents"),
        ("- 1\n", ".yml", 0, "must be a table of settings"),
        ("[1]", ".json", 0, "must be a table of settings"),
        ("a = 1", ".ini", 0, "ends in one of .toml, .json, .jsonc, .yaml, .yml"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_problem(text, suffix, line, words):
    with pytest.raises(ConfigError) as raised:
        parse_document(text, "the file", suffix)
    (problem,) = raised.value.problems
    assert problem.line == line
    assert words in str(problem)
    assert "\n" not in str(raised.value)


def test_json_may_have_comments_and_an_empty_yaml_says_nothing():
    document = parse_document('{\n// no\n "a": [1, 2,], /* x\n */ "b": 1,\n}', "f", ".jsonc")
    assert dict(document.value) == {"a": [1, 2], "b": 1}
    assert document.line(("b",)) == 4
    assert document.line(("a", 1)) == 3
    assert document.line(("a", 7, "unheard")) == 3
    assert dict(parse_document("", "f", ".yaml").value) == {}


def test_a_dotted_path_can_be_read_back():
    path = ("tools", 'github."create" issue', "policy", "nulls")
    text = dotted(path)
    value = tomllib.loads(f"{text} = 1")
    assert list(parts(value))[-1] == path
    assert dotted(("providers", 0, "models", 12, "id")) == "providers[0].models[12].id"
    assert dotted(()) == ""
