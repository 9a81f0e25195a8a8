"""What a conversion did to the calls of a tool, said from outside.

A peer's schema is judged by what a model could write under it and what the tool would then receive; ours likewise, with
``encode`` and ``decode`` on the way.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import jsonschema_rs

from strictcall import ArgumentsError, CompiledTool, judge
from strictcall.dialect.model import Violation
from strictcall.json_value import equal

MOST = 64
"""How many ways of writing a call are tried."""
DEEPEST = 40
DISPUTED = frozenset({"default", "examples", "maxLength", "minLength"})
"""Keywords that the judge rejects to be on the safe side; they are not held against a peer."""


class Outcome(Enum):
    """What came of one probe, best first."""

    EXACT = "exact"
    NULLED = "absent as null"
    LOOSE = "sent non-strict"
    REFUSED = "refused"
    REJECTED = "rejected"
    WRONG = "silently wrong"
    CRASHED = "crashed"


Judged = tuple[Outcome, bool, str]
"""An outcome, whether an invalid call gets through, and a note."""


def judged(answer: dict[str, Any], probe: dict[str, Any], dialect: str) -> Judged:
    """The outcome of a peer's answer; its tool receives what the model wrote."""
    if answer["status"] in ("crashed", "hung"):
        return Outcome.CRASHED, False, answer["message"]
    if answer["status"] == "refused":
        return Outcome.REFUSED, False, answer["message"]
    if not answer["strict"]:
        return Outcome.LOOSE, False, ""
    violations = [found for found in judge(answer["schema"], dialect) if not disputed(found)]
    if violations:
        return Outcome.REJECTED, False, f"{violations[0].pointer}: {violations[0].message}"
    wire, contract = admits(answer["schema"]), admits(probe["schema"])
    worst, note = Outcome.EXACT, ""
    for value in probe["valid"]:
        written = [w for w in writings(answer["schema"], value) if wire(w)]
        received = [w for w in written if contract(w)]
        if not received:
            return Outcome.WRONG, False, f"{json.dumps(value)} {'reaches the tool as a null' if written else 'is lost'}"
        if not any(equal(value, w) for w in received):
            worst, note = Outcome.NULLED, json.dumps(value)
    through = any(wire(w) for value in probe["invalid"] for w in writings(answer["schema"], value))
    return worst, through, note


def disputed(violation: Violation) -> bool:
    """Whether a violation is by a keyword about which reports contradict each other."""
    return violation.rule == "keyword-rejected" and violation.pointer.rpartition("/")[2] in DISPUTED


def ours(compile_: Callable[[], CompiledTool], probe: dict[str, Any]) -> Judged:
    """The outcome of compiling, encoding and decoding with strictcall."""
    try:
        return _ours(compile_(), probe)
    except Exception as error:  # noqa: BLE001 - every exception is an outcome
        return Outcome.CRASHED, False, f"{type(error).__name__}: {error}"


def _ours(compiled: CompiledTool, probe: dict[str, Any]) -> Judged:
    through = any(accepted(compiled, value) for value in probe["invalid"])
    if not compiled.strict:
        return Outcome.LOOSE, through, compiled.reason or ""
    violations = judge(compiled.parameters, compiled.dialect)
    if violations:
        return Outcome.REJECTED, through, f"{violations[0].pointer}: {violations[0].message}"
    wire, worst, note = admits(compiled.parameters), Outcome.EXACT, ""
    for value in probe["valid"]:
        try:
            written = compiled.encode(value)
            back = compiled.decode(json.dumps(written))
        except ArgumentsError as error:
            return Outcome.WRONG, through, f"{json.dumps(value)} is lost: {error}"
        if not wire(written):
            return Outcome.WRONG, through, f"{json.dumps(value)} is lost: the wire schema does not admit its own form"
        if not equal(value, back):
            if not equal(without_nulls(value), without_nulls(back)):
                return Outcome.WRONG, through, f"{json.dumps(value)} comes back as {json.dumps(back)}"
            worst, note = Outcome.NULLED, json.dumps(value)
    return worst, through, note


def accepted(compiled: CompiledTool, value: Any) -> bool:
    """Whether an invalid call reaches the tool, in the form of the wire or of the contract."""
    if not compiled.check(value):
        return True
    for form in ("wire", "either"):
        try:
            if equal(compiled.decode(json.dumps(value), form=form), value):
                return True
        except ArgumentsError:
            continue
    return False


# --- what a model could write ---------------------------------------------------------------------------------------


def writings(schema: Any, value: Any) -> list[Any]:
    """The ways in which a call could be written under a schema: as it is, or with null for what was left out."""
    return list(itertools.islice(_written(schema, schema, value, 0), MOST))


def _written(schema: Any, root: Any, value: Any, depth: int) -> Iterator[Any]:
    if not isinstance(schema, dict) or depth > DEEPEST:
        yield value
        return
    branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in _list(schema.get(keyword))]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        branches.append(_target(root, reference))
    seen = [value]
    yield value
    here: Iterator[Any] = iter(())
    if isinstance(value, dict):
        here = _object(schema, root, value, depth)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        choices = [list(itertools.islice(_written(schema["items"], root, item, depth + 1), 8)) for item in value]
        here = (list(combined) for combined in itertools.product(*choices))
    below = (written for branch in branches for written in _written(branch, root, value, depth + 1))
    for written in itertools.islice(itertools.chain(here, below), MOST):
        if not any(equal(written, other) for other in seen):
            seen.append(written)
            yield written


def _object(schema: dict[str, Any], root: Any, value: dict[str, Any], depth: int) -> Iterator[Any]:
    declared = schema.get("properties")
    declared = declared if isinstance(declared, dict) else {}
    names = [*value, *(name for name in declared if name not in value)]
    choices = []
    for name in names:
        if name in value:
            below = declared.get(name, schema.get("additionalProperties"))
            choices.append(list(itertools.islice(_written(below, root, value[name], depth + 1), 8)))
        else:
            choices.append([None] if name in _list(schema.get("required")) else [_LEFT_OUT])
    for combined in itertools.product(*choices):
        yield {name: item for name, item in zip(names, combined, strict=True) if item is not _LEFT_OUT}


_LEFT_OUT = object()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _target(root: Any, reference: str) -> Any:
    node = root
    for step in reference.partition("#")[2].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~").replace("%20", " ")
        node = node.get(step) if isinstance(node, dict) else None
    return node


# --- independent words ----------------------------------------------------------------------------------------------


def admits(schema: Any) -> Callable[[Any], bool]:
    """Whether a schema admits a value, formats being annotations. Nothing is valid under what is no schema."""
    try:
        valid = jsonschema_rs.Draft202012Validator(schema, retriever=_never, validate_formats=False).is_valid
    except (ValueError, jsonschema_rs.ReferencingError):
        return lambda value: False
    return lambda value: bool(valid(value))


def _never(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema")


def without_nulls(value: Any) -> Any:
    """A value without the properties that are null."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
