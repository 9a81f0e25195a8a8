"""The opponent is tested on its own first: a judge that is wrong proves nothing."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from laws.contracts import KEYWORDS, contract
from strictcall import Change
from strictcall.change import Effect
from strictcall.dialect.held import held
from strictcall.dialect.model import Dialect, Keyword, State
from strictcall.emulator.answers.grammar import GrammarRefusedError, Sampler, read
from strictcall.testing.admits import Wire
from strictcall.testing.comparing import differences, same
from strictcall.testing.instances import Instances
from strictcall.testing.picking import Seeded
from strictcall.testing.places import announced, speaking

DIALECT = Dialect(
    name="toy",
    title="Toy",
    others=State.ENFORCED,
    keywords={
        "uniqueItems": Keyword("uniqueItems", State.IGNORED),
        "minItems": Keyword("minItems", State.ENFORCED, values=(0, 1)),
    },
)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (None, False, False),
        (10**30, 10**30 + 1, False),
        (10**30, float(10**30), False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        ("é", "e\u0301", False),
        ([], {}, False),
    ],
)
def test_json_equality(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal
    assert same(right, left) is equal
    assert (differences(left, right) == []) is equal


def test_differences_name_the_place() -> None:
    left = {"a": {"b/c": [1, 2]}, "gone": None}
    right = {"a": {"b/c": [1, 3]}, "new": 1}
    assert differences(left, right) == ["/a/b~1c/1", "/gone", "/new"]


def test_what_a_dialect_does_not_enforce_is_taken_out_of_schemas_and_left_in_data() -> None:
    schema = {
        "properties": {"uniqueItems": {"uniqueItems": True, "format": "uri"}},
        "anyOf": [{"minItems": 5}, {"minItems": 1}],
        "const": {"uniqueItems": True, "format": "x"},
    }
    assert held(schema, DIALECT) == {
        "properties": {"uniqueItems": {}},
        "anyOf": [{}, {"minItems": 1}],
        "const": {"uniqueItems": True, "format": "x"},
    }


def test_the_wire_never_fetches() -> None:
    with pytest.raises(Exception, match="refers to http"):
        Wire({"$ref": "http://example.test/schema"}, DIALECT)


def test_the_sampler_says_what_it_refuses() -> None:
    with pytest.raises(GrammarRefusedError, match="uniqueItems"):
        Sampler({"type": "array", "uniqueItems": True})


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b"1e999", b'"\\ud800"', b"{"])
def test_texts_outside_the_limits_are_no_samples(text: bytes) -> None:
    assert read(text) is None


def test_samples_are_admitted_and_vary() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "maxLength": 4},
            "n": {"type": "integer", "minimum": -5, "maximum": 900},
            "tree": {"$ref": "#/$defs/T"},
        },
        "required": ["a", "n", "tree"],
        "additionalProperties": False,
        "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    found = list(Sampler(schema).samples(60, seed=1))
    wire = Wire(schema, DIALECT)
    assert all(wire.admits(sample.value) for sample in found)
    assert len({sample.text for sample in found}) > 30
    assert {type(sample.value["a"]) for sample in found} == {str, type(None)}
    assert any(sample.value["tree"] not in ([], None) for sample in found)


def test_contracts_are_schemas_and_use_every_keyword() -> None:
    seen: Counter[str] = Counter()
    fitting = total = 0
    for seed in range(400):
        pick = Seeded(seed)
        schema = contract(pick, tolerated=False)
        seen.update(_keys(schema))
        if not isinstance(schema, dict) or "spot" in json.dumps(schema):
            continue
        validator = jsonschema_rs.validator_for(schema, offline=True)
        for _ in range(3):
            total += 1
            fitting += validator.is_valid(Instances(schema, pick).value())
    assert [keyword for keyword in KEYWORDS if not seen[keyword]] == []
    assert fitting > total * 0.3


def test_tolerated_spellings_come_up() -> None:
    texts = " ".join(json.dumps(contract(Seeded(seed))) for seed in range(400))
    for spelling in ('"nullable": true', '"any"', '"items": [', '"exclusiveMinimum": true', '"required": true'):
        assert spelling in texts


def _keys(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [*node, *(key for item in node.values() for key in _keys(item))]
    return [key for item in node for key in _keys(item)] if isinstance(node, list) else []


def test_the_fast_validator_agrees_with_the_plain_one() -> None:
    rng = random.Random(4)  # noqa: S311 - a seed, not a secret
    for seed in rng.sample(range(10_000), 120):
        pick = Seeded(seed)
        schema = contract(pick, tolerated=False)
        if not isinstance(schema, dict) or "$ref" in json.dumps(schema) or "pattern" in json.dumps(schema):
            continue
        if "$schema" in schema or "unevaluated" in json.dumps(schema):
            continue
        value = Instances(schema, pick).value()
        slow = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert jsonschema_rs.Draft202012Validator(schema).is_valid(value) is slow, (schema, value)


def test_places_follow_references_and_branches() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x~1y"}},
        "allOf": [{"additionalProperties": {"type": "string"}}],
        "$defs": {"x/y": {"anyOf": [True, {"items": {"$ref": "#spot"}}]}, "S": {"$anchor": "spot"}},
    }
    assert speaking(schema, "/a") == {
        "/properties/a",
        "/allOf/0/additionalProperties",
        "/$defs/x~1y",
        "/$defs/x~1y/anyOf/0",
        "/$defs/x~1y/anyOf/1",
    }
    assert "/$defs/S" in speaking(schema, "/a/0")


@pytest.mark.parametrize(
    ("code", "effect", "pointer", "loss", "folds", "said"),
    [
        ("object-closed", Effect.CLOSED, "/properties/a", "/a/extra", False, True),
        ("object-closed", Effect.CLOSED, "/properties/a/additionalProperties", "/a/extra", False, True),
        ("object-closed", Effect.CLOSED, "/properties/b", "/a/extra", False, False),
        ("bound-checked", Effect.CHECKED, "/properties/a", "/a", False, False),
        ("null-folded", Effect.ENCODED, "/properties/a", "/a", True, True),
        ("object-closed", Effect.CLOSED, "/properties/a", "/a", True, False),
    ],
)
def test_only_a_change_at_the_place_excuses_a_loss(
    code: str, effect: Effect, pointer: str, loss: str, folds: bool, said: bool
) -> None:
    schema = {"properties": {"a": {"type": "object"}, "b": {}}}
    assert announced(schema, [Change(code, pointer, effect, "")], loss, folds=folds) is said
