"""The sampler of JSON texts: what it writes fits the schema, all that fits comes up, and what is rare comes often."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from strictcall import compile_schema
from strictcall.dialect import load
from strictcall.emulator.answers import grammar as module
from strictcall.emulator.answers.grammar import (
    FORMATS,
    Grammar,
    GrammarRefusedError,
    Sampler,
    brought_in,
    faithful,
    flawed,
    grammar,
    prepared,
    read,
)
from strictcall.emulator.answers.layout import laid_out
from strictcall.emulator.answers.walk import MOODS, Walk
from strictcall.errors import StrictCallError

SAMPLE = Path(__file__).parents[1] / "data" / "tools_sample.jsonl"
DIALECTS = ("openai", "anthropic", "json_schema", "gemini", "mistral", "groq", "vllm", "llama.cpp", "deepseek")
BUDGET = 6_000


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a seed, not a secret


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def wires(tools: list[dict[str, Any]], dialect: str) -> list[Any]:
    compiled = (compile_schema(row["schema"], dialect) for row in tools)
    return [prepared(tool.parameters, tool.dialect) for tool in compiled if tool.strict]


def texts(schema: Any, count: int = 200) -> list[str]:
    return many(json.dumps(schema), count)


@cache
def many(schema: str, count: int) -> list[str]:
    rng = seeded(7)
    made = Grammar(json.loads(schema))
    written = [made.sample(rng, budget_bytes=BUDGET) for _ in range(count)]
    assert all(text.complete for text in written), [text.text for text in written if not text.complete][:3]
    return [text.text for text in written]


def values(schema: Any, count: int = 200) -> list[Any]:
    return [json.loads(text) for text in texts(schema, count)]


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def misfits(schemas: list[Any], count: int) -> tuple[int, list[str]]:
    """How many samples there were, and those that a validator refuses or that are not whole."""
    found = []
    for number, schema in enumerate(schemas):
        validator = jsonschema.Draft202012Validator(schema)
        rng = seeded(number)
        for _ in range(count):
            written = grammar(schema).sample(rng, budget_bytes=BUDGET)
            if not written.complete or not validator.is_valid(json.loads(written.text)):
                found.append(f"{written} under {json.dumps(schema)[:500]}")
    return count * len(schemas), found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_samples_of_real_wire_schemas_are_valid(dialect: str) -> None:
    schemas = wires(rows(SAMPLE), dialect)
    count, found = misfits(schemas, 4)
    assert found == []
    assert len(schemas) > 30
    assert count > 120


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_samples_of_the_big_data_are_valid(shared_data: Path, dialect: str) -> None:
    tools = seeded(5).sample(rows(shared_data / "live_mcp_a.jsonl"), 120)
    schemas = wires(tools, dialect)
    _, found = misfits(schemas, 2)
    assert found == []
    assert len(schemas) > 100


TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"v": {"type": ["integer", "null"]}, "kids": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["v", "kids"],
    "additionalProperties": False,
}
CHAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
    "required": ["next"],
    "additionalProperties": False,
}
OPTIONALS: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "boolean"} for name in "abcdefgh"},
    "additionalProperties": False,
}
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
INTEGER: dict[str, Any] = {"type": "integer"}
SHORT_TEXT: dict[str, Any] = {"type": "string", "minLength": 2, "maxLength": 7}
LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 4}
Seen = Callable[[Any, str], bool]
OBSERVED: list[tuple[str, Any, Seen]] = [
    ("null", {"type": ["integer", "null"]}, lambda value, _: value is None),
    ("empty-text", TEXT, lambda value, _: value == ""),
    ("long-text", TEXT, lambda value, _: len(value) > 500),
    ("two-bytes-a-character", TEXT, lambda value, _: any("\x80" <= item < "\u0800" for item in value)),
    ("three-bytes-a-character", TEXT, lambda value, _: any("\u0800" <= item <= "\uffff" for item in value)),
    ("four-bytes-a-character", TEXT, lambda value, _: any(item > "\uffff" for item in value)),
    ("escaped-pair", TEXT, lambda value, text: "\\ud8" in text.lower() and any(item > "\uffff" for item in value)),
    ("escaped-character", TEXT, lambda _, text: "\\u00" in text.lower()),
    ("escaped-quote", TEXT, lambda _, text: '\\"' in text),
    ("escaped-slash", {"const": "a/b"}, lambda _, text: "\\/" in text),
    ("control-escape", TEXT, lambda value, _: any(item < " " for item in value)),
    ("zero-character", TEXT, lambda value, _: "\0" in value),
    ("text-that-looks-like-null", TEXT, lambda value, _: value == "null"),
    ("shortest-text", SHORT_TEXT, lambda value, _: len(value) == 2),
    ("longest-text", SHORT_TEXT, lambda value, _: len(value) == 7),
    ("longest-of-300", {"type": "string", "maxLength": 300}, lambda value, _: len(value) == 300),
    ("zero", INTEGER, lambda _, text: text == "0"),
    ("negative-zero", INTEGER, lambda _, text: text == "-0"),
    ("beyond-53-bits", INTEGER, lambda value, _: abs(value) > 2**53),
    ("beyond-64-bits", INTEGER, lambda value, _: value > 2**64),
    ("far-below-zero", INTEGER, lambda value, _: value < -(2**63)),
    ("least-integer", {"type": "integer", "minimum": 5, "maximum": 100}, lambda value, _: value == 5),
    ("largest-integer", {"type": "integer", "minimum": 5, "maximum": 100}, lambda value, _: value == 100),
    ("fraction", NUMBER, lambda value, _: value != int(value)),
    ("whole-with-point", NUMBER, lambda value, text: "." in text and value == int(value)),
    ("exponent", NUMBER, lambda _, text: "e" in text),
    ("capital-exponent", NUMBER, lambda _, text: "E" in text),
    ("huge", NUMBER, lambda value, _: abs(value) > 1e300),
    ("tiny", NUMBER, lambda value, _: 0 < abs(value) < 1e-300),
    ("many-digits", NUMBER, lambda _, text: sum(item.isdigit() for item in text) > 25),
    ("empty-array", {"type": "array", "items": TEXT}, lambda value, _: value == []),
    ("long-array", {"type": "array", "items": INTEGER}, lambda value, _: len(value) > 15),
    ("shortest-array", LIST, lambda value, _: len(value) == 1),
    ("longest-array", LIST, lambda value, _: len(value) == 4),
    ("no-optional", OPTIONALS, lambda value, _: value == {}),
    ("all-optionals", OPTIONALS, lambda value, _: len(value) == 8),
    ("last-optional-alone", OPTIONALS, lambda value, _: list(value) == ["h"]),
    ("end-of-recursion", CHAIN, lambda value, _: value == {"next": None}),
    ("deep-recursion", CHAIN, lambda value, _: depth(value) > 20),
    ("deep-tree", TREE, lambda value, _: depth(value) > 15),
    ("wide-tree", TREE, lambda value, _: len(value["kids"]) > 5),
    ("free-name-empty", {"type": "object"}, lambda value, _: "" in value),
    ("free-name-of-prototypes", {"type": "object"}, lambda value, _: "__proto__" in value),
    ("anything-is-object", {}, lambda value, _: isinstance(value, dict)),
    ("anything-is-null", {}, lambda value, _: value is None),
    ("anything-is-bare-number", {}, lambda value, _: type(value) is int),
    ("spaces", CHAIN, lambda _, text: text.startswith('{"next": ')),
    ("lines", CHAIN, lambda _, text: "\n" in text),
]


@pytest.mark.parametrize(("schema", "seen"), [pytest.param(row[1], row[2], id=row[0]) for row in OBSERVED])
def test_interesting_values_come_up(schema: Any, seen: Seen) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    found = texts(schema, 400)
    assert any(seen(json.loads(text), text) for text in found)
    assert all(validator.is_valid(json.loads(text)) for text in found[:40])


def test_every_value_of_a_small_schema_comes_up() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "ab", "b", 1, 10, None, True]},
            "many": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    assert len({json.dumps(value) for value in values(schema, 2_000)}) == 7 * (1 + 1 + 2 + 4)


@pytest.mark.parametrize("mood", MOODS)
def test_each_mood_by_itself_ends_and_fits(mood: str) -> None:
    schema = {"type": "object", "properties": {"tree": TREE, "any": {}}, "required": ["tree"]}
    schema["properties"]["tree"] = {**TREE, "$id": "urn:tree"}
    made = Grammar(schema)
    validator = jsonschema.Draft202012Validator(schema)
    rng = seeded(3)
    seen = set()
    for _ in range(60):
        walk = Walk(made._fresh_matcher(), rng, MOODS[mood], made._hints, BUDGET)
        assert walk.run() == "whole"
        found = read(bytes(walk.out))
        assert found is None or validator.is_valid(found.value)
        seen.add(bytes(walk.out))
    assert len(seen) > 10


@pytest.mark.parametrize("schema", [CHAIN, TREE, {"type": "object"}, TEXT])
def test_a_seed_repeats_itself(schema: Any) -> None:
    def run(seed: int) -> list[str]:
        rng = seeded(seed)
        return [Grammar(schema).sample(rng, budget_bytes=BUDGET).text for _ in range(40)]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_samples_do_not_depend_on_what_was_sampled_before() -> None:
    used = Grammar(TREE)
    for seed in range(50):
        used.sample(seeded(seed), budget_bytes=BUDGET)
    again = used.sample(seeded(1), budget_bytes=BUDGET)
    assert again == Grammar(TREE).sample(seeded(1), budget_bytes=BUDGET)


@pytest.mark.parametrize("budget", [0, 1, 7, 20, 60])
def test_a_text_ends_where_the_budget_does(budget: int) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string", "minLength": 300}}, "required": ["text"]}
    for seed in range(30):
        written = Grammar(schema).sample(seeded(seed), budget_bytes=budget)
        assert not written.complete
        assert len(written.text.encode()) <= budget
        assert '{"text":"'.startswith(written.text[:9])
        assert len(written.text.encode()) > budget - 4


def test_a_small_budget_is_kept_to_where_it_can_be() -> None:
    rng = seeded(1)
    written = [Grammar(TREE).sample(rng, budget_bytes=40) for _ in range(100)]
    assert all(len(text.text.encode()) <= 40 for text in written)
    assert sum(text.complete for text in written) > 80


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "string", "format": "color"}, "color"),
        ({"$ref": "https://example.com/schema.json"}, "example.com"),
        ({"type": "string", "pattern": "(?=a)b"}, "look"),
        ({"const": 2**70}, "64 bits"),
        ({"const": "\ud800"}, "no JSON"),
        ({"type": "number", "maximum": float("inf")}, "no JSON"),
        ({"$ref": 3}, "string"),
        (False, "admits nothing"),
        (None, "no object"),
        ([], "no object"),
    ],
)
def test_a_schema_without_a_grammar_is_refused_in_one_line(schema: Any, word: str) -> None:
    with pytest.raises(GrammarRefusedError) as caught:
        Grammar(schema)
    assert word in caught.value.reason
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300
    assert isinstance(caught.value, StrictCallError)


def test_a_schema_nested_too_deep_is_refused() -> None:
    schema: Any = {"type": "string"}
    for _ in range(50_000):
        schema = {"type": "array", "items": schema}
    with pytest.raises(GrammarRefusedError, match="too deep"):
        grammar(schema)
    with pytest.raises(GrammarRefusedError, match="digits"):
        grammar({"const": 10**5_000})
    while schema.get("items"):  # taken apart here: the interpreter would do it by recursion
        schema = schema["items"]


def test_lenient_passes_over_what_is_unknown() -> None:
    made = Grammar({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, lenient=True)
    written = made.sample(seeded(1), budget_bytes=BUDGET)
    assert isinstance(json.loads(written.text), list)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
        {"type": "integer", "exclusiveMinimum": -3, "exclusiveMaximum": 3},
        {"type": "number", "multipleOf": 0.25},
        {"type": "integer", "minimum": -(2**63)},
        {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
        {"type": "number", "maximum": 1e19},
        {"enum": [1, 2**64, "x"]},
    ],
)
def test_bounds_that_the_engine_has_trouble_with_hold(schema: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    found = values(schema, 150)
    assert all(validator.is_valid(value) for value in found)
    assert len({str(value) for value in found}) > 1


def test_a_bound_that_is_let_in_is_seen() -> None:
    assert flawed({"properties": {"a": {"exclusiveMinimum": 0}}})
    assert not flawed({"properties": {"a": {"minimum": 0}}})


def test_what_cannot_be_written_is_seen_and_brought_in() -> None:
    schema = {"properties": {"a": {"maximum": 2**64 - 1, "multipleOf": 5}, "b": {"enum": [2**64, 1]}}}
    assert not faithful(schema)
    assert brought_in(schema) == {"properties": {"a": {"maximum": 2**53, "multipleOf": 5}, "b": {"enum": [1]}}}
    assert schema["properties"]["a"]["maximum"] == 2**64 - 1
    assert list(Sampler({"const": 2**70}).samples(5, seed=1)) == []


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (b'{"a":1}', True),
        (b'{"a":1,"a":2}', False),
        (b'{"a":1,"\\u0061":2}', False),
        (b"1e400", False),
        (b"-1e400", False),
        (b"1e-400", True),
        (b'"\\ud800"', False),
        (b'"\\ud83d\\ude00"', True),
        (b'"\xff"', False),
        (b"[1", False),
        (b"[" * 100_000, False),
    ],
)
def test_what_arguments_may_not_hold_is_no_sample(text: bytes, holds: bool) -> None:
    assert (read(text) is not None) is holds


def test_no_sample_is_outside_the_limits() -> None:
    schema = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
    for text in texts(schema, 400):
        assert read(text.encode()) is not None, text


def test_formats_that_the_engine_knows() -> None:
    for name in FORMATS:
        assert Grammar({"type": "string", "format": name})
    for name in ("idn-email", "iri", "regex", "uri-reference", "int32", "json-pointer", "x-own"):
        with pytest.raises(GrammarRefusedError):
            Grammar({"type": "string", "format": name})


def test_prepared_keeps_what_the_decoder_holds() -> None:
    schema = {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "path": {"type": "string", "format": "uri-reference", "description": "where"},
            "format": {"type": "string", "enum": ["date"]},
        },
        "required": ["day", "path", "format"],
        "additionalProperties": False,
    }
    before = json.dumps(schema)
    for name in ("openai", "json_schema"):
        found = prepared(schema, load(name))
        assert found["properties"]["day"] == {"type": "string", "format": "date"}
        assert found["properties"]["path"] == {"type": "string"}
        assert found["properties"]["format"] == {"type": "string", "enum": ["date"]}
    assert json.dumps(schema) == before


def test_formats_are_held() -> None:
    days = values({"type": "string", "format": "date"})
    assert all(jsonschema.FormatChecker().conforms(day, "date") for day in days)


@pytest.mark.parametrize("pattern", ["foo.*bar", "^[A-Z]{2}-\\d{4}$", "x", "^(GET|POST) /[a-z]+$", "@.+\\.com$"])
def test_texts_with_a_pattern_end(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    validator = jsonschema.Draft202012Validator(schema)
    assert all(validator.is_valid(text) for text in values(schema, 60))


def test_threads_share_a_grammar() -> None:
    def run(seed: int) -> list[str]:
        rng = seeded(seed)
        return [grammar(TREE).sample(rng, budget_bytes=BUDGET).text for _ in range(15)]

    alone = [run(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(run, range(12))) == alone


def test_grammars_are_kept_but_not_without_end() -> None:
    assert grammar(TREE) is grammar(json.loads(json.dumps(TREE)))
    assert grammar(TREE) is not grammar(TREE, lenient=True)
    for number in range(300):
        grammar({"const": number})
    assert module._cached.cache_info().currsize <= 128


def test_the_automaton_is_made_anew_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FRESH_AFTER", 5)
    made = Grammar(CHAIN)
    first = made._matcher
    for seed in range(12):
        assert made.sample(seeded(seed), budget_bytes=BUDGET).complete
    assert made._matcher is not first


def test_another_layout_is_the_same_json() -> None:
    value = {"a, b": ["x/y", "é😀", '"{[', "\\/"], "n": {}, "e": []}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    rng = seeded(1)
    found = {laid_out(text, rng, 10_000, often=1.0) for _ in range(60)}
    assert len(found) == 4
    assert all(json.loads(other) == value for other in found)
    assert {laid_out(text, rng, len(text.encode()), often=1.0) for _ in range(60)} == {text}


def test_sampler_yields_texts_with_their_values() -> None:
    found = list(Sampler(TREE).samples(30, seed=4))
    assert len(found) == 30
    assert all(json.loads(sample.text) == sample.value for sample in found)
    assert [sample.text for sample in Sampler(TREE).samples(30, seed=4)] == [sample.text for sample in found]
