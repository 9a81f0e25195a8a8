"""Ids of calls: those that an API takes are kept, and others made, the same for the same call every time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from re import Pattern

from strictcall.api.answer import Call
from strictcall.errors import RequestError
from strictcall.json_value import compact


class CallIds:
    """The ids of the calls of one history.

    ``legal`` is what the API takes for an id; a call with another one, as those of other APIs may have, or with none,
    is given one that is made from the call. Where the same call without an id was made twice, the second one is told
    apart by a number, and the results after it are those of the second: ask ``current`` for their ids.
    """

    def __init__(self, legal: Pattern[str], prefix: str = "call_") -> None:
        self._legal = legal
        self._prefix = prefix
        self._times: dict[str, int] = {}
        self._current: dict[str, str] = {}

    def of(self, calls: Iterable[Call]) -> list[str]:
        """The ids of an answer's calls, in their order."""
        return [self._id(call, position) for position, call in enumerate(calls)]

    def answered(self, calls: Sequence[Call], outputs: Sequence[str]) -> list[tuple[str, str]]:
        """The id of each call with the text that answers it. Raises ``RequestError`` where not each has one."""
        if len(calls) != len(outputs):
            raise RequestError("outputs", f"there are {len(outputs)} for {len(calls)} calls")
        return list(zip(self.of(calls), outputs, strict=True))

    def current(self, call_id: str) -> str:
        """The id of a result in this history whose message, made by itself, has ``call_id``."""
        return self._current.get(call_id, call_id)

    def _id(self, call: Call, position: int) -> str:
        if call.id and self._legal.fullmatch(call.id):
            return call.id
        said = compact([position, call.id, call.wire_name or call.name, call.raw])
        made = self._prefix + hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:24]
        times = self._times[made] = self._times.get(made, 0) + 1
        if times > 1:
            self._current[made] = f"{made}_{times}"
        return self.current(made)
