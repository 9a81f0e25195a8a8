"""What a tool returned or raised, as an output."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from strictcall.errors import ArgumentsError
from strictcall.runtime.mcp_output import content_output, is_block, is_result, result_output
from strictcall.runtime.output import (
    NOTHING,
    ErrorCode,
    Fatal,
    Output,
    RespondToModel,
    Success,
    ToolError,
    ToolFailed,
)
from strictcall.runtime.plain_value import shown, text_of


def as_output(value: Any) -> Output:
    """What a tool returned, as an output.

    | value | the model hears |
    |---|---|
    | an ``Output`` | what it says |
    | ``None``, ``""`` | ``(no output)`` |
    | text | itself |
    | bytes | the UTF-8 text that they hold, or ``(binary data, N bytes)`` with the bytes as details |
    | an MCP result, a content block, a list of blocks | the blocks' texts, as ``mcp_output`` has them |
    | an iterator, a generator | EXECUTION_ERROR: going through it may never end |
    | a date, a UUID, a path, an enumeration's member | its text, without quotes |
    | a dict, a list, a number, a pydantic model, a dataclass, … | compact JSON, as ``jsonable`` converts it |
    """
    if isinstance(value, Output):
        return value
    if value is None or (isinstance(value, str) and not value):
        return Success(NOTHING)
    if isinstance(value, bytes | bytearray | memoryview):
        return _binary(bytes(value))
    if isinstance(value, Iterator | AsyncIterator):
        said = f"the tool returned an iterator ({type(value).__name__}), which has no text; it has to return a list"
        return RespondToModel(ToolError(ErrorCode.EXECUTION_ERROR, said))
    if is_result(value):
        return result_output(value)
    if is_block(value):
        return content_output([value])
    if _is_blocks(value):
        return content_output(value)
    return Success(text_of(value))


def failure(error: BaseException) -> RespondToModel | Fatal:
    """What a tool raised, as an output.

    ``ToolFailed`` says its own; ``ArgumentsError`` is INVALID_ARGUMENTS. Any other exception is EXECUTION_ERROR with
    its message, never its traceback; where it has none, or one that says nothing by itself (a key that was missed, an
    exit code), with its name.
    """
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, ToolFailed):
        return error.output
    if isinstance(error, ArgumentsError):
        return RespondToModel(ToolError(ErrorCode.INVALID_ARGUMENTS, str(error)))
    message = shown(error).strip()
    if not message or isinstance(error, KeyError) or not isinstance(error, Exception):
        message = f"{type(error).__name__}: {message}".removesuffix(": ")
    return RespondToModel(ToolError(ErrorCode.EXECUTION_ERROR, message))


def _binary(value: bytes) -> Success:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return Success(f"(binary data, {len(value):,} bytes)", details=value)
    return Success(text or NOTHING)


def _is_blocks(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and all(map(is_block, value))
