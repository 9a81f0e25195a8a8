"""Answers that look natural: what the user names goes where it belongs, and what is sent is valid."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictcall import Tool, compile_tool
from strictcall.dialect.held import held
from strictcall.dialect.registry import load
from strictcall.emulator.conversation import Message, OfferedTool, PastCall, Request
from strictcall.emulator.sensible import calls as sensible
from strictcall.emulator.sensible.prompt import read
from strictcall.emulator.sensible.words import kind_of, split, stem

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def chance(seed: int = 1) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a seed, not a secret


def offered(name: str, schema: Any, description: str = "") -> OfferedTool:
    return OfferedTool(name, description, schema, "tools[0]", "tools[0].parameters", True)


def call(schema: Any, prompt: str, *, name: str = "tool", seed: int = 1) -> Any:
    return json.loads(sensible.arguments(offered(name, schema), prompt, chance(seed)))


def of(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object schema as OpenAI wants it: every property required, the optional ones nullable."""
    nullable = {name: {"anyOf": [child, {"type": "null"}]} for name, child in (optional or {}).items()}
    properties = {**required, **nullable}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
FIGURE = {"type": "number"}
FLAG = {"type": "boolean"}
ENTRIES = {"type": "array", "items": of({"key": TEXT, "value": TEXT})}

NAMED = [
    (of({"city": TEXT}), "What's the weather in Ponta Delgada?", {"city": "Ponta Delgada"}),
    (of({"city": TEXT}), "weather in new york please", {"city": "New York"}),
    (of({"timezone": TEXT}), "What time is it in Tokyo?", {"timezone": "Asia/Tokyo"}),
    (of({"latitude": FIGURE, "longitude": FIGURE}), "Sunset in Berlin", {"latitude": 52.52, "longitude": 13.405}),
    (of({"destination": TEXT, "origin": TEXT}),
     "Fly from Lisbon to Porto", {"destination": "Porto", "origin": "Lisbon"}),
    (of({"start_date": TEXT, "end_date": TEXT}),
     "Book from 3 May 2027 to May 9, 2027", {"start_date": "2027-05-03", "end_date": "2027-05-09"}),
    (of({"date": TEXT}), "Remind me tomorrow", {"date": "2026-06-16"}),
    (of({"start": {"type": "string", "format": "date-time"}}),
     "Meet on 2026-08-01 at 3pm", {"start": "2026-08-01T15:00:00Z"}),
    (of({"to": TEXT, "subject": TEXT}),
     "Mail jo@example.org with subject \"Hi there\"", {"to": "jo@example.org", "subject": "Hi there"}),
    (of({"end_time": TEXT, "start_time": TEXT}), "Meet on 2026-07-01 at 12:30",
     {"end_time": "2026-07-01T13:30:00Z", "start_time": "2026-07-01T12:30:00Z"}),
    (of({"target_language": TEXT}), "Translate it to French", {"target_language": "fr"}),
    (of({"source_language": {"enum": ["en", "fr"]}, "target_language": {"enum": ["en", "fr"]}}), "Put it to French",
     {"source_language": "en", "target_language": "fr"}),
    (of({"to": TEXT, "from": TEXT}), "A train from Paris to Rome", {"to": "Rome", "from": "Paris"}),
    (of({"url": TEXT}), "Fetch https://example.com/a?b=1.", {"url": "https://example.com/a?b=1"}),
    (of({"path": TEXT, "content": TEXT}), "Write \"hello\" to /srv/a.txt", {"path": "/srv/a.txt", "content": "hello"}),
    (of({"query": TEXT}, {"limit": WHOLE}),
     "Search the web for cheap flights to Oslo, limit 3", {"query": "cheap flights to Oslo", "limit": 3}),
    (of({"query": TEXT}, {"limit": WHOLE}), "Search papers about bees", {"query": "bees", "limit": None}),
    (of({"issue_key": TEXT}), "Show me TRIP-42", {"issue_key": "TRIP-42"}),
    (of({"name": TEXT}), "Create a branch called feature/maps", {"name": "feature/maps"}),
    (of({"a": FIGURE, "b": FIGURE}), "What is 12.5 plus 1,300?", {"a": 12.5, "b": 1300}),
    (of({"nights": {**WHOLE, "maximum": 30}}, {"guests": WHOLE}),
     "Stay 3 nights with 2 guests", {"nights": 3, "guests": 2}),
    (of({"time": {**FIGURE, "description": "Time to wait in seconds"}}), "Wait three seconds", {"time": 3}),
    (of({"unit": {"enum": ["celsius", "fahrenheit"]}}), "In Fahrenheit please", {"unit": "fahrenheit"}),
    (of({"currency": {"enum": ["USD", "EUR"]}}), "Show it in euros", {"currency": "EUR"}),
    (of({}, {"pace": {"enum": ["slow", "fast"]}}), "Any pace will do", {"pace": None}),
    (of({"full_page": FLAG}), "Take a full page screenshot", {"full_page": True}),
    (of({"labels": FLAG}), "without labels", {"labels": False}),
    (of({}, {"force": FLAG}), "Push it", {"force": None}),
    (of({"labels": ENTRIES}),
     "Label it env=prod, team: core",
     {"labels": [{"key": "env", "value": "prod"}, {"key": "team", "value": "core"}]}),
    (of({"tags": {"type": "array", "items": TEXT}}),
     "Add the tags red, green and blue", {"tags": ["red", "green", "blue"]}),
    (of({"files": {"type": "array", "items": TEXT, "maxItems": 1}}), "Add files a.txt and b.txt", {"files": ["a.txt"]}),
    (of({"values": {"type": "array", "items": FIGURE}}), "The mean of 3, 5 and 8.5", {"values": [3, 5, 8.5]}),
    (of({"data": {"type": "array", "items": of({"category": TEXT, "value": FIGURE})}}),
     "Chart of sales: Faro 7, Porto 15",
     {"data": [{"category": "Faro", "value": 7}, {"category": "Porto", "value": 15}]}),
    (of({"where": of({"field": TEXT, "equals": {"type": ["string", "number"]}})}),
     "documents where status is open", {"where": {"field": "status", "equals": "open"}}),
    (of({"id": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}}), "Look at vm-1 and ABC-7", {"id": "ABC-123"}),
    (of({"find_text": TEXT, "replace_text": TEXT}),
     "Replace \"colour\" with \"color\"", {"find_text": "colour", "replace_text": "color"}),
    ({"properties": {"x": {"const": 4}, "y": {"type": "string", "default": "why"}}, "required": ["x", "y"]},
     "go", {"x": 4, "y": "why"}),
    ({"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": []}, "hello", {}),
    ({"type": "object"}, "hello", {}),
    ({"type": "object", "properties": {"city": {"type": "STRING", "nullable": True}}, "required": ["city"]},
     "sun in Rome", {"city": "Rome"}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "prompt", "expected"), NAMED, ids=[row[1] for row in NAMED])
def test_what_the_prompt_names_goes_where_it_belongs(schema, prompt, expected):
    assert call(schema, prompt) == expected


EITHER = {"anyOf": [of({"kind": {"const": "mail"}, "to": TEXT}), of({"kind": {"const": "call"}, "phone": TEXT})]}
BOUNDED = [
    ({**WHOLE, "minimum": 5, "maximum": 9}, "limit 300"),
    ({**FIGURE, "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "half of it"),
    ({**WHOLE, "multipleOf": 25, "minimum": 110}, "limit 7"),
    ({"type": "string", "minLength": 400}, "short"),
    ({"type": "string", "maxLength": 3}, "a very long sentence about nothing in particular"),
    ({"type": "string", "pattern": "^urn:[a-z]{4}:[0-9]{12}$"}, "whatever"),
    ({"type": "string", "format": "uuid"}, "whatever"),
    ({"type": "string", "format": "duration"}, "two hours"),
    ({"type": "array", "items": WHOLE, "minItems": 6, "maxItems": 6}, "1 and 2"),
    ({"type": "array", "items": {"enum": ["a1", "b2", "c3"]}, "minItems": 1, "uniqueItems": True}, "b2 b2"),
    ({"type": "array", "prefixItems": [TEXT, WHOLE, FLAG], "items": False, "minItems": 3}, "go"),
    (
        {"anyOf": [of({"kind": {"const": "mail"}, "to": TEXT}), of({"kind": {"const": "call"}, "phone": TEXT})]},
        "a call",
    ),
    ({"allOf": [of({"a": TEXT}), {"type": "object"}]}, "go"),
    ({"type": "object", "minProperties": 3, "additionalProperties": WHOLE}, "go"),
]


@pytest.mark.parametrize(("child", "prompt"), BOUNDED)
def test_values_keep_to_the_schema_where_the_prompt_does_not(child, prompt):
    schema = {"type": "object", "properties": {"limit": child}, "required": ["limit"]}
    check = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    for seed in range(5):
        assert list(check.iter_errors(call(schema, prompt, seed=seed))) == []


def test_the_branch_of_a_union_is_the_one_that_the_prompt_speaks_of():
    schema = of(
        {
            "target": {
                "anyOf": [of({"kind": {"const": "mail"}, "to": TEXT}), of({"kind": {"const": "call"}, "phone": TEXT})]
            }
        }
    )
    assert call(schema, "Please call her")["target"]["kind"] == "call"
    assert call(schema, "Mail her")["target"]["kind"] == "mail"


def test_constraints_that_only_the_description_tells_are_kept_too():
    limit = {"type": "integer", "description": "How many [constraints: maximum 10; minimum 1]"}
    assert call(of({"limit": limit}), "the top 50")["limit"] == 10
    where = {"type": "string", "description": "[constraints: JSON text]"}
    assert json.loads(call(of({"equals": where}), "status equals open")["equals"]) == "open"
    filters = {"type": "array", "items": of({"key": TEXT, "value": where})}
    assert call(of({"filter": filters}), "where city is Rome") == {"filter": [{"key": "city", "value": '"Rome"'}]}


def test_properties_come_in_the_schemas_order():
    schema = of({"zone": TEXT, "amount": FIGURE}, {"alpha": TEXT})
    assert list(call(schema, "amount 5, zone: north")) == ["zone", "amount", "alpha"]


def test_recursion_ends_where_the_words_end():
    node = of({"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}})
    schema = {**of({"root": {"$ref": "#/$defs/node"}}), "$defs": {"node": node}}
    assert len(json.dumps(call(schema, 'Make a tree called "oak"'))) < 300


def test_the_same_seed_gives_the_same_arguments():
    schema = of({"id": TEXT, "count": FIGURE, "key": {"type": "string", "format": "uuid"}})
    assert call(schema, "go", seed=5) == call(schema, "go", seed=5)
    assert call(schema, "go", seed=5) != call(schema, "go", seed=6)


@functools.cache
def example_tools() -> dict[str, tuple[str, Any]]:
    """The tools of the examples: those of tools.json, and the trip server's with the schemas that it lists."""
    found: dict[str, tuple[str, Any]] = {}
    for row in json.loads((EXAMPLES / "tools.json").read_text("utf-8")):
        function = row.get("function", row)
        schema = function.get("parameters") or function.get("inputSchema") or function.get("input_schema")
        found[function["name"]] = (function["description"], schema)
    spec = importlib.util.spec_from_file_location("trip_server", EXAMPLES / "trip_server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["trip_server"] = module  # where pydantic looks for the names of annotations
    spec.loader.exec_module(module)
    for tool in asyncio.run(module.server.list_tools()):
        found[tool.name] = (tool.description, tool.input_schema)
    return found


EXAMPLE_CALLS = [
    ("get_weather", "What's the weather in Lisbon for the next 3 days in Fahrenheit?",
     {"city": "Lisbon", "days": 3, "unit": "fahrenheit"}),
    ("get_weather", "Will it rain in Oslo?", {"city": "Oslo"}),
    ("set_labels", "Label vm-42 with env=prod, team: core", {"id": "vm-42", "labels": {"env": "prod", "team": "core"}}),
    ("run_query", "Find documents after 2026-05-01 where owner is Ana",
     {"where": {"field": "owner", "equals": "Ana"}, "after": "2026-05-01"}),
    ("plan_trip",
     "Plan a slow trip for Ana Silva, vegetarian, 3 nights in Lisbon and 2 nights in Porto, with 200 euros for food",
     {"traveller": {"name": "Ana Silva", "diet": "vegetarian"}, "pace": "slow", "budget": {"food": 200},
      "stops": [{"city": "Lisbon", "nights": 3}, {"city": "Porto", "nights": 2}]}),
    ("search_places", "Find 2 places where kind equals museum",
     {"where": {"field": "kind", "equals": "museum"}, "limit": 2}),
    ("search_places", "Find places under 10 euros near Lisbon", {"where": {"at_most": 10}, "near": [38.7223, -9.1393]}),
    ("rate_place", "Give Livraria Lello 4 stars, comment \"lovely stairs\", labels season: spring",
     {"name": "Livraria Lello", "stars": 4, "comment": "lovely stairs", "labels": {"season": "spring"}}),
]  # fmt: skip


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(("name", "prompt", "expected"), EXAMPLE_CALLS, ids=[row[1] for row in EXAMPLE_CALLS])
def test_the_examples_are_called_as_a_user_would_expect(name, prompt, expected, dialect):
    description, schema = example_tools()[name]
    compiled = compile_tool(Tool(name, description, schema), dialect)
    tool = offered(compiled.name, compiled.parameters, compiled.description or "")
    written = sensible.arguments(tool, prompt, chance(), schema=held(tool.schema, load(dialect)))
    assert compiled.decode(written) == expected


def samples() -> list[dict[str, Any]]:
    text = (ROOT / "tests/data/tools_sample.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


PROMPTS = ("Find 5 open issues about Lisbon for Ana Silva, tomorrow, labels: a, b and c", "go", "")


def assert_valid(rows: list[dict[str, Any]]) -> int:
    """Every strict tool of the rows gets arguments that its wire schema admits and its contract decodes to."""
    checked = 0
    for dialect in ("openai", "anthropic", "json_schema"):
        for row in rows:
            compiled = compile_tool(Tool("tool", "", row["schema"]), dialect)
            if not compiled.strict:
                continue
            wire = held(compiled.parameters, load(dialect))
            check = jsonschema_rs.Draft202012Validator(wire, validate_formats=False)
            for seed, prompt in enumerate(PROMPTS):
                tool = offered("tool", compiled.parameters)
                value = json.loads(sensible.arguments(tool, prompt, chance(seed), schema=wire))
                assert [error.message for error in check.iter_errors(value)] == [], (dialect, row["name"], value)
                checked += 1
    return checked


def test_arguments_for_real_tools_are_always_valid():
    assert assert_valid(samples()) > 250


def test_arguments_for_many_real_tools_are_always_valid(shared_data):
    lines = (shared_data / "live_mcp_a.jsonl").read_text("utf-8").splitlines()
    assert assert_valid([json.loads(line) for line in lines[::6]]) > 900


WEATHER = offered("get_weather", of({"city": TEXT}), "The weather of a city")
MAIL = offered("send_email", of({"to": TEXT, "body": TEXT}), "Send an e-mail to somebody")
FIND = offered("search_places", of({"query": TEXT}), "Find places")
TOOLS = (WEATHER, MAIL, FIND)

CHOICES = [
    ("Will it rain in Oslo?", ["get_weather"]),
    ("What's the weather in Rome?", ["get_weather"]),
    ("Write to ana@example.com and say hello by email", ["send_email"]),
    ("Find museums", ["search_places"]),
    ("How are you?", []),
    ("Thank you, that was all.", []),
    ("", []),
    ("Check the weather in Rome and then send an email to jo@example.com", ["get_weather", "send_email"]),
    ("What's the weather in Rome, Oslo and Berlin?", ["get_weather"] * 3),
]


@pytest.mark.parametrize(("prompt", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_the_prompt_chooses_the_tools(prompt, expected):
    found = sensible.wishes(TOOLS, prompt, chance(), parallel=True)
    assert [wish.tool.name for wish in found] == expected
    alone = sensible.wishes(TOOLS, prompt, chance(), parallel=False)
    assert [wish.tool.name for wish in alone] == expected[:1]


def test_each_wish_has_its_own_words():
    rome, oslo = sensible.wishes(TOOLS, "What's the weather in Rome and Oslo?", chance(), parallel=True)
    assert "Rome" in rome.words
    assert "Oslo" not in rome.words
    assert "Oslo" in oslo.words


def test_calls_that_were_made_are_not_made_again():
    prompt = "Check the weather in Rome and then send an email to jo@example.com"
    second = sensible.wishes(TOOLS, prompt, chance(), parallel=False, done=1)
    assert [wish.tool.name for wish in second] == ["send_email"]
    assert sensible.wishes(TOOLS, prompt, chance(), parallel=False, done=2) == []


def test_a_required_call_is_made_whatever_is_said():
    found = sensible.wishes(TOOLS, "How are you?", chance(), parallel=True, required=True)
    assert len(found) == 1
    assert sensible.wishes((), "weather", chance(), parallel=True, required=True) == []


def test_a_text_repeats_what_the_tools_said():
    request = Request(
        "m",
        (
            Message("user", "Weather in Rome and Oslo?"),
            Message("assistant", calls=(PastCall("a", "get_weather", "{}"), PastCall("b", "get_weather", "{}"))),
            Message("tool", "Sunny, 28 degrees", call_id="a"),
            Message("tool", "Snow " * 500, call_id="b"),
        ),
    )
    text = sensible.text(request, chance())
    assert "Sunny, 28 degrees" in text
    assert "Snow Snow" in text
    assert len(text) < 1_000


def test_a_text_without_results_says_that_it_is_a_stand_in():
    assert "bees" in sensible.text(Request("m", (Message("user", "Tell me about bees"),)), chance())
    assert sensible.text(Request("m", ()), chance())


def test_structured_output_is_filled_from_the_prompt():
    schema = of({"name": TEXT, "email": TEXT})
    made = json.loads(sensible.output(schema, "My name is Ana, my mail is ana@example.com", chance()))
    assert made == {"name": "Ana", "email": "ana@example.com"}
    assert isinstance(json.loads(sensible.output(None, "anything", chance())), dict)


def nested(levels: int) -> Any:
    schema: Any = TEXT
    for _ in range(levels):
        schema = of({"a": schema})
    return schema


BUSH = {"$ref": "#/$defs/n"}
HOSTILE = {
    "many properties": of({f"city_{index}": TEXT for index in range(3_000)}),
    "many optional ones": of({}, {f"city_{index}": {"enum": ["a", "b"]} for index in range(3_000)}),
    "deep": nested(300),
    "endless": of({"a": {"$ref": "#"}}),
    "bush": {**of({"x": BUSH}), "$defs": {"n": of({}, dict.fromkeys("abcdef", BUSH))}},
    "allOf in itself": {**of({"x": BUSH}), "$defs": {"n": {"allOf": [BUSH, BUSH]}}},
    "reference in itself": {**of({"x": BUSH}), "$defs": {"n": BUSH}},
    "huge enum": of({"e": {"enum": [f"v{index}" for index in range(20_000)]}}),
    "huge array": of({"a": {"type": "array", "items": WHOLE, "minItems": 10**6}}),
    "huge text": of({"a": {"type": "string", "minLength": 10**9}}),
    "outside": of({"a": {"$ref": "https://example.com/schema.json"}}),
    "names": of({"\ud800": TEXT, "": TEXT, "x" * 50_000: WHOLE, "a/b~c\n": FLAG}),
    "no schema": {"type": 5, "properties": [1], "required": {"a": 1}, "anyOf": 3, "enum": {}},
    "odd keywords": of(
        {"a": {"type": "string", "pattern": 5, "minLength": "x"}, "b": {"items": [{}], "type": "array"}}
    ),
    "slow pattern": of({"a": {"type": "string", "pattern": "^(a+)+b$", "minLength": 20}}),
    "nothing fits": of({"a": {"type": "integer", "minimum": 5, "maximum": 1}}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_end_soon_in_some_json(name):
    began = time.monotonic()
    assert isinstance(call(HOSTILE[name], "Find 5 things in Lisbon"), dict)
    assert time.monotonic() - began < 20


KEYWORDS = (
    "type properties required items anyOf allOf oneOf enum const $ref description pattern minLength minItems maxItems "
    "minimum maximum multipleOf format default examples prefixItems additionalProperties patternProperties nullable"
).split()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*KEYWORDS, "object", "string", "#"])
JUNK = st.recursive(
    LEAVES,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), part, max_size=4),
)


@given(JUNK)
def test_junk_for_a_schema_gets_json(schema):
    written = sensible.arguments(offered("tool", schema), 'Find 5 "things" in Lisbon: a, b and c', chance())
    json.loads(written)


@pytest.mark.parametrize(
    "prompt",
    ["a" * 100_000, "1 " * 20_000, '"' * 9_999, "k=v " * 5_000, "a-" * 9_999, "((1+" * 3_000, "\ud800 x", "/a" * 9_999],
    ids=["long", "numbers", "quotes", "pairs", "dashes", "sums", "surrogate", "path"],
)
def test_hostile_prompts_end_soon(prompt):
    began = time.monotonic()
    assert call(of({"city": TEXT, "n": WHOLE}, {"tags": ENTRIES}), prompt)["city"]
    sensible.wishes(TOOLS, prompt, chance(), parallel=True, required=True)
    sensible.text(Request("m", (Message("user", prompt),)), chance()).encode()
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("Meet at 9:30 or 3 pm or noon", "time", ["09:30", "15:00", "12:00"]),
        ("on 31 February 2027", "date", []),
        ("next Friday", "date", ["2026-06-19"]),
        ("it's \"this\", 'that' and don't forget", "quoted", ["this", "that"]),
        ("Is Ana Silva's plan for Portugal good?", "name", ["Ana Silva"]),
        ("Cheap is good. Book it. Ask about Ponte", "name", ["Ponte"]),
        ("pay 1,250.50 or -3", "number", ["1250.50", "-3"]),
        ("compute 3 * (4 + 5)", "expression", ["3 * (4 + 5)"]),
    ],
)
def test_a_prompt_is_read(text, kind, values):
    assert [mention.value for mention in read(text).of(kind)] == values


@pytest.mark.parametrize(
    ("name", "kind"),
    [("page_id", "id"), ("userEmail", "email"), ("branch_name", "branch"), ("departureDate", "date"), ("xyz", None)],
)
def test_a_name_tells_what_a_text_is(name, kind):
    assert kind_of(split(name)) == kind


@pytest.mark.parametrize(
    ("one", "other"), [("cities", "city"), ("booking", "booked"), ("stopped", "stops"), ("dates", "date")]
)
def test_words_of_one_stem_are_one(one, other):
    assert stem(one) == stem(other)
