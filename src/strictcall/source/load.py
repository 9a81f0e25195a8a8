"""One entry to every source: a file, ``-`` for standard input, ``package.module:attribute``, or a server's command."""

from __future__ import annotations

from pathlib import Path

from strictcall.source.documents import read_file, read_stdin
from strictcall.source.python_object import is_reference, read_reference
from strictcall.source.reading import Reading


def read_source(source: str) -> Reading:
    """The tools of one source and the problems met on the way; never raises for what the source holds.

    ``source`` is ``-``, ``package.module:attribute``, or else a path. A file that exists is a file whatever its name.
    """
    if source == "-":
        return read_stdin()
    if is_reference(source) and not Path(source).exists():
        return read_reference(source)
    return read_file(source)
