"""From whatever a client raised to a ``LinkError``: its kind, the provider's words, and how long to wait."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from strictcall.errors import StreamError
from strictcall.link.errors import CODES, EXCEPTIONS, PHRASES, STATUSES, WITHIN_STREAM, ErrorKind, LinkError
from strictcall.source.secrets import hidden

MOST_WORDS: Final = 500
"""How many characters of a provider's words are kept."""
LONGEST_WAIT: Final = 86_400.0
"""Seconds: what asks for more is not believed."""


def link_error(
    link: str, error: Exception, secrets: Sequence[str] = (), *, within_stream: bool = False
) -> LinkError | None:
    """The error of a link that a client's exception is; ``None`` for one that tells of no link but of a bug.

    ``secrets`` are hidden in its words. Nothing of the exception is kept: it holds the request with its key.
    """
    if isinstance(error, LinkError):
        return error
    status = _status(error)
    kind = _kind(error, status)
    if kind is None:
        return None
    if within_stream:
        kind = WITHIN_STREAM.get(kind, kind)
    words = hidden(_led(error) if _is_redirect(status) else _words(error), secrets)[:MOST_WORDS]
    return LinkError(link, kind, words, status=status, retry_after=_retry_after(error))


def _kind(error: Exception, status: int | None) -> ErrorKind | None:
    if _is_redirect(status):
        return ErrorKind.NOT_FOUND
    for code in _codes(error):
        if code in CODES:
            return CODES[code]
    if status == 400:
        said = _words(error)
        return next((kind for phrase, kind in PHRASES.items() if phrase in said), ErrorKind.REFUSED)
    if status is not None and status >= 400:
        return STATUSES.get(status, ErrorKind.SERVER if status >= 500 else ErrorKind.REFUSED)
    if isinstance(error, StreamError):
        return next((kind for code, kind in CODES.items() if code in error.problem), ErrorKind.MALFORMED)
    return next((EXCEPTIONS[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in EXCEPTIONS), None)


def _status(error: Exception) -> int | None:
    """The status of the response: ``status_code`` with OpenAI's and Anthropic's clients, ``code`` with Google's."""
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _is_redirect(status: int | None) -> bool:
    return status is not None and 300 <= status < 400


def _led(error: Exception) -> str:
    """Where a redirect leads: as no more than a host, for its path may hold anything, and so may a name before it."""
    try:
        to = urlsplit(_headers(error).get("location") or "")
    except ValueError:
        to = urlsplit("")
    host = to.netloc.rpartition("@")[2]
    scheme = f"{to.scheme}://" if to.scheme else ""
    where = f"to {scheme}{host}" if host else "elsewhere"
    return f"the address leads {where}, which is not followed"


def _headers(error: Exception) -> Mapping[str, Any]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _body(error: Exception) -> Mapping[str, Any]:
    """What the provider said of the error: clients take ``{"error": {...}}`` apart, or do not."""
    for name in ("body", "details"):
        value = getattr(error, name, None)
        if isinstance(value, Mapping):
            inner = value.get("error")
            return inner if isinstance(inner, Mapping) else value
    return {}


def _codes(error: Exception) -> Iterator[str]:
    body = _body(error)
    for value in (body.get("code"), body.get("type"), body.get("status"), getattr(error, "code", None)):
        if isinstance(value, str):
            yield value


def _words(error: Exception) -> str:
    said = _body(error).get("message")
    if isinstance(said, str) and said.strip():
        return said.strip()
    text = str(error).strip()
    if "Timeout" in type(error).__name__ and not text:
        return "no answer in time"
    # A connection's own error says why; the clients' says that there was none.
    cause = error.__cause__
    beneath = str(cause).strip() if cause is not None else ""
    return f"{text} ({beneath})" if beneath and beneath not in text else text or type(error).__name__


# --- how long to wait -------------------------------------------------------------------------------------------------


def _retry_after(error: Exception) -> float | None:
    headers = _headers(error)
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _seconds(said)
    if seconds is not None:
        return seconds
    if isinstance(said, str):
        return _until(said)
    return _retry_delay(_body(error).get("details"))


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return min(seconds, LONGEST_WAIT) if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float | None:
    """Seconds until an HTTP date."""
    try:
        seconds = parsedate_to_datetime(date).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _retry_delay(details: Any) -> float | None:
    """Google's ``RetryInfo`` among an error's details: ``{"@type": "….RetryInfo", "retryDelay": "13s"}``."""
    for item in details if isinstance(details, list) else ():
        delay = item.get("retryDelay") if isinstance(item, Mapping) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _seconds(delay[:-1])
    return None
