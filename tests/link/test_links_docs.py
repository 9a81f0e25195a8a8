"""What docs/links.md says is so."""

import re
from pathlib import Path

import anyio
import pytest

from link.linked import WEATHER
from strictcall.link.chain import LONGEST_COOLDOWN
from strictcall.link.envelope import MESSAGES_MAX_TOKENS
from strictcall.link.errors import HANDLING, ErrorKind
from strictcall.link.resolved import Retries
from strictcall.testing.endpoint import strict_endpoint

PAGE = (Path(__file__).parents[2] / "docs" / "links.md").read_text(encoding="utf-8")


def test_the_table_of_kinds_is_the_data():
    table = PAGE.partition("<!-- kinds -->")[2].partition("<!-- /kinds -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    assert [row[0] for row in rows] == [f"`{kind}`" for kind in ErrorKind]
    for (_, _, again, falls_over, alone), kind in zip(rows, ErrorKind, strict=True):
        handling = HANDLING[kind]
        assert (again == "yes", falls_over == "yes") == (handling.retry, handling.fall_over), kind
        assert alone == (f"{handling.cooldown:.0f} s" if handling.cooldown else "no"), kind


def test_the_numbers_are_the_defaults():
    retries = Retries()
    assert (retries.attempts, retries.first_wait, retries.longest_wait) == (3, 0.5, 20.0)
    assert "up to 3 times" in PAGE
    assert "half a\nsecond" in PAGE
    assert "more than 20 seconds" in PAGE
    assert LONGEST_COOLDOWN == 15 * 60
    assert f"without it {MESSAGES_MAX_TOKENS} is sent" in PAGE


@pytest.mark.parametrize("fault", [None, "503"])
def test_the_example_runs(fault, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = {"replies": [{"text": "It is 22 degrees."}]}
    with strict_endpoint(answers="sensible") as endpoint, strict_endpoint(script=script) as other:
        monkeypatch.setenv("OPENAI_API_KEY", "a")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "b")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
        if fault:
            monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"x-emulate-fault: {fault}")
        names = {"run": lambda call: f"22 degrees in {call.arguments['city']}", "__name__": "example"}
        exec(compile(code, "links.md", "exec"), names)  # noqa: S102 - the page's own code
        answer = anyio.run(names["main"], [WEATHER])
    told = capsys.readouterr().out
    if fault is None:
        assert "22 degrees in Lisbon" in answer
        assert "LinkServed(link='openai/gpt-5-mini'" in told
    else:
        assert answer == "It is 22 degrees."
        assert "LinkServed(link='anthropic/claude-haiku-4-5', why='it is the next of the chain'" in told
