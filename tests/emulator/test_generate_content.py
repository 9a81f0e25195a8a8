"""Gemini's generateContent: answers in their envelopes, and as the official client reads them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types

from emulator.gemini_bodies import (
    CLOSED,
    body,
    read,
)
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.apis.generate_content import API
from strictcall.emulator.app import create_app
from strictcall.emulator.interface import Reply
from strictcall.emulator.script import Script, ScriptedConversation, ScriptedReply
from strictcall.emulator.settings import Settings
from strictcall.serving import serving

# --- answers ----------------------------------------------------------------------------------------------------------

THREE = tuple(
    MadeCall(f"c{n}", f"tool_{n}", json.dumps({"n": n, "ü": ["é" * 50, None], "big": 10**30})) for n in range(3)
)
ANSWERS = {
    "text": Answer("Good day to you, and a long one at that."),
    "nothing": Answer(""),
    "unicode": Answer('naïve 🎉 "quoted"\n\t\u2028\u0000 ' + "字" * 40),
    "call": Answer(calls=THREE[:1], stop="calls"),
    "three": Answer(calls=THREE, stop="calls"),
    "both": Answer("Let me look.", calls=THREE[:2], stop="calls"),
    "thought": Answer("So.", reasoning="First this, then that."),
    "cut text": Answer("It was a dark and", stop="length"),
    "cut": Answer(calls=(*THREE[:1], MadeCall("c9", "f", '{"a": "b')), stop="length"),
    "cut at once": Answer(calls=(MadeCall("c9", "f", '{"a": "b'),), stop="length"),
    "malformed": Answer("Let me look.", calls=(*THREE[:1], MadeCall("c9", "f", '{"a": "b')), stop="calls"),
    "no object": Answer(calls=(MadeCall("c9", "f", "[1]"),), stop="calls"),
    "refused": Answer("I can't help with that.", stop="refusal"),
}
FINISH = {
    **dict.fromkeys(ANSWERS, "STOP"),
    "cut text": "MAX_TOKENS",
    "cut": "MAX_TOKENS",
    "cut at once": "MAX_TOKENS",
    "malformed": "MALFORMED_FUNCTION_CALL",
    "no object": "MALFORMED_FUNCTION_CALL",
    "refused": "SAFETY",
}
CALLS = {"call": 1, "three": 3, "both": 2, "cut": 1}


def expected(case: str) -> tuple[str, list[tuple[str, str, Any]]]:
    """The text and the calls that a case's answer has here."""
    answer = ANSWERS[case]
    calls = [(call.id, call.name, json.loads(call.arguments)) for call in answer.calls[: CALLS.get(case, 0)]]
    return "" if case == "refused" else answer.text, calls


def reply(answer: Answer, seed: int, method: str = "generateContent", **config: Any) -> Reply:
    request = read(body(generationConfig=config), method=method)
    return Reply(request, answer, "abc", 1_700_000_000, random.Random(seed))  # noqa: S311 - repeatable


def parts_of(responses: list[Any]) -> list[dict[str, Any]]:
    return [part for response in responses for part in response["candidates"][0]["content"].get("parts", [])]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", ANSWERS)
def test_a_stream_adds_up_to_the_answer(case: str, seed: int) -> None:
    whole = [API.whole(reply(ANSWERS[case], seed))]
    streamed = [frame.data for frame in API.frames(reply(ANSWERS[case], seed, "streamGenerateContent"))]
    for responses in (whole, streamed):
        parts = parts_of(responses)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        said = (
            "".join(part.get("text", "") for part in parts),
            [(call["id"], call["name"], call["args"]) for call in calls],
        )
        assert said == expected(case)
        finishes = [response["candidates"][0].get("finishReason") for response in responses]
        assert finishes == [None] * (len(responses) - 1) + [FINISH[case]]
        assert ["thoughtSignature" in part for part in parts if "functionCall" in part] == [True, False, False][
            : len(calls)
        ]
        assert {response["responseId"] for response in responses} == {"abc"}
        usage = responses[-1]["usageMetadata"]
        counted = usage["promptTokenCount"] + usage["candidatesTokenCount"] + usage.get("thoughtsTokenCount", 0)
        assert usage["totalTokenCount"] == counted


def test_thoughts_are_shown_where_asked_for() -> None:
    hidden = API.whole(reply(ANSWERS["thought"], 1))
    assert parts_of([hidden]) == [{"text": "So."}]
    assert hidden["usageMetadata"]["thoughtsTokenCount"] > 0
    shown = reply(ANSWERS["thought"], 1, "streamGenerateContent", thinkingConfig={"includeThoughts": True})
    parts = parts_of([frame.data for frame in API.frames(shown)])
    assert "".join(part["text"] for part in parts if part.get("thought")) == "First this, then that."
    assert "".join(part["text"] for part in parts if not part.get("thought")) == "So."


def test_a_malformed_call_is_told_and_none_is_made() -> None:
    candidate = API.whole(reply(ANSWERS["malformed"], 1))["candidates"][0]
    assert candidate["finishMessage"] == 'Malformed function call: call:f{"a": "b'


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"n": 1e400}', {"n": 1.7976931348623157e308}),
        ('{"n": NaN}', None),
        ('{"n": ' + "9" * 5000 + "}", {"n": 1.7976931348623157e308}),
        ('{"a":' * 1_500 + "1" + "}" * 1_500, None),
        ("", None),
        ("null", None),
    ],
)
def test_arguments_become_an_object(arguments: str, args: Any) -> None:
    answer = Answer(calls=(MadeCall("c", "f", arguments),), stop="calls")
    whole = API.whole(reply(answer, 1))
    made = [part["functionCall"]["args"] for part in parts_of([whole])]
    assert made == ([] if args is None else [args])
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_an_enum_is_answered_without_quotes() -> None:
    asked = reply(
        Answer('"red"'), 1, responseMimeType="text/x.enum", responseSchema={"type": "string", "enum": ["red"]}
    )
    assert parts_of([API.whole(asked)]) == [{"text": "red"}]


# --- the official client ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    conversations = tuple(
        ScriptedConversation(f"case {name}.", (ScriptedReply(answer), ScriptedReply(Answer("Done."))))
        for name, answer in ANSWERS.items()
    )
    parsed = ScriptedConversation("case parsed.", (ScriptedReply(Answer('{"a": "b"}')),))
    settings = Settings(script=Script((*conversations, parsed)), answers="scripted")
    with serving(create_app(settings)) as served:
        yield served


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[genai.Client]:
    made = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=address))
    yield made
    made.close()


def check(responses: list[types.GenerateContentResponse], case: str) -> None:
    parts: list[types.Part] = []
    for response in responses:
        assert response.candidates
        content = response.candidates[0].content
        assert content is not None
        parts += content.parts or []
    calls = [part.function_call for part in parts if part.function_call]
    text = "".join(part.text or "" for part in parts)
    assert (text, [(call.id, call.name, call.args) for call in calls]) == expected(case)
    last = responses[-1]
    assert last.candidates
    assert last.candidates[0].finish_reason == types.FinishReason[FINISH[case]]
    assert last.usage_metadata is not None
    assert last.model_version == "gemini-2.5-pro"


@pytest.mark.parametrize("case", ANSWERS)
def test_the_client_reads_a_whole_answer(client: genai.Client, case: str) -> None:
    check([client.models.generate_content(model="gemini-2.5-pro", contents=f"case {case}.")], case)


@pytest.mark.parametrize("case", ANSWERS)
def test_the_client_reads_a_stream(client: genai.Client, case: str) -> None:
    check(list(client.models.generate_content_stream(model="gemini-2.5-pro", contents=f"case {case}.")), case)


def test_the_asynchronous_client_reads_both(address: str) -> None:
    async def talk() -> None:
        client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=address)).aio
        async with client:
            whole = await client.models.generate_content(model="gemini-2.5-pro", contents="case three.")
            check([whole], "three")
            stream = await client.models.generate_content_stream(model="gemini-2.5-pro", contents="case unicode.")
            check([response async for response in stream], "unicode")

    asyncio.run(talk())


def test_a_round_of_calls_through_the_client(client: genai.Client) -> None:
    declarations = [
        types.FunctionDeclaration(name=f"tool_{n}", parameters_json_schema=CLOSED if n else None) for n in range(3)
    ]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declarations)],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
        ),
        system_instruction="Be brief.",
        max_output_tokens=100,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    said: list[Any] = [types.Content(role="user", parts=[types.Part(text="case three.")])]
    first = client.models.generate_content(model="gemini-3-pro", contents=said, config=config)
    assert first.function_calls is not None
    assert first.candidates
    results = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"ok": True}))
        for call in first.function_calls
    ]
    said += [first.candidates[0].content, types.Content(role="user", parts=results)]
    assert client.models.generate_content(model="gemini-3-pro", contents=said, config=config).text == "Done."
    said[-1] = types.Content(role="user", parts=results[:2])
    with pytest.raises(errors.ClientError, match="number of function response parts"):
        client.models.generate_content(model="gemini-3-pro", contents=said, config=config)


def test_the_client_parses_what_a_schema_held(client: genai.Client) -> None:
    schema = types.Schema(
        type=types.Type.OBJECT, properties={"a": types.Schema(type=types.Type.STRING)}, min_properties=1
    )
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=schema)
    response = client.models.generate_content(model="gemini-2.5-pro", contents="case parsed.", config=config)
    assert response.parsed == {"a": "b"}


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, errors.ClientError),
        (404, errors.ClientError),
        (429, errors.ClientError),
        (500, errors.ServerError),
        (503, errors.ServerError),
    ],
)
def test_the_client_raises_what_each_status_means(
    client: genai.Client, status: int, raised: type[errors.APIError]
) -> None:
    config = types.GenerateContentConfig(http_options=types.HttpOptions(headers={"x-emulate-fault": str(status)}))
    with pytest.raises(raised) as caught:
        client.models.generate_content(model="gemini-2.5-pro", contents="case text.", config=config)
    assert caught.value.code == status
    assert caught.value.status


def test_the_client_is_told_where_a_schema_is_wrong(client: genai.Client) -> None:
    wrong = types.Schema(type=types.Type.OBJECT, properties={"ids": types.Schema(type=types.Type.ARRAY)})
    declaration = types.FunctionDeclaration(name="f", parameters=wrong)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declaration])])
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model="gemini-2.5-pro", contents="case text.", config=config)
    assert caught.value.status == "INVALID_ARGUMENT"
    assert caught.value.message == (
        "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[ids].items: missing field.\n"
    )


def test_without_events_a_stream_is_one_array(address: str) -> None:
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    response = httpx2.post(f"{address}{path}", json={"contents": [{"parts": [{"text": "case text."}]}]})
    assert response.headers["content-type"].startswith("application/json")
    responses = response.json()
    assert "".join(part["text"] for part in parts_of(responses)) == ANSWERS["text"].text
