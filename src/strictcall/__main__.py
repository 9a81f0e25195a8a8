"""The ``strictcall`` command's entry point: says which extra to install where the command line is not."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "yaml")
_WRONG_USE = 2
_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code; 2 with one line where the ``cli`` extra is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"strictcall: the command line needs {missing[0]}: pip install 'strictcall[cli]'\n")
        return _WRONG_USE
    try:
        code: int = import_module("strictcall.cli.main").run()
    except KeyboardInterrupt:  # while modules are loaded, or once more while the command ends
        return _INTERRUPTED
    return code


if __name__ == "__main__":
    sys.exit(main())
