"""Python functions as tools: the signature read by pydantic, the docstring by griffe."""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable
from typing import Any, get_type_hints

from strictcall.errors import ArgumentsError, Fault
from strictcall.json_value import compact, excerpt, pointer
from strictcall.source.reading import Reading, failed
from strictcall.tool import Tool

_NEEDED = "reading a function needs pydantic and griffelib: pip install 'strictcall[functions]'"
_FIELD = re.compile(r"^[ \t]*:(param|arg|key)[^:\n]*:", re.MULTILINE)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _FunctionError(ValueError):
    """A function that cannot be read as a tool; the text says why."""


def is_function(value: Any) -> bool:
    """Whether a Python object is called with arguments that its signature names: a function, a method, a partial of
    one, or an object with ``__call__``. A class is none.
    """
    return callable(value) and not isinstance(value, type)


def read_function(
    function: Callable[..., Any], place: str, name: str, *, unbound: bool = False, hidden: frozenset[str] = frozenset()
) -> Reading:
    """A function as a tool: its name, what its docstring says, and an object schema of its arguments.

    ``name`` is what it is called where it has no name of its own. ``unbound`` says that its first parameter is the
    ``self`` of a class, and ``hidden`` names parameters that are not for a caller to give. ``*args`` are left out,
    since arguments have names; ``**kwargs`` are additional properties.
    Never raises. Needs the ``functions`` extra.
    """
    inner = _inner(function)
    called = getattr(inner, "__name__", "")
    try:
        schema, text = _read(function, inner, unbound, hidden)
    except _FunctionError as error:
        return failed(place, str(error))
    except ModuleNotFoundError as error:
        if error.name not in {"pydantic", "griffe"}:
            raise
        return failed(place, _NEEDED)
    own = called.isidentifier() and not called.startswith("__")
    return Reading(tools=(Tool(called if own else name, text, schema),))


def arguments_reader(function: Callable[..., Any], hidden: frozenset[str]) -> Callable[[Any], dict[str, Any]]:
    """What reads arguments, a JSON value that the function's schema admits, into what its parameters are annotated
    with: by the parameters' names, defaults filled in. What it returns raises ``ArgumentsError``.

    ``function`` is one that ``read_function`` has read with the same ``hidden``.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415  an extra

    adapter: TypeAdapter[Any] = TypeAdapter(_shadow(function, _inner(function), False, hidden))

    def read(arguments: Any) -> dict[str, Any]:
        try:
            # As JSON, so that strict models too take text for dates and arrays for tuples.
            found: dict[str, Any] = adapter.validate_json(compact(arguments))
        except ValidationError as error:
            raise arguments_error(error) from None
        return found

    return read


def arguments_error(error: Any) -> ArgumentsError:
    """What pydantic has against a value, in our words. ``error`` is its ``ValidationError``."""
    return ArgumentsError([_fault(item) for item in error.errors(include_url=False)])


def _fault(item: Any) -> Fault:
    return Fault(pointer(item["loc"]), " ".join(item["msg"].split()), excerpt(item["input"]))


def _inner(function: Any) -> Any:
    """The function itself, out of partials, and the ``__call__`` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if hasattr(function, "__name__") else type(function).__call__


def _read(
    function: Callable[..., Any], inner: Any, unbound: bool, hidden: frozenset[str]
) -> tuple[dict[str, Any], str | None]:
    from griffe import Docstring, parse_auto  # noqa: F401, PLC0415  an extra
    from pydantic import TypeAdapter  # noqa: F401, PLC0415  an extra

    schema = _schema(_shadow(function, inner, unbound, hidden))
    text, described = _documented(inspect.getdoc(inner) if inspect.isroutine(inner) else None)
    properties = schema.get("properties", {})
    for name, said in described.items():
        item = properties.get(name)
        if isinstance(item, dict) and "description" not in item:
            properties[name] = {**item, "description": said}
    return schema, text


def _shadow(function: Callable[..., Any], inner: Any, unbound: bool, hidden: frozenset[str]) -> Any:
    """A function of the same parameters, each given by its name, that returns what it is given. Raises
    ``_FunctionError``.
    """
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(inner, include_extras=True)
    except Exception as error:  # noqa: BLE001  evaluating annotations runs the user's code
        raise _FunctionError(f"its signature cannot be read: {_sentence(error)}") from None
    parameters = list(signature.parameters.values())[1 if unbound else 0 :]
    named = [
        parameter if parameter.kind in _VARIADIC else parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in parameters
        if parameter.kind is not inspect.Parameter.VAR_POSITIONAL and parameter.name not in hidden
    ]

    def named_only(**given: Any) -> dict[str, Any]:
        return given

    shadow: Any = named_only
    shadow.__signature__ = signature.replace(parameters=named)
    shadow.__annotations__ = {parameter.name: hints.get(parameter.name, Any) for parameter in named}
    shadow.__module__ = getattr(inner, "__module__", __name__)
    return shadow


def _schema(shadow: Any) -> dict[str, Any]:
    """The schema of a function's arguments by name. Raises ``_FunctionError``."""
    from pydantic import TypeAdapter  # noqa: PLC0415  an extra

    try:
        found: dict[str, Any] = TypeAdapter(shadow).json_schema(schema_generator=_generator(), mode="validation")
    except Exception as error:  # noqa: BLE001  pydantic asks the user's types for their schemas
        raise _without_schema(shadow.__annotations__, error) from None
    return found


def _without_schema(annotations: dict[str, Any], error: Exception) -> _FunctionError:
    """The error that names the parameter that pydantic has no schema of, found by asking for each."""
    from pydantic import TypeAdapter  # noqa: PLC0415  an extra

    for name, annotation in annotations.items():
        try:
            TypeAdapter(annotation).json_schema(schema_generator=_generator())
        except Exception as own:  # noqa: BLE001  as above
            return _FunctionError(f"its parameter {name!r} has no JSON Schema: {_sentence(own)}")
    return _FunctionError(f"its arguments have no JSON Schema: {_sentence(error)}")


@functools.cache
def _generator() -> type[Any]:
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415  an extra

    class Generator(GenerateJsonSchema):
        """Leaves out a default that is no JSON value, without a warning: the caller cannot send it anyway."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  as pydantic has it

    return Generator


def _documented(docstring: str | None) -> tuple[str | None, dict[str, str]]:
    """What a docstring says of the function, and of each parameter, in the style of Google, NumPy or Sphinx."""
    from griffe import Docstring, DocstringSectionKind, Parser, parse_auto  # noqa: PLC0415  an extra

    if not docstring:
        return None, {}
    # The parsers warn about docstrings; that is not what is asked for here.
    logger = logging.getLogger("griffe")
    silenced, logger.disabled = logger.disabled, True
    try:
        # The style is told by lines within the text; a first or last line that is a field of Sphinx says it as well.
        sections = parse_auto(Docstring(docstring), default=Parser.sphinx if _FIELD.search(docstring) else None)
    finally:
        logger.disabled = silenced
    texts: list[str] = []
    described: dict[str, str] = {}
    for section in sections:
        if section.kind is DocstringSectionKind.text:
            texts.append(section.value.strip())
        elif section.kind is DocstringSectionKind.admonition:
            texts.append(f"{section.title or section.value.kind}: {section.value.description.strip()}")
        elif section.kind in {DocstringSectionKind.parameters, DocstringSectionKind.other_parameters}:
            said = {item.name.lstrip("*"): " ".join(item.description.split()) for item in section.value}
            described |= {name: text for name, text in said.items() if text}
    return "\n\n".join(filter(None, texts)) or None, described


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text.split('. ')[0][:200]}" if text else type(error).__name__
