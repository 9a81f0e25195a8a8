"""A private copy of a value that may be anything, if it is built of JSON's own types."""

from __future__ import annotations

import io
import pickle
from typing import Any


class _PlainOnly(pickle.Unpickler):
    """Reads what was just written, as long as it needs no class: then it is built of plain types."""

    def find_class(self, module: str, name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is a class")


def private_copy(value: Any, most: int) -> Any:
    """A copy of a value, or ``None`` where it takes more than ``most`` bytes written out.

    Recurses no deeper than Python does. Raises anything for what is not built of plain types.
    """
    written = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _PlainOnly(io.BytesIO(written)).load() if len(written) <= most else None
