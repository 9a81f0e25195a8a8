"""Serving an ASGI application on a socket: in the foreground, or in a thread beside a test."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

LOOPBACK: Final = "127.0.0.1"
_START_SECONDS: Final = 20.0


def listening(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ``OSError`` where the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def address(bound: socket.socket) -> str:
    """A listening socket's address as a URL without a path."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: ASGIApp) -> uvicorn.Server:
    """A server for an application. It says nothing: a connection cut on purpose is no error of the server's."""
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, lifespan="auto", timeout_graceful_shutdown=2
    )
    return uvicorn.Server(config)


@contextmanager
def serving(app: ASGIApp, host: str = LOOPBACK, port: int = 0) -> Iterator[str]:
    """Serve an application in a thread for as long as the context lasts; gives its address.

    Raises ``OSError`` where the address cannot be had, ``RuntimeError`` where the server does not start.
    """
    with listening(host, port) as bound:
        running = server(app)
        thread = threading.Thread(target=running.run, args=([bound],), name="strictcall-server", daemon=True)
        thread.start()
        try:
            _wait_for(running, thread)
            yield address(bound)
        finally:
            running.should_exit = True
            thread.join(_START_SECONDS)


def _wait_for(running: uvicorn.Server, thread: threading.Thread) -> None:
    until = time.monotonic() + _START_SECONDS
    while not running.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise RuntimeError("the server did not start")
        time.sleep(0.005)
