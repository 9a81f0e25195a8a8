"""The shapes that a tool comes in, each told by its content: one row a shape, in the order they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from strictcall.json_value import excerpt
from strictcall.source.flaws import first_flaw
from strictcall.source.gemini import to_json_schema
from strictcall.source.reading import Problem, Reading
from strictcall.tool import Tool

_KEYWORDS = frozenset(
    """
    $schema $id $ref $defs $anchor $dynamicRef $recursiveRef definitions type properties required additionalProperties
    patternProperties propertyNames unevaluatedProperties items prefixItems additionalItems contains anyOf oneOf allOf
    not if enum const format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern
    minItems maxItems uniqueItems minProperties maxProperties dependencies dependentRequired dependentSchemas
    """.split()
)
_LISTS = ("tools", "functionDeclarations", "function_declarations", "functions")
_FUNCTION_LISTS = frozenset(_LISTS[1:])
_TYPES = frozenset("string number integer boolean array object null any".split())
_NO_PARAMETERS = {"type": "object", "properties": {}}
_DEEPEST_LIST = 20


class _UnfitError(ValueError):
    """A value that looks like a tool of some shape and is not one; the text says why."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A value that should be a tool; ``function`` where the list that it stands in says that it is one."""

    value: Any
    place: str
    name: str
    function: bool = False
    depth: int = 0


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one kind of tool is told from the others, and read."""

    fits: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any]], Tool]


def read_value(value: Any, place: str, name: str) -> Reading:
    """The tools that a JSON value holds: one tool, a list of them, or an object with such a list in it, mixed freely.

    ``place`` names where the value came from; ``name`` is what a bare schema without a ``title`` is called. Never
    raises.
    """
    tools: list[Tool] = []
    problems: list[Problem] = []
    for row, shape in _rows(_Row(value, place, name)):
        try:
            tools.append(_read(row, shape))
        except _UnfitError as error:
            problems.append(Problem(row.place, str(error)))
    return Reading(tuple(tools), tuple(problems))


def _rows(row: _Row) -> Iterator[tuple[_Row, _Shape | None]]:
    """The row itself with the shape it has, or the rows of the list that it holds."""
    shape = _shape_of(row)
    held = _held_list(row.value) if shape is None and row.depth < _DEEPEST_LIST else None
    if held is None:
        yield row, shape
        return
    key, items = held
    where = f"{row.place} {key}".rstrip()
    for number, item in enumerate(items, start=1):
        name = f"{row.name}_{number}" if len(items) > 1 else row.name
        inner = _Row(item, f"{where}[{number}]", name, key in _FUNCTION_LISTS, row.depth + 1)
        yield from _rows(inner)


def _held_list(value: Any) -> tuple[str, list[Any]] | None:
    if isinstance(value, list):
        return "", value
    if isinstance(value, dict):
        answer = value.get("result")
        if isinstance(answer, dict) and isinstance(answer.get("tools"), list):
            return "result.tools", answer["tools"]
        return next(((key, value[key]) for key in _LISTS if isinstance(value.get(key), list)), None)
    return None


def _shape_of(row: _Row) -> _Shape | None:
    if not isinstance(row.value, dict):
        return None
    found = next((shape for shape in _SHAPES if shape.fits(row.value)), None)
    if found is None and row.function and "name" in row.value:
        return _FUNCTION
    return found


def _read(row: _Row, shape: _Shape | None) -> Tool:
    flaw = first_flaw(row.value)
    if flaw is not None:
        raise _UnfitError(flaw)
    if shape is not None:
        return shape.read(row.value)
    if isinstance(row.value, bool):
        return Tool(row.name, None, row.value)
    return _bare_schema(row)


def _bare_schema(row: _Row) -> Tool:
    item = row.value
    if not isinstance(item, dict):
        raise _UnfitError(f"not a tool but {excerpt(item)}")
    said = _KEYWORDS & item.keys()
    if item and not said:
        keys = ", ".join(excerpt(key) for key in list(item)[:5])
        raise _UnfitError(f"neither a tool nor a JSON Schema: its keys are {keys}")
    kind = item.get("type")
    if said == {"type"} and isinstance(kind, str) and kind.lower() not in _TYPES:
        raise _UnfitError(f"a tool of the provider's own ({excerpt(kind)}) has no schema to compile")
    title = item.get("title")
    return Tool(title if isinstance(title, str) and title else row.name, _description(item), item)


def _name(item: dict[str, Any]) -> str:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise _UnfitError(
            "a tool without a name" if name is None or name == "" else f"a tool's name is {excerpt(name)}"
        )
    return name


def _description(item: dict[str, Any]) -> str | None:
    text = item.get("description")
    return text if isinstance(text, str) else None


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda item: all(key in item for key in keys)


def _under(key: str) -> Callable[[dict[str, Any]], Tool]:
    """Read a tool whose schema stands under this key."""
    return lambda item: Tool(_name(item), _description(item), item[key])


def _function(item: dict[str, Any]) -> Tool:
    """A function: the schema may be left out where it takes no arguments, and may be in Gemini's spelling."""
    parameters = item.get("parameters")
    return Tool(
        _name(item), _description(item), dict(_NO_PARAMETERS) if parameters is None else to_json_schema(parameters)
    )


_FUNCTION = _Shape(lambda item: item.get("type") == "function" or ("name" in item and "parameters" in item), _function)
_SHAPES = (
    # OpenAI chat completions
    _Shape(lambda item: isinstance(item.get("function"), dict), lambda item: _function(item["function"])),
    # Anthropic messages
    _Shape(_has("input_schema"), _under("input_schema")),
    # MCP
    _Shape(_has("inputSchema"), _under("inputSchema")),
    # Gemini, with a JSON Schema
    _Shape(_has("parametersJsonSchema"), _under("parametersJsonSchema")),
    _Shape(_has("parameters_json_schema"), _under("parameters_json_schema")),
    # a row of a data set
    _Shape(_has("name", "schema"), _under("schema")),
    # OpenAI responses, Gemini
    _FUNCTION,
)
