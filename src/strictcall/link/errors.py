"""What can go wrong with a link, as data: which kind of error it is, and what each kind asks for.

The kind is found by what an error says of itself (a code of the provider's), then by its status, then by the name of
its class: so no client needs to be imported to tell its errors apart, and what an intermediate server makes of them
is told apart as well.

Sources: https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors,
https://ai.google.dev/gemini-api/docs/troubleshooting and https://cloud.google.com/apis/design/errors, RFC 9110 for
statuses, https://www.rfc-editor.org/rfc/rfc9110#field.retry-after for ``Retry-After``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from strictcall.errors import StrictCallError


class ErrorKind(StrEnum):
    """What went wrong, as far as it matters for what to do next."""

    CONNECTION = "connection"
    """There was no connection."""
    TIMEOUT = "timeout"
    """The provider was silent, or at it, for too long."""
    BROKEN = "broken"
    """The answer broke off."""
    MALFORMED = "malformed"
    """What came is no answer of the API."""
    RATE_LIMIT = "rate_limit"
    """Too many requests, or tokens, for now."""
    OVERLOADED = "overloaded"
    """The provider has too much to do."""
    SERVER = "server"
    """The provider failed."""
    QUOTA = "quota"
    """There is no money left, or no quota."""
    KEY = "key"
    """The key is missing, wrong, or may not do this."""
    NOT_FOUND = "not_found"
    """There is no such model, or no such address."""
    TOO_LONG = "too_long"
    """The request is longer than this model takes."""
    REFUSED = "refused"
    """The request itself is wrong, as the provider has it."""
    UNWRITABLE = "unwritable"
    """The link's API or model has no way to say what was asked for: nothing was sent."""
    NO_CLIENT = "no_client"
    """The official client of the link's API is not installed."""


@dataclass(frozen=True, slots=True)
class Handling:
    """What an error of some kind asks for: whether the same link is tried again, whether another link is tried then,
    and for how many seconds at first the link is left alone (0: not at all).
    """

    retry: bool
    fall_over: bool
    cooldown: float


HANDLING: Final[Mapping[ErrorKind, Handling]] = {
    ErrorKind.CONNECTION: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.TIMEOUT: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.BROKEN: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.MALFORMED: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.RATE_LIMIT: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.OVERLOADED: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.SERVER: Handling(retry=True, fall_over=True, cooldown=5),
    ErrorKind.QUOTA: Handling(retry=False, fall_over=True, cooldown=300),
    ErrorKind.KEY: Handling(retry=False, fall_over=True, cooldown=300),
    ErrorKind.NOT_FOUND: Handling(retry=False, fall_over=True, cooldown=300),
    ErrorKind.TOO_LONG: Handling(retry=False, fall_over=True, cooldown=0),
    # A request that is wrong is wrong everywhere, and trying it elsewhere would hide it.
    ErrorKind.REFUSED: Handling(retry=False, fall_over=False, cooldown=0),
    ErrorKind.UNWRITABLE: Handling(retry=False, fall_over=True, cooldown=0),
    ErrorKind.NO_CLIENT: Handling(retry=False, fall_over=True, cooldown=0),
}
"""What each kind asks for."""

STATUSES: Final[Mapping[int, ErrorKind]] = {
    400: ErrorKind.REFUSED,
    401: ErrorKind.KEY,
    402: ErrorKind.QUOTA,
    403: ErrorKind.KEY,
    404: ErrorKind.NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.SERVER,  # OpenAI's and Anthropic's clients take it for a lock that was not had in time
    413: ErrorKind.TOO_LONG,
    422: ErrorKind.REFUSED,
    429: ErrorKind.RATE_LIMIT,
    500: ErrorKind.SERVER,
    501: ErrorKind.NOT_FOUND,
    502: ErrorKind.SERVER,
    503: ErrorKind.OVERLOADED,
    504: ErrorKind.TIMEOUT,
    529: ErrorKind.OVERLOADED,
}
"""HTTP statuses; others of the 400s are ``refused`` and of the 500s ``server``."""

CODES: Final[Mapping[str, ErrorKind]] = {
    # OpenAI's ``error.code`` and ``error.type``
    "context_length_exceeded": ErrorKind.TOO_LONG,
    "insufficient_quota": ErrorKind.QUOTA,
    "billing_hard_limit_reached": ErrorKind.QUOTA,
    "invalid_api_key": ErrorKind.KEY,
    "model_not_found": ErrorKind.NOT_FOUND,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "server_error": ErrorKind.SERVER,
    # Anthropic's ``error.type``
    "api_error": ErrorKind.SERVER,
    "authentication_error": ErrorKind.KEY,
    "billing_error": ErrorKind.QUOTA,
    "not_found_error": ErrorKind.NOT_FOUND,
    "overloaded_error": ErrorKind.OVERLOADED,
    "permission_error": ErrorKind.KEY,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "request_too_large": ErrorKind.TOO_LONG,
    "timeout_error": ErrorKind.TIMEOUT,
    # Google's ``error.status``
    "DEADLINE_EXCEEDED": ErrorKind.TIMEOUT,
    "INTERNAL": ErrorKind.SERVER,
    "NOT_FOUND": ErrorKind.NOT_FOUND,
    "PERMISSION_DENIED": ErrorKind.KEY,
    "RESOURCE_EXHAUSTED": ErrorKind.RATE_LIMIT,
    "UNAUTHENTICATED": ErrorKind.KEY,
    "UNAVAILABLE": ErrorKind.OVERLOADED,
}
"""What providers call their errors. They come with statuses that say less, and within streams with none."""

PHRASES: Final[Mapping[str, ErrorKind]] = {
    "prompt is too long": ErrorKind.TOO_LONG,  # Anthropic
    "maximum context length": ErrorKind.TOO_LONG,  # OpenAI, vLLM
    "exceeds the maximum number of tokens": ErrorKind.TOO_LONG,  # Google
    "exceeds the available context size": ErrorKind.TOO_LONG,  # llama.cpp
    "credit balance is too low": ErrorKind.QUOTA,  # Anthropic
    "API key not valid": ErrorKind.KEY,  # Google
}
"""What providers say where status 400 and a code that fits anything say too little."""

EXCEPTIONS: Final[Mapping[str, ErrorKind]] = {
    # the official clients
    "APITimeoutError": ErrorKind.TIMEOUT,
    "APIConnectionError": ErrorKind.CONNECTION,
    "APIResponseValidationError": ErrorKind.MALFORMED,
    "APIError": ErrorKind.SERVER,
    "UnknownApiResponseError": ErrorKind.MALFORMED,
    # the HTTP clients beneath them, whose errors come through in the midst of a stream
    "TimeoutException": ErrorKind.TIMEOUT,
    "ConnectError": ErrorKind.CONNECTION,
    "RemoteProtocolError": ErrorKind.BROKEN,
    "ReadError": ErrorKind.BROKEN,
    "DecodingError": ErrorKind.MALFORMED,
    "TransportError": ErrorKind.CONNECTION,
    # Python's own, and those of parsers
    "TimeoutError": ErrorKind.TIMEOUT,
    "ConnectionError": ErrorKind.CONNECTION,
    "JSONDecodeError": ErrorKind.MALFORMED,
    "UnicodeDecodeError": ErrorKind.MALFORMED,
    "StreamError": ErrorKind.MALFORMED,
}
"""Names of exceptions, the first that a class or one of its bases has."""

WITHIN_STREAM: Final[Mapping[ErrorKind, ErrorKind]] = {ErrorKind.CONNECTION: ErrorKind.BROKEN}
"""What some kinds are once an answer has begun."""


class LinkError(StrictCallError):
    """A link gave no answer.

    ``link`` is its name, ``kind`` what went wrong and ``words`` those of the provider or the client, secrets hidden.
    ``status`` is that of the response, if there was one; ``retry_after`` the seconds that the provider asks to wait.
    ``began``: a part of the answer reached the user already, so nothing else was tried. ``attempts`` were made.
    """

    def __init__(
        self,
        link: str,
        kind: ErrorKind,
        words: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(link, kind, words)
        self.link = link
        self.kind = kind
        self.words = words
        self.status = status
        self.retry_after = retry_after
        self.began = False
        self.attempts = 1

    def __str__(self) -> str:
        status = f" ({self.status})" if self.status is not None else ""
        tried = f", after {self.attempts} attempts" if self.attempts > 1 else ""
        begun = "; the answer had begun" if self.began else ""
        return f"{self.link}: {self.kind}{status}{tried}: {self.words}{begun}"


class ChainError(StrictCallError):
    """No link of a chain gave an answer; ``failures`` are the links' own errors, in the order in which they were
    tried.
    """

    def __init__(self, failures: Sequence[LinkError]) -> None:
        super().__init__(failures)
        self.failures = tuple(failures)

    def __str__(self) -> str:
        return "no link answered: " + "; ".join(map(str, self.failures))
