"""``strictcall run``: in a terminal, in a pipe, and what is said of wrong use."""

from __future__ import annotations

import json
import sys
import time

import pytest

from cli.terminal import Terminal
from runtime.mcp_helpers import config, none_left, processes
from strictcall.cli import main
from strictcall.testing.endpoint import strict_endpoint

CONFIG = """
[[providers]]
id = "local"
base_url = "{url}"
[[providers.models]]
id = "model"
supports_tools = "strict"
"""
TOOLS = '''
import threading
import time
from strictcall.runtime.python_tool import tool

def note(text: str, tag: str | None = None) -> str:
    """Keep a note."""
    with open("notes.txt", "a") as file:
        file.write(f"{text} {tag}\\n")
    return "kept"

@tool(read_only=True)
def look(what: str) -> dict:
    """Look at something."""
    print("looking")
    return {"what": what, "seen": [1, 2]}

@tool(read_only=True, timeout=None)
async def wait(seconds: int) -> str:
    """Wait."""
    import anyio
    print("waiting", file=open("waiting.txt", "w"))
    await anyio.sleep(seconds)
    return "waited"

everything = [note, look, wait]
constant = 3
'''
GONE = '''
from pathlib import Path

def look(what: str) -> str:
    """Look at something."""
    file = Path("strictcall.toml")
    file.write_text(file.read_text().replace('"local"', '"gone"'))
    return "gone"
'''
NOTE = {"calls": [{"name": "note", "arguments": {"text": "milk", "tag": None}}]}
LOOK = {"calls": [{"name": "look", "arguments": {"what": "here"}}]}
WAIT = {"calls": [{"name": "wait", "arguments": {"seconds": 600}}]}
SCRIPT = {
    "conversations": [
        {"when": "note", "replies": [NOTE, {"text": "I kept a note."}, {"text": "You are welcome."}]},
        {"when": "look", "replies": [LOOK, {"text": "I looked."}, {"text": "I did."}]},
        {"when": "wait", "replies": [WAIT, {"text": "It was stopped."}]},
        {"when": "both", "replies": [{"calls": NOTE["calls"] + LOOK["calls"]}, {"text": "Both."}]},
        {"when": "fail", "replies": [{"text": "never", "fault": "401"}]},
        {"when": "slow", "replies": [{"text": "late", "fault": "slow-first-byte"}]},
        {"when": "hello", "replies": [{"text": "Good \x1b[31mday\x07."}]},
    ]
}


@pytest.fixture(scope="module")
def endpoint():
    with strict_endpoint(script=SCRIPT, delay=3600) as endpoint:
        yield endpoint


@pytest.fixture
def folder(tmp_path, endpoint, monkeypatch):
    """A folder with a configuration and a module of tools."""
    (tmp_path / "strictcall.toml").write_text(CONFIG.format(url=endpoint.base_url))
    (tmp_path / "mytools.py").write_text(TOOLS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mytools", raising=False)
    return tmp_path


@pytest.fixture
def run(folder, inside):
    """The command without a terminal: standard output, and the lines of standard error."""

    def run(*words, code=0, text=""):
        done = inside("run", *words, stdin=text.encode())
        assert done.code == code, done.out + done.err
        return done.out, done.err.splitlines()

    return run


# --- without a terminal -----------------------------------------------------------------------------------------------


def test_the_answer_goes_to_standard_output_and_the_rest_to_standard_error(folder, run):
    out, said = run("--yes", "mytools:everything", "Please note milk.")
    assert out == "I kept a note.\n"
    assert said[:2] == ['→ note {"text": "milk"}', said[1]]
    assert said[1].startswith("← kept (")
    assert said[-1].startswith("2 steps, ")
    assert said[-1].endswith("local/model")
    assert (folder / "notes.txt").read_text() == "milk None\n"
    assert run("--yes", "--quiet", "--tools", "mytools:note", "Please note milk.") == (out, [])


def test_a_tool_that_is_not_known_to_be_read_only_needs_to_be_allowed(folder, run):
    out, said = run("mytools:everything", "both")
    assert out == "Both.\n"
    assert any("APPROVAL_DENIED" in line and "nobody could be asked" in line for line in said)
    assert '← {"what":"here","seen":[1,2]}' in "\n".join(said)
    assert not (folder / "notes.txt").exists()
    run("--allow", "note", "mytools:everything", "both")
    assert (folder / "notes.txt").exists()


def test_events_as_lines_of_json(run):
    out, said = run("--json", "mytools:look", "look")
    events = [json.loads(line) for line in out.splitlines()]
    assert said == ["looking"]  # what a tool prints is no event
    assert [e["event"] for e in events if e["event"] in ("step_started", "call_ended", "run_completed")] == [
        "step_started",
        "call_ended",
        "step_started",
        "run_completed",
    ]
    assert events[-1]["text"] == "I looked."


def test_a_conversation_that_is_kept_is_gone_on_with(folder, run):
    run("--yes", "--conversation", "c.json", "mytools:note", "Please note milk.")
    out, _ = run("--conversation", "c.json", "mytools:note", "Thanks.")
    assert out == "You are welcome.\n"
    roles = [message["role"] for message in json.loads((folder / "c.json").read_text())]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [path.name for path in folder.glob(".c.json*")] == []


def test_a_conversation_is_kept_where_it_was_as_private_as_it_was(folder, run):
    kept = folder / "kept.json"
    (folder / "link.json").symlink_to(kept)
    run("--conversation", "link.json", "hello")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.chmod(0o640)
    run("--conversation", "link.json", "fail", code=1)
    assert (folder / "link.json").is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o640
    # A question that no link took would stand there twice, if it were asked again.
    assert [message["role"] for message in json.loads(kept.read_text())] == ["user", "assistant"]


def test_a_question_that_cannot_be_asked_does_not_end_a_session(inside, folder):
    done = inside("run", "mytools:look", stdin=b"please look\n\xff\nlook again\n")
    assert (done.code, done.out) == (0, "I looked.\nI did.\n")
    assert "strictcall: the question is no UTF-8" in done.err.splitlines()
    done = inside("run", "-", stdin=b"\xff")
    assert (done.code, done.err) == (2, "strictcall: standard input is no UTF-8\n")


def test_a_link_that_is_gone_does_not_end_a_session(inside, folder):
    (folder / "mytools.py").write_text(GONE)
    done = inside("run", "--yes", "--link", "local/model", "mytools:look", stdin=b"please look\nand now?\n/tools\n")
    assert (done.code, done.out) == (2, "look\n")
    gone = "link 'local/model': no provider is called 'local'; did you mean 'localai'?"
    said = [line for line in done.err.splitlines() if "no provider" in line]
    assert said == [f"strictcall: the run ended without an answer (link): {gone}", f"strictcall: {gone}"]


def test_questions_from_standard_input(run):
    out, _ = run("mytools:look", "-", text="please look\n")
    assert out == "I looked.\n"
    out, _ = run("mytools:look", text="please look\n\n/tools\nlook again\n")
    assert out == "I looked.\nlook\nI did.\n"


@pytest.mark.parametrize(
    ("stream", "words", "said"),
    [
        ("stdout", ["look"], "standard output is closed"),
        ("stdin", [], "there is no question, and standard input is closed"),
        ("stdin", ["-"], "standard input holds no question"),
    ],
)
def test_a_stream_that_is_closed(folder, monkeypatch, capfd, stream, words, said):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, stream, None)
    assert main.run(["run", *words]) == 2
    assert capfd.readouterr().err == f"strictcall: {said}\n"


def test_no_answer_is_exit_code_1(run):
    out, said = run("fail", code=1)
    assert out == ""
    assert said[-1].startswith("strictcall: the run ended without an answer (link): local/model: key (401)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mytools:nothing", "hi"], "mytools:nothing: the module mytools has no 'nothing'"),
        (["mytools:constant", "hi"], "mytools:constant: describes tools only"),
        (["tools.json", "hi"], "tools.json"),
        (["described.json", "hi"], "described.json: is no MCP config"),
        (["--tools", "mytools:look", "nowhere.json"], "nowhere.json: there is no such file"),
        (["--link", "local", "hi"], "local"),
        (["--link", "nobody/model", "hi"], "nobody"),
        (["--config", "nowhere.toml", "hi"], "nowhere.toml"),
        (["--conversation", "described.json", "hi"], "described.json: a conversation is a JSON array"),
        (["--allow", "lok", "mytools:look", "hi"], "--allow lok: there is no such tool; there are look"),
        (["--max-steps", "0", "hi"], "max-steps"),
        (["--tool-choice", "lok", "mytools:look", "hi"], "tool_choice: no tool is called 'lok'; there are look"),
        (["--conversation", "nowhere/c.json", "hi"], "nowhere/c.json: there is no such folder"),
        (["mytools.py", "hi"], "mytools.py: name what is in it, mytools:function"),
        (["mytools:look", " "], "the question is empty"),
        (["--server", "s", "servers.json", "hi"], "no server is called 's'; there are dead"),
        (["mytools:look", "mytools:look", "hi"], "look: two sources have a tool of this name"),
        (["-", ""], "holds no question"),
    ],
)
def test_wrong_use_is_one_line_that_says_where(folder, run, words, said):
    (folder / "described.json").write_text('{"name": "f", "parameters": {"type": "object"}}')
    (folder / "servers.json").write_text('{"mcpServers": {"dead": {"command": "no-such-command-here"}}}')
    words = words[:1] if words[-1] == "" else words
    out, lines = run(*words, code=2)
    assert out == ""
    assert said in lines[-1]
    assert lines[-1].startswith("strictcall: ")


def test_without_a_configuration_it_says_what_to_do(folder, run):
    (folder / "strictcall.toml").unlink()
    _, said = run("hi", code=2)
    assert said == ["strictcall: no link to ask: name one by --link provider/model, or write a strictcall.toml"]


def test_a_server_that_does_not_start_hides_no_other(folder, run):
    servers = {"dead": {"command": "no-such-command-here"}}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    _, said = run("servers.json", "hi", code=2)
    assert "the server dead is restarting: the server could not be started" in said[0]
    assert said[-1] == "strictcall: there is no tool to run: see above"
    out, said = run("servers.json", "mytools:look", "look")
    assert out == "I looked.\n"
    assert "dead" in said[0]


# --- in a terminal ----------------------------------------------------------------------------------------------------


def test_a_session_asks_before_a_tool_runs(folder):
    with Terminal(folder, "run", "mytools:everything") as terminal:
        terminal.wait_for("3 tools; /tools lists them")
        terminal.wait_for("> ")
        terminal.type("Please note milk.\n")
        terminal.wait_for('? may note run with {"text":"milk"}?')
        terminal.wait_for("[a]lways for this tool: ")
        terminal.type("n\n")
        terminal.wait_for("the user did not allow this call")
        terminal.wait_for("I kept a note.")
        terminal.wait_for("> ")
        assert not (folder / "notes.txt").exists()
        terminal.type("both\n")
        terminal.wait_for("> ")
        terminal.type("\x04")
        assert terminal.end() in (0, 1)
    assert "Traceback" not in terminal.screen


def test_allowed_once_and_for_all(folder):
    with Terminal(folder, "run", "mytools:everything", "both") as terminal:
        terminal.wait_for("[a]lways for this tool: ")
        terminal.type("a\n")
        terminal.wait_for("Both.")
        assert terminal.end() == 0
    assert (folder / "notes.txt").read_text() == "milk None\n"


def test_ctrl_c_stops_a_call_then_the_run(folder, endpoint):
    with Terminal(folder, "run", "mytools:wait", "wait") as terminal:
        terminal.wait_for("→ wait")
        _wait_for((folder / "waiting.txt").exists)
        terminal.type("\x03")
        terminal.wait_for("stopped 1 call")
        terminal.wait_for("It was stopped.")
        assert terminal.end() == 0
    assert "Error [ABORTED]" in terminal.screen
    asked = len(endpoint.exchanges)
    with Terminal(folder, "run", "slow") as terminal:
        _wait_for(lambda: len(endpoint.exchanges) > asked)
        terminal.type("\x03")
        terminal.wait_for("(aborted): the user ended the run")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.screen


def test_what_a_model_says_cannot_steer_the_terminal(folder):
    with Terminal(folder, "run", "hello", env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for(r"Good \x1b[31mday\x07.")
        assert terminal.end() == 0


def test_a_process_that_is_interrupted_leaves_no_server_behind(folder, monkeypatch):
    notes = folder / "notes"
    notes.mkdir()
    monkeypatch.setenv("PLAIN_NOTES", str(notes))
    (folder / "servers.json").write_text(json.dumps(config("a", "b")))
    with Terminal(folder, "run", "servers.json", "slow") as terminal:
        _wait_for(lambda: len(processes(notes)) == 2)
        terminal.type("\x03")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.screen
    assert none_left(notes)


def _wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)
