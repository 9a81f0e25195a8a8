"""No schema makes the compiler open a file or a connection. The audit hook sees what Python does, a named pipe and a
listening socket see what a compiled extension would do behind Python's back."""

from __future__ import annotations

import os
import socket
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from laws.harness import DIALECTS
from strictcall import ArgumentsError, Policy, compile_schema, compile_tool, dialects, judge
from strictcall.tool import Tool

WATCHED = ("socket.", "urllib.", "http.", "ftplib.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "ctypes.")
PACKAGE = Path(sys.modules["strictcall"].__file__ or "").parent
ALLOWED = tuple(
    str(Path(place).resolve())
    for place in (*sysconfig.get_paths().values(), PACKAGE, sys.base_prefix, sys.prefix)
    if place
)
_seen: list[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    if event.startswith(WATCHED):
        _seen.append(f"{event} {arguments!r}")
    elif event == "open" and isinstance(arguments[0], str | bytes):
        path = str(Path(os.fsdecode(arguments[0])).resolve())
        if not path.startswith(ALLOWED):
            _seen.append(f"open {path}")


sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[list[str]]:
    """The forbidden events while the block runs."""
    global _seen  # noqa: PLW0603 - an audit hook cannot be taken away, only told to look elsewhere
    _seen = found = []
    try:
        yield found
    finally:
        _seen = None


def schemas(target: str) -> list[Any]:
    """Every way in which a schema may point at something outside itself."""
    return [
        {"type": "object", "properties": {"a": {"$ref": target}}},
        {"$ref": target},
        {"$ref": f"{target}#/$defs/a"},
        {"$schema": target, "type": "object", "properties": {"a": {"type": "string"}}},
        {"$id": target, "type": "object", "properties": {"a": {"$ref": "other.json"}}},
        {"$id": target, "type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$id": "x"}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": target, "properties": {"a": {"$ref": "b"}}},
        {"allOf": [{"$ref": target}], "type": "object"},
        {"type": "object", "properties": {"a": {"$dynamicRef": target}}},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {"$recursiveRef": target}}},
        {"type": "object", "properties": {"a": {"items": {"not": {"$ref": target}}}}},
        {"type": "object", "$vocabulary": {target: True}, "properties": {}},
    ]


def run(schema: Any) -> None:
    """Compile, judge, check, encode and decode."""
    for dialect in DIALECTS:
        judge(schema, dialect)
        for policy in (Policy(), Policy(formats="assert"), Policy(fidelity="exact")):
            compiled = compile_tool(Tool("t", "d", schema), dialect=dialect, policy=policy)
            compiled.check({"a": {"b": 1}})
            for call in (compiled.decode, compiled.encode):
                try:
                    call({"a": "x"})
                except ArgumentsError:
                    continue


TARGETS = [
    "http://example.test/s.json",
    "https://json-schema.org/draft/2020-12/schema",
    "file:///etc/hostname",
    "other.json",
    "/etc/hostname",
    "../up.json",
    "urn:uuid:1",
    "ftp://example.test/s",
    "//example.test/s.json",
    "data:application/json,{}",
    "",
    "::::",
]


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_opened(target: str) -> None:
    dialects()
    with watched() as seen:
        for schema in schemas(target):
            run(schema)
    assert seen == []


def test_the_hook_sees_what_it_should(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("{}")
    with watched() as seen:
        file.read_text()
        socket.socket().close()
    assert any(str(file.resolve()) in line for line in seen)
    assert any(line.startswith("socket.") for line in seen)


def test_no_connection_reaches_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        for schema in schemas(f"http://127.0.0.1:{server.getsockname()[1]}/s.json"):
            run(schema)
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_no_file_is_read_behind_the_back_of_python(tmp_path: Path) -> None:
    """A pipe can be opened for writing without waiting only while somebody reads it."""
    pipe = tmp_path / "s.json"
    os.mkfifo(pipe)
    caught, done = threading.Event(), threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            try:
                handle = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                continue
            caught.set()
            os.write(handle, b"{}")
            os.close(handle)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for schema in schemas(pipe.as_uri()):
            run(schema)
    finally:
        done.set()
        watcher.join()
    assert not caught.is_set()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("target", ["http://example.test/s.json", "other.json", "file:///etc/hostname"])
def test_an_external_reference_is_named(dialect: str, target: str) -> None:
    compiled = compile_schema({"type": "object", "properties": {"a": {"$ref": target}}}, dialect=dialect)
    assert not compiled.strict
    assert compiled.reason is not None
    assert target in compiled.reason
