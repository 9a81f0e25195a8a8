"""Refusals: what a provider answers instead of an answer, before any API's error shape is put around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from strictcall.dialect.model import Violation
from strictcall.emulator.conversation import OfferedTool, WantedOutput

Kind = Literal[
    "invalid", "authentication", "billing", "permission", "not_found", "timeout", "conflict", "too_large",
    "unprocessable", "rate_limit", "server", "overloaded",
]  # fmt: skip
STATUS: dict[int, Kind] = {
    400: "invalid",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    422: "unprocessable",
    429: "rate_limit",
    500: "server",
    502: "server",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
"""What each HTTP status means."""


class Refusal(Exception):
    """A request is refused.

    ``status`` is the HTTP status and ``message`` the provider's words. ``param`` names the place in the request and
    ``code`` is the error's own code, both where the API has such fields. ``headers`` go out with the response.
    """

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, status, param, code)
        self.message = message
        self.status = status
        self.param = param
        self.code = code
        self.headers = headers or {}

    @property
    def kind(self) -> Kind:
        """What the status means."""
        return STATUS.get(self.status, "invalid" if self.status < 500 else "server")


BreachKind = Literal[
    "schema", "tool_name", "description", "duplicate_name", "limit", "parallel", "mixed_strict", "strict_field",
    "choice", "output", "unknown_field",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Breach:
    """What a dialect has against a request, for an API to put in its provider's words.

    - ``schema``: ``tool``'s schema breaks a rule, which ``violation`` tells. ``tool_name``, ``description``: the same
      of its name and description. ``output``: the same of ``output``'s schema.
    - ``duplicate_name``: ``tool`` has the name of one before it.
    - ``limit``: the request's tools are together too many or too large; ``violation`` tells.
    - ``parallel``: a tool is strict, and parallel calls are not ruled out. ``mixed_strict``: some tools are strict and
      some are not, where that is not taken.
    - ``strict_field``: ``tool`` carries a strict marking where the dialect takes none; ``field`` is its place.
    - ``choice``: the tool choice names a tool, ``field``, that is not offered, or demands a call of no tool.
    - ``unknown_field``: the body has a field, ``field``, that the API does not know.
    """

    kind: BreachKind
    tool: OfferedTool | None = None
    output: WantedOutput | None = None
    violation: Violation | None = None
    field: str = ""
