"""``strictcall serve``: a gateway for those who can only change a base URL."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import typer

from strictcall.cli.failure import UsageError
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, with_policy
from strictcall.cli.serving import need, serve_until_stopped
from strictcall.policy import Policy

LOOPBACK = "127.0.0.1"


@with_policy
def serve(
    *,
    upstream: Annotated[
        str, typer.Option(metavar="URL", help="The provider's base URL, as a client would be given it: https://…/v1")
    ],
    dialect: DialectOption = DEFAULT_DIALECT,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 4000,
    tagged: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="The model writes calls as text, in this format or in any (auto)."),
    ] = None,
    policy: Policy,
) -> None:
    """Serve Chat Completions on this machine in front of a provider, with exact tool calls.

    Tools are compiled for the provider's strict decoder, the calls of the history are written in wire form, and those
    of the answer read back into the arguments that the tools declared; all else passes as it is. Clients keep their
    own key, and only their base URL changes.
    """
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--upstream takes an address that begins with http:// or https://, not {upstream!r}")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError("--upstream takes an address without a password, a query or a fragment")
    need("gateway", "httpx2", "starlette", "uvicorn")
    from strictcall.gateway.app import create_app  # noqa: PLC0415 - heavy, and needed by this command only

    line = f"strictcall serve: {{}}/v1 → {upstream} (dialect {dialect})"
    serve_until_stopped(create_app(upstream, dialect, policy, tagged=tagged), LOOPBACK, port, line)
