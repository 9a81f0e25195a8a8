"""What running a tool comes to, and what of it the model hears.

The model hears text: that of the output, with a notice on a line of its own, or ``Error [CODE]: message``. Details are
for people: they go to events and traces, never to the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from strictcall.errors import SettingsError, StrictCallError

_CODE: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*\Z")


NOTHING: Final = "(no output)"
"""The text of a tool that had nothing to say: some APIs refuse an empty one."""


class ErrorCode(StrEnum):
    """The standard codes. The set is open: a tool may use any other upper-case name."""

    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    """No tool has the name that was called."""
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    """The arguments do not fit the tool; it was not run."""
    PERMISSION_DENIED = "PERMISSION_DENIED"
    """What the call asks for is never allowed here."""
    APPROVAL_DENIED = "APPROVAL_DENIED"
    """Whoever was asked did not allow this call; it was not run."""
    NOT_FOUND = "NOT_FOUND"
    """What the call is about does not exist."""
    TIMEOUT = "TIMEOUT"
    """The tool did not finish in time, and was stopped."""
    ABORTED = "ABORTED"
    """The run was ended while the tool was at work, or before its call began."""
    REPEATED_CALL = "REPEATED_CALL"
    """The same call had the same output too often."""
    OUTPUT_TOO_LARGE = "OUTPUT_TOO_LARGE"
    """The tool said more than can be kept at all."""
    EXECUTION_ERROR = "EXECUTION_ERROR"
    """The tool failed in a way that it has no code for."""


def _check(made: Any, **kinds: Any) -> None:
    """Raises ``TypeError`` where a tool is at fault, so that nothing after it has to look again."""
    for name, kind in kinds.items():
        held = getattr(made, name)
        if not isinstance(held, kind):
            expected = getattr(kind, "__name__", str(kind))
            raise TypeError(f"{name} of {type(made).__name__} must be {expected}, not {type(held).__name__}")


@dataclass(frozen=True, slots=True)
class ToolError:
    """What went wrong, for the model: a ``code``, an upper-case name, and a ``message`` that it can act on.

    Raises ``SettingsError`` for a code that is none, and ``TypeError`` for what is no text.
    """

    code: str
    message: str

    def __post_init__(self) -> None:
        _check(self, code=str, message=str)
        if not _CODE.match(self.code):
            raise SettingsError("code", f"must be an upper-case name such as NOT_FOUND, not {self.code!r}")

    def __str__(self) -> str:
        return f"Error [{self.code!s}]: {self.message}"


@dataclass(frozen=True, slots=True)
class Success:
    """The tool did what it was asked.

    ``text`` is what the model hears, and ``notice`` what it should know about the text. ``details`` are for people.
    ``truncated`` says that the text is not all there was. Raises ``TypeError`` for what is no text.
    """

    text: str
    details: Any = None
    notice: str | None = None
    truncated: bool = False

    def __post_init__(self) -> None:
        _check(self, text=str, notice=str | None)


@dataclass(frozen=True, slots=True)
class RespondToModel:
    """The tool could not do it, and the model is told why, so that it may do something else. Raises ``TypeError`` for
    an error that is no ``ToolError``.
    """

    error: ToolError
    details: Any = None

    def __post_init__(self) -> None:
        _check(self, error=ToolError)


@dataclass(frozen=True, slots=True)
class Fatal:
    """The run cannot go on. It ends; the model is told nothing. Raises ``TypeError`` for an error that is no
    ``ToolError``.
    """

    error: ToolError
    details: Any = None

    def __post_init__(self) -> None:
        _check(self, error=ToolError)


Output = Success | RespondToModel | Fatal


class ToolFailed(StrictCallError):
    """For a tool to raise: the call ends with this error, as if ``RespondToModel``, or ``Fatal``, had been returned.

    Raises ``SettingsError`` for a code that is no upper-case name.
    """

    def __init__(self, code: str, message: str, *, details: Any = None, fatal: bool = False) -> None:
        super().__init__(code, message)
        self.error = ToolError(code, message)
        self.details = details
        self.fatal = fatal

    def __str__(self) -> str:
        return str(self.error)

    @property
    def output(self) -> RespondToModel | Fatal:
        """The output that the call ends with."""
        kind = Fatal if self.fatal else RespondToModel
        return kind(self.error, self.details)


def model_text(output: Output) -> str | None:
    """What the model hears of an output: ``None``, no message at all, for a fatal one, which ends the run."""
    if isinstance(output, Fatal):
        return None
    if isinstance(output, RespondToModel):
        return str(output.error)
    if not output.notice:
        return output.text
    return f"{output.text}\n[{output.notice}]" if output.text else f"[{output.notice}]"
