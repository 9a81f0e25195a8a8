"""A file against its model, in words that name the path, the line, and what is allowed there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from strictcall.errors import ConfigError
from strictcall.json_value import excerpt
from strictcall.link.document import Document
from strictcall.link.lines import KeyPath

Model = TypeVar("Model", bound=BaseModel)

_KEYS: Final = frozenset({"api_key", "apikey", "key", "token", "secret", "password"})
_KEY_IN_FILE: Final = "a key does not belong in a file; name the environment variable that has it in api_key_env"
_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_type": "must be true or false",
        "string_type": "must be a text",
        "int_type": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "finite_number": "must be a number",
        "dict_type": "must be a table",
        "model_type": "must be a table",
        "tuple_type": "must be a list",
        "missing": "missing",
        "json_invalid": "nests too deep to be read",
        "string_too_short": "must not be empty",
    }
)
_PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "base_url": "must be an address that begins with http:// or https://, without a password, query or fragment",
        "api_key_env": "must be the name of an environment variable: letters, digits and _, no digit first",
        "id": "must be a name without blanks at its ends; a provider's has no blank and no slash at all",
    }
)
"""What is asked of a text by a regular expression. The text is not repeated: a key may stand where its name should."""


def validate(model: type[Model], document: Document) -> Model:
    """A file's value as its model. Raises ``ConfigError`` with every problem, in the order of the file."""
    try:
        return model.model_validate_json(json.dumps(dict(document.value)))
    except ValidationError as error:
        found = error.errors(include_url=False)
    problems = [document.problem(_path(each), _words(each, model)) for each in found]
    raise ConfigError(document.file, sorted(problems, key=lambda problem: problem.line))


def _path(error: ErrorDetails) -> KeyPath:
    return tuple(part for part in error["loc"] if part != "[key]")


def _words(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind, path, context = error["type"], _path(error), error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), _fields_at(model, path[:-1]))
    if kind == "literal_error":
        return f"{excerpt(error['input'])} is not one of {_allowed(model, path)}"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(path[-1]), "is not written as it must be")
    bounds: Mapping[str, Callable[[Any], str]] = {
        "greater_than_equal": lambda given: f"must be {given['ge']:g} or more",
    }
    if kind in bounds:
        return bounds[kind](context)
    return _TYPES.get(kind) or f"{error['msg'][:1].lower()}{error['msg'][1:]}"


def _unknown(key: str, known: list[str]) -> str:
    if key.lower().replace("-", "_").replace("__", "_") in _KEYS or key.lower() == "api-key":
        return _KEY_IN_FILE
    near = get_close_matches(key, known, n=2, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"unknown key; {hint}known are {', '.join(known)}"


def _allowed(model: type[BaseModel], path: KeyPath) -> str:
    """The values that a field takes, as they are written."""
    parent = _model_at(model, path[:-1])
    annotation = parent.model_fields[str(path[-1])].annotation if parent else None
    return ", ".join(str(value) for value in _literals(annotation))


def _literals(annotation: Any) -> list[str]:
    """The values of a ``Literal``, with or without ``None`` beside it."""
    values: list[str] = []
    for item in get_args(annotation):
        values += [item] if isinstance(item, str) else _literals(item)
    return values


def _fields_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    parent = _model_at(model, path)
    return list(parent.model_fields) if parent else []


def _model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel] | None:
    """The model of a table, by the way that leads to it."""
    found: Any = model
    for part in path:
        found = _bare(_step(found, part))
    return found if _is_model(found) else None


def _step(annotation: Any, part: str | int) -> Any:
    """What a part of a table, a list, or a table of tables is declared as."""
    if _is_model(annotation):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    held = get_args(annotation)
    return {tuple: held[:1], dict: held[1:]}.get(get_origin(annotation), (None,))[0]


def _bare(annotation: Any) -> Any:
    """A declaration without ``None`` beside it."""
    if get_origin(annotation) in (Union, UnionType):
        return next(each for each in get_args(annotation) if each is not NoneType)
    return annotation


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)
