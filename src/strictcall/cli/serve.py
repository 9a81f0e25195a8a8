"""``strictcall serve``: a gateway for those who can only change a base URL."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from strictcall.cli.config import ConfigOption
from strictcall.cli.failure import UsageError, say
from strictcall.cli.options import DEFAULT_DIALECT, DialectOption, with_policy
from strictcall.cli.serving import need, serve_until_stopped
from strictcall.policy import Policy

# ruff: noqa: PLC0415 - heavy, and needed by this command only

LOOPBACK = "127.0.0.1"


@with_policy
def serve(
    *,
    upstream: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The provider's base URL, as a client would be given it: https://…/v1"),
    ] = None,
    file: ConfigOption = None,
    dialect: DialectOption = DEFAULT_DIALECT,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 4000,
    tagged: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="The model writes calls as text, in this format or in any (auto)."),
    ] = None,
    policy: Policy,
) -> None:
    """Serve Chat Completions on this machine, with exact tool calls: before a provider or the links of a file.

    With `--upstream`, tools are compiled for the provider's strict decoder, the calls of the history are written in
    wire form, and those of the answer read back into the arguments that the tools declared; all else passes as it is.
    Clients keep their own key, and only their base URL changes.

    With `--config`, models are asked for by the names of the file's links, `provider/model`, and everything else is
    as the file says: keys, dialects, where strict is on, retries, the fallback chain.
    """
    if upstream is None:
        if dialect != DEFAULT_DIALECT or tagged is not None or policy != Policy():
            raise UsageError(
                "--dialect, --tagged and the policy go with --upstream; of links the configuration says them"
            )
        _serve_links(file, port)
        return
    if file is not None:
        raise UsageError("serve takes --upstream or --config, not both")
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--upstream takes an address that begins with http:// or https://, not {upstream!r}")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError("--upstream takes an address without a password, a query or a fragment")
    need("gateway", "httpx2", "starlette", "uvicorn")
    from strictcall.gateway.app import create_app

    line = f"strictcall serve: {{}}/v1 → {upstream} (dialect {dialect})"
    serve_until_stopped(create_app(upstream, dialect, policy, tagged=tagged), LOOPBACK, port, line)


def _serve_links(file: Path | None, port: int) -> None:
    """Serve the links of a configuration; what becomes of each request is a line on standard error."""
    need("link", "anyio", "pydantic", "tenacity", "yaml")
    need("gateway", "httpx2", "starlette", "uvicorn")
    from strictcall.errors import ConfigError
    from strictcall.gateway.links.app import create_links_app
    from strictcall.gateway.links.log import line_of
    from strictcall.gateway.links.models import link_names
    from strictcall.link.configured import ConfiguredLinks, find_config

    path = file or find_config()
    if path is None:
        raise UsageError("serve takes --upstream URL, or --config FILE; there is no strictcall.toml here")

    def problem(error: ConfigError) -> None:
        for line in error.lines():
            say(f"strictcall: {line}; what it said before stays in force")

    def tell(event: Any) -> None:
        line = line_of(event)
        if line is not None:
            say(f"{time.strftime('%H:%M:%S')} {line}")

    links = ConfiguredLinks(path, on_problem=problem)
    names = link_names(links.configuration, links.chain())
    if not names:
        raise UsageError(f"{path}: names no link: it has no model, and no fallback chain")
    shown = f"{path} ({len(names)} {'link' if len(names) == 1 else 'links'})".replace("{", "{{").replace("}", "}}")
    app = create_links_app(links, tell=tell)
    serve_until_stopped(app, LOOPBACK, port, f"strictcall serve: {{}}/v1 → the links of {shown}")
