"""The laws over generated contracts. ``HYPOTHESIS_PROFILE=deep`` looks much longer."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from laws import harness
from laws.contracts import KEYWORDS, contracts
from laws.drawing import Drawn
from laws.harness import DIALECTS, subject
from strictcall import ArgumentsError, Policy, Verdict, compile_schema
from strictcall.emulator.answers.grammar import GrammarRefusedError, Sample
from strictcall.policy import policy_values
from strictcall.testing import laws
from strictcall.testing.case import Case
from strictcall.testing.comparing import same, text
from strictcall.testing.instances import Instances
from strictcall.testing.odd import ANY, LITERALS, NAMES
from strictcall.testing.places import announced

pytestmark = pytest.mark.parametrize("dialect", DIALECTS)

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)
NEARLY = st.recursive(
    SCALARS | st.sampled_from(["string", "object", "#", "#/$defs/a", "#a", "a", "^a", *LITERALS]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, *NAMES[:8]]), inner, max_size=4)
    ),
    max_leaves=12,
)
POLICIES = st.builds(Policy, **{name: st.sampled_from(values) for name, values in policy_values().items()})


@st.composite
def cases(draw: st.DrawFn, *, values: int = 3) -> tuple[Any, list[Any]]:
    """A contract with some argument values that may fit it."""
    schema = draw(contracts())
    made = Instances(schema, Drawn(draw))
    return schema, [made.value() for _ in range(values)]


@given(contracts())
def test_accepted_and_total(dialect: str, schema: Any) -> None:
    case = subject(schema, dialect)
    laws.total(case)
    laws.accepted(case)
    laws.untouched(case)


@given(contracts())
def test_idempotent(dialect: str, schema: Any) -> None:
    laws.idempotent(subject(schema, dialect))


@given(contracts(), st.integers(0, 2**32))
def test_sound(dialect: str, schema: Any, seed: int) -> None:
    case = subject(schema, dialect)
    assume(case.compiled.strict)
    for sample in _samples(case, 6, seed):
        note(sample.text)
        harness.sound(case, sample)


@given(cases())
def test_sayable(dialect: str, case: tuple[Any, list[Any]]) -> None:
    schema, values = case
    made = subject(schema, dialect)
    for value in values:
        note(repr(value))
        laws.sayable(made, value)


@given(cases(values=2), POLICIES, st.integers(0, 2**32))
def test_every_law_under_every_policy(dialect: str, case: tuple[Any, list[Any]], policy: Policy, seed: int) -> None:
    schema, values = case
    made = subject(schema, dialect, policy)
    laws.whole(made)
    for value in values:
        laws.sayable(made, value)
    if made.compiled.strict:
        for sample in _samples(made, 2, seed):
            harness.sound(made, sample)


@given(cases(values=2), JSON)
def test_nothing_passes_that_the_contract_refuses(dialect: str, case: tuple[Any, list[Any]], other: Any) -> None:
    schema, values = case
    made = subject(schema, dialect)
    for value in [*values, other, {"a": other}, *ANY[:4]]:
        laws.guarded(made, value)


@given(cases(values=4))
def test_either_form_reads_contract_arguments(dialect: str, case: tuple[Any, list[Any]]) -> None:
    """What ``wire`` reads, ``either`` reads alike; what is in contract form is read, and never to anything unfit."""
    schema, values = case
    compiled = compile_schema(schema, dialect=dialect)
    for value in values:
        for form in [value, *_encoded(compiled, value)]:
            if form is None:
                continue  # no arguments: null means the empty object
            try:
                read = compiled.decode(text(form), form="either")
            except ArgumentsError as error:
                # A name that was closed out is a fault in either form.
                told = all(announced(schema, compiled.changes, fault.pointer) for fault in error.faults)
                if not compiled.check(form) and not told:
                    raise AssertionError(f"{schema!r}: {form!r} is in contract form, but {error}") from error
                continue
            assert compiled.check(read) == (), f"{schema!r}: {form!r} was read as {read!r}"


@given(cases(values=1))
def test_exact_fidelity_leaves_no_gap(dialect: str, case: tuple[Any, list[Any]]) -> None:
    schema, values = case
    compiled = compile_schema(schema, dialect=dialect, policy=Policy(fidelity="exact"))
    assert compiled.verdict in (Verdict.EXACT, Verdict.CLOSED, Verdict.CHECKED, Verdict.LOOSE)
    for value in values:
        laws.guarded(subject(schema, dialect, Policy(fidelity="exact")), value)


@given(NEARLY)
def test_anything_that_looks_like_a_schema_compiles(dialect: str, schema: Any) -> None:
    case = subject(schema, dialect)
    _all_but_sampling(case)


@given(JSON)
def test_any_json_value_compiles(dialect: str, schema: Any) -> None:
    case = subject(schema, dialect)
    _all_but_sampling(case)


@given(contracts(tolerated=False), st.data())
def test_the_check_is_the_contract(dialect: str, schema: Any, data: st.DataObject) -> None:
    """Where a schema is plain JSON Schema, the local check says what a validator of that draft says."""
    try:
        validator = jsonschema_rs.validator_for(schema, offline=True, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError):
        assume(False)
        raise
    compiled = compile_schema(schema, dialect=dialect, policy=Policy(implied_types=False))
    made = Instances(schema, Drawn(data.draw))
    for _ in range(4):
        value = made.value()
        assert (compiled.check(value) == ()) is validator.is_valid(value), (schema, value, compiled.check(value))


@given(contracts())
def test_compiling_is_deterministic(dialect: str, schema: Any) -> None:
    first, second = (compile_schema(copy.deepcopy(schema), dialect=dialect) for _ in range(2))
    assert text(first.parameters) == text(second.parameters)
    assert first.changes == second.changes


@given(cases(values=1))
def test_blank_text_is_no_arguments(dialect: str, case: tuple[Any, list[Any]]) -> None:
    schema, _ = case
    compiled = compile_schema(schema, dialect=dialect)
    outcomes = []
    for blank in ("", "  \n", "null", "{}"):
        try:
            outcomes.append(compiled.decode(blank))
        except ArgumentsError:
            outcomes.append("refused")
    if not compiled.check(None):
        return
    assert all(same(outcome, outcomes[-1]) for outcome in outcomes), (schema, outcomes)


def _samples(case: Case, count: int, seed: int) -> Iterator[Sample]:
    """Samples of a strict wire schema. ``json_schema`` is modelled on llguidance, so there a refusal breaks a law."""
    try:
        sampler = case.sampler
    except GrammarRefusedError as error:
        if case.dialect == "json_schema":
            raise AssertionError(f"llguidance refuses a strict wire schema: {error}\n{case}") from error
        return
    yield from sampler.samples(count, seed)


def _encoded(compiled: Any, value: Any) -> list[Any]:
    try:
        return [compiled.encode(value)]
    except ArgumentsError:
        return []


def _all_but_sampling(case: Case) -> None:
    laws.whole(case)
    for value in ANY:
        laws.guarded(case, value)
        laws.sayable(case, value)
