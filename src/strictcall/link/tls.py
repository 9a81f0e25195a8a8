"""The authorities that servers are trusted by, loaded once: to load them would be most of each client's start."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from typing import Final

_NAMES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables that name other authorities than the system's."""


def tls_context() -> ssl.SSLContext:
    """What all clients have in common for TLS, as they would make it themselves. Raises ``ImportError`` where no client
    is installed, which all bring what makes it; ``OSError`` where the environment names a file that is none.
    """
    return _made(*map(os.environ.get, _NAMES))


@lru_cache(maxsize=1)
def _made(file: str | None, directory: str | None) -> ssl.SSLContext:
    """The context under these values of the variables, which are read where it is made."""
    del file, directory
    import httpx2  # noqa: PLC0415 - heavy, and there with the clients only

    return httpx2.create_ssl_context()
