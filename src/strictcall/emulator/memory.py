"""A few results, kept by what they were made of: the newest asked for, up to a number."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


def digest(*parts: Any) -> bytes:
    """A fingerprint of JSON values in which the order of keys counts."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).digest()


class Memory(Generic[Result]):
    """At most ``most`` results by key; the one not asked for longest is forgotten first. May be used by many threads.

    Two threads that ask for what is not there both make it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Result] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes, make: Callable[[], Result]) -> Result:
        """The result under a key, made if it is not there. What ``make`` raises is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        self.put(key, made)
        return made

    def put(self, key: bytes, result: Result) -> None:
        """Keep a result under a key, in the place of any before it."""
        with self._lock:
            self._kept[key] = result
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)
