"""Noticing a model that goes in circles: the same call, and the same output again."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from typing import Any, Final

from strictcall.api.answer import Call
from strictcall.runtime.output import ErrorCode, Output, RespondToModel, ToolError, model_text

_MOST_KEPT: Final = 10_000


class Repeats:
    """Counts how often in a row a call had the same output. Calls between them do not matter; another output of the
    same call begins anew. Only digests are kept.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._seen: OrderedDict[bytes, tuple[bytes, int]] = OrderedDict()

    def judged(self, call: Call, arguments: Any, output: Output) -> Output:
        """The output, or REPEATED_CALL where this call has had it more than ``most`` times.

        ``arguments`` are those that the tool ran with; where there are none, those that the model wrote count.
        """
        text = model_text(output)
        if self._most is None or text is None:
            return output
        key = _digest([call.name, call.raw] if arguments is None else [call.name, None, arguments])
        said = _digest(text)
        before, times = self._seen.pop(key, (said, 0))
        times = times + 1 if before == said else 1
        self._seen[key] = (said, times)
        if len(self._seen) > _MOST_KEPT:
            self._seen.popitem(last=False)
        if times <= self._most:
            return output
        message = f"the same call has had the same output {times} times; it will not change by asking again"
        return RespondToModel(ToolError(ErrorCode.REPEATED_CALL, message), output.details)


def _digest(value: Any) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
