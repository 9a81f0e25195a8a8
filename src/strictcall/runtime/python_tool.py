"""Tools from Python functions and methods: the schema from their type hints, the words from their docstring."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, Union, Unpack, get_args, get_origin, get_type_hints, overload

from strictcall.errors import SourceError
from strictcall.policy import Policy
from strictcall.runtime.calling import is_async
from strictcall.runtime.runnable import TIMEOUT, Context, RunnableTool
from strictcall.source.python_function import arguments_reader, read_function
from strictcall.tool import Tool


class ToolOptions(TypedDict, total=False):
    """What may be said of a tool besides its function: ``name`` and ``description`` in place of the function's own; the
    others as ``RunnableTool`` has them.
    """

    name: str
    description: str
    timeout: float | None
    parallel_safe: bool
    read_only: bool | None
    strict: bool | None
    policy: Policy | None


@dataclass(frozen=True, slots=True)
class FunctionTool(RunnableTool):
    """A tool that is a Python function, and is still called like one."""

    function: Callable[..., Any] = field(kw_only=True, repr=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, past the contract."""
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.function


class MethodTool:
    """A method that is a tool where it is bound: ``instance.method`` is a ``FunctionTool``, and so is the static or
    class method of a class. The schema is read when that is first asked for.
    """

    def __init__(self, raw: Any, options: ToolOptions) -> None:
        self._raw = raw
        self._options = options
        self._known: _Read | None = None
        functools.update_wrapper(self, getattr(raw, "__func__", raw))

    @overload
    def __get__(self, instance: None, owner: type) -> Any: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> FunctionTool: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None and isinstance(self._raw, types.FunctionType):
            return self
        bound = self._raw.__get__(instance, owner)
        # What a method takes besides the instance is the same for each.
        self._known = self._known or _read(bound, self._options)
        return _made(bound, self._known, self._options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method as that of the class, with the instance given."""
        return getattr(self._raw, "__func__", self._raw)(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /, **options: Unpack[ToolOptions]) -> FunctionTool: ...
@overload
def tool(function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a tool of a function or method, sync or async: ``@tool`` or ``@tool(timeout=5, read_only=True)``.

    The schema is that of its type hints, as pydantic has it; the tool's description and those of its parameters are in
    its docstring, in the style of Google, NumPy or Sphinx. Parameters get what they are annotated with: an instance of
    a model, a date, a tuple. A parameter that is annotated as ``Context`` gets the call's, and is not in the schema. Of
    a static or class method, ``@tool`` stands above the other decorator.

    Raises ``SourceError`` for a function that cannot be read as a tool, of a method when it is first bound; the text
    says why. Needs the ``runtime`` extra.
    """
    if function is None:
        return functools.partial(tool, **options)
    if isinstance(function, staticmethod | classmethod) or _is_in_a_class(function):
        return MethodTool(function, options)
    return _made(function, _read(function, options), options)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a function's signature and docstring say: its tool, what reads its arguments, and where the context goes."""

    tool: Tool
    arguments: Callable[[Any], dict[str, Any]]
    contexts: frozenset[str]
    positional: tuple[str, ...]


_GENERATORS: Final = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)


def _is_in_a_class(function: Any) -> bool:
    """Whether a function was defined in the body of a class."""
    around = getattr(function, "__qualname__", "").rpartition(".")[0]
    return isinstance(function, types.FunctionType) and bool(around) and not around.endswith("<locals>")


def _read(function: Callable[..., Any], options: ToolOptions) -> _Read:
    place = _place(function)
    if any(is_one(function) for is_one in _GENERATORS):
        raise SourceError(place, "a generator cannot be a tool; return a list of what it yields")
    contexts = _contexts(function)
    reading = read_function(function, place, options.get("name", "tool"), hidden=contexts)
    if reading.problems:
        raise SourceError(reading.problems[0].place, reading.problems[0].text)
    (found,) = reading.tools
    parameters = inspect.signature(function).parameters.values()
    return _Read(
        Tool(options.get("name", found.name), options.get("description", found.description), found.parameters),
        arguments_reader(function, contexts),
        contexts,
        tuple(parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.POSITIONAL_ONLY),
    )


def _made(function: Callable[..., Any], read: _Read, options: ToolOptions) -> FunctionTool:
    return FunctionTool(
        read.tool,
        _running(function, read),
        options.get("timeout", TIMEOUT),
        options.get("parallel_safe", True),
        options.get("read_only"),
        options.get("strict"),
        options.get("policy"),
        function=function,
    )


def _running(function: Callable[..., Any], read: _Read) -> Callable[[Any, Context], Any]:
    def bound(arguments: Any, context: Context) -> functools.partial[Any]:
        given = read.arguments(arguments) | dict.fromkeys(read.contexts, context)
        first = [given.pop(name) for name in read.positional]
        return functools.partial(function, *first, **given)

    if is_async(function):

        async def run_async(arguments: Any, context: Context) -> Any:
            return await bound(arguments, context)()

        return run_async

    def run(arguments: Any, context: Context) -> Any:
        return bound(arguments, context)()

    return run


def _contexts(function: Any) -> frozenset[str]:
    """The parameters that are annotated as ``Context``, alone or in a union."""
    while isinstance(function, functools.partial):
        function = function.func
    called = function if hasattr(function, "__name__") else type(function).__call__
    try:
        hints = get_type_hints(called)
    except Exception:  # noqa: BLE001  reading the function will say what is wrong with its annotations
        return frozenset()
    hints.pop("return", None)
    return frozenset(name for name, hint in hints.items() if _is_context(hint))


def _is_context(hint: Any) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(map(_is_context, get_args(hint)))
    return isinstance(hint, type) and issubclass(hint, Context)


def _place(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{getattr(function, '__module__', None) or '?'}.{name}"
