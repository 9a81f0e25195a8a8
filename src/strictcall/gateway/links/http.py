"""Requests to links of Chat Completions as bytes: what a client sent goes out as it came, which no client of a
provider's could promise.
"""

from __future__ import annotations

import json
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import anyio
import httpx2

from strictcall.errors import StreamError
from strictcall.link.client import Guard
from strictcall.link.client_official import CLOSING_SECONDS
from strictcall.link.resolved import ResolvedLink
from strictcall.link.tls import tls_context

OPENAI: Final = "https://api.openai.com/v1"
"""The address where a link names none: that of OpenAI's own client."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""A longer whole answer is none."""
MOST_OF_AN_ERROR: Final = 256 * 1024
_SHOWN: Final = ("x-request-id",)
"""Headers of an answer that the client may see; others may be of an account with the provider."""


class StatusError(Exception):
    """A provider answered with an error. ``strictcall.link.failures`` reads its fields, as of the clients' errors."""

    def __init__(self, response: httpx2.Response, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").strip()
        super().__init__(text or f"HTTP {response.status_code}")
        self.status_code = response.status_code
        self.response = response
        self.body = json_object(raw)


def json_object(raw: bytes) -> dict[str, Any] | None:
    """The object that a body is; ``None`` where it is none."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


class ChatHttp:
    """Sends bodies to ``/chat/completions`` of links. No header of a client's own is among those that are sent.

    ``transport`` stands in for the network in tests.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        limits = httpx2.Limits(max_connections=None)
        # Links share the connections, and nothing else: a cookie would go to every link of a host, whatever its key.
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        self._client = httpx2.AsyncClient(
            transport=transport, limits=limits, follow_redirects=False, cookies=cookies, verify=tls_context()
        )

    async def open(
        self, link: ResolvedLink, key: str | None, body: bytes, guard: Guard, deadline: float | None
    ) -> httpx2.Response:
        """Send a body; the response's own is still to be read. Raises ``LinkError``."""
        return await guard.run(lambda: self._opened(link, key, body), deadline)

    async def _opened(self, link: ResolvedLink, key: str | None, body: bytes) -> httpx2.Response:
        response = await self._client.send(self._request(link, key, body), stream=True)
        if 200 <= response.status_code < 300:
            return response
        try:
            raise StatusError(response, await _at_most(response, MOST_OF_AN_ERROR))
        finally:
            await closed(response)

    def _request(self, link: ResolvedLink, key: str | None, body: bytes) -> httpx2.Request:
        headers = httpx2.Headers({"accept-encoding": "identity", "content-type": "application/json"})
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        headers.update(dict(link.headers))
        times = link.timeouts
        timeout = httpx2.Timeout(connect=times.connect, read=times.read, write=times.read, pool=times.connect)
        url = f"{(link.base_url or OPENAI).rstrip('/')}/chat/completions"
        return self._client.build_request("POST", url, headers=headers, content=body, timeout=timeout)

    async def aclose(self) -> None:
        """Close the connections."""
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            await self._client.aclose()


async def whole_body(response: httpx2.Response, guard: Guard, deadline: float | None) -> bytes:
    """The body of a response, which is closed then. Raises ``LinkError``."""

    async def read() -> bytes:
        raw = await _at_most(response, MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise StreamError(f"the answer is larger than {MOST_BYTES:,} bytes")
        return raw

    try:
        return await guard.run(read, deadline)
    finally:
        await closed(response)


async def _at_most(response: httpx2.Response, most: int) -> bytes:
    raw = bytearray()
    async for piece in response.aiter_bytes():
        raw += piece
        if len(raw) >= most:
            break
    return bytes(raw[:most])


async def closed(response: httpx2.Response) -> None:
    """Close a response, also where the work that reads it is given up."""
    with anyio.move_on_after(CLOSING_SECONDS, shield=True):
        await response.aclose()


def shown(response: httpx2.Response) -> dict[str, str]:
    """The headers of an answer that its client may see."""
    found = {name: response.headers.get(name, "") for name in _SHOWN}
    return {name: value for name, value in found.items() if value.isascii() and value.isprintable() and value}
