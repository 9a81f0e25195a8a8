"""The command line's frame: exit codes, one line for each error, and the commands that need no tools."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strictcall.cli.options import POLICY_HELP
from strictcall.policy import policy_values

FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "name a source"),
        (["check", "--nope", "tools.json"], "no such option: --nope"),
        (["frobnicate"], "no such command 'frobnicate'"),
        (["check", "tools.json", "--dialect", "opnai"], "did you mean 'openai'"),
        (
            ["check", "tools.json", "--fail-on", "sometimes"],
            "'sometimes' is not one of 'narrowed', 'loose', 'refused', 'never'",
        ),
        (["check", "tools.json", "--nulls", "drop"], "'drop' is not one of 'auto', 'fold', 'distinguish'"),
        (["check", "-", "-"], "standard input (-) can be read once only"),
        (["check", "--"], "after -- comes the command"),
        (["check", "no/such/file.json"], "no/such/file.json: no such file"),
        (["check", "."], ".: is a directory"),
        (["check", "no_such_module:tools"], "no module named 'no_such_module'"),
        (["check", "--", "no-such-command"], "no-such-command: the server could not be started"),
        (["explain", "no-such-code"], "no code is called 'no-such-code'"),
        (["explain", "--", "server"], "explain takes no server"),
        (["dialects", "jason_schema"], "did you mean 'json_schema'"),
        (["judge", "nowhere.json"], "nowhere.json: no such file"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(inside, words, message):
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.err.startswith("strictcall: ")


@pytest.mark.parametrize(("words", "code"), [(["check", "tools.json"], 1), (["check", "nowhere.json"], 2)])
def test_a_process_ends_with_the_code(strictcall, words, code):
    assert strictcall(*words).code == code


@pytest.mark.parametrize("command", ["check", "compile", "decode", "encode", "judge"])
def test_a_source_without_any_tool_is_unreadable(inside, command):
    (inside.folder / "empty.json").write_text("[]")
    options = ["--tool", "x"] if command in {"compile", "decode", "encode"} else []
    done = inside(command, "empty.json", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err == "strictcall: empty.json: there are no tools in it\n"


def test_an_error_of_our_own_is_one_line_too(inside, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("strictcall.cli.compile.compile_tool", fail)
    done = inside("compile", "tools.json", "--tool", "label")
    assert done.code == 2
    assert done.err == r"strictcall: an error of strictcall's own, please report it: ZeroDivisionError: oh\nno" + "\n"
    monkeypatch.setenv("STRICTCALL_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        inside("compile", "tools.json", "--tool", "label")


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
def test_a_terminal_gets_colour_and_a_progress_bar(strictcall):
    rows = [{"name": f"t{n}", "schema": {"type": "object"}} for n in range(300)]
    (strictcall.folder / "many.json").write_text(json.dumps(rows))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "strictcall", "check", "many.json"]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "60"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=strictcall.folder, env=env) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # what a closed terminal answers on Linux
            while piece := os.read(ours, 65536):
                shown += piece
        assert process.wait(60) == 0
    os.close(ours)
    assert b"compiling" in shown
    assert b"\x1b[" in shown
    assert b"300 tools: " in shown


def test_no_command_shows_help(strictcall, inside):
    done = strictcall()
    assert done.code == 2
    assert "check" in done.err
    assert inside("--help").code == 0
    assert "--open-objects" in inside("check", "--help").out


def test_version(strictcall):
    done = strictcall("--version")
    assert done.code == 0
    assert done.out.startswith("strictcall ")


def test_every_policy_field_has_an_option():
    assert set(POLICY_HELP) == set(policy_values())


@pytest.mark.parametrize("missing", ["typer", "rich", "yaml"])
def test_without_the_extra_the_entry_point_says_which(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from strictcall.__main__ import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"strictcall: the command line needs {missing}: pip install 'strictcall[cli]'\n"


def test_a_reader_that_goes_away_is_no_error(strictcall):
    rows = [{"name": f"t{n}", "schema": {"$ref": "https://example.com/x"}} for n in range(3000)]
    (strictcall.folder / "many.json").write_text(json.dumps(rows))
    command = [
        sys.executable,
        "-m",
        "strictcall",
        "check",
        "many.json",
        "--output-format",
        "json",
        "--fail-on",
        "never",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=strictcall.folder) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="a shell as POSIX has it")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check - <&-", "<stdin>: closed"),
        ("decode tools.json --tool label <&-", "standard input is closed"),
        ("check tools.json >&-", "standard output is closed"),
    ],
)
def test_streams_that_are_closed(strictcall, line, message):
    shell = ["sh", "-c", f'"$0" -m strictcall {line}', sys.executable]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, cwd=strictcall.folder, check=False)
    assert (done.returncode, done.stderr) == (2, f"strictcall: {message}\n")


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_output_that_cannot_be_written(strictcall):
    command = [sys.executable, "-m", "strictcall", "check", "tools.json"]
    with FULL.open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=strictcall.folder, check=False
        )
    assert (done.returncode, done.stderr) == (2, "strictcall: standard output: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_ends_with_130(strictcall):
    server = [sys.executable, "-c", "import time; open('started', 'w').close(); time.sleep(60)"]
    command = [sys.executable, "-m", "strictcall", "check", "--", *server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=strictcall.folder) as process:
        deadline = time.monotonic() + 60
        while not (strictcall.folder / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_judge_says_what_stands_in_the_way(inside):
    schema = {"type": "object", "properties": {"x": {"oneOf": [{"type": "string"}]}}, "required": ["x"]}
    text = json.dumps(schema | {"title": "odd"}).encode()
    done = inside("judge", "-", stdin=text)
    assert done.code == 1
    assert all(line.startswith("odd: ") for line in done.out.splitlines())
    found = inside("judge", "-", "--output-format", "json", stdin=text).json
    pointers = {violation["pointer"] for violation in found["schemas"][0]["violations"]}
    assert "/properties/x/oneOf" in pointers or "/properties/x" in pointers
    fine = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    done = inside("judge", "-", stdin=json.dumps(fine).encode())
    assert (done.code, done.out, done.err) == (0, "", "")


def test_explain_and_dialects(inside):
    listed = inside("explain").out.splitlines()
    assert len(listed) > 5
    code = listed[1].split()[0]
    explained = inside("explain", code).out
    assert explained.startswith(f"{code}: ")
    for heading in ("Effect: ", "Why: ", "Example: ", "What to do: "):
        assert heading in explained
    assert {line.split()[0] for line in inside("dialects").out.splitlines()[1:]} >= {
        "openai",
        "anthropic",
        "json_schema",
    }
    shown = inside("dialects", "openai").out
    assert "rejected: " in shown
    assert "source " in shown
