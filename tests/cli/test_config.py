"""``strictcall config``: a file is checked, what was decided is explained, and the schema is printed."""

from __future__ import annotations

import json
import sys
from importlib.machinery import PathFinder

import jsonschema
import pytest

FILE = """\
[[providers]]
id = "inception"
api = "chat_completions"
dialect = "inception"
base_url = "https://api.inceptionlabs.ai/v1"
api_key_env = ""
headers = { X-Team = "hush" }
[[providers.models]]
id = "mercury-2.5"
supports_tools = "strict"

[policy]
nulls = "auto"
[tools."github.create_issue"]
strict = false
[fallback]
chain = ["inception/mercury-2.5", "ollama/qwen3"]
"""


@pytest.fixture
def configured(inside, monkeypatch):
    """The command line in a folder with a configuration."""
    monkeypatch.delenv("STRICTCALL_CONFIG", raising=False)
    (inside.folder / "strictcall.toml").write_text(FILE)
    return inside


def test_a_right_file_is_fine_and_what_may_not_be_meant_is_noted(configured):
    done = configured("config", "check", "strictcall.toml")
    assert done.code == 0
    assert done.out == "strictcall.toml: fine: 1 provider, 1 model, 1 tool, 2 links in the chain\n"
    assert [line.split(": ")[2:4] for line in done.err.splitlines()] == [
        ["strictcall.toml:10", "providers[0].models[0].supports_tools"],
        ["strictcall.toml:17", "fallback.chain[1]"],
    ]


def test_each_problem_is_a_line_with_its_place_and_what_is_allowed(configured):
    wrong = FILE.replace('"strict"', '"stric"').replace('"auto"', "3").replace("base_url", "base_ulr")
    (configured.folder / "wrong.toml").write_text(wrong)
    done = configured("config", "check", "wrong.toml")
    assert done.code == 2
    assert done.out == ""
    model = "providers[0].models[0]"
    assert done.err.splitlines()[1:] == [
        f'strictcall: wrong.toml:10: {model}.supports_tools: "stric" is not one of none, basic, parallel, strict',
        "strictcall: wrong.toml:13: policy.nulls: 3 is not one of auto, fold, distinguish",
    ]
    assert "wrong.toml:5: providers[0].base_ulr: unknown key; did you mean base_url?" in done.err.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.toml", b"a = [", "c.toml:1: not valid TOML"),
        ("c.json", b'{"a": 1,}}', "c.json:1: not valid JSON"),
        ("c.yaml", b"a: [", "c.yaml:1: not valid YAML"),
        ("c.toml", b"\xff", "c.toml: line 1: not UTF-8"),
        ("c.txt", b"", "c.txt: a configuration's name ends in one of .toml"),
        ("c.toml", b"api_key = 'sk-hush'", "c.toml:1: api_key: a key does not belong in a file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(configured, name, text, said):
    (configured.folder / name).write_bytes(text)
    done = configured("config", "check", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "hush" not in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["config"], "config takes one of check, explain and schema"),
        (["config", "check", "absent.toml"], "absent.toml: cannot be read: No such file or directory"),
        (["config", "check", "."], ".: cannot be read: Is a directory"),
        (["config", "explain"], "missing argument 'LINK'"),
        (["config", "explain", "gpt-4o"], "link 'gpt-4o': a link is written provider/model"),
        (["config", "explain", "opnai/x"], "no provider is called 'opnai'; did you mean 'openai'"),
        (["config", "explain", "openai/x", "--config", "absent.toml"], "absent.toml: cannot be read"),
        (["config", "chek"], "no such command 'chek'"),
        (["config", "schema", "--", "x"], "config takes no server after --"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(configured, words, said):
    done = configured(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_there_may_be_no_file_to_check(inside, monkeypatch):
    monkeypatch.delenv("STRICTCALL_CONFIG", raising=False)
    done = inside("config", "check")
    assert (done.code, done.err) == (2, "strictcall: there is no strictcall.toml here; name a file\n")


def test_the_file_is_found_by_its_name_or_by_the_environment(configured, monkeypatch):
    assert "strictcall.toml: fine" in configured("config", "check").out
    other = configured.folder / "other.json"
    other.write_text("{}")
    monkeypatch.setenv("STRICTCALL_CONFIG", str(other))
    assert configured("config", "check").out.endswith("other.json: fine: 0 providers, 0 models, 0 tools, "
                                                      "0 links in the chain\n")  # fmt: skip


def test_explain_says_which_line_decided(configured):
    done = configured("config", "explain", "inception/mercury-2.5")
    rows = {line.split()[0]: line for line in done.out.splitlines()}
    assert rows["supports_tools"].split()[1:] == [
        "strict",
        "strictcall.toml:10",
        "providers[0].models[0].supports_tools",
    ]
    assert rows["strict_tools"].split(maxsplit=2)[1:] == ["true", "default, as supports_tools is strict"]
    assert rows["policy.nulls"].split()[1:] == ["auto", "strictcall.toml:13", "policy.nulls"]
    assert rows["policy.hints"].split()[1:] == ["true", "default"]
    assert "strictcall.toml:15" in rows['tools."github.create_issue".strict']
    assert "X-Team" in done.out
    assert "hush" not in done.out


def test_explain_says_it_of_one_tool(configured):
    done = configured("config", "explain", "inception/mercury-2.5", "github.create_issue")
    assert done.out.splitlines()[1].split() == [
        "strict", "false", "strictcall.toml:15", 'tools."github.create_issue".strict',
    ]  # fmt: skip
    other = configured("config", "explain", "inception/mercury-2.5", "other", "--output-format", "json").json
    assert other[0] == {
        "setting": "strict", "value": True, "source": "default, as supports_tools is strict", "line": None, "path": "",
    }  # fmt: skip


def test_explain_without_a_file_speaks_of_the_catalog(inside, monkeypatch):
    monkeypatch.delenv("STRICTCALL_CONFIG", raising=False)
    rows = inside("config", "explain", "anthropic/claude-opus-4-6", "--output-format", "json").json
    supports = next(row for row in rows if row["setting"] == "supports_tools")
    assert supports["value"] == "strict"
    assert supports["source"].startswith("the catalog (https://platform.claude.com/")


def test_the_schema_is_printed_and_holds_for_the_example(configured):
    import tomllib

    schema = configured("config", "schema").json
    jsonschema.Draft202012Validator(schema).validate(tomllib.loads(FILE))
    written = configured.folder / "schema.json"
    assert configured("config", "schema", "--output", str(written)).out == ""
    assert json.loads(written.read_text()) == schema


def test_what_is_missing_is_named_with_the_extra_that_brings_it(configured, monkeypatch):
    found = PathFinder.find_spec

    def without(name, path=None, target=None):
        return None if name == "pydantic" else found(name, path, target)

    monkeypatch.setattr(PathFinder, "find_spec", without)
    monkeypatch.delitem(sys.modules, "pydantic", raising=False)
    done = configured("config", "check")
    assert (done.code, done.err) == (2, "strictcall: this needs pydantic: pip install 'strictcall[link]'\n")


def test_the_command_works_in_a_process_of_its_own(strictcall):
    (strictcall.folder / "strictcall.toml").write_text(FILE)
    done = strictcall("config", "check", "strictcall.toml")
    assert (done.code, done.out.split(":")[0]) == (0, "strictcall.toml")
