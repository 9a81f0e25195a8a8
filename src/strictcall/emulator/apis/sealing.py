"""What carries the model's thoughts from one request to the next: sealed text, that the server alone can make."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

_START: Final = "gAAAAA"
_SALT: Final = b"strictcall emulator"


def seal(text: str) -> str:
    """A text sealed. Equal texts have equal seals."""
    raw = text.encode("utf-8", "surrogatepass")
    return _START + base64.urlsafe_b64encode(_digest(raw) + raw).decode()


def is_sealed(sealed: str) -> bool:
    """Whether a text was made by ``seal`` and is unchanged."""
    try:
        raw = base64.b64decode(sealed.removeprefix(_START), altchars=b"-_", validate=True)
    except ValueError:
        return False
    size = len(_digest(b""))
    return sealed.startswith(_START) and raw[:size] == _digest(raw[size:])


def _digest(raw: bytes) -> bytes:
    return hashlib.sha256(_SALT + raw).digest()[:16]
