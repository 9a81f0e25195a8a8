"""Tools that Python code holds: ``package.module:attribute`` names a Tool, a pydantic model, a function, a JSON value
or a list of them.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from strictcall.errors import SourceError
from strictcall.json_value import LimitError, check_limits
from strictcall.source.python_function import is_function, read_function
from strictcall.source.reading import Reading, failed, joined
from strictcall.source.shapes import read_value
from strictcall.tool import Tool

_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")

_DEEPEST_LIST = 20
_DEEPEST_VALUE = 900
_MAX_NODES = 2_000_000


def is_reference(source: str) -> bool:
    """Whether a source's text has the form ``package.module:attribute``."""
    return _REFERENCE.match(source) is not None


def read_reference(reference: str) -> Reading:
    """The tools that ``package.module:attribute`` holds, the module imported as if from the working directory.

    Importing runs the module. Never raises: an import that fails, and an attribute that is missing or is no tool, are
    problems.
    """
    try:
        owner, found = _located(reference)
    except SourceError as error:
        return failed(error.place, error.problem)
    last = reference.rpartition(":")[2].rpartition(".")[2]
    if inspect.isfunction(found) and isinstance(owner, type):
        method = inspect.isfunction(inspect.getattr_static(owner, last))
        return read_function(found, reference, last, unbound=method)
    return read_object(found, reference, last)


def find_object(reference: str) -> Any:
    """What ``package.module:attribute`` names, the module imported as if from the working directory.

    Raises ``SourceError`` where the import fails or there is no such attribute.
    """
    return _located(reference)[1]


def _located(reference: str) -> tuple[Any, Any]:
    """What a reference names, and what has it as an attribute. Raises ``SourceError``."""
    module_name, _, attribute = reference.partition(":")
    try:
        found: Any = _import(module_name)
    except ModuleNotFoundError as error:
        raise SourceError(reference, f"no module named {error.name!r}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  the module is the user's and may raise anything
        raise SourceError(reference, f"importing {module_name} failed: {_sentence(error)}") from None
    owner: Any = None
    for name in attribute.split("."):
        owner = found
        try:
            found = getattr(owner, name)
        except AttributeError:
            raise SourceError(reference, f"{_called(owner, module_name)} has no {name!r}") from None
        except Exception as error:  # noqa: BLE001  the attribute is the user's and may raise anything
            raise SourceError(reference, f"reading {name!r} failed: {_sentence(error)}") from None
    return owner, found


def _import(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(name)


def read_object(value: Any, place: str, name: str, depth: int = 0) -> Reading:
    """The tools that a Python object stands for: a ``Tool``, or what has one as its ``tool``, a pydantic model, a
    function, a JSON value of any of the shapes that a file may hold, or a list or tuple of these. Never raises.
    """
    if isinstance(value, Tool):
        return Reading(tools=(value,))
    if isinstance(getattr(value, "tool", None), Tool):
        return Reading(tools=(value.tool,))
    if isinstance(value, type) and callable(getattr(value, "model_json_schema", None)):
        return _read_model(value, place)
    if isinstance(value, list | tuple) and depth < _DEEPEST_LIST:
        if not value:
            return failed(place, "there are no tools in it")
        rows = enumerate(value, start=1)
        return joined(read_object(item, f"{place}[{row}]", f"{name}_{row}", depth + 1) for row, item in rows)
    if isinstance(value, dict):
        try:
            check_limits(value, _DEEPEST_VALUE, _MAX_NODES)
        except LimitError as error:
            return failed(place, str(error))
        return read_value(value, place, name)
    if is_function(value):
        return read_function(value, place, name)
    kind = type(value).__name__
    return failed(
        place, f"neither a Tool, a pydantic model, a function, a JSON value nor a list of these, but of type {kind}"
    )


def _read_model(model: Any, place: str) -> Reading:
    """A pydantic model as a tool: its name, its docstring, and the schema of what validates into it."""
    try:
        schema = model.model_json_schema(by_alias=True, mode="validation")
    except Exception as error:  # noqa: BLE001  pydantic asks the user's types for their schemas
        return failed(place, f"the model {model.__name__} has no JSON Schema: {_sentence(error)}")
    # A model without a docstring inherits BaseModel's, which is not about it; the schema tells them apart.
    described = "description" in schema
    return Reading(tools=(Tool(model.__name__, inspect.getdoc(model) if described else None, schema),))


def _called(value: Any, module_name: str) -> str:
    return f"the module {module_name}" if inspect.ismodule(value) else repr(getattr(value, "__name__", value))[:80]


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
