"""From a provider's response to the kind of its error, and how long it asks to wait."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from link.linked import ASK, at, recording
from strictcall.link.clients import client_of
from strictcall.link.envelope import body_of
from strictcall.link.errors import HANDLING, ErrorKind, LinkError
from strictcall.link.failures import link_error

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]
JSON = "content-type: application/json\r\n"


async def failure(api, status, body, headers=JSON):
    """The error of a link whose provider answers so."""
    with recording(status, headers, body.encode()) as (url, _):
        one = at(url, api)
        client = client_of(one)
        with pytest.raises(LinkError) as caught:
            await client.send(body_of(one, ASK))
        await client.aclose()
    return caught.value


SAID = [
    # Sources: the providers' pages that strictcall.link.errors names, and errors seen in their issue trackers.
    ("chat_completions", 429, '{"error": {"message": "m", "code": "insufficient_quota"}}', ErrorKind.QUOTA),
    ("chat_completions", 429, '{"error": {"message": "m", "code": "rate_limit_exceeded"}}', ErrorKind.RATE_LIMIT),
    ("chat_completions", 400, '{"error": {"message": "m", "code": "context_length_exceeded"}}', ErrorKind.TOO_LONG),
    (
        "chat_completions",
        400,
        '{"object": "error", "message": "This model\'s maximum context length is 4096 tokens.", "code": 400}',
        ErrorKind.TOO_LONG,
    ),
    ("chat_completions", 400, '{"error": {"message": "Invalid schema", "code": "x"}}', ErrorKind.REFUSED),
    ("chat_completions", 418, '{"error": {"message": "m"}}', ErrorKind.REFUSED),
    ("chat_completions", 599, "no JSON at all", ErrorKind.SERVER),
    ("responses", 200, '{"error": {"message": "m", "code": "server_error"}', ErrorKind.MALFORMED),
    ("responses", 200, "[]", ErrorKind.MALFORMED),
    (
        "messages",
        400,
        '{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens"}}',
        ErrorKind.TOO_LONG,
    ),
    (
        "messages",
        400,
        '{"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}',
        ErrorKind.QUOTA,
    ),
    ("messages", 500, '{"type": "error", "error": {"type": "overloaded_error", "message": "m"}}', ErrorKind.OVERLOADED),
    (
        "generate_content",
        400,
        '{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Pass a valid one."}}',
        ErrorKind.KEY,
    ),
    ("generate_content", 403, '{"error": {"code": 403, "status": "PERMISSION_DENIED"}}', ErrorKind.KEY),
    ("generate_content", 429, '{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}', ErrorKind.RATE_LIMIT),
    ("generate_content", 200, "<html>", ErrorKind.MALFORMED),
]


@pytest.mark.parametrize(("api", "status", "body", "kind"), SAID)
async def test_what_a_provider_says_is_told_apart(anyio_backend, api, status, body, kind):
    error = await failure(api, status, body)
    assert error.kind is kind
    assert len(error.words) <= 500


def in_seconds(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


WAITS = [
    ("chat_completions", "retry-after: 7\r\n", (7, 7)),
    ("chat_completions", "retry-after: 0.25\r\n", (0.25, 0.25)),
    ("chat_completions", "retry-after-ms: 1500\r\nretry-after: 9\r\n", (1.5, 1.5)),
    ("messages", "retry-after: IN A MINUTE\r\n", (0, 61)),
    ("messages", "retry-after: A MINUTE AGO\r\n", (0, 0)),
    ("messages", "retry-after: 1e300\r\n", (86_400, 86_400)),
    ("responses", "retry-after: soon\r\n", None),
    ("responses", "retry-after: -1\r\n", None),
    ("responses", "retry-after: nan\r\n", None),
    ("generate_content", "retry-after: 3\r\n", (3, 3)),
    ("generate_content", "", (13, 13)),
]


@pytest.mark.parametrize(("api", "headers", "wait"), WAITS)
async def test_how_long_a_provider_asks_to_wait(anyio_backend, api, headers, wait):
    headers = headers.replace("IN A MINUTE", in_seconds(60)).replace("A MINUTE AGO", in_seconds(-60))
    body = '{"error": {"code": 429, "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", '
    body += '"retryDelay": "13s"}]}}'
    error = await failure(api, 429, body if api == "generate_content" else "{}", JSON + headers)
    if wait is None:
        assert error.retry_after is None
    else:
        assert wait[0] <= error.retry_after <= wait[1]


async def test_a_bug_is_no_error_of_a_link(anyio_backend):
    assert link_error("a/b", ZeroDivisionError()) is None
    assert link_error("a/b", KeyError("x")) is None


async def test_every_kind_says_what_it_asks_for(anyio_backend):
    assert set(HANDLING) == set(ErrorKind)
