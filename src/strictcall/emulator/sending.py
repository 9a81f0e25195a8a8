"""Responses as bytes: bodies, server-sent events, and connections that wait or break."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import anyio
from starlette.responses import StreamingResponse

from strictcall.emulator.faults import Step
from strictcall.emulator.interface import Frame


class ConnectionCutError(ConnectionError):
    """Raised within a response, after part of it was sent, so that the server closes the connection."""


def compact(value: Any) -> bytes:
    """A JSON value as bytes. A lone surrogate, which UTF-8 does not have, is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def sse(frame: Frame) -> bytes:
    """An event in the format that https://html.spec.whatwg.org/multipage/server-sent-events.html describes."""
    data = frame.data.encode() if isinstance(frame.data, str) else compact(frame.data)
    name = b"" if frame.event is None else f"event: {frame.event}\n".encode()
    return name + b"data: " + data + b"\n\n"


def response(
    steps: Iterable[Step], media_type: str, headers: dict[str, str], delay: float, status: int = 200
) -> StreamingResponse:
    """A response that sends bytes, waits for ``delay`` seconds, or cuts the connection, step by step."""
    return StreamingResponse(_sent(steps, delay), status_code=status, media_type=media_type, headers=headers)


async def _sent(steps: Iterable[Step], delay: float) -> AsyncIterator[bytes]:
    for step in steps:
        if step == "wait":
            await anyio.sleep(delay)
        elif step == "cut":
            raise ConnectionCutError
        elif step:
            assert isinstance(step, bytes)  # noqa: S101 - the words are the two above
            yield step
