"""The parts of docs/agent.md that are made: run as a script, this writes them."""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from cli.terminal import Terminal
from strictcall.runtime.agent.result import EndReason
from strictcall.testing.endpoint import strict_endpoint

PAGE = Path(__file__).parents[2] / "docs" / "agent.md"
CONFIG = """[[providers]]
id = "local"
api = "chat_completions"
dialect = "openai"
base_url = "{url}"

[[providers.models]]
id = "model"
supports_tools = "strict"
"""
TOOLS = '''def note(text: str, tags: dict[str, str] | None = None) -> str:
    """Keep a note.

    Args:
        text: What to keep.
        tags: Words by which it is found again.
    """
    with open("notes.txt", "a") as file:
        file.write(f"{text} {tags or {}}\\n")
    return "kept"
'''
CONVERT = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
NOTE = {"text": "Milk", "tags": [{"key": "where", "value": "shop"}]}
SCRIPT = {
    "conversations": [
        {
            "when": "Tokyo",
            "replies": [
                {"calls": [{"name": "convert_time", "arguments": CONVERT}]},
                {"text": "At noon UTC it is 21:00 in Tokyo."},
            ],
        },
        {
            "when": "milk",
            "replies": [
                {"calls": [{"name": "note", "arguments": NOTE}]},
                {"text": "I made a note of it."},
                {"text": "You are welcome."},
            ],
        },
    ]
}
QUESTION = "What time is it in Tokyo at noon UTC?"
SERVER = ("mcp-server-time", "--local-timezone", "UTC")
_CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\d(?=T)"), "2026-12-01"),
    (re.compile(r'(?<="day_of_week":")[A-Z][a-z]+'), "Tuesday"),
    (re.compile(r"\(\d+\.\d s\)"), "(0.1 s)"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:4010"),
    # They change with the words in which the server's next release describes its tools.
    (re.compile(r"[\d,]+ tokens (?=in|out)"), "… tokens "),
]


def transcript() -> str:
    """Two commands as a user runs them: a question with a server's tools, and a session with a function."""
    with strict_endpoint(script=SCRIPT) as endpoint, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = CONFIG.format(url=endpoint.base_url)
        (folder / "strictcall.toml").write_text(config)
        (folder / "notes.py").write_text(TOOLS)
        shown = [f"$ cat strictcall.toml\n{config}", f"$ cat notes.py\n{TOOLS}"]
        shown.append(f'$ strictcall run "{QUESTION}" -- {" ".join(SERVER)}\n{_asked(folder)}')
        shown.append(f"$ strictcall run notes:note\n{_talked(folder)}")
        shown.append(f"$ cat notes.txt\n{(folder / 'notes.txt').read_text()}")
    text = "\n".join(shown)
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    return f"```text\n{text.rstrip()}\n```"


def _asked(folder: Path) -> str:
    with Terminal(folder, "run", QUESTION, "--", *SERVER) as terminal:
        code = terminal.end()
    assert code == 0, terminal.screen
    return terminal.screen


def _talked(folder: Path) -> str:
    with Terminal(folder, "run", "notes:note") as terminal:
        for prompt, typed in (
            ("> ", "Remember the milk from the shop.\n"),
            ("for this tool: ", "y\n"),
            ("> ", "Thanks.\n"),
            ("> ", "\x04"),
        ):
            terminal.wait_for(prompt)
            terminal.type(typed)
        code = terminal.end()
    assert code == 0, terminal.screen
    return terminal.screen.rstrip() + "\n"


def reasons() -> str:
    """Why runs end without an answer."""
    told = dict(re.findall(r'(\w+) = "\w+"\n    """(.*?)"""', inspect.getsource(EndReason), re.DOTALL))
    rows = [f"| `{reason}` | {' '.join(told[reason.name].replace('``', '`').split())} |" for reason in EndReason]
    return "\n".join(["| `reason` | |", "|---|---|", *rows])


def page() -> str:
    """The page with its parts made anew."""
    text = PAGE.read_text()
    for name, made in (("transcript", transcript()), ("reasons", reasons())):
        marks = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = marks.sub(lambda _: made + "\n", text)  # noqa: B023 - called at once
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
