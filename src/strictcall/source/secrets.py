"""Secrets: values that came from an environment, a header or a config file and must not be shown again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote

_SHORTEST = 4
"""What is shorter is no secret, and hiding it would only garble the text."""
SHOWN = "***"


def known_secrets(*groups: Iterable[str]) -> tuple[str, ...]:
    """The secrets among some values, the longest first.

    Besides each value these are its lines, what follows the scheme in a header such as ``Bearer abc``, and how a
    program may have written them into a message.
    """
    parts = {part for group in groups for value in group for part in _parts(value)}
    forms = {form for part in parts for form in (part, json.dumps(part)[1:-1], repr(part)[1:-1], quote(part, safe=""))}
    return tuple(sorted((form for form in forms if len(form) >= _SHORTEST), key=lambda form: (-len(form), form)))


def _parts(value: str) -> Iterator[str]:
    yield value
    for line in value.splitlines():
        yield line.strip()
        yield line.strip().partition(" ")[2].strip()


def hidden(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret replaced; they are given the longest first, so that none shows in another's rest."""
    for secret in secrets:
        text = text.replace(secret, SHOWN)
    return text
