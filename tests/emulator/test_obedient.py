"""The obedient model: it makes the calls that its user writes out, and only a decoder keeps it back."""

import json

import openai
import pytest

from strictcall.testing.endpoint import strict_endpoint

SCHEMA = {
    "type": "object",
    "properties": {
        "color": {"type": "string", "enum": ["red", "green"]},
        "size": {"type": "integer", "maximum": 5},
        "name": {"type": "string"},
    },
    "required": ["color", "size", "name"],
    "additionalProperties": False,
}
WRONG = {"color": "purple", "size": 99, "name": "a) b({"}
TWICE = f"Call paint({json.dumps(WRONG)}) and paint({json.dumps({'color': 'red', 'size': 1, 'name': 'x'})}), please."


@pytest.fixture(scope="module")
def ask():
    """Asks an emulator whose dialect holds enums and names, but no ``maximum``; gives arguments, and the text."""
    with strict_endpoint(answers="obedient", dialect="llama.cpp", api_key="k") as loose_bounds:
        yield lambda *words, **more: _asked(loose_bounds, *words, **more)


def _asked(endpoint, *words, tools=("paint",), **more):
    client = openai.OpenAI(base_url=endpoint.base_url, api_key="k", max_retries=0)
    offered = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools]
    messages = [word if isinstance(word, dict) else {"role": "user", "content": word} for word in words]
    message = client.chat.completions.create(model="m", messages=messages, tools=offered, **more).choices[0].message
    client.close()
    return [json.loads(call.function.arguments) for call in message.tool_calls or []], message.content


def test_what_no_decoder_holds_comes_to_the_letter():
    with strict_endpoint(answers="obedient", dialect="openai") as endpoint:
        calls, _ = _asked(endpoint, TWICE)
    assert calls == [WRONG, {"color": "red", "size": 1, "name": "x"}]


def test_a_decoder_changes_only_what_it_holds(ask):
    (first, second), _ = ask(TWICE)
    assert first["color"] in ("red", "green")
    assert (first["size"], first["name"]) == (99, WRONG["name"])
    assert second == {"color": "red", "size": 1, "name": "x"}


def test_an_argument_that_must_be_there_is_and_one_that_must_not_is_not(ask):
    ((call,), _) = ask('paint({"color": "green", "shape": "round"})')
    assert call.keys() == SCHEMA["properties"].keys()
    assert call["color"] == "green"


def test_one_call_at_a_time_where_they_may_not_be_parallel(ask):
    (first,), _ = ask(TWICE, parallel_tool_calls=False)
    assert first["name"] == WRONG["name"]
    done = {"id": "c", "type": "function", "function": {"name": "paint", "arguments": "{}"}}
    past = [{"role": "assistant", "tool_calls": [done]}, {"role": "tool", "tool_call_id": "c", "content": "done"}]
    (second,), _ = ask(TWICE, *past, parallel_tool_calls=False)
    assert second["name"] == "x"


def test_no_call_where_none_is_wanted_unless_one_is_demanded(ask):
    words = f"Do not call a tool. {TWICE}"
    calls, text = ask(words)
    assert (calls, bool(text)) == ([], True)
    assert len(ask(words, tool_choice="required")[0]) == 2


@pytest.mark.parametrize(
    "words",
    [
        json.dumps(WRONG),
        'paint({"color": ',
        'paint({"color": "purple"}',
        'repaint({"color": "purple"})',
        "paint(purple)",
    ],
)
def test_what_is_no_call_of_a_tool_is_read_as_words(ask, words):
    calls, _ = ask(words, tool_choice="required")
    assert all(call["color"] in ("red", "green") and call["size"] != 99 for call in calls)
    assert calls
