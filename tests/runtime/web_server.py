"""MCP servers behind URLs, each in a process of its own.

    python web_server.py

Each line of standard input, ``[PORT, "http" | "old" | "sse", FOLDER]``, starts a server, and its process is written to
standard output. They are forked, so that only the first has to wait for all that is imported. A server wants a key in a
header. As ``old`` it knows nothing of the protocol since 2026-07-28. In the folder it leaves a file when a call was
cancelled (``cancelled-slow``).
"""

from __future__ import annotations

import json
import os
import signal
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


def serve(port, kind, folder):
    os.environ["PLAIN_NOTES"] = folder
    inner = server.sse_app() if kind == "sse" else server.streamable_http_app()
    uvicorn.run(Guarded(inner, old=kind == "old"), host="127.0.0.1", port=port, log_level="critical")


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who has ended is gone at once
    for line in sys.stdin:
        process = os.fork()
        if not process:
            serve(*json.loads(line))
            os._exit(0)
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
