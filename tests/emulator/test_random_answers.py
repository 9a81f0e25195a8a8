"""Random answers: arguments and output that fit, texts of every kind, all repeatable."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from strictcall import ArgumentsError, Dialect, Verdict, compile_schema
from strictcall.dialect import State, load
from strictcall.emulator.answers.grammar import GrammarRefusedError
from strictcall.emulator.answers.random_answers import arguments, output, reasoning, text

SAMPLE = Path(__file__).parents[1] / "data" / "tools_sample.jsonl"
BUDGET = 6_000
JSON_SCHEMA = load("json_schema")
ALL_HELD = Dialect("all-held", "A decoder that holds every keyword", others=State.ENFORCED)
OPENAI = load("openai")


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a seed, not a secret


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_arguments_of_strict_tools_decode(name: str) -> None:
    count = 0
    for number, line in enumerate(SAMPLE.read_text(encoding="utf-8").splitlines()):
        compiled = compile_schema(json.loads(line)["schema"], name)
        if not compiled.strict:
            continue
        written = arguments(compiled.parameters, compiled.dialect, seeded(number), BUDGET)
        assert written.complete
        try:
            assert compiled.check(compiled.decode(written.text)) == ()
        except ArgumentsError:
            assert compiled.verdict is Verdict.CHECKED
        count += 1
    assert count > 30


def test_arguments_repeat_by_seed_and_keep_to_the_budget() -> None:
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string", "minLength": 50}},
        "required": ["q"],
        "additionalProperties": False,
    }
    whole = [arguments(schema, JSON_SCHEMA, seeded(seed), BUDGET) for seed in (1, 1, 2)]
    assert whole[0] == whole[1] != whole[2]
    cut = arguments(schema, JSON_SCHEMA, seeded(1), 30)
    assert not cut.complete
    assert cut.text.startswith('{"q":"')
    assert 26 < len(cut.text.encode()) <= 30


UNKNOWN_TO_THE_ENGINE: list[dict[str, Any]] = [
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 2},
    {"type": "object", "properties": {"a": {}, "B": {}}, "propertyNames": {"pattern": "^[a-z]+$"}},
    {"not": {"type": "string"}},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=.*x)[a-z]+$"}}},
]


@pytest.mark.parametrize("schema", UNKNOWN_TO_THE_ENGINE, ids=json.dumps)
def test_what_has_no_grammar_is_made_another_way(schema: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for seed in range(10):
        written = arguments(schema, ALL_HELD, seeded(seed), BUDGET)
        assert written.complete
        assert validator.is_valid(json.loads(written.text))
        cut = arguments(schema, ALL_HELD, seeded(seed), 1)
        assert cut.complete is (len(written.text) == 1)
        assert len(cut.text) <= 1


@pytest.mark.parametrize(
    "schema", [{"$ref": "https://example.com/x"}, {"type": "object", "required": ["a"], "not": {}}]
)
def test_what_cannot_be_made_at_all_is_refused(schema: Any) -> None:
    with pytest.raises(GrammarRefusedError) as caught:
        arguments(schema, ALL_HELD, seeded(1), BUDGET)
    assert caught.value.reason


def test_output_has_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    for seed in range(30):
        value = json.loads(output(schema, OPENAI, seeded(seed), BUDGET).text)
        assert list(value) == ["n"]
        assert type(value["n"]) is int
    free = [json.loads(output(None, OPENAI, seeded(seed), BUDGET).text) for seed in range(60)]
    assert all(isinstance(value, dict) for value in free)
    assert {} in free
    assert any(len(value) > 1 for value in free)


def test_texts_are_of_every_kind_and_repeat() -> None:
    found = [text(seeded(seed)) for seed in range(500)]
    assert found == [text(seeded(seed)) for seed in range(500)]
    assert "" in found
    assert any(len(item) > 2_000 for item in found)
    assert any("```" in item for item in found)
    assert any("|---|" in item for item in found)
    assert any(not item.isascii() for item in found)
    assert any(item.strip().startswith("{") for item in found)
    assert len(set(found)) > 250
    for item in found:
        item.encode()


def test_reasoning_is_text_or_nothing() -> None:
    found = [reasoning(seeded(seed)) for seed in range(50)]
    assert found == [reasoning(seeded(seed)) for seed in range(50)]
    assert "" in found
    assert max(map(len, found)) > 100
