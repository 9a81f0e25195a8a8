"""Where judges are known to differ: named where it may be so, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from strictcall.testing.disputes import DOT, EXCLUSIVE_BOUND, SPACE, WORD, known_flaw


def text(pattern: str) -> Any:
    return {"type": "object", "properties": {"t": {"type": "string", "pattern": pattern}}}


@pytest.mark.parametrize(
    ("schema", "value", "flaw"),
    [
        (text("^.{1,3}$"), {"t": "a\u2028"}, DOT),
        (text("^.{1,3}$"), {"t": "a\r"}, DOT),
        (text("^.{1,3}$"), {"t": "é"}, None),
        (text(r"^a\.b$"), {"t": "a\rb"}, None),
        (text("[.]"), {"t": "a\rb"}, None),
        (text(r"[\].]"), {"t": "a\rb"}, None),
        (text(r"\\."), {"t": "a\rb"}, DOT),
        (text(r"^[a-z\s]+$"), {"t": "a\x85b"}, SPACE),
        (text(r"^[a-z\s]+$"), {"t": "a\x1cb"}, SPACE),
        (text(r"^[a-z\s]+$"), {"t": "a\u3000b"}, None),
        (text(r"^\\s$"), {"t": "a\x85b"}, None),
        (text(r"^\d$"), {"t": "٣"}, WORD),
        (text(r"^\w$"), {"t": "w"}, None),
        ({"patternProperties": {"^.$": {}}}, {"\r": 1}, DOT),
        ({"properties": {"n": {"type": "integer", "exclusiveMinimum": 1}}}, {"n": 1}, EXCLUSIVE_BOUND),
        ({"properties": {"n": {"type": "integer", "minimum": 1}}}, {"n": 0}, None),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_flaw_is_named_where_schema_and_text_have_what_it_takes(schema, value, flaw, ascii_only) -> None:
    assert known_flaw(schema, json.dumps(value, ensure_ascii=ascii_only)) == flaw


@pytest.mark.parametrize(
    ("pattern", "written"), [(r"^\s$", "\x85"), (r"^\s$", "\ufeff"), (r"^\d$", "٣"), (r"^.$", "\u2028")]
)
def test_the_judges_do_differ_there(pattern, written) -> None:
    schema = text(pattern)
    value = {"t": written}
    standard = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    assert jsonschema.Draft202012Validator(schema).is_valid(value) is not standard
    assert known_flaw(schema, json.dumps(value)) is not None
