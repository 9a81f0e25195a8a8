"""Scripts: what they say of a conversation, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strictcall.emulator.conversation import Message, Request
from strictcall.emulator.script import read_script, script_of
from strictcall.errors import ScriptError

TEXT = """
conversations:
  - when: Lisbon
    replies:
      - text: Let me look.
        calls:
          - {name: get_weather, arguments: {city: Lisbon, days: null}}
          - {name: get_weather, arguments: '{"city": "Por'}
      - text: It is sunny.
replies:
  - {fault: 429}
  - {reasoning: Hm., text: Later.}
"""


def asked(*messages: Message) -> Request:
    return Request("m", messages)


def test_replies_are_found_by_the_opening_and_the_turn(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(TEXT, encoding="utf-8")
    script = read_script(file)
    opening = Message("user", "How is Lisbon today?")
    first = script.reply(asked(opening))
    assert first is not None
    assert [call.arguments for call in first.answer.calls] == ['{"city": "Lisbon", "days": null}', '{"city": "Por']
    assert (first.answer.text, first.answer.stop) == ("Let me look.", "calls")
    done = (opening, Message("assistant"), Message("tool", "25", call_id="1"))
    second = script.reply(asked(*done))
    assert second is not None
    assert (second.answer.text, second.answer.stop) == ("It is sunny.", "stop")
    assert script.reply(asked(*done, Message("assistant"))) is None
    other = script.reply(asked(Message("user", "Hello")))
    assert other is not None
    assert other.fault == "429"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "must be a table of conversations, replies"),
        ({}, "has neither conversations nor replies"),
        ({"reply": []}, "reply: unknown key"),
        ({"replies": {}}, "replies: must be a list"),
        ({"replies": [{"txt": ""}]}, r"replies\[0\].txt: unknown key"),
        ({"replies": [{"text": 3}]}, r"replies\[0\].text: 3 is not a text; quote it"),
        ({"replies": [{"calls": [{"arguments": {}}]}]}, r"replies\[0\].calls\[0\].name: missing"),
        ({"replies": [{"calls": [{"name": "a", "arguments": float("nan")}]}]}, r"calls\[0\].arguments: no JSON"),
        ({"replies": [{"stop": "done"}]}, r"stop: 'done' is not one of stop, calls"),
        ({"replies": [{"fault": "418"}]}, r"fault: '418' is not one of 400"),
        ({"conversations": [{"when": "x"}]}, r"conversations\[0\].replies: must be a list"),
    ],
)
def test_a_bad_script_says_where(value: Any, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        script_of(value)


@pytest.mark.parametrize(
    ("content", "said"), [(b"a: [", "no YAML"), (b"\xff\xfe\xff", "cannot be read"), (None, "cannot be read")]
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "script.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ScriptError, match=f"script.yaml: {said}"):
        read_script(file)
