"""Calls written as a model would write them: for a history without native calls, for examples in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strictcall.api.answer import Answer, Call
from strictcall.api.reading import find_tool
from strictcall.errors import ArgumentsError, RequestError
from strictcall.json_value import LimitError, check_limits, equal, parse
from strictcall.tagged.family import Written
from strictcall.tagged.reading import read
from strictcall.tagged.registry import family
from strictcall.wire.toolset import Toolset


def write(
    calls: Iterable[Call | tuple[str, Mapping[str, Any]]],
    format: str,  # noqa: A002 - what the user calls it
    toolset: Toolset | None = None,
) -> str:
    """The text of some calls in a format: ``Call`` objects of an answer, or pairs of a name and arguments, which are
    the tool's own.

    With a ``toolset`` they are written as its tools are shown to the model, names and arguments in wire form, and the
    text is read again: what comes back is what was given. Without one they stand as they are, and a null where the wire
    form's null means absent will be read as absent.

    Raises ``SettingsError`` for an unknown format, and ``RequestError`` for arguments that are no JSON object and for
    what the format has no way to say.
    """
    chosen = family(format)
    given = [_written(call, f"calls[{position}]") for position, call in enumerate(calls)]
    shown = given if toolset is None else [_on_wire(call, toolset) for call in given]
    try:
        text = chosen.write(shown) if shown else ""
    except ValueError as error:
        raise RequestError("calls", f"{chosen.name} cannot say this: {error}") from None
    if toolset is not None:
        _check_again(given, read(text, toolset, format), toolset, chosen.name)
    return text


def _written(call: Call | tuple[str, Mapping[str, Any]], place: str) -> Written:
    """A call as it is to be written; one with faults as far as its text is an object."""
    if isinstance(call, Call):
        name: Any = call.name
        arguments, call_id = call.arguments, call.id
        if call.faults:
            name, arguments = call.wire_name or call.name, _parsed(call.raw, place)
    else:
        (name, arguments), call_id = call, None
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise RequestError(place, "a call is a name and an object of arguments")
    try:
        check_limits(dict(arguments))
    except LimitError as error:
        raise RequestError(place, str(error)) from None
    return Written(name, arguments, call_id)


def _parsed(raw: str, place: str) -> Any:
    try:
        return parse(raw)
    except LimitError as error:
        raise RequestError(place, f"its arguments cannot be written again: {error}") from None


def _on_wire(call: Written, toolset: Toolset) -> Written:
    """A call as the toolset's tools are shown to the model; one that does not fit its tool stays as it is.

    Nulls that stand for what is absent are left out where nothing is lost by it: a raw text cannot tell null from the
    word.
    """
    compiled = find_tool(toolset, call.name)
    if compiled is None:
        return call
    try:
        wire = compiled.encode(dict(call.arguments))
    except ArgumentsError:
        return Written(compiled.name, call.arguments, call.id)
    said = {name: value for name, value in wire.items() if value is not None or name in call.arguments}
    reading = compiled.read(said, "either")
    is_same = not reading.faults and equal(reading.arguments, dict(call.arguments))
    return Written(compiled.name, said if is_same else wire, call.id)


def _check_again(given: list[Written], answer: Answer, toolset: Toolset, name: str) -> None:
    """Raises ``RequestError`` where a text is not read as the calls that it was written from."""
    problem = f"{name} has no way to say these arguments"
    if answer.text or len(answer.calls) != len(given):
        raise RequestError("calls", problem)
    for position, (wanted, found) in enumerate(zip(given, answer.calls, strict=True)):
        compiled = find_tool(toolset, wanted.name)
        is_same = compiled is not None and found.name == compiled.tool.name
        if compiled is not None and not compiled.check(dict(wanted.arguments)):
            is_same = is_same and equal(found.arguments, dict(wanted.arguments))
        if compiled is not None and not is_same:
            raise RequestError(f"calls[{position}]", problem)
