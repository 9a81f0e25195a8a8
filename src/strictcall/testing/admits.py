"""What a wire schema admits, said by a validator that knows nothing of the compiler.

A value is admitted when it is valid under the wire schema read as draft 2020-12, keywords that the dialect does not
enforce taken out and what it reads otherwise than the standard written out. ``format`` is an annotation.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from strictcall.dialect.held import held
from strictcall.dialect.model import Dialect


def refuse(uri: str) -> Any:
    """A retriever that fetches nothing. Raises ``LookupError``."""
    raise LookupError(f"a wire schema refers to {uri}")


class Wire:
    """One wire schema under one dialect, ready to say whether it admits values.

    ``schema`` is the part of it that the dialect's decoder holds.
    """

    def __init__(self, schema: Any, dialect: Dialect) -> None:
        self.schema = held(schema, dialect)
        self._validator = jsonschema_rs.Draft202012Validator(self.schema, retriever=refuse, validate_formats=False)

    def admits(self, value: Any) -> bool:
        """Whether ``value`` is one that the decoder could have let through."""
        return bool(self._validator.is_valid(value))
