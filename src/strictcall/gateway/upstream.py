"""The endpoint behind the gateway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import httpx2

_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that speak of one connection only: RFC 9110, section 7.6.1."""
_OURS: Final = frozenset({"host", "content-length"})
"""Headers that are made anew for each connection."""
CONNECT_SECONDS: Final = 10.0


class Upstream:
    """One endpoint, by the base URL that a client of OpenAI would be given.

    Nothing is retried and no answer is waited for only so long: that is for the gateway's own client to decide. The
    key is the client's own, which is passed on and never kept.
    """

    def __init__(self, base_url: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._client = httpx2.AsyncClient(
            transport=transport,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None),
            follow_redirects=False,
        )

    async def send(
        self,
        method: str,
        path: str,
        query: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        plain: bool = False,
    ) -> httpx2.Response:
        """Send a request; the response's body is still to be read. ``plain``: it must come without compression.

        Raises ``httpx2.TransportError`` where the endpoint cannot be reached.
        """
        sent = [(name, value) for name, value in _passed(headers) if not (plain and name.lower() == "accept-encoding")]
        if plain:
            sent.append(("accept-encoding", "identity"))
        url = f"{self.base_url}{path}" + (f"?{query}" if query else "")
        request = self._client.build_request(method, url, headers=sent, content=body)
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close what is open."""
        await self._client.aclose()


def passed_back(headers: httpx2.Headers, *, changed: bool) -> Mapping[str, str]:
    """The headers of a response that are the client's to see; without those of a body that was ``changed``."""
    left_out = {"content-length", "content-encoding"} if changed else set()
    return {name: value for name, value in _passed(headers.items(), _HOP_BY_HOP) if name.lower() not in left_out}


def _passed(
    headers: Iterable[tuple[str, str]], without: frozenset[str] = _HOP_BY_HOP | _OURS
) -> Iterable[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in without]
