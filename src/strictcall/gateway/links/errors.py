"""What a client is told where no link answers: OpenAI's shape of an error, with the status that its clients know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.errors import NameClashError, RequestError, StrictCallError
from strictcall.gateway.links.models import UnknownModelError
from strictcall.link.errors import HANDLING, ChainError, ErrorKind, LinkError

NO_RETRY: Final = {"x-should-retry": "false"}
"""A header that OpenAI's clients obey: what was asked again as often as may help is not asked three times more."""
INVALID: Final = "invalid_request_error"
"""The type of an error in the request itself."""


@dataclass(frozen=True, slots=True)
class Told:
    """An error as it is told: its status, headers, and the object under ``error``."""

    status: int
    error: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def body(self) -> dict[str, Any]:
        """The body of a response, or the data of an event in a stream."""
        return {"error": dict(self.error)}


KINDS: Final[Mapping[ErrorKind, tuple[int, str, str | None]]] = {
    ErrorKind.CONNECTION: (502, "api_connection_error", None),
    ErrorKind.TIMEOUT: (504, "timeout_error", None),
    ErrorKind.BROKEN: (502, "api_error", None),
    ErrorKind.MALFORMED: (502, "api_error", None),
    ErrorKind.RATE_LIMIT: (429, "rate_limit_error", "rate_limit_exceeded"),
    ErrorKind.OVERLOADED: (503, "overloaded_error", None),
    ErrorKind.SERVER: (502, "api_error", None),
    ErrorKind.QUOTA: (429, "insufficient_quota", "insufficient_quota"),
    # The key is the gateway's: 401 would have the client look at its own.
    ErrorKind.KEY: (502, "upstream_authentication_error", None),
    ErrorKind.NOT_FOUND: (404, INVALID, "model_not_found"),
    ErrorKind.TOO_LONG: (400, INVALID, "context_length_exceeded"),
    ErrorKind.REFUSED: (400, INVALID, None),
    ErrorKind.UNWRITABLE: (400, INVALID, "unsupported_parameter"),
    ErrorKind.NO_CLIENT: (500, "api_error", None),
}
"""For each kind of a link's error the status, and the ``type`` and ``code`` that OpenAI has for it."""


def told_of(error: StrictCallError) -> Told:
    """What is told of an error that was raised before there was anything of an answer."""
    match error:
        case ChainError():
            return _of_chain(error)
        case LinkError():
            return _of_link(error)
        case UnknownModelError():
            return told(404, str(error), INVALID, "model", "model_not_found")
        case RequestError():
            return told(400, str(error), INVALID, error.place)
        case NameClashError():
            return told(400, str(error), INVALID, "tools")
        case _:
            return told(500, str(error), "api_error", headers=NO_RETRY)


def _of_link(error: LinkError) -> Told:
    status, kind, code = KINDS[error.kind]
    if error.kind is ErrorKind.REFUSED and error.status is not None and 400 <= error.status < 500:
        status = error.status
    headers = {} if HANDLING[error.kind].retry else dict(NO_RETRY)
    if error.retry_after is not None and status in (429, 503):
        headers["retry-after"] = str(math.ceil(error.retry_after))
    # Of what cannot be said, the place stands before the problem.
    param = error.words.partition(": ")[0] if error.kind is ErrorKind.UNWRITABLE else None
    return told(status, str(error), kind, param, code, headers)


def _of_chain(error: ChainError) -> Told:
    """Where all failed alike that is told; else 503 where trying later may help, and 502 where it will not."""
    each_told = [_of_link(failure) for failure in error.failures]
    if len({each.status for each in each_told}) == 1:
        status, first = each_told[0].status, each_told[0].error
        kind, code = first["type"], first["code"]
    else:
        may_help = any(HANDLING[failure.kind].retry for failure in error.failures)
        status, kind, code = (503, "overloaded_error", None) if may_help else (502, "api_error", None)
    waits = [failure.retry_after for failure in error.failures if failure.retry_after is not None]
    headers = dict(NO_RETRY) if all("x-should-retry" in each.headers for each in each_told) else {}
    if waits and status in (429, 503):
        headers["retry-after"] = str(math.ceil(min(waits)))
    return told(status, str(error), kind, None, code, headers)


def told(
    status: int,
    message: str,
    kind: str,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Told:
    """An error with a message, of a ``kind``, and about the field ``param``."""
    return Told(status, {"message": message, "type": kind, "param": param, "code": code}, headers or {})
