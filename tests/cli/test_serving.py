"""``strictcall emulate`` and ``strictcall serve``: processes that serve, and what is said of wrong use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import openai
import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "label",
            "description": "Label a thing",
            "parameters": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["id"],
            },
        },
    }
]
MESSAGES = [{"role": "user", "content": "Please label the thing A7."}]


@contextmanager
def started(folder, *words, lines=None, env=None) -> Iterator[str]:
    """A serving command; gives the base URL that it prints, and sees that Ctrl-C ends it without a word, or that what
    it said were those ``lines``.
    """
    command = [sys.executable, "-m", "strictcall", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=env) as process:
        try:
            line = process.stdout.readline().decode()
            assert "Ctrl-C stops it" in line, process.stderr.read()
            yield next(word for word in line.split() if word.startswith("http://"))
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
            assert process.returncode == 130
            assert [line.partition(" ")[2] for line in said.decode().splitlines()] == (lines or [])
        finally:
            process.kill()


def test_the_gateway_before_the_emulator(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text(
        "replies:\n  - calls:\n      - name: label\n        arguments: {id: A7, labels: [{key: a, value: b}]}\n"
        "  - text: Done.\n"
    )
    with (
        started(tmp_path, "emulate", "--dialect", "openai", "--script", "script.yaml") as upstream,
        started(tmp_path, "serve", "--upstream", upstream, "--port", "0") as url,
    ):
        client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
        said = client.chat.completions.create(model="m", messages=MESSAGES, tools=TOOLS).choices[0].message
        assert said.tool_calls[0].function.arguments == '{"id":"A7","labels":{"a":"b"}}'
        result = {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": "ok"}
        history = [*MESSAGES, said.model_dump(exclude_none=True), result]
        done = client.chat.completions.create(model="m", messages=history, tools=TOOLS).choices[0].message
        assert done.content == "Done."


LINKS = """\
[[providers]]
id = "local"
base_url = "{upstream}"
dialect = "openai"
api_key_env = "LOCAL_KEY"
[[providers.models]]
id = "small"
supports_tools = "strict"
"""


def test_the_links_of_a_file(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("replies:\n  - calls:\n      - name: label\n        arguments: {id: A7, labels: null}\n")
    lines = ["local/small serves: it was asked for; strict: label"]
    with started(tmp_path, "emulate", "--dialect", "openai", "--script", "script.yaml") as upstream:
        (tmp_path / "strictcall.toml").write_text(LINKS.format(upstream=upstream))
        with started(tmp_path, "serve", "--port", "0", lines=lines, env={**os.environ, "LOCAL_KEY": "k"}) as url:
            client = openai.OpenAI(base_url=url, api_key="any", max_retries=0)
            assert [model.id for model in client.models.list()] == ["fallback", "local/small"]
            said = (
                client.chat.completions.create(model="local/small", messages=MESSAGES, tools=TOOLS).choices[0].message
            )
            assert said.tool_calls[0].function.arguments == '{"id":"A7"}'


def test_kinds_of_faults_are_listed(inside):
    done = inside("emulate", "--list-faults")
    assert done.code == 0
    assert "429                HTTP 429: too many requests, with Retry-After\n" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("emulate", "--fault", "stal"), "faults: no fault is called 'stal'; did you mean stall?"),
        (("emulate", "--style", "hermis"), "style: no style is called 'hermis'; did you mean hermes?"),
        (("emulate", "--script", "no.yaml"), "no.yaml: cannot be read: No such file or directory"),
        (("emulate", "--script", "tools.json"), "tools.json: must be a table of conversations, replies"),
        (("emulate", "--answers", "scripted"), "answers: scripted answers need a script"),
        (("emulate", "--dialect", "openia"), "dialect 'openia': unknown; did you mean 'openai'"),
        (("emulate", "--rate", "2"), "--rate': Input should be less than or equal to 1"),
        (("emulate", "--host", "192.0.2.1"), "192.0.2.1:0 cannot be listened at: Cannot assign requested address"),
        (("serve",), "serve takes --upstream URL, or --config FILE; there is no strictcall.toml here"),
        (("serve", "--upstream", "http://up.test", "--config", "x.toml"), "--upstream or --config, not both"),
        (("serve", "--config", "no.toml"), "no.toml: cannot be read"),
        (("serve", "--config", "empty.json"), "empty.json: names no link"),
        (("serve", "--config", "empty.json", "--dialect", "vllm"), "go with --upstream"),
        (("serve", "--upstream", "up.test/v1"), "--upstream takes an address that begins with http:// or https://"),
        (("serve", "--upstream", "http://u:p@up.test"), "without a password, a query or a fragment"),
        (("serve", "--upstream", "http://up.test", "--dialect", "x"), "dialect 'x': unknown"),
        (("serve", "--upstream", "http://up.test", "--", "server"), "serve takes no server after --"),
    ],
)
def test_wrong_use_is_one_line(inside, words, said):
    (inside.folder / "empty.json").write_text("{}")
    done = inside(*words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert "u:p@" not in done.err
