"""Broken arguments: each way breaks as its name says, at the rate asked for, whatever the schema is."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strictcall import compile_schema
from strictcall.emulator.answers.broken_texts import IN_THE_TEXT
from strictcall.emulator.answers.broken_values import misspellings, places, replaced
from strictcall.emulator.answers.loosely import loosely
from strictcall.emulator.answers.sloppy import KINDS, arguments
from strictcall.emulator.answers.structure import Structure

SAMPLE = Path(__file__).parents[1] / "data" / "tools_sample.jsonl"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 12},
        "maxItems": {"type": "integer", "minimum": 1, "maximum": 100},
        "mode": {"enum": ["fast", "slow"]},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "opts": {
            "type": "object",
            "properties": {"deep": {"type": "boolean"}},
            "required": ["deep"],
            "additionalProperties": False,
        },
    },
    "required": ["path", "maxItems", "mode", "flag", "tags", "opts"],
    "additionalProperties": False,
}
NESTED = ("tags", "opts")
STILL_JSON = {"text-in-text": str, "null-text": type(None), "duplicate-name": dict}
SEEDS = range(25)


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a seed, not a secret


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def parsed(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text)
    except ValueError:
        return False, None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in IN_THE_TEXT])
def test_a_broken_value_is_json_that_the_contract_refuses(kind: str) -> None:
    check = compile_schema(SCHEMA, "json_schema").check
    for seed in SEEDS:
        text = arguments(SCHEMA, seeded(seed), 1.0, {kind})
        assert check(json.loads(text)) != (), text


@pytest.mark.parametrize("kind", IN_THE_TEXT)
def test_a_broken_text_is_no_json_or_no_plain_object(kind: str) -> None:
    for seed in SEEDS:
        text = arguments(SCHEMA, seeded(seed), 1.0, {kind})
        is_json, value = parsed(text)
        assert is_json is (kind in STILL_JSON), text
        if is_json:
            assert isinstance(value, STILL_JSON[kind])
            fewer = json.loads(text, object_pairs_hook=lambda pairs: len(pairs) - len(dict(pairs)))
            assert kind != "duplicate-name" or fewer == 1


def whole(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == SCHEMA["properties"].keys()


def anywhere(value: Any, seen: Callable[[Any], bool]) -> bool:
    return any(seen(item) for _, item in places(value))


MARKS: dict[str, Callable[[Any], bool]] = {
    "missing-required": lambda v: v.keys() < SCHEMA["properties"].keys() or v["opts"] == {},
    "invented-argument": lambda v: v.keys() > SCHEMA["properties"].keys() or len(v["opts"]) == 2,
    "misspelt-argument": lambda v: not whole(v) or "deep" not in v["opts"],
    "number-as-text": lambda v: whole(v) and isinstance(v["maxItems"], str),
    "text-as-number": lambda v: (
        whole(v) and any(type(item) in (int, float) for item in (v["path"], v["mode"], *v["tags"]))
    ),
    "boolean-as-text": lambda v: whole(v) and not (type(v["flag"]) is bool and type(v["opts"]["deep"]) is bool),
    "null-for-value": lambda v: anywhere(v, lambda item: item is None),
    "scalar-for-array": lambda v: whole(v) and isinstance(v["tags"], str),
    "array-for-scalar": lambda v: whole(v) and sum(isinstance(item, list) for _, item in places(v)) == 2,
    "array-as-object": lambda v: whole(v) and isinstance(v["tags"], dict),
    "nested-as-text": lambda v: whole(v) and any(type(v[name]) is str and v[name][0] in "[{" for name in NESTED),
    "enum-in-other-case": lambda v: v["mode"].lower() in ("fast", "slow") and v["mode"] not in ("fast", "slow"),
    "enum-unknown": lambda v: whole(v) and isinstance(v["mode"], str),
    "number-out-of-bounds": lambda v: not 1 <= v["maxItems"] <= 100,
    "fraction-for-integer": lambda v: isinstance(v["maxItems"], float),
    "too-long": lambda v: len(v["path"]) > 12 or len(v["tags"]) > 3 or len(v["mode"]) > 4,
    "extra-nesting": lambda v: len(v) == 1 and whole(next(iter(v.values()))),
    "arguments-in-array": lambda v: len(v) == 1 and whole(v[0]),
}  # fmt: skip


def test_each_way_to_break_a_value_has_its_mark() -> None:
    assert MARKS.keys() == set(KINDS) - IN_THE_TEXT.keys()


@pytest.mark.parametrize("kind", MARKS)
def test_a_value_is_broken_in_its_own_way(kind: str) -> None:
    for seed in SEEDS:
        value = json.loads(arguments(SCHEMA, seeded(seed), 1.0, {kind}))
        assert MARKS[kind](value), value


EXAMPLES: list[tuple[str, str, str]] = [
    ("text-in-text", '{"a":"x"}', r'"{\"a\":\"x\"}"'),
    ("trailing-comma", '{"a":{}}', '{"a":{},}'),
    ("single-quotes", '{"a":"it\'s \\"x\\""}', "{'a':'it\\'s \"x\"'}"),
    ("python-literals", '{"a":true,"b":"true","c":null}', '{"a":True,"b":"true","c":None}'),
    ("bare-names", '{"a":"b"}', '{a:"b"}'),
    ("raw-newline", '{"a":"b\\nc"}', '{"a":"b\nc"}'),
    ("raw-newline", '{"a":"b"}', '{"a":"b\n"}'),
    ("missing-brace", '{"a":1}', '{"a":1'),
    ("comment", '{"a":1}', '{"a":1 // as asked\n}'),
    ("null-text", '{"a":1}', "null"),
]


@pytest.mark.parametrize(("kind", "text", "broken"), EXAMPLES)
def test_texts_are_broken_so(kind: str, text: str, broken: str) -> None:
    assert IN_THE_TEXT[kind](text, seeded(1)) == broken


@pytest.mark.parametrize("kind", ["trailing-comma", "single-quotes", "python-literals", "bare-names", "raw-newline"])
def test_a_way_that_does_not_apply_says_so(kind: str) -> None:
    assert IN_THE_TEXT[kind]("{}", seeded(1)) is None


def test_a_way_that_does_not_apply_is_passed_over_for_another() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    for seed in SEEDS:
        text = arguments(schema, seeded(seed), 1.0, {"number-as-text", "scalar-for-array", "invented-argument"})
        assert len(json.loads(text)) == 1
    assert {arguments(schema, seeded(seed), 1.0, {"number-as-text"}) for seed in SEEDS} == {"{}"}


@pytest.mark.parametrize(("rate", "least", "most"), [(0.0, 0, 0), (0.3, 60, 125), (1.0, 300, 300)])
def test_the_rate_is_kept(rate: float, least: int, most: int) -> None:
    check = compile_schema(SCHEMA, "json_schema").check
    broken = 0
    for seed in range(300):
        text = arguments(SCHEMA, seeded(seed), rate, set(KINDS) - {"duplicate-name"})
        is_json, value = parsed(text)
        broken += not is_json or check(value) != ()
    assert least <= broken <= most


def test_all_ways_come_up_and_several_at_once() -> None:
    found = {arguments(SCHEMA, seeded(seed), 1.0) for seed in range(400)}
    assert len(found) > 350
    both = [text for text in found if text.startswith("'{") or (not parsed(text)[0] and '"opts":null' in text)]
    assert any(text.startswith("```") for text in found)
    assert {"", "null"} <= found
    assert both


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"])
def test_real_tools_get_fitting_and_broken_arguments(row: dict[str, Any]) -> None:
    schema = row["schema"]
    before = json.dumps(schema)
    check = compile_schema(schema, "json_schema").check
    for seed in range(3):
        assert check(json.loads(arguments(schema, seeded(seed), 0.0))) == ()
        text = arguments(schema, seeded(seed), 1.0)
        assert text == arguments(schema, seeded(seed), 1.0)
    assert json.dumps(schema) == before


ODD: list[Any] = [
    None, True, False, 3, "x", [], {}, {"type": "wat"}, {"$ref": "https://example.com/x"}, {"$ref": "#/nowhere"},
    {"type": "array"}, {"properties": 3}, {"type": "object", "properties": {"a": None}}, {"required": "a"},
    {"enum": []}, {"anyOf": []}, {"type": "string", "pattern": "("}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}]},
    {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
    {"minimum": "1", "type": "integer"}, {"type": "integer", "multipleOf": 0}, {"const": 2**80},
    {"type": "object", "properties": {"\ud800": {}}, "required": ["\ud800"]}, {"const": {"a": "\udc00"}},
    {"type": "number", "maximum": float("inf")}, {"$id": "http://[bad"}, {"$ref": 3},
]  # fmt: skip


@pytest.mark.parametrize("schema", ODD, ids=json.dumps)
def test_any_schema_gets_arguments(schema: Any) -> None:
    for seed in range(8):
        assert isinstance(json.loads(arguments(schema, seeded(seed), 0.0)), dict)
        assert arguments(schema, seeded(seed), 1.0).encode() is not None
        Structure(schema, seeded(seed)).value()


def test_a_schema_that_cannot_be_read_gets_arguments() -> None:
    assert isinstance(json.loads(arguments({"const": 10**5_000}, seeded(1), 0.0)), dict)


def test_structure_mostly_fits_real_schemas() -> None:
    makers = [(loosely(row["schema"]), Structure(row["schema"], seeded(1))) for row in rows()]
    fitting = [maker.fits(structure.value()) for maker, structure in makers]
    assert fitting.count(True) > 30
    assert fitting.count(False) <= 2


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("maxItems", {"max_items", "max-items", "maxItem", "MAXITEMS"}),
        ("user_id", {"userId", "user-id", "user_ids", "USER_ID"}),
        ("tag", {"tags", "Tag", "TAG", "ta"}),
    ],
)
def test_names_are_misspelt_as_models_do(name: str, others: set[str]) -> None:
    found = misspellings(name)
    assert others <= set(found)
    assert name not in found


def test_replacing_changes_a_copy() -> None:
    value = {"a": [{"b": 1}, 2], "c": {}}
    before = copy.deepcopy(value)
    assert replaced(value, ("a", 0, "b"), None) == {"a": [{"b": None}, 2], "c": {}}
    assert replaced(value, (), 5) == 5
    assert value == before
    assert len(list(places(value))) == 6
