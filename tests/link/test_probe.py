"""What a probe makes of endpoints that are not as one would wish, and what it advises."""

from __future__ import annotations

import dataclasses
import json
import random
import re

import anyio
import pytest

from link.linked import KEY, KEY_NAME, at, link, recording
from strictcall.dialect import load
from strictcall.dialect.registry import varied
from strictcall.errors import SettingsError
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.probe import PROVEN, UNPROVEN, UNSEEN, probe
from strictcall.link.probe_advice import expectation
from strictcall.link.probe_blame import blamed
from strictcall.link.probe_features import FEATURES
from strictcall.testing.endpoint import strict_endpoint

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

PARTS = list(FEATURES)
LEGAL = {
    "plain_enum": "red",
    "nested_object": {"width": 1, "unit": "mm"},
    "entry_list": [],
    "null_union": None,
    "optional_enum": None,
    "shared_type": "mm",
    "number_bound": 3,
    "text_bound": "abc",
}
CALL = re.compile(r"^probe\((.*)\)$", re.MULTILINE)


class Server:
    """Stands for an endpoint of Chat Completions: a model that makes the calls of its user, and a decoder that holds
    all strict ones. A subclass ``refuses`` something, ``holds`` less, or gives another ``answer``.
    """

    model_keeps = False

    def __init__(self):
        self.bodies = []

    async def send(self, body):
        self.bodies.append(body)
        await anyio.lowlevel.checkpoint()
        words = self.refuses(body, self.strict(body), self.parts(body))
        if words:
            raise LinkError("p/m", ErrorKind.REFUSED, words, status=400)
        return self.answer(body)

    async def aclose(self):
        pass

    def refuses(self, body, strict, parts):
        return None

    def holds(self, calls):
        return True

    @staticmethod
    def strict(body):
        return bool(body.get("tools")) and body["tools"][0]["function"].get("strict") is True

    @staticmethod
    def parts(body):
        return list(body["tools"][0]["function"]["parameters"]["properties"]) if body.get("tools") else []

    def calls(self, body):
        wanted = [json.loads(text) for text in CALL.findall(body["messages"][0]["content"])]
        held = self.model_keeps or (self.strict(body) and self.holds(len(wanted)))
        return [{name: LEGAL[name] for name in call} if held else call for call in wanted]

    def answer(self, body):
        if not body.get("tools"):
            return said("ready")
        return said("", self.calls(body))


def said(text, calls=(), reason=None):
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": "probe", "arguments": json.dumps(call)}}
        for n, call in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    reason = reason or ("tool_calls" if made else "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def local(**fields):
    fields = {"dialect": load("vllm"), "api": "chat_completions", **fields}
    return at("http://127.0.0.1:9/v1", provider="p", **fields)


async def probed(server, told=None, limits=None, **fields):
    """A report of a server, and what was found by name."""
    tell = (lambda asked: None) if told is None else told.append
    report = await probe(local(**fields), make_client=lambda link: server, tell=tell, **(limits or {}))
    assert len(server.bodies) == report.spent.requests <= 6
    return report, {each.name: each.found.value for each in report.findings}


# --- how it goes on ---------------------------------------------------------------------------------------------------


async def test_an_endpoint_that_holds_everything_takes_three_requests(anyio_backend):
    told = []
    report, found = await probed(Server(), told)
    assert set(found.values()) == {"enforced"}
    assert [asked.number for asked in told] == [1, 2, 3]
    assert (report.spent.input_tokens, report.spent.output_tokens) == (30, 15)
    assert (report.supports_tools, report.overrides, report.contradictions) == ("strict", {}, [])
    assert report.notes == (PROVEN,)


class Silent(Server):
    """Refuses some parts and never says which."""

    def __init__(self, *bad):
        super().__init__()
        self.bad = set(bad)

    def refuses(self, body, strict, parts):
        return "Bad request." if self.bad & set(parts) else None


@pytest.mark.parametrize("bad", ["number_bound", "text_bound"])
async def test_a_refusal_that_says_nothing_is_narrowed_down(anyio_backend, bad):
    report, found = await probed(Silent(bad))
    assert bad not in [name for name, state in found.items() if state == "enforced"]
    assert {found[name] for name in PARTS[:4]} == {"enforced"}
    assert "Bad request." in report[bad].evidence
    undecided = {name for name, state in found.items() if state != "enforced"}
    assert undecided < {
        "shared_type",
        "optional_enum",
        "number_bound",
        "text_bound",
        "parallel_strict_calls",
        "forced_call",
    }


class Picky(Server):
    """Refuses some things, at times in words that tell which, and holds some."""

    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        others = [*PARTS, "parallel_strict_calls", "forced_call"]
        self.bad = {name for name in others if rng.random() < 0.2}
        self.unheld = {name for name in PARTS if rng.random() < 0.2}
        self.tells = rng.random()

    def refuses(self, body, strict, parts):
        asked = set(parts) if strict else set()
        if strict and "parallel_tool_calls" not in body:
            asked.add("parallel_strict_calls")
        if body.get("tool_choice") == "required":
            asked.add("forced_call")
        found = sorted(self.bad & asked)
        words = {"forced_call": "no tool_choice here", "parallel_strict_calls": "no parallel calls here"}
        if not found or self.rng.random() > self.tells:
            return "Bad request." if found else None
        return words.get(found[0], f"strict tools take no properties.{found[0]}")

    def calls(self, body):
        made = super().calls(body)
        wanted = [json.loads(text) for text in CALL.findall(body["messages"][0]["content"])]
        return [
            {name: asked[name] if name in self.unheld else value for name, value in call.items()}
            for call, asked in zip(made, wanted, strict=True)
        ]


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_found_that_is_not_so(anyio_backend, seed):
    rng = random.Random(seed)  # noqa: S311 - a seed, not a secret
    decided = 0
    for _ in range(40):
        server = Picky(rng)
        report, found = await probed(server)
        for name, state in found.items():
            decided += state != "unknown"
            if name in server.bad and name not in ("plain_enum", "forced_call"):
                assert state in ("rejected", "unknown"), (name, server.bad, report)
            elif state == "rejected":
                assert name in server.bad or (name in PARTS and "plain_enum" in server.bad), (name, server.bad, report)
            elif name in PARTS and state != "unknown":
                assert state == ("not_enforced" if name in server.unheld else "enforced"), (name, server.unheld, report)
    assert decided > 40 * 5


async def test_where_all_is_refused_strict_is_what_is_refused(anyio_backend):
    report, found = await probed(Strictless())
    assert (found["plain_enum"], found["auto_call"], found["forced_call"]) == ("rejected", "enforced", "enforced")
    assert report["plain_enum"].evidence == "Unrecognized field: strict"
    assert {found[name] for name in PARTS[1:]} == {"unknown"}
    assert report.supports_tools == "parallel"
    assert report.contradictions == [
        "strict tools are on, and the endpoint refuses it: Unrecognized field: strict",
    ]


class Strictless(Server):
    def refuses(self, body, strict, parts):
        return "Unrecognized field: strict" if strict else None


class Toolless(Server):
    def refuses(self, body, strict, parts):
        return "m does not support tools" if parts else None


async def test_an_endpoint_that_takes_no_tools(anyio_backend):
    report, found = await probed(Toolless(), supports_tools="basic", strict_tools=False)
    assert (found["no_tools"], found["auto_call"], found["forced_call"]) == ("enforced", "rejected", "rejected")
    assert {found[name] for name in PARTS} == {"unknown"}
    assert (report.supports_tools, report.contradictions) == ("none", [])


class Voluntary(Server):
    """Takes a tool choice, and does not follow it."""

    def answer(self, body):
        if "Do not call" in body["messages"][0]["content"]:
            return said("ready")
        return super().answer(body)


async def test_a_demand_that_is_not_followed(anyio_backend):
    _, found = await probed(Voluntary())
    assert found.pop("forced_call") == "not_enforced"
    assert set(found.values()) == {"enforced"}


class OneAtATime(Server):
    """Holds strict calls one at a time only, as OpenAI says of its own."""

    def holds(self, calls):
        return calls == 1


async def test_calls_that_are_held_one_at_a_time_only(anyio_backend):
    report, found = await probed(OneAtATime())
    assert found.pop("parallel_strict_calls") == "not_enforced"
    assert set(found.values()) == {"enforced"}
    assert report.overrides == {"parallel_with_strict": False}
    assert report.supports_tools == "strict"


class Unheld(Server):
    def holds(self, calls):
        return False


async def test_strict_that_is_taken_and_not_held_contradicts_the_configuration(anyio_backend):
    report, found = await probed(Unheld())
    assert {found[name] for name in PARTS} == {"not_enforced"}
    assert report["number_bound"].evidence == "asked for 99.5, and 99.5 came"
    assert (report.supports_tools, report.overrides) == ("parallel", {})
    (contradiction,) = report.contradictions
    assert contradiction.startswith("strict tools are on, and the endpoint takes it and does not hold it")


class IntegersOnly(Server):
    """Holds the bounds of integers, and not those of other numbers, as llama.cpp's grammars do."""

    def calls(self, body):
        made = super().calls(body)
        wanted = [json.loads(text) for text in CALL.findall(body["messages"][0]["content"])]
        schemas = body["tools"][0]["function"]["parameters"]["properties"]
        unheld = [name for name, schema in schemas.items() if schema.get("type") == "number"]
        return [{**call, **{name: asked[name] for name in unheld}} for call, asked in zip(made, wanted, strict=True)]


async def test_bounds_are_not_taken_to_hold_where_those_of_integers_do(anyio_backend):
    """What is advised of ``minimum`` is said of all numbers, and compiled tools would rely on it."""
    unheld = {name: {"state": "ignored", "source": "it"} for name in ("minimum", "maximum")}
    source = {"url": "https://example.com", "date": "2026-12-01"}
    dialect = varied("vllm", {"keywords": unheld, "sources": {"it": source}})
    report, found = await probed(IntegersOnly(), dialect=dialect)
    assert found.pop("number_bound") == "not_enforced"
    assert set(found.values()) == {"enforced"}
    assert (report["number_bound"].expected, report.overrides, report.notes) == ("not_enforced", {}, (PROVEN,))
    trusting, _ = await probed(IntegersOnly())
    assert {name: entry["state"] for name, entry in trusting.overrides["keywords"].items()} == {
        "minimum": "ignored",
        "maximum": "ignored",
    }


async def test_nothing_is_contradicted_where_strict_is_off(anyio_backend):
    for off in ({"strict_tools": False}, {"supports_tools": "parallel"}):
        report, _ = await probed(Unheld(), **off)
        assert report.contradictions == []


class Good(Server):
    """A model that keeps to schemas by itself, behind a server that holds nothing."""

    model_keeps = True


async def test_a_model_that_keeps_to_a_loose_schema_proves_nothing(anyio_backend):
    report, found = await probed(Good(), supports_tools="parallel", strict_tools=False)
    assert (found["plain_enum"], report.breaks_when_loose) == ("enforced", False)
    assert report.notes == (UNPROVEN,)
    assert report.supports_tools == "parallel"
    # What somebody said already is not taken back for want of a proof.
    assert (await probed(Good()))[0].supports_tools == "strict"
    # A server that is known to hold all tools, strict or not, is believed to be at work.
    always, _ = await probed(Good(), dialect=load("xai"), supports_tools="parallel", strict_tools=False)
    assert always.supports_tools == "strict"


class Thoughtful(Server):
    def answer(self, body):
        return said("", (), "length") if body.get("tools") else said("ready")


class AsText(Server):
    def answer(self, body):
        return said('<tool_call>{"name": "probe", "arguments": {"plain_enum": "purple"}}</tool_call>')


class Unwilling(Server):
    def answer(self, body):
        return said("", (), "content_filter") if body.get("tools") else said("ready")


class Inventive(Server):
    """Calls what is not there."""

    def answer(self, body):
        made = super().answer(body)
        for call in made["choices"][0]["message"].get("tool_calls", ()):
            call["function"]["name"] = "paint"
        return made


@pytest.mark.parametrize(
    ("server", "auto", "words"),
    [
        (Unwilling, "unknown", "would not answer"),
        (Inventive, "not_enforced", "was not offered"),
        (Thoughtful, "unknown", "ran out of tokens"),
        (AsText, "not_enforced", "look like a call"),
    ],
)
async def test_answers_without_a_call(anyio_backend, server, auto, words):
    report, found = await probed(server())
    assert found["auto_call"] == auto
    assert words in report["auto_call"].evidence
    assert {found[name] for name in PARTS} == {"unknown"}
    assert report.supports_tools is None
    assert report.snippet() == ""


class Failing(Server):
    """Fails in some way at some requests."""

    def __init__(self, **failures):
        super().__init__()
        self.failures = {int(number[1:]): kind for number, kind in failures.items()}

    def answer(self, body):
        kind = self.failures.get(len(self.bodies))
        if kind:
            raise LinkError("p/m", ErrorKind(kind), f"it is {kind}", status=500)
        return super().answer(body)


async def test_what_fails_by_the_way_counts_and_the_rest_is_asked(anyio_backend):
    report, found = await probed(Failing(_2="overloaded", _3="rate_limit"))
    assert (found["auto_call"], report["auto_call"].evidence) == ("unknown", "overloaded: it is overloaded")
    assert {found[name] for name in PARTS} == {"enforced"}
    assert (report.spent.requests, report.breaks_when_loose, report.notes) == (4, None, (UNSEEN,))


@pytest.mark.parametrize("kind", ["key", "quota", "connection"])
async def test_after_what_will_not_get_better_nothing_is_asked(anyio_backend, kind):
    report, found = await probed(Failing(_3=kind))
    assert (report.spent.requests, found["plain_enum"]) == (3, "unknown")
    assert report["plain_enum"].evidence == f"{kind}: it is {kind}"
    assert report.supports_tools is None


async def test_a_server_that_fails_over_something_is_told_as_such(anyio_backend):
    report, found = await probed(Failing(_2="server"))
    assert (found["auto_call"], report["auto_call"].evidence) == ("unknown", "the server failed: it is server")
    report, found = await probed(Failing(_3="server", _4="server", _5="server", _6="server"))
    assert "enforced" not in {found[name] for name in PARTS}


@pytest.mark.parametrize("requests", [1, 2, 3])
async def test_no_more_requests_than_there_may_be(anyio_backend, requests):
    report, found = await probed(Server(), limits={"requests": requests})
    assert report.spent.requests == requests
    decided = [name for name, state in found.items() if state != "unknown"]
    assert len(decided) == {1: 1, 2: 3, 3: len(found)}[requests]
    if requests < 3:
        assert report["plain_enum"].evidence == "no request was left to ask about it"


@pytest.mark.parametrize(("field", "value"), [("requests", 0), ("requests", 7), ("timeout", 0), ("timeout", -1.0)])
async def test_limits_that_are_none(anyio_backend, field, value):
    with pytest.raises(SettingsError, match=field):
        await probe(local(), **{field: value})


class Slow(Server):
    def __init__(self, after):
        super().__init__()
        self.after = after

    async def send(self, body):
        made = await super().send(body)
        if len(self.bodies) > self.after:
            await anyio.sleep_forever()
        return made


async def test_what_was_found_when_the_time_is_over_is_told(anyio_backend):
    report, found = await probed(Slow(2), limits={"timeout": 0.2})
    assert (found["auto_call"], found["plain_enum"]) == ("enforced", "unknown")
    assert report["plain_enum"].evidence == "the time of 0.2 seconds was over"
    with pytest.raises(LinkError, match=r"no answer within 0\.2 seconds"):
        await probe(local(), make_client=lambda link: Slow(0), timeout=0.2)


# --- what cannot be asked ---------------------------------------------------------------------------------------------


async def test_what_cannot_be_asked_is_one_clear_error(anyio_backend, monkeypatch):
    with pytest.raises(LinkError, match="not sent from here"):
        await probe(local(api="converse", dialect=load("bedrock-anthropic")))
    with pytest.raises(LinkError, match="connection"):
        await probe(local())
    with strict_endpoint(api_key="another") as endpoint, pytest.raises(LinkError, match="key") as caught:
        await probe(link(endpoint, "chat_completions"))
    assert KEY not in str(caught.value)
    monkeypatch.delenv(KEY_NAME)
    with pytest.raises(LinkError, match=KEY_NAME):
        await probe(local())


# --- secrets ----------------------------------------------------------------------------------------------------------


class Echo(Server):
    """Repeats what it was sent, whole or cut off, whenever it refuses, and it refuses much."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def refuses(self, body, strict, parts):
        if not parts:
            return None
        sent = json.dumps({key: value for key, value in body.items() if key != "tools"})
        return f"Cannot read {KEY} hush-header: {sent}"[: self.size]


@pytest.mark.parametrize("size", [10_000, 400, 330, 250, 180])
async def test_no_key_and_no_prompt_shows_anywhere(anyio_backend, size):
    told = []
    server = Echo(size)
    secret = {"headers": {"x-team": "hush-header"}, "extra_body": {"metadata": {"user": "hush-body"}}}
    report, _ = await probed(server, told, supports_tools="basic", strict_tools=False, **secret)
    shown = [json.dumps(report.as_json()), report.snippet(), repr(report), repr(told), *report.contradictions]
    prompts = {line for body in server.bodies for line in body["messages"][0]["content"].splitlines()}
    for text in shown:
        for hidden in (KEY, "hush-header", "hush-body", *prompts):
            assert hidden not in text
        assert "with exactly these" not in text
        assert not re.search(r"Make th|both of them", text)


@pytest.mark.parametrize("size", [10_000, 60])
async def test_an_error_before_any_answer_shows_no_key_and_no_prompt(anyio_backend, size):
    body = json.dumps({"error": {"message": f"no {KEY} Answer with the one word: ready."[:size]}}).encode()
    answered = recording(400, "content-type: application/json\r\n", body)
    with answered as (url, requests), pytest.raises(LinkError) as caught:
        await probe(at(f"{url}/v1", "chat_completions"))
    assert len(requests) == 1
    assert KEY not in str(caught.value)
    assert "one word" not in str(caught.value)
    assert caught.value.__cause__ is None


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("In context=('properties', 'text_bound'), 'maxLength' is not permitted.", "text_bound"),
        ("For 'integer' type, properties maximum, minimum are not supported", "number_bound"),
        ("Unknown name \"$ref\" at 'tools[0].parameters.properties[5].value': Cannot find field.", "shared_type"),
        ("Invalid value at 'parameters.properties[4].value.enum[2]' (TYPE_STRING), null", "optional_enum"),
        ("Invalid 'parallel_tool_calls': not supported with strict tools.", "parallel_strict_calls"),
        ("tool_choice 'required' is not supported", "forced_call"),
        ("tools.0.custom.strict: Extra inputs are not permitted", "plain_enum"),
        ("properties plain_enum, nested_object, entry_list: no", None),
        ("Bad request", None),
        ("maximum context length is 4096 tokens", None),
        ('Unsupported schema keyword: "anyOf"', "null_union"),
        ("m supports no parallel calls with strict", "parallel_strict_calls"),
    ],
)
async def test_what_a_refusal_is_about(anyio_backend, words, name):
    carried = [*PARTS, "parallel_strict_calls", "forced_call"]
    assert blamed(words, carried, PARTS) == name
    assert blamed(words, [other for other in carried if other != name], PARTS) is None


# --- advice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("real", "taken_for"),
    [
        ("openai-finetuned", "vllm"),
        ("deepseek", "openai"),
        ("kimi", "sglang"),
        ("openrouter", "fireworks"),
        ("vllm", "openai-finetuned"),
        ("llama.cpp", "xai"),
    ],
)
async def test_a_configuration_as_advised_agrees_with_the_endpoint(anyio_backend, tmp_path, real, taken_for):
    file = tmp_path / "strictcall.toml"
    with strict_endpoint(dialect=real, answers="obedient", api_key=KEY) as endpoint:
        wrong = dataclasses.replace(link(endpoint, "chat_completions", provider="p"), dialect=load(taken_for))
        report = await probe(wrong)
        file.write_text(report.snippet())
        advised = ConfiguredLinks(file).resolve("p/m")
        again = await probe(advised)
    assert advised.supports_tools == "strict"
    assert again.contradictions == []
    for name in FEATURES:
        found = report[name].found
        assert found.value == "unknown" or expectation(name, advised.dialect) is found


async def test_calls_that_stand_in_the_text_are_held_by_nothing(anyio_backend):
    with strict_endpoint(dialect="vllm", answers="obedient", style="hermes", api_key=KEY) as endpoint:
        fields = {"dialect": load("vllm"), "tagged": "hermes"}
        report = await probe(link(endpoint, "chat_completions", **fields))
    assert {each.found.value for each in report.findings if each.name in FEATURES} == {"not_enforced"}
    assert report.supports_tools in ("basic", "parallel")
    assert len(report.contradictions) == 1


async def test_a_snippet_with_odd_names_is_read_as_it_was_meant(anyio_backend, tmp_path):
    model = 'a/b "quoted" \\ x\x7f é'
    report, _ = await probed(OneAtATime(), model=model, api_key_env=None)
    (tmp_path / "strictcall.toml").write_text(report.snippet(), encoding="utf-8")
    resolved = ConfiguredLinks(tmp_path / "strictcall.toml").resolve(f"p/{model}")
    assert (resolved.model, resolved.api_key_env, resolved.dialect.parallel_with_strict) == (model, None, False)
