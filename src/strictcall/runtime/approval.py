"""Asking before a tool is run: whoever is asked allows the call, denies it, or edits its arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from strictcall.api.answer import Call
from strictcall.runtime.calling import Threads, is_async
from strictcall.runtime.output import ErrorCode, ToolError
from strictcall.runtime.runnable import RunnableTool


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What is asked: may this tool run with these arguments? They are in contract form, as the contract admits them."""

    call: Call
    tool: RunnableTool
    arguments: Any


@dataclass(frozen=True, slots=True)
class Allow:
    """The tool may run."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The tool may not run, and the model is told ``reason``; with the code PERMISSION_DENIED, that it never may.

    Raises ``SettingsError`` for a code that is no upper-case name.
    """

    reason: str = "this call was not allowed"
    code: str = ErrorCode.APPROVAL_DENIED

    def __post_init__(self) -> None:
        # Raises here, where the approver can see it, for a code that is none.
        ToolError(self.code, self.reason)


@dataclass(frozen=True, slots=True)
class Edit:
    """The tool may run with other arguments, in contract form. The contract has to admit them, as those of a call."""

    arguments: Any


Decision = Allow | Deny | Edit
Approver = Callable[[ApprovalRequest], Decision | bool | Awaitable[Decision | bool]]
"""Whoever is asked: an ``async`` function, or one that runs in a thread and so may wait for a person. True allows and
false denies.
"""


@dataclass(frozen=True, slots=True)
class AskUnlessReadOnly:
    """The shipped policy: a tool that is known to change nothing runs, and ``ask`` decides on any other.

    What is known is the tool's ``read_only``. For a tool of an MCP server it is the server that says so.
    """

    ask: Approver

    def __call__(self, request: ApprovalRequest) -> Decision | bool | Awaitable[Decision | bool]:
        """Decide on a request, or have it decided."""
        return Allow() if request.tool.read_only is True else self.ask(request)


async def decided(approver: Approver, request: ApprovalRequest, threads: Threads) -> Decision:
    """What an approver decides. Raises what it raises, and ``TypeError`` for what is no decision."""
    if is_async(approver):
        answer: Any = approver(request)
    else:
        answer = await threads.call(lambda: approver(request), f"approval of {request.tool.name}")
    if hasattr(answer, "__await__"):
        answer = await answer
    if isinstance(answer, bool):
        return Allow() if answer else Deny()
    if not isinstance(answer, Decision):
        raise TypeError(f"an approver decides with Allow, Deny, Edit, True or False, not {type(answer).__name__}")
    return answer
