"""One entry to every source: a file, ``-``, ``package.module:attribute``, or the URL of an MCP server."""

from __future__ import annotations

from pathlib import Path

from strictcall.source.contents import NO_SERVERS, ContentReader
from strictcall.source.documents import read_file, read_stdin
from strictcall.source.mcp_config import workspace_of
from strictcall.source.mcp_server import read_url
from strictcall.source.options import ReadOptions
from strictcall.source.python_object import is_reference, read_reference
from strictcall.source.reading import Reading, failed


def read_source(source: str, options: ReadOptions | None = None) -> Reading:
    """The tools of one source and the problems met on the way; never raises for what the source holds.

    ``source`` is ``-``, the URL of an MCP server (``http://…`` or ``https://…``), ``package.module:attribute``, or else
    a path. A file that exists is a file whatever its name. An MCP config file is read by starting the servers
    that it names.
    """
    chosen = options or ReadOptions()
    if source == "-":
        return read_stdin(ContentReader(Path.cwd(), chosen))
    if is_url(source):
        return failed(source, NO_SERVERS) if chosen.servers else read_url(source, chosen)
    if is_reference(source) and not Path(source).exists():
        return failed(source, NO_SERVERS) if chosen.servers else read_reference(source)
    return read_file(source, ContentReader(workspace_of(Path(source)), chosen))


def is_url(source: str) -> bool:
    """Whether a source is the URL of an MCP server."""
    return source.startswith(("http://", "https://"))
