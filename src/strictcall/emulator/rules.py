"""What a dialect has against a request, and which of its tools a decoder would hold to their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictcall.dialect import judge, judge_description, judge_name, judge_request, load, measure
from strictcall.dialect.model import Dialect, Violation
from strictcall.emulator.conversation import OfferedTool, Request
from strictcall.emulator.memory import Memory, digest
from strictcall.emulator.refusal import Breach

NO_PARAMETERS: Final = {"type": "object", "properties": {}}
"""What stands for the schema of a tool that has none."""
_JUDGED: Final[Memory[Violation | None]] = Memory(4096)
_MEASURED: Final[Memory[dict[str, int]]] = Memory(4096)


def breach(request: Request, dialect: Dialect) -> Breach | None:
    """The first thing that the dialect's provider would refuse the request for; ``None`` when it would take it."""
    return next(_breaches(request, dialect), None)


def held_tools(request: Request, dialect: Dialect) -> frozenset[str]:
    """The names of the tools whose schemas the decoder holds: those that are strict where that means something."""
    if dialect.enforced == "none":
        return frozenset()
    return frozenset(tool.name for tool in request.tools if _is_strict(tool, request, dialect))


def holds_output(request: Request, dialect: Dialect) -> bool:
    """Whether the decoder holds the schema wanted of the answer's text."""
    output = request.output
    if output is None or output.schema is None:
        return False
    by_target = load(dialect.name, "output")
    return by_target.enforced == "decoder" and _output_is_strict(request, by_target)


def _is_strict(tool: OfferedTool, request: Request, dialect: Dialect) -> bool:
    if dialect.strict_place == "mode":
        return request.constrained
    if dialect.strict_place == "request":
        return request.strict is True
    if dialect.strict_place != "none" and tool.strict is not None:
        return tool.strict
    tries = dialect.strict_default == "tries" or request.tries_strict
    fits = tries and _judged(schema_of(tool), dialect, strict=True) is None
    return dialect.strict_default == "strict" or fits


def _output_is_strict(request: Request, dialect: Dialect) -> bool:
    """Where an API's output has no marking at all, its schema is always held (Anthropic, Gemini)."""
    output = request.output
    return output is not None and (output.strict is True or (output.strict is None and _unmarked(dialect)))


def _unmarked(dialect: Dialect) -> bool:
    return dialect.strict_place in ("mode", "tool", "none") or dialect.strict_default != "loose"


def schema_of(tool: OfferedTool) -> Any:
    """The schema of a tool's arguments."""
    return NO_PARAMETERS if tool.schema is None else tool.schema


def _breaches(request: Request, dialect: Dialect) -> Iterator[Breach]:
    if dialect.unknown_fields == "rejected":
        yield from (Breach("unknown_field", field=name) for name in request.unknown_fields)
    yield from _of_names(request, dialect)
    yield from _of_choice(request)
    yield from _of_schemas(request, dialect)
    yield from _of_all(request, dialect)
    yield from _of_output(request, dialect)


def _of_names(request: Request, dialect: Dialect) -> Iterator[Breach]:
    seen: set[str] = set()
    for tool in request.tools:
        for violation in judge_name(tool.name, dialect):
            yield Breach("tool_name", tool, violation=violation)
        for violation in judge_description(tool.description, dialect):
            yield Breach("description", tool, violation=violation)
        if tool.name in seen:
            yield Breach("duplicate_name", tool)
        seen.add(tool.name)
        if dialect.strict_marking == "forbidden" and tool.strict is not None:
            yield Breach("strict_field", tool, field=tool.strict_place or f"{tool.place}.strict")


def _of_choice(request: Request) -> Iterator[Breach]:
    offered = {tool.name for tool in request.tools}
    for name in sorted(request.only or ()):
        if name not in offered:
            yield Breach("choice", field=name)
    if request.choice == "required" and not offered:
        yield Breach("choice")


def _of_schemas(request: Request, dialect: Dialect) -> Iterator[Breach]:
    for tool in request.tools:
        strict = _is_strict(tool, request, dialect)
        violation = _judged(schema_of(tool), dialect, strict=strict)
        if violation is not None:
            yield Breach("schema", tool, violation=violation)


def _of_all(request: Request, dialect: Dialect) -> Iterator[Breach]:
    strict = [tool for tool in request.tools if _is_strict(tool, request, dialect)]
    measures = [_measured(schema_of(tool), dialect) for tool in strict] if dialect.limits else []
    for violation in judge_request(measures, dialect, tools=len(request.tools)):
        yield Breach("limit", violation=violation)
    if dialect.all_or_none and 0 < len(strict) < len(request.tools):
        loose = next(tool for tool in request.tools if tool not in strict)
        yield Breach("mixed_strict", loose)
    if strict and not dialect.parallel_with_strict and request.parallel is not False:
        yield Breach("parallel", strict[0])


def _of_output(request: Request, dialect: Dialect) -> Iterator[Breach]:
    output = request.output
    if output is None or output.schema is None:
        return
    by_target = load(dialect.name, "output")
    violation = _judged(output.schema, by_target, strict=_output_is_strict(request, by_target))
    if violation is not None:
        yield Breach("output", output=output, violation=violation)


def _judged(schema: Any, dialect: Dialect, *, strict: bool) -> Violation | None:
    """The first violation of a schema: providers tell one at a time."""
    key = digest(dialect.name, dialect.target, strict, schema)
    return _JUDGED.get(key, lambda: next(iter(judge(schema, dialect, strict=strict)), None))


def _measured(schema: Any, dialect: Dialect) -> dict[str, int]:
    return _MEASURED.get(digest(dialect.name, schema), lambda: measure(schema, dialect))
