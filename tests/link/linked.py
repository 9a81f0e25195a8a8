"""Links to emulators, and what tests of links share."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import contextmanager

import pytest

from strictcall import Tool
from strictcall.dialect import load
from strictcall.link.resolved import ResolvedLink, Timeouts

both_loops = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
"""Runs a test on asyncio and on trio."""
DIALECTS = {
    "chat_completions": "openai",
    "responses": "openai",
    "messages": "anthropic",
    "generate_content": "gemini",
}
"""The APIs that are sent to, each with the dialect of whoever made it."""
KEY = "sk-a-very-secret-key"
KEY_NAME = "STRICTCALL_TEST_KEY"
os.environ[KEY_NAME] = KEY
QUICK = Timeouts(connect=2, read=5, total=20)
WEATHER = Tool(
    "get.weather",
    "The weather of a city",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["city"],
    },
)
"""Its name is none for OpenAI, it has an optional that takes no null, and an open map."""
ASK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Lisbon?"},
]


def address(endpoint, api):
    """What a client of an API takes for its base URL."""
    return endpoint.base_url if api in ("chat_completions", "responses") else endpoint.url


def link(endpoint, api, **fields):
    """A strict link to an emulator, called ``API/m``."""
    return at(address(endpoint, api), api, **fields)


def at(url, api, **fields):
    """A strict link to an address, called ``API/m``."""
    return ResolvedLink(
        **{
            "provider": api,
            "model": "m",
            "api": api,
            "dialect": load(DIALECTS.get(api, "openai")),
            "base_url": url,
            "api_key_env": KEY_NAME,
            "timeouts": QUICK,
            "supports_tools": "strict",
            "strict_tools": True,
            **fields,
        }
    )


@contextmanager
def recording(status=400, headers="", body=b""):
    """A server that keeps the bytes of each request and answers all with the same; gives its address and the list."""
    requests = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    requests.append(_request(connection))
                    head = f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{headers}\r\n"
                    connection.sendall(head.encode() + body)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", requests
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _request(connection):
    """A request's bytes, head and body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head, body
