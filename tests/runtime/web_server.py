"""An MCP server behind a URL.

    python web_server.py PORT http|old|sse

It wants a key in a header. As ``old`` it knows nothing of the protocol since 2026-07-28. Where PLAIN_NOTES names a
folder, it leaves a file there for its process (``pid-NUMBER``) and when a call was cancelled (``cancelled-slow``).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.responses import Response

KEY = "key-that-nobody-sees"
server = MCPServer("web", version="1", log_level="CRITICAL")


def note(name):
    (Path(os.environ["PLAIN_NOTES"]) / name).touch()


@server.tool()
async def add(first: int, second: int | None = None) -> int:
    """Add two numbers."""
    return first + (second or 0)


@server.tool()
async def slow() -> str:
    """Take long."""
    try:
        await anyio.sleep(20)
    except anyio.get_cancelled_exc_class():
        note("cancelled-slow")
        raise
    return "not cancelled"


@server.tool()
async def change(ctx: Context) -> str:
    """Have one more tool."""

    def added() -> str:
        """Added later."""
        return "here"

    server.add_tool(added)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "changed"


@server.tool()
async def steps(ctx: Context) -> str:
    """Tell how far it is."""
    await ctx.report_progress(1, 2, "half")
    return "done"


class Guarded:
    """An application that wants the key, and may be old."""

    def __init__(self, inner, *, old):
        self.inner = inner
        self.old = old

    async def __call__(self, scope, receive, send):
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {KEY}".encode():
            await Response("no", 401)(scope, receive, send)
        elif self.old and headers.get(b"mcp-protocol-version", b"") > b"2026":
            await Response("what is that?", 400)(scope, receive, send)
        else:
            await self.inner(scope, receive, send)


def main(port, kind):
    note(f"pid-{os.getpid()}")
    inner = server.sse_app() if kind == "sse" else server.streamable_http_app()
    uvicorn.run(Guarded(inner, old=kind == "old"), host="127.0.0.1", port=int(port), log_level="critical")


if __name__ == "__main__":
    main(*sys.argv[1:])
