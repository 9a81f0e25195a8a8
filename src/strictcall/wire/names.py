"""Names: what a dialect does not take as a name is replaced, the same way wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

from strictcall.dialect.model import NameRule

_DIGEST_LENGTH = 8
_STEM = re.compile(r"[^A-Za-z0-9_]+")
_DEFAULT_LENGTH = 64


def legal_name(name: str, rule: NameRule) -> str:
    """A name that the rule allows: the name itself if it is legal, else ``<readable stem>_<digest>``.

    The digest is 8 characters of the base32 SHA-256 of the whole name, so the result depends on nothing else.
    """
    # By the rule's fields, since Python hashes those much faster than a rule.
    return _legal_name(name, rule.pattern, rule.max_length, rule.forbidden)


@lru_cache(maxsize=4096)
def _legal_name(name: str, pattern: str | None, max_length: int | None, forbidden: frozenset[str]) -> str:
    if is_legal(name, NameRule(pattern, max_length, forbidden)):
        return name
    import base64  # noqa: PLC0415 - nearly every name is legal
    import hashlib  # noqa: PLC0415 - nearly every name is legal
    import unicodedata  # noqa: PLC0415 - nearly every name is legal

    digest = base64.b32encode(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()).decode().lower()
    room = (max_length or _DEFAULT_LENGTH) - _DIGEST_LENGTH - 1
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem = _STEM.sub("_", plain).strip("_")[:room].rstrip("_") or "name"
    if stem[0].isdigit():
        stem = f"n{stem}"[:room]
    return f"{stem}_{digest[:_DIGEST_LENGTH]}"


def unused(name: str, taken: Container[str]) -> str:
    """A name made distinct from those taken by underscores at its end."""
    while name in taken:
        name += "_"
    return name


def is_legal(name: str, rule: NameRule) -> bool:
    """Whether a name may stand as it is."""
    if name in rule.forbidden or (rule.max_length is not None and len(name) > rule.max_length):
        return False
    return rule.pattern is None or re.fullmatch(rule.pattern, name) is not None
