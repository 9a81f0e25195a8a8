"""The output that is wanted of a run: its schema, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from strictcall.errors import SettingsError
from strictcall.json_value import compact
from strictcall.shape.contract import Unreadable, read_contract
from strictcall.source.python_function import arguments_error

Output = TypeVar("Output")
OUTPUT_NAME: Final = "answer"
"""What an output is called whose type has no name."""


@dataclass(frozen=True, slots=True)
class Wanted(Generic[Output]):
    """What an answer has to be: ``schema`` is a JSON Schema, and ``name`` what it is called.

    ``read`` makes of a value that the schema admits what was asked for, and raises ``ArgumentsError`` where the type
    has more to say than its schema.
    """

    schema: Any
    name: str
    read: Callable[[Any], Output]


def wanted(output_type: Any) -> Wanted[Any] | None:
    """What is wanted by a type, as pydantic reads types, or by a JSON Schema; ``None`` for text.

    Raises ``SettingsError`` for a type that has no JSON Schema, and for a schema by which no answer could be checked.
    A type needs pydantic (the ``runtime`` extra).
    """
    if output_type is None or output_type is str:
        return None
    if isinstance(output_type, Mapping):
        _check_usable(output_type)
        return Wanted(output_type, OUTPUT_NAME, lambda value: value)
    from pydantic import PydanticUserError, TypeAdapter, ValidationError  # noqa: PLC0415  an extra

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        schema = adapter.json_schema(by_alias=True, mode="validation")
    except PydanticUserError as error:
        said = str(error).partition("\n")[0]
        raise SettingsError("output_type", f"has no JSON Schema: {said}") from None

    def read(value: Any) -> Any:
        try:
            # As JSON, so that strict models too take text for dates and arrays for tuples.
            return adapter.validate_json(compact(value))
        except ValidationError as error:
            raise arguments_error(error) from None

    return Wanted(schema, getattr(output_type, "__name__", OUTPUT_NAME), read)


def _check_usable(schema: Any) -> None:
    try:
        read_contract(schema)
    except Unreadable as error:
        if error.contract is None:
            raise SettingsError("output_type", error.reason) from None
