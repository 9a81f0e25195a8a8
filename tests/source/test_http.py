"""MCP servers behind URLs, over real sockets on this machine."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from contextlib import closing

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from strictcall.source.load import read_source
from strictcall.source.options import ReadOptions

KEY = "key-that-nobody-sees"


def mcp_server():
    server = MCPServer("web", version="1", log_level="ERROR")

    @server.tool()
    def add(first: int, second: int = 1) -> int:
        """Add two numbers."""
        return first + second

    return server


class Guarded:
    """An application that wants a key in a header; each request's path and key are noted."""

    def __init__(self, inner):
        self.inner = inner
        self.asked = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"").decode()
            self.asked.append((scope["path"], given))
            if given != f"Bearer {KEY}":
                await Response(f"no: {given}", 401)(scope, receive, send)
                return
        await self.inner(scope, receive, send)


async def fails(request):
    return JSONResponse({"oops": request.headers.get("authorization")}, 500)


async def is_a_page(request):
    return Response("<html>hello</html>", media_type="text/html")


async def moves(request):
    return Response("", 307, {"location": "http://localhost:9/mcp"})


async def sleeps(request):
    await asyncio.sleep(3)
    return Response("")


@pytest.fixture(scope="module")
def served():
    """Run an application on a free port; gives its URL."""
    running = []

    def serve(application):
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(application, log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        end = time.monotonic() + 30
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        running.append((server, thread, listening))
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield serve
    for server, thread, listening in running:
        server.should_exit = True
        thread.join(30)
        listening.close()


@pytest.fixture(scope="module")
def guarded(served):
    application = Guarded(mcp_server().streamable_http_app())
    return application, served(application)


@pytest.fixture(scope="module")
def odd(served):
    return served(
        Starlette(
            routes=[
                Route(f"/{handler.__name__}", handler, methods=["GET", "POST", "DELETE"])
                for handler in (fails, is_a_page, moves, sleeps)
            ]
        )
    )


def read(url, timeout=10, **headers):
    return read_source(url, ReadOptions(headers=headers, timeout=timeout))


def test_the_tools_of_a_server_behind_a_url(guarded):
    application, url = guarded
    reading = read(f"{url}/mcp", Authorization=f"Bearer {KEY}")
    assert reading.problems == ()
    (tool,) = reading.tools
    assert (tool.name, tool.description) == ("add", "Add two numbers.")
    assert tool.parameters["required"] == ["first"]
    assert tool.parameters["properties"]["second"]["default"] == 1
    assert {given for _, given in application.asked[-2:]} == {f"Bearer {KEY}"}


def test_a_refusal_is_said_with_its_status_and_without_the_header(guarded):
    _, url = guarded
    (problem,) = read(f"{url}/mcp?key=also-a-secret", Authorization="Bearer wrong-one").problems
    assert str(problem) == f"{url}/mcp: the server answered 401 Unauthorized; give it what it asks for in a header"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("fails", "the server answered 500 Internal Server Error"),
        ("nowhere", "the server answered 404 Not Found"),
        ("moves", "the server answered 307 Temporary Redirect"),
        ("is_a_page", "the server failed: Unexpected content type: text/html"),
        ("sleeps", "within 1 seconds"),
    ],
)
def test_what_is_no_mcp_server_is_one_problem_without_secrets(odd, path, words, capfd):
    reading = read(f"{odd}/{path}?token=also-a-secret", 1, Authorization=f"Bearer {KEY}")
    assert reading.tools == ()
    (problem,) = reading.problems
    assert problem.place == f"{odd}/{path}"
    assert words in problem.text
    assert KEY not in str(problem)
    assert "also-a-secret" not in str(problem)
    assert "\n" not in str(problem)
    assert capfd.readouterr().err == ""


def test_nobody_listens_there():
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    (problem,) = read(f"http://user:pass-word@127.0.0.1:{port}/mcp").problems
    assert problem.place == f"http://127.0.0.1:{port}/mcp"
    assert "could not be reached" in problem.text
    assert "pass-word" not in str(problem)


@pytest.mark.parametrize(
    ("url", "headers", "words"),
    [
        ("http://", {}, "names no host"),
        ("http://[::1/x", {}, "not a URL"),
        ("http://127.0.0.1:99999999/x", {}, "not a URL"),
        ("http://127.0.0.1:9/", {"a:b": "c"}, "a header cannot be called 'a:b'"),
        ("http://127.0.0.1:9/", {"a": f"{KEY}\r\nb: c"}, "the value of the header 'a'"),
        ("http://127.0.0.1:9/", {"a": f"{KEY}é"}, "the value of the header 'a'"),
    ],
)
def test_what_cannot_be_asked_is_one_problem(url, headers, words):
    (problem,) = read(url, **headers).problems
    assert words in problem.text
    assert KEY not in str(problem)


def test_servers_behind_urls_in_a_config_file(guarded, served, tmp_path, monkeypatch):
    _, url = guarded
    old = Guarded(mcp_server().sse_app())
    headers = {"Authorization": "Bearer ${THE_KEY}"}
    monkeypatch.setenv("THE_KEY", KEY)
    servers = {
        "typed": {"type": "http", "url": f"{url}/mcp", "headers": headers},
        "untyped": {"url": f"{url}/mcp", "headers": headers},
        "named": {"type": "streamable-http", "url": f"{url}/mcp", "headers": headers},
        "old": {"type": "sse", "url": f"{served(old)}/sse", "headers": headers},
        "refused": {"url": f"{url}/mcp", "headers": {"Authorization": "Bearer ${THE_KEY}-no"}},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    reading = read_source(str(path))
    assert [tool.name for tool in reading.tools] == ["typed/add", "untyped/add", "named/add", "old/add"]
    (problem,) = reading.problems
    assert str(problem).startswith(f"{path}: server 'refused': the server answered 401 Unauthorized")
    assert {given for _, given in old.asked} == {f"Bearer {KEY}"}
