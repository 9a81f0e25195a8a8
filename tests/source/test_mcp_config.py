"""MCP config files as clients write them, their servers started for real."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from strictcall.source.expand import Expander, ExpansionError
from strictcall.source.load import read_source
from strictcall.source.options import ReadOptions
from strictcall.source.secrets import hidden, known_secrets

BARE = str(Path(__file__).with_name("bare_server.py"))
SECRET = "hush-hush-7"  # noqa: S105  it must not be shown, and opens nothing


@pytest.fixture(autouse=True)
def untraced(monkeypatch):
    """Servers are not what coverage is measured of, and start slowly under it."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


def bare(name, mode="serve", **more):
    return {"command": sys.executable, "args": ["-S", BARE, name, mode], **more}


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Write a config file, given as a value or as text, and read it."""
    monkeypatch.chdir(tmp_path)

    def read(value, name="mcp.json", **options):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return read_source(name, ReadOptions(**options))

    return read


def names(reading):
    return [tool.name for tool in reading.tools]


def text_of(reading):
    return " ".join(map(str, [*reading.problems, *reading.notes]))


@pytest.mark.parametrize(
    "value",
    [
        {"mcpServers": {"one": bare("one")}},  # Claude Code, Claude Desktop, Cursor
        {"mcpServers": {"one": bare("one", type="stdio", autoApprove=[])}, "theme": "dark"},
        {"servers": {"one": bare("one", type="stdio")}, "inputs": []},  # VS Code
        {"mcp": {"servers": {"one": bare("one")}}},  # VS Code's settings
    ],
)
def test_every_shape_of_config_is_read(config, value):
    reading = config(value)
    assert reading.problems == ()
    assert names(reading) == ["one_tool"]


def test_comments_and_trailing_commas_are_read_as_vs_code_has_them(config):
    server = json.dumps(bare("one", env={"SAID": "// no comment, }"}))
    reading = config(f'// all\n{{"servers": {{ /* the\n one */ "one": {server}, }},}}\n', ".vscode/mcp.json")
    assert reading.problems == ()
    assert reading.tools[0].parameters["description"] == "// no comment, }"


def test_tools_of_several_servers_have_the_servers_name_before_theirs(config):
    value = {"mcpServers": {"a": bare("x"), "b": bare("x"), "c": {"command": "not-there", "disabled": True}}}
    reading = config(value)
    assert names(reading) == ["a/x_tool", "b/x_tool"]
    assert [str(note) for note in reading.notes] == ["mcp.json: server 'c': disabled in the file, left out"]
    assert names(config(value, servers=("b",))) == ["x_tool"]
    assert names(config(value, servers=("b", "a"))) == ["a/x_tool", "b/x_tool"]


def test_a_disabled_server_is_read_where_it_is_picked(config):
    value = {"mcpServers": {"a": bare("x", disabled=True), "b": bare("y", enabled=False)}}
    assert names(config(value, servers=("a",))) == ["x_tool"]
    reading = config(value)
    assert "every server in it is disabled" in text_of(reading)
    assert len(reading.notes) == 2


def test_a_server_that_is_not_there_is_named_with_the_near_ones(config):
    (problem,) = config({"mcpServers": {"time": bare("x"), "git": bare("y")}}, servers=("tiem",)).problems
    assert str(problem) == "mcp.json: no server is called 'tiem'; did you mean 'time'?"


def test_one_failing_server_hides_no_other_and_its_last_words_are_shown(config, monkeypatch):
    monkeypatch.setenv("FROM_OUTSIDE", "outside-42")
    value = {
        "mcpServers": {
            "fails": bare("f", "fail", env={"ONE": SECRET, "TWO": "${FROM_OUTSIDE}"}),
            "absent": {"command": "no-such-command-at-all"},
            "works": bare("w"),
            "hangs": bare("h", "hang"),
        }
    }
    reading = config(value, timeout=2)
    assert names(reading) == ["works/w_tool"]
    fails, absent, hangs = map(str, reading.problems)
    assert fails.startswith("mcp.json: server 'fails': the server failed: ")
    assert fails.endswith("(it wrote: starting | cannot go on with *** ***)")
    assert absent == "mcp.json: server 'absent': the server could not be started: No such file or directory"
    assert hangs == "mcp.json: server 'hangs': the server did not list its tools within 2 seconds"
    assert SECRET not in text_of(reading)
    assert "outside-42" not in text_of(reading)


def test_servers_are_started_at_once_but_not_more_than_allowed(config):
    value = {"mcpServers": {f"s{number}": bare("h", "hang") for number in range(4)}}
    done = []
    start = time.monotonic()
    reading = config(value, timeout=0.5, at_once=2, progress=lambda number, of: done.append((number, of)))
    took = time.monotonic() - start
    assert len(reading.problems) == 4
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    # Two rounds of half a second, and at most two seconds for a server to go; one at a time would take four rounds.
    assert 1.0 <= took < 9


def test_servers_run_in_the_workspace_with_their_variables_filled_in(config, tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", "word")
    monkeypatch.delenv("ABSENT", raising=False)
    (tmp_path / "below").mkdir()
    (tmp_path / "some.env").write_text("SAID='from file' # yes\nONE=1\n")
    said = {"SAID": "${WORD} ${ABSENT:-default} ${env:WORD} ${workspaceFolderBasename}"}
    value = {
        "servers": {
            "a": bare("a", env=said),
            "b": bare("b", cwd="${workspaceFolder}/below", envFile="${workspaceFolder}/some.env"),
            "c": bare("c", cwd="below", env={"SAID": 5}),
            "d": bare("d", env={"SAID": True, "WORD": None}),
        }
    }
    reading = config(value, ".cursor/mcp.json")
    assert reading.problems == ()
    found = {tool.name: tool.parameters for tool in reading.tools}
    folders = [schema["properties"]["folder"]["const"] for schema in found.values()]
    assert folders == [str(tmp_path), str(tmp_path / "below"), str(tmp_path / "below"), str(tmp_path)]
    words = [schema["description"] for schema in found.values()]
    assert words == [f"word default word {tmp_path.name}", "from file", "5", "true"]


def test_what_a_variable_brings_into_a_command_or_url_is_not_shown(config, monkeypatch):
    monkeypatch.setenv("FROM_OUTSIDE", "outside-42")
    repeats = ["-S", "-c", "import sys; sys.exit('got ' + sys.argv[1])", "${FROM_OUTSIDE}"]
    value = {
        "mcpServers": {
            "command": {"command": sys.executable, "args": repeats},
            "url": {"url": "http://127.0.0.1:9/${FROM_OUTSIDE}"},
        }
    }
    reading = config(value)
    assert reading.problems[0].text.endswith("(it wrote: got ***)")
    assert len(reading.problems) == 2
    assert "outside-42" not in text_of(reading)


@pytest.mark.parametrize(("missing", "words"), [("dotenv", "needs python-dotenv"), ("mcp", "needs the MCP SDK")])
def test_without_the_extra_a_server_is_a_clear_problem(config, tmp_path, monkeypatch, missing, words):
    (tmp_path / "some.env").write_text("ONE=1\n")
    monkeypatch.setitem(sys.modules, missing, None)
    (problem,) = config({"mcpServers": {"a": bare("a", envFile="some.env")}}).problems
    assert words in problem.text
    assert "pip install 'strictcall[mcp]'" in problem.text


def test_a_null_takes_a_variable_away(config, monkeypatch):
    monkeypatch.setenv("ONE", "from-outside")
    (problem,) = config({"mcpServers": {"a": bare("f", "fail", env={"ONE": None, "TWO": False})}}).problems
    assert problem.text.endswith("cannot go on with - ***)")
    (problem,) = config({"mcpServers": {"a": bare("f", "fail")}}).problems
    assert problem.text.endswith("cannot go on with from-outside -)")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (bare("x", env={"KEY": "${input:token}"}), "it needs the input 'token'"),
        (bare("x", env={"KEY": "${NOT_SET_ANYWHERE}"}), "the environment variable NOT_SET_ANYWHERE is not set"),
        (bare("x", env={"KEY": "${env:NOT_SET_ANYWHERE}"}), "the environment variable NOT_SET_ANYWHERE is not set"),
        (bare("x", env={"KEY": "${command:pick}"}), "${command:pick} is known to its client only"),
        ({"type": "http", "url": "https://${input:host}/mcp"}, "it needs the input 'host'"),
        ({"args": []}, "has neither a command nor a url"),
        ({"type": "http"}, "has no url"),
        ({"type": "carrier-pigeon", "url": "http://x"}, 'its type is "carrier-pigeon"'),
        ({"type": ["http"], "url": "http://x"}, 'its type is ["http"]'),
        ({"url": "ftp://x/y"}, "does not start with http"),
        ({"url": "http://:80/y"}, "names no host"),
        ({"url": "http://x:port/y"}, "not a URL"),
        ({"url": "http://127.0.0.1:9/", "headers": {"a b": "c"}}, "a header cannot be called 'a b'"),
        ({"url": "http://127.0.0.1:9/", "headers": {"a": f"{SECRET}\n"}}, "the value of the header 'a' holds"),
        ({"url": "http://127.0.0.1:9/", "headers": [SECRET]}, "its headers is no object"),
        (bare("x", cwd="not/there"), 'its cwd "not/there" is no folder'),
        (bare("x", envFile="not.there"), 'its envFile "not.there" is no file'),
        (bare("x", envFile=5), "its envFile is no text"),
        (bare("x", env=[SECRET]), "its env is no object"),
        (bare("x", env={"KEY": [SECRET]}), "'KEY' in its env is no text"),
        (bare("x", env={"KEY": f"{SECRET}\0"}), "null character"),
        ({"command": "x", "args": "one two"}, "its args are no list of texts"),
        ({"command": "x", "args": [["one"]]}, "its args are no list of texts"),
        ("python", "is no object"),
    ],
)
def test_an_entry_that_cannot_be_used_is_one_problem_without_its_secrets(config, entry, words):
    reading = config({"mcpServers": {"odd": entry, "fine": bare("f")}})
    assert names(reading) == ["fine/f_tool"]
    (problem,) = reading.problems
    assert problem.place == "mcp.json: server 'odd'"
    assert words in problem.text
    assert SECRET not in str(problem)
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {}}', "there are no servers in it"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "two servers in it are called 'a'"),
        ('{"mcpServers": {"a": {"command": "x", "timeout": NaN}}}', "NaN is not a JSON number"),
        ('{"mcpServers": {"a": {"command": "x", // open\n', "not valid JSON"),
    ],
)
def test_a_config_that_cannot_be_used_is_one_problem(config, text, words):
    reading = config(text)
    assert reading.tools == ()
    (problem,) = reading.problems
    assert words in str(problem)


def test_picking_a_server_needs_a_config(config):
    for value, name in (({"name": "a", "schema": {}}, "tools.json"), ({"openapi": "3.1.0"}, "api.json")):
        (problem,) = config(value, name, servers=("a",)).problems
        assert "this is none" in problem.text
    for source in ("os:path", "http://127.0.0.1:9/mcp"):
        (problem,) = read_source(source, ReadOptions(servers=("a",))).problems
        assert "this is none" in problem.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain $A {A} $", "plain $A {A} $"),
        ("${A}", "one"),
        ("${A:-x}${A}", "oneone"),
        ("${B:-}", ""),
        ("${B:-a:-b}", "a:-b"),
        ("${EMPTY:-x}", ""),
        ("${env:A}", "one"),
        ("${workspaceFolder}/x", "/some/where/x"),
        ("${userHome}", str(Path.home())),
        ("${}", None),
        ("${B}", None),
        ("${env:B}", None),
        ("${A:x}", None),
        ("${config:editor.font}", None),
    ],
)
def test_variables(text, expected):
    expander = Expander(Path("/some/where"), {"A": "one", "EMPTY": ""})
    if expected is None:
        with pytest.raises(ExpansionError):
            expander.text(text)
    else:
        assert expander.text(text) == expected


@pytest.mark.parametrize(
    ("values", "text", "expected"),
    [
        (["abcdef"], "it said abcdef!", "it said ***!"),
        (["Bearer abcdef"], "token abcdef", "token ***"),
        (["abcdef", "abcdefgh"], "abcdefgh abcdef", "*** ***"),
        (["line one\nline two"], "read 'line two'", "read '***'"),
        (['quo"te'], json.dumps('quo"te'), '"***"'),
        (["a/b c"], "GET /?key=a%2Fb%20c", "GET /?key=***"),
        (["1", "on"], "1 on", "1 on"),  # too short to be secret
    ],
)
def test_secrets_are_hidden_in_every_form(values, text, expected):
    assert hidden(text, known_secrets(values)) == expected
