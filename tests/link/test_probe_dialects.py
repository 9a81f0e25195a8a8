"""The probe finds exactly what the dialect says, for every dialect, against the emulator over a real socket.

The emulator's model is asked for every breach and is held back by nothing but what its dialect's decoder holds.
"""

from __future__ import annotations

from collections import deque

import jsonschema_rs
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from link.linked import KEY, at
from strictcall.dialect import dialects, judge, load
from strictcall.dialect.held import held
from strictcall.emulator.app import create_app
from strictcall.link.probe import probe
from strictcall.link.probe_features import FEATURES, schema_of
from strictcall.serving import serving

pytestmark = pytest.mark.anyio

NAMES = [dialect.name for dialect in dialects()]
APIS = {
    "anthropic": "messages",
    "bedrock-anthropic": "messages",
    "bedrock-nova": "messages",
    "gemini": "generate_content",
    "gemini-json": "generate_content",
}
"""The API that each dialect is spoken over, where that is not Chat Completions."""
ALWAYS = ("no_tools", "auto_call", "parallel_calls", "forced_call")
LEFT_OVER = {"groq": {"text_bound"}}
"""What remains unknown: four features are refused one by one, and then no request is left for the fifth."""
BY_HAND = {
    "openai": {"text_bound": "rejected"},
    "openai-finetuned": dict.fromkeys(("number_bound", "text_bound", "parallel_strict_calls"), "rejected"),
    "anthropic": dict.fromkeys(("number_bound", "text_bound"), "rejected"),
    "groq": dict.fromkeys(("shared_type", "number_bound", "text_bound", "parallel_strict_calls"), "rejected"),
    "cohere": dict.fromkeys(("optional_enum", "number_bound", "text_bound"), "rejected"),
    "gemini": {"shared_type": "rejected", "text_bound": "not_enforced"},
    "llama.cpp": {"number_bound": "not_enforced"},
    "localai": dict.fromkeys(("number_bound", "text_bound"), "not_enforced"),
    "vllm": {},
    "together": dict.fromkeys((*FEATURES, "parallel_strict_calls"), "not_enforced"),
}
"""What some dialects are known not to hold, read off their sources by hand; everything else is held."""


@pytest.fixture(scope="module")
def endpoint():
    """One server for all dialects, each at a path of its own; gives its address and what was asked of each."""
    asked = {name: deque() for name in NAMES}
    apps = [
        Mount(f"/{name}", create_app(dialect=name, answers="obedient", api_key=KEY, observe=asked[name].append))
        for name in NAMES
    ]
    with serving(Starlette(routes=apps)) as url:
        yield url, asked


def link_to(url, name, api=None):
    api = api or APIS.get(name, "chat_completions")
    path = f"/{name}/v1" if api in ("chat_completions", "responses") else f"/{name}"
    return at(url + path, api, provider="p", dialect=load(name))


def said_by(dialect):
    """What a dialect says of each feature, worked out from its data: by the judge, and by a validator of another make
    on what the decoder holds.
    """
    if dialect.strict_marking == "forbidden" and dialect.strict_place == "none":
        return {"plain_enum": "rejected"} | dict.fromkeys([*list(FEATURES)[1:], "parallel_strict_calls"], "unknown")
    found = {}
    for name, feature in FEATURES.items():
        schema = schema_of([name], dialect)
        decoder = jsonschema_rs.Draft202012Validator(held(schema, dialect))
        holds = dialect.enforced == "decoder" and not any(decoder.is_valid({name: b}) for b in feature.breaches)
        found[name] = "rejected" if judge(schema, dialect) else "enforced" if holds else "not_enforced"
    several = "enforced" if dialect.enforced == "decoder" else "not_enforced"
    return found | {"parallel_strict_calls": several if dialect.parallel_with_strict else "rejected"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_probe_finds_what_the_dialect_says(anyio_backend, endpoint, name):
    url, asked = endpoint
    report = await probe(link_to(url, name))
    found = {each.name: each.found.value for each in report.findings}
    expected = dict.fromkeys(ALWAYS, "enforced") | said_by(load(name))
    expected |= dict.fromkeys(LEFT_OVER.get(name, ()), "unknown")
    assert found == expected, [each for each in report.findings if each.found.value != expected[each.name]]
    assert report.spent.requests == len(asked[name]) <= 6
    assert all(each.evidence for each in report.findings)
    assert report.supports_tools == ("strict" if found["plain_enum"] == "enforced" else "parallel")
    assert report.overrides == {}
    # What a server holds without a mark comes from no loose tool.
    assert report.breaks_when_loose == (load(name).strict_default == "loose" or load(name).enforced == "none")


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_expected_of_some_dialects_is_what_is_known_of_them(name):
    said = said_by(load(name))
    assert said == dict.fromkeys(said, "enforced") | BY_HAND[name]


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("openai", "chat_completions"),
        ("openai", "responses"),
        ("anthropic", "messages"),
        ("gemini", "generate_content"),
    ],
)
@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_over_every_api_on_the_other_loop(anyio_backend, endpoint, name, api):
    report = await probe(link_to(endpoint[0], name, api))
    found = {each.name: each.found.value for each in report.findings}
    assert found == dict.fromkeys(ALWAYS, "enforced") | said_by(load(name))
    assert (report.spent.input_tokens > 0, report.spent.output_tokens > 0) == (True, True)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_is_probed_reaches_the_wire_as_it_is(anyio_backend, endpoint):
    url, asked = endpoint
    asked["kimi"].clear()
    # For this dialect a null in an enum would be written in another way.
    await probe(link_to(url, "kimi"))
    plain, loose, first, *_ = [exchange.body for exchange in asked["kimi"]]
    assert "tools" not in plain
    assert "strict" not in loose["tools"][0]["function"]
    function = first["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"] == schema_of(list(FEATURES), load("kimi"))
    assert function["parameters"]["properties"]["optional_enum"]["enum"] == ["small", "large", None]
    assert first["tool_choice"] == "required"
    assert "parallel_tool_calls" not in first
    assert {body.get("max_tokens") for body in (plain, loose, first)} == {1024}
