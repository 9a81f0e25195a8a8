"""``strictcall probe``: a table or JSON, what to configure, and an exit code that says whether strict is held."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys

import pytest

from strictcall.testing.endpoint import strict_endpoint

KEY = "sk-not-to-be-seen"


@pytest.fixture(scope="module")
def endpoint():
    """An endpoint with OpenAI's rules; it takes one key."""
    with strict_endpoint(dialect="openai", answers="obedient", api_key=KEY) as served:
        yield served


@pytest.fixture
def probe(inside, monkeypatch):
    """Runs the command with a configuration for an address; sees that neither key nor prompt shows."""
    monkeypatch.delenv("STRICTCALL_CONFIG", raising=False)
    monkeypatch.setenv("PROBED_KEY", KEY)

    def run(url, *words, dialect="openai", supports="strict", more=""):
        (inside.folder / "strictcall.toml").write_text(configuration(url, dialect, supports, more))
        done = inside("probe", *words)
        assert KEY not in done.out + done.err
        assert "exactly these arguments" not in done.out + done.err
        return done

    run.folder = inside.folder
    run.command = inside
    return run


def configuration(url, dialect="openai", supports="strict", more=""):
    return f"""\
[[providers]]
id = "local"
base_url = "{url}"
dialect = "{dialect}"
api_key_env = "PROBED_KEY"
[[providers.models]]
id = "m"
supports_tools = "{supports}"
{more}
"""


def test_a_table_and_what_to_configure(probe, endpoint):
    done = probe(endpoint.base_url, "local/m")
    assert (done.code, done.err) == (0, "")
    head, columns, *rows = done.out.splitlines()
    assert head.startswith("local/m: 4 requests in ")
    assert head.endswith(" out")
    assert columns.split() == ["feature", "found", "by", "the", "dialect", "seen"]
    row = next(row for row in rows if row.startswith("a text's length"))
    assert row.split("  ", 1)[1].split()[:2] == ["rejected", "rejected"]
    assert "'maxLength' is not permitted" in row
    advice = done.out.partition("for strictcall.toml:\n\n")[2]
    (probe.folder / "advised.toml").write_text(advice)
    checked = probe.command("config", "check", "advised.toml")
    assert checked.code == 0
    assert checked.out == "advised.toml: fine: 1 provider, 1 model, 0 tools, 0 links in the chain\n"


def test_the_sample_in_the_docs_is_what_it_prints(probe, endpoint, root):
    page = (root / "docs" / "probe.md").read_text(encoding="utf-8")
    sample = page.partition("<!-- sample -->\n```\n")[2].partition("```\n<!-- end of sample -->")[0]
    done = probe(endpoint.base_url, "local/m", dialect="vllm")
    assert _without_chance(done.out) == _without_chance(sample)


def _without_chance(text):
    """What is the same in every run: not times, addresses and dates, nor what the model made up."""
    table, _, rest = text.partition("note: ")
    cut = table.splitlines()[1].index("seen")
    rest = re.sub(r'(base_url|api_key_env) = .*|date = "[^"]*"', "", rest)
    return [line[:cut].rstrip() for line in table.splitlines()[1:]], rest.splitlines()


def test_what_contradicts_the_configuration_is_a_finding(probe, endpoint):
    done = probe(endpoint.base_url, "local/m", "--json", dialect="vllm")
    assert done.code == 1
    (line,) = done.err.splitlines()
    assert line.startswith("strictcall: local/m: the dialect builds on a text's length, and the endpoint refuses it")
    report = done.json
    assert report["contradictions"] == [line.removeprefix("strictcall: local/m: ")]
    assert report["dialect_overrides"]["keywords"]["maxLength"] == {"state": "rejected", "source": "probe"}
    assert (report["supports_tools"], report["requests"]) == ("strict", 4)
    assert report["input_tokens"] > report["output_tokens"] > 0
    found = {each["feature"]: (each["found"], each["expected"]) for each in report["findings"]}
    assert found["text_bound"] == ("rejected", "enforced")
    assert found["number_bound"] == ("enforced", "enforced")
    assert found["auto_call"] == ("enforced", None)


def test_where_strict_is_off_there_is_nothing_to_contradict(probe, endpoint):
    done = probe(endpoint.base_url, "local/m", dialect="vllm", more="strict_tools = false")
    assert (done.code, done.err) == (0, "")


def test_strict_that_nothing_holds(probe):
    with strict_endpoint(dialect="together", answers="obedient", api_key=KEY) as loose:
        done = probe(loose.base_url, "local/m")
    assert done.code == 1
    (line,) = done.err.splitlines()
    assert "strict tools are on, and the endpoint takes it and does not hold it: asked for" in line
    assert 'supports_tools = "parallel"' in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["local/m", "--requests", "7"], "requests: 7 is not a number from 1 to 6"),
        (["local/m", "--timeout", "0"], "timeout: 0 is not a number of seconds above 0"),
        (["local/m", "--timeout", "soon"], "invalid value for '--timeout'"),
        (["m"], "link 'm': a link is written provider/model"),
        (["locall/m"], "no provider is called 'locall'; did you mean 'local'"),
        (["local/m", "--config", "none.toml"], "none.toml"),
        (["bedrock/m"], "not sent from here"),
        ([], "missing argument 'LINK'"),
        (["local/m", "--", "server"], "probe takes no server after --"),
        (["local/m"], "local/m: connection: "),
    ],
)
def test_bad_input_is_one_line(probe, words, said):
    done = probe("http://127.0.0.1:9/v1", *words)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("strictcall: ")
    assert said in line


def test_a_wrong_key_is_one_line(probe, endpoint, monkeypatch):
    run = probe
    monkeypatch.setenv("PROBED_KEY", "sk-another-secret")
    done = run(endpoint.base_url, "local/m")
    assert (done.code, done.out) == (2, "")
    assert done.err == "strictcall: local/m: key (401): Incorrect API key provided.\n"
    monkeypatch.delenv("PROBED_KEY")
    assert "the environment variable PROBED_KEY is not set" in run(endpoint.base_url, "local/m").err


def test_ctrl_c_ends_it_cleanly(tmp_path, untraced):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (tmp_path / "strictcall.toml").write_text(configuration(url))
        running = subprocess.Popen(
            [sys.executable, "-m", "strictcall", "probe", "local/m"],
            cwd=tmp_path,
            env={**untraced, "PROBED_KEY": KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        server.settimeout(60)
        connection, _ = server.accept()
        with connection:
            assert json.loads(_body(connection))["model"] == "m"
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


def _body(connection):
    received = b""
    while b"\r\n\r\n" not in received or not received.endswith(b"}"):
        received += connection.recv(65536)
    return received.partition(b"\r\n\r\n")[2]
