"""A gateway to the links of a file, served beside a test, and OpenAI's client at it."""

from __future__ import annotations

import functools
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from strictcall import Tool, compile_tool
from strictcall.gateway.links.app import create_links_app
from strictcall.gateway.links.log import line_of
from strictcall.link.configured import ConfiguredLinks
from strictcall.serving import serving
from strictcall.testing.endpoint import StrictEndpoint

KEY = "sk-the-gateways-own"
CLIENTS_KEY = "sk-the-clients"
KEY_NAME = "STRICTCALL_TEST_GATEWAY_KEY"
os.environ[KEY_NAME] = KEY
APIS = {"chat_completions": "openai", "responses": "openai", "messages": "anthropic", "generate_content": "gemini"}
"""Each API with the dialect of whoever made it."""

CONTRACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["city"],
}
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather.", "parameters": CONTRACT},
}
SAID = {"city": "Lisbon", "labels": {"für": "Ana"}}
"""What the model says, in the tool's own form; ``wire`` is what each API's decoder lets it say."""


def wire(api: str, arguments: Any = SAID) -> Any:
    return compile_tool(Tool("weather", None, CONTRACT), dialect=APIS[api]).encode(arguments)


SCRIPT = {
    "conversations": [
        {
            "when": f"by {api}.",
            "replies": [
                {"text": "One moment.", "calls": [{"name": "weather", "arguments": wire(api)}]},
                {"text": "Sunny."},
            ],
        }
        for api in APIS
    ]
    + [
        {
            "when": "edit",
            "replies": [
                {"calls": [{"name": "weather", "arguments": {"city": "Lisbon", "labels": {"a": "b"}}}]},
                {"calls": [{"name": "weather", "arguments": wire("chat_completions")}]},
            ],
        },
    ],
    "replies": [
        {"calls": [{"name": "weather", "arguments": wire("messages")}]},
        {"calls": [{"name": "weather", "arguments": wire("messages")}]},
    ],
}


def entry(api: str, endpoint: StrictEndpoint | str, model: str = "m", **settings: Any) -> dict[str, Any]:
    """A provider of a file, called as its API where nothing is said, with one strict model."""
    base = endpoint
    if isinstance(endpoint, StrictEndpoint):
        base = endpoint.base_url if api in ("chat_completions", "responses") else endpoint.url
    supports = settings.pop("supports_tools", "strict")
    return {
        "id": settings.pop("id", api),
        "api": api,
        "dialect": APIS[api],
        "base_url": base,
        "api_key_env": KEY_NAME,
        "models": [{"id": model, "supports_tools": supports}],
        **settings,
    }


def write(file: Path, *entries: dict[str, Any], chain: tuple[str, ...] = (), **settings: Any) -> None:
    """Write a file that asks each link once."""
    said = {"providers": entries, "fallback": {"chain": chain}, "retries": {"attempts": 1}, **settings}
    file.write_text(json.dumps(said))


@dataclass(frozen=True, slots=True)
class Standing:
    """A gateway that is being served: its address, the file behind it, and the lines that it logged."""

    url: str
    file: Path
    lines: list[str] = field(default_factory=list)

    @contextmanager
    def client(self, **more: Any) -> Iterator[openai.OpenAI]:
        """OpenAI's client. All share their connections: making some takes longer than most tests."""
        yield _shared().with_options(base_url=f"{self.url}/v1", **more)

    def async_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key=CLIENTS_KEY, max_retries=0)


@functools.cache
def _shared() -> openai.OpenAI:
    return openai.OpenAI(base_url="http://127.0.0.1:1", api_key=CLIENTS_KEY, max_retries=0)


@contextmanager
def standing(file: Path) -> Iterator[Standing]:
    lines: list[str] = []

    def tell(event: Any) -> None:
        line = line_of(event)
        if line is not None:
            lines.append(line)

    with serving(create_links_app(ConfiguredLinks(file), tell=tell)) as url:
        yield Standing(url, file, lines)


@contextmanager
def answering(*pieces: bytes, status: int = 200, seen: list[Any] | None = None, **headers: str) -> Iterator[str]:
    """An upstream that answers every request alike, piece after piece; ``seen`` are the requests."""
    kind = "text/event-stream" if pieces[0].startswith(b"data:") else "application/json"

    async def sent() -> AsyncIterator[bytes]:
        yield pieces[0]
        for piece in pieces[1:]:
            await anyio.sleep(0.05)
            yield piece

    async def answer(request: Request) -> Response:
        raw = await request.body()
        if seen is not None:
            seen.append(Sent(dict(request.headers), raw))
        return StreamingResponse(sent(), status, headers, kind)

    with serving(Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])) as url:
        yield url


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as an upstream got it."""

    headers: dict[str, str]
    raw: bytes


def leave_before_the_answer(url: str, upstream: socket.socket, content: bytes) -> None:
    """A client asks a gateway, and leaves when the upstream got the request: the gateway must end that."""
    upstream.settimeout(20)
    at = urlsplit(url)
    with socket.create_connection((at.hostname, at.port)) as client:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(content)}\r\n\r\n"
        client.sendall(head.encode() + content)
        asked, _ = upstream.accept()
        asked.settimeout(20)
        assert b"Go." in request_of(asked)
    with asked:
        assert asked.recv(1) == b""  # the end of the connection, which only the gateway can have brought about


def request_of(connection: socket.socket) -> bytes:
    """A request whose body is a JSON object."""
    received = b""
    while b"\r\n\r\n" not in received or not received.endswith(b"}"):
        piece = connection.recv(65536)
        assert piece
        received += piece
    return received


def put_together(chunks: Any) -> Any:
    """The completion that OpenAI's client makes of chunks."""
    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return state.get_final_completion()


def whole(client: openai.OpenAI, messages: list[Any], **more: Any) -> Any:
    return client.chat.completions.create(messages=messages, **more)


def streamed(client: openai.OpenAI, messages: list[Any], **more: Any) -> Any:
    usage = {"include_usage": True}
    with client.chat.completions.create(messages=messages, stream=True, stream_options=usage, **more) as stream:
        return put_together(stream)


async def whole_async(client: openai.AsyncOpenAI, messages: list[Any], **more: Any) -> Any:
    return await client.chat.completions.create(messages=messages, **more)


async def streamed_async(client: openai.AsyncOpenAI, messages: list[Any], **more: Any) -> Any:
    usage = {"include_usage": True}
    made = await client.chat.completions.create(messages=messages, stream=True, stream_options=usage, **more)
    async with made as stream:
        return put_together([chunk async for chunk in stream])


def taken(message: Any) -> list[tuple[str, Any]]:
    """The calls of a message."""
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]


def turns(message: Any, result: str = "Sunny.") -> list[Any]:
    """The assistant's turn and the results of its calls, as a client puts them into the next request."""
    said = message.model_dump(exclude_none=True, exclude={"parsed"})
    return [said, *({"role": "tool", "tool_call_id": call.id, "content": result} for call in message.tool_calls or ())]


def ask(words: str = "Go.") -> list[Any]:
    return [{"role": "user", "content": words}]
