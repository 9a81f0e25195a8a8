"""What ends a command early: wrong use or unreadable input, said in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches

from strictcall.report.plain import plain

FINDINGS = 1
WRONG_USE = 2
INTERRUPTED = 130


class UsageError(Exception):
    """A command cannot go on; the text is one line that names the file and the place."""


def say(text: object) -> None:
    """One line on standard error."""
    sys.stderr.write(plain(str(text)) + "\n")


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that is not known, with the names nearest to it."""
    names = list(dict.fromkeys(known))
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return UsageError(f"no {kind} is called {name!r}; did you mean {' or '.join(map(repr, near))}?")
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return UsageError(f"no {kind} is called {name!r}; there {'is' if len(names) == 1 else 'are'} {shown or 'none'}")
